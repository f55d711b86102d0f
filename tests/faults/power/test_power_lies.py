"""Lies about durability, which only a cut of the power or a full disk can show.

The numbers are those in `tests/faults/elsewhere.toml`.
"""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from scripts.trials.evidence import DIRTY_READ, NEWEST_LOST, TORN_BATCH, WITHOUT_DISK
from scripts.trials.trial_spec import FULL, KILL, LOG, METHODS, SHUTDOWN, TrialSpec
from tests.places import BUILD
from tests.support.one_trial import (
    all_records_of,
    durable_spec,
    outcomes_in,
    records_of,
    skip_unless_possible,
)

pytestmark = pytest.mark.slow
LIAR = BUILD / "tests/db_bench_liar"
STATES = {LOG: 60, SHUTDOWN: 8, FULL: 5, KILL: 12}
_PHASES = "first:5,single:{},batch:4,growth:10,close:10,read:10"
# M20 shows only if the file system is shut down while the engine is still writing.
_SHORT = _PHASES.format(40)
PHASES = {LOG: _SHORT, KILL: _SHORT, SHUTDOWN: _PHASES.format(4000), FULL: ""}
FULL_DISK_WRONG = "full_disk_wrong"

# The lie, how the disk is cut, and the violations that this shows.
CAUGHT = {
    "M13 never": {
        LOG: {NEWEST_LOST, WITHOUT_DISK},
        SHUTDOWN: {NEWEST_LOST},
    },
    "M14 seldom": {
        LOG: {NEWEST_LOST, WITHOUT_DISK},
        SHUTDOWN: {NEWEST_LOST},
    },
    "M15 elsewhere": {
        LOG: {NEWEST_LOST, WITHOUT_DISK},
        SHUTDOWN: {NEWEST_LOST},
    },
    "M15 shallow": {LOG: {NEWEST_LOST}, SHUTDOWN: {NEWEST_LOST}},
    "M16 unlisted": {LOG: {NEWEST_LOST}, SHUTDOWN: {NEWEST_LOST}},
    "M19 deaf": {FULL: {FULL_DISK_WRONG}},
    "M20 deaf": {SHUTDOWN: {WITHOUT_DISK}},
    "M24 eager": {LOG: {DIRTY_READ}},
    "M52 records": {KILL: {TORN_BATCH}},
}
# Of each commit; an engine that syncs another file has them all.
BARRIERS = {"never": 0.0, "seldom": 0.2, "elsewhere": 1.0, "unlisted": 1.0}
CUTS = [(lie, method) for lie, methods in CAUGHT.items() for method in methods]


def spec_of(lie: str, method: str, folder: Path, fs: str = "ext4") -> TrialSpec:
    """Return one trial of the liar, which goes by its name."""
    skip_unless_possible(method, fs)
    assert LIAR.is_file(), "run scripts/setup --test"
    program = folder / lie
    program.symlink_to(LIAR)
    return durable_spec(program, method, fs, STATES[method], 7, PHASES[method])


def record_of(lie: str, method: str, folder: Path, fs: str = "ext4") -> dict[str, Any]:
    """Return the record of that trial, which has a finding."""
    (record,) = records_of([spec_of(lie, method, folder, fs)], folder)
    return record


def check_kinds(record: dict[str, Any], due: set[str]) -> None:
    """Check which kinds of violations a trial has found.

    A thread may be preempted between a write and its acknowledgement.  If another one
    reads it meanwhile, and it is lost, that is a dirty read, too, by chance.
    """
    found = {violation["kind"] for violation in record["violations"]}
    assert found - ({DIRTY_READ} if NEWEST_LOST in due else set()) == due


@pytest.mark.parametrize(
    ("lie", "method"), CUTS, ids=[f"{lie.split()[1]}-{method}" for lie, method in CUTS]
)
def test_a_lie_is_caught_by_what_it_does(lie: str, method: str, tmp_path: Path) -> None:
    name = lie.split()[1]
    record = record_of(name, method, tmp_path)
    check_kinds(record, CAUGHT[lie][method])
    if method == LOG and name in BARRIERS:
        assert record["barriers_per_write"] == BARRIERS[name]


@pytest.mark.parametrize(
    ("twin", "method"),
    [
        *(("honest", method) for method in METHODS),
        *(("rebooted", method) for method in (LOG, SHUTDOWN)),
        ("renames", LOG),
    ],
)
def test_the_honest_twin_is_clean(twin: str, method: str, tmp_path: Path) -> None:
    record = record_of(twin, method, tmp_path)
    assert not record["violations"]
    found = outcomes_in(record)
    assert found.get("complete") == found.get("tried")
    if method == FULL:
        assert all(stage["error_reported"] for stage in record["full"])


@pytest.mark.parametrize("name", ["raw", "secret"])
def test_barriers_that_cannot_be_counted_are_unknown(name: str, tmp_path: Path) -> None:
    record = record_of(name, LOG, tmp_path)
    assert not record["violations"]
    assert record["barriers_per_write"] is None


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("defect", ["blind", "owned", "late"])
def test_what_fails_without_a_cut_is_an_error_of_the_driver(
    defect: str, method: str, tmp_path: Path
) -> None:
    (record,) = all_records_of([spec_of(defect, method, tmp_path)], tmp_path)
    assert record["status"] == "error"
    assert record["reason"].startswith("the audit of the intact database: ")
    assert "violations" not in record


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("defect", "level", "commits"),
    [
        ("timid", "durable", "0 commits"),
        ("timid", "buffered", "0 commits"),
        ("shy", "durable", "5 commits"),
    ],
)
def test_what_fails_in_a_small_database_is_an_error_of_the_driver(
    defect: str, level: str, commits: str, method: str, tmp_path: Path
) -> None:
    """A cut leaves such a database, too, and is not to blame."""
    spec = replace(spec_of(defect, method, tmp_path), flags=(f"--durability={level}",))
    (record,) = all_records_of([spec], tmp_path)
    assert record["status"] == "error"
    assert f"(after {commits}: the driver fails without a cut" in record["reason"]


def test_what_fails_in_a_large_database_is_an_error_of_the_driver(
    tmp_path: Path,
) -> None:
    """A stage that fills the disk writes more than any other trial."""
    (record,) = all_records_of([spec_of("vast", FULL, tmp_path)], tmp_path)
    assert record["status"] == "error"
    assert "reading failed: the cursor is not positioned (after" in record["reason"]


@pytest.mark.parametrize("method", [KILL, FULL])
def test_the_machine_runs_on_without_a_cut_of_the_power(
    method: str, tmp_path: Path
) -> None:
    """So what opens only after a reboot opens a second time neither in a control."""
    (record,) = all_records_of([spec_of("rebooted", method, tmp_path)], tmp_path)
    assert record["status"] == "error"
    assert "no boot since the last opening" in record["reason"]


def test_a_lie_is_caught_on_another_file_system(tmp_path: Path) -> None:
    record = record_of("unlisted", LOG, tmp_path, "xfs")
    check_kinds(record, {NEWEST_LOST})
