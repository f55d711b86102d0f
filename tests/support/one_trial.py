"""Trials of durability of one executable, outside a run."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from scripts.durability.laboratory import Laboratory, TrialEnded
from scripts.durability.requisites import requisites
from scripts.machine.child_process import Stop
from scripts.trials.trial_spec import PHASES, TrialSpec
from tests.places import BUILD

BLOCK_LOG = BUILD / "common/block_log"


def skip_unless_possible(method: str, fs: str = "ext4") -> None:
    """Skip the test, with the reason, where the power cannot be cut so."""
    if why := requisites((method,), (fs,), BLOCK_LOG)[method]:
        pytest.skip(why)


def durable_spec(
    program: Path, method: str, fs: str, states: int, seed: int, phases: str = PHASES
) -> TrialSpec:
    """Return a trial of an engine's level "durable"."""
    name = program.name.removeprefix("db_bench_")
    return TrialSpec(
        setting=f"{name}/durable",
        engine=name,
        method=method,
        fs=fs,
        recording=seed,
        states=states,
        seed=seed,
        program=(str(program),),
        block_log=str(BLOCK_LOG),
        flags=("--durability=durable",),
        timeout_s=60.0,
        reproducers="",
        folder="",
        phases=phases,
    )


def all_records_of(
    specs: Sequence[TrialSpec], folder: Path
) -> Iterator[dict[str, Any]]:
    """Perform trials, two at once, and yield their records."""
    for event in Laboratory(folder, Stop(), 2).events(specs):
        if isinstance(event, TrialEnded):
            yield dict(event.record)


def records_of(specs: Sequence[TrialSpec], folder: Path) -> Iterator[dict[str, Any]]:
    """Perform trials, two at once, and yield their records.

    Raises AssertionError for a trial that has no finding.
    """
    for record in all_records_of(specs, folder):
        assert record["status"] == "ok", record["reason"]
        yield record


def outcomes_in(record: dict[str, Any]) -> dict[str, int]:
    """Return how many states had each outcome, over all aims, and "tried"."""
    totals: dict[str, int] = {}
    for row in record["states"].values():
        for outcome, count in row.items():
            totals[outcome] = totals.get(outcome, 0) + count
    return {outcome: count for outcome, count in totals.items() if count}
