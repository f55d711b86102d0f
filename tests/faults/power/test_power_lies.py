"""Lies about durability, which only a cut of the power or a full disk can show.

The numbers are those of the lying engines in METHODOLOGY's list of faults.
"""

from pathlib import Path
from typing import Any

import pytest

from scripts.durability.laboratory import Laboratory, TrialEnded
from scripts.durability.requisites import requisites
from scripts.machine.child_process import Stop
from scripts.trials.trial_spec import FULL, LOG, SHUTDOWN, TrialSpec
from tests.places import BUILD

pytestmark = pytest.mark.slow
_LIAR = BUILD / "tests/db_bench_liar"
_STATES = {LOG: 120, SHUTDOWN: 8, FULL: 1}


def violations(lie: str, method: str, folder: Path) -> dict[str, Any]:
    """Return the kinds of violations that one trial of a liar finds, and how many."""
    why = requisites((method,), ("ext4",), BUILD / "common/block_log")[method]
    if why:
        pytest.skip(why)
    program = folder / (lie or "honest")  # the liar goes by its name
    program.symlink_to(_LIAR)
    spec = TrialSpec(
        setting="liar/durable",
        engine="liar",
        method=method,
        fs="ext4",
        recording=0,
        states=_STATES[method],
        seed=7,
        executable=str(program),
        block_log=str(BUILD / "common/block_log"),
        flags=("--durability=durable",),
        timeout_s=60.0,
        reproducers="",
        folder="",
        phases="first:5,single:40,batch:4,growth:10,close:10",
    )
    for event in Laboratory(folder, Stop(), 1).events([spec]):
        if isinstance(event, TrialEnded):
            assert event.record["status"] == "ok", event.record["reason"]
            return {v["kind"]: v["count"] for v in event.record["violations"]}
    raise AssertionError("the trial did not end")


@pytest.mark.parametrize("method", [LOG, SHUTDOWN, FULL])
def test_the_honest_engine_is_clean(method: str, tmp_path: Path) -> None:
    """The same engine, without a lie."""
    assert violations("", method, tmp_path) == {}


@pytest.mark.parametrize("lie", ["never", "seldom", "elsewhere"])
def test_a_commit_that_was_not_synchronised_is_lost(lie: str, tmp_path: Path) -> None:
    """M13 never, M14 one commit in five, M15 the wrong file."""
    found = violations(lie, LOG, tmp_path)
    assert found.keys() & {"newest_lost", "unreadable", "torn_batch"}


def test_a_commit_after_the_disk_is_gone_is_no_commit(tmp_path: Path) -> None:
    """M20: the error of the disk is swallowed."""
    assert "without_disk" in violations("deaf", SHUTDOWN, tmp_path)


def test_a_commit_on_a_full_disk_is_no_commit(tmp_path: Path) -> None:
    """M19: the error of the full disk is swallowed."""
    found = violations("deaf", FULL, tmp_path)
    assert found.keys() & {"full_disk_wrong", "full_disk_unreadable"}
