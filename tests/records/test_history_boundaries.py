"""A history across an update of the machine: one series, with a boundary shown."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from report.formats.history_text import since
from report.model.history_entry import HistoryEntry, MedianInterval
from report.model.judgement import Verdict
from report.model.plan import CellName
from report.verdict.history_steps import Change, State, judge
from scripts.cli.verbs import main
from tests.builders import synthetic_history as past

NEW_KERNEL: dict[str, object] = {"kernel": "9"}
OTHER_CPU: dict[str, object] = {"cpu_model": "Another CPU"}


def changes(entries: list[HistoryEntry]) -> list[Change]:
    ordered = sorted(entries, key=lambda entry: entry.run)
    return [change for of in judge(ordered) for change in of.changes]


def stepped() -> list[HistoryEntry]:
    return past.history(40, effect=past.step_at(30, 0.06))


def updated(
    entries: list[HistoryEntry], facts: dict[str, object], start: int, end: int = 10**9
) -> list[HistoryEntry]:
    """Return a history with other facts of the machine in some entries."""
    moved = [replace(e, machine={**e.machine, **facts}) for e in entries[start:end]]
    return [*entries[:start], *moved, *entries[end:]]


@pytest.mark.parametrize("fact", ["kernel", "cpu_model", "mount_options"])
def test_an_updated_machine_is_a_boundary_within_the_series(fact: str) -> None:
    entries = updated(past.history(40, noise=0.02), {"mount_options": "rw"}, 0)
    entries = updated(entries, {fact: "9"}, 30)
    (of,) = judge(entries)
    was = entries[0].machine[fact]
    assert [(b.index, str(b)) for b in of.series.boundaries] == [
        (30, f"{fact} {was} → 9")
    ]
    assert of.changes == ()


def test_a_step_near_a_boundary_is_the_machine_or_the_code() -> None:
    entries = stepped()
    (change,) = changes(updated(entries, NEW_KERNEL, 27))
    assert (change.state, change.verdict) == (State.MACHINE_OR_CODE, "machine or code")
    assert change.is_nominated and not change.is_regression
    assert "kernel 0.0 → 9" in since(change)
    (change,) = changes(updated(entries, NEW_KERNEL, 24))
    assert change.state is State.NOMINATED
    assert "kernel" not in since(change)
    ratio = MedianInterval(0.94, 0.92, 0.96)
    cell = past.entry_cell(past.CELL, 9e4, ratio, Verdict.REGRESSED)
    confirming = past.entry(100, [cell], reference="binary 29", binary="binary 30")
    (change,) = changes([*updated(entries, NEW_KERNEL, 30), confirming])
    assert change.state is State.CONFIRMED


def slower_processor(start: int, end: int, shift: float) -> Any:
    """Return an effect: a step of code at 45, and a processor that is slower."""
    return lambda index, name: 0.06 * (index >= 45) + shift * (start <= index < end)


@pytest.mark.parametrize("shift", [0.0, 0.3, -0.3])
def test_a_step_after_another_processor_is_found_where_it_is(shift: float) -> None:
    entries = past.history(70, effect=slower_processor(25, 70, shift))
    found = changes(updated(entries, OTHER_CPU, 25))
    assert [c.step.index for c in found] == ([25, 45] if shift else [45])
    assert found[-1].state is State.NOMINATED
    assert found[-1].share == pytest.approx(-0.058, abs=0.015)
    if shift:
        assert found[0].state is State.MACHINE_OR_CODE
        assert found[0].is_nominated is (shift > 0)


def test_a_series_back_on_its_first_processor_has_its_first_level() -> None:
    """What a processor costs is no step of the code, and ends with it."""
    entries = past.history(40, effect=past.step_at(15, 0.3, 25))
    (change,) = changes(updated(entries, OTHER_CPU, 15, 25))
    assert change.state is State.MACHINE_OR_CODE
    assert change.ended is not None and change.ended.run == past.run_id(25)
    assert not change.is_open


def test_processors_that_alternate_are_no_steps() -> None:
    """As on hosted runners: only the first level of the slower one is a question."""
    slow: Any = lambda index, name: 0.2 * (index % 3 == 1)  # noqa: E731
    entries = past.history(60, effect=slow)
    for index in range(1, 60, 3):
        entries = updated(entries, OTHER_CPU, index, index + 1)
    assert not any(change.is_open for change in changes(entries))


def test_ratios_to_a_pinned_reference_go_on_across_processors() -> None:
    both = {**OTHER_CPU, **NEW_KERNEL}
    entries = updated(past.history(40, reference="pinned"), both, 20)
    (of,) = judge(entries)
    assert of.series.is_ratio and len(of.series.points) == 40
    assert of.series.aligned == of.series.values
    assert [b.index for b in of.series.boundaries] == [20]


CELLS = [CellName("alpha", f"s{i // 3}", f"cell{i % 3}") for i in range(27)]
SLOWER = {CELLS[2]: 0.03, CELLS[11]: 0.05, CELLS[20]: 0.10}


@pytest.mark.parametrize("facts", [{}, NEW_KERNEL])
def test_three_steps_among_24_steady_cells(
    tmp_path: Path, facts: dict[str, object]
) -> None:
    """60 commits at a CV of 2 %, and at the 30th also a kernel, or not."""
    slower: Any = lambda i, name: SLOWER.get(name, 0.0) * (i >= 30)  # noqa: E731
    entries = past.history(60, CELLS, slower, noise=0.02)
    past.write(tmp_path, updated(entries, facts, 30))
    words = ["history", "--history-dir", str(tmp_path), "--format", "json"]
    done = CliRunner().invoke(main, words)
    assert done.exit_code == 0
    (machine,) = json.loads(done.stdout)["machines"]
    assert len(machine["boundaries"]) == len(facts)
    found = {change["cell"]: change for change in machine["changes"]}
    assert set(found) == {str(name) for name in SLOWER}
    labels = [past.commit(i) for i in range(60)]
    for change in found.values():
        assert change["state"] == ("machine or code" if facts else "nominated")
        old, new = re.findall(r"BUILD_OF_(\w+)", change["confirm"])
        assert labels.index(old) < 30 and new == labels[-1]
