"""Engines that hang, crash or answer with nonsense in a trial, and disks that are full.

Each is a finding or an error of its trial, with a reason; never a hang or a traceback.
"""

import subprocess
from pathlib import Path
from typing import Any

import pytest

from scripts.durability import durability_session, laboratory
from scripts.trials.trial_spec import FULL
from tests.durability.crash_lab import make_crash_lab, passport, run_folders, trials
from tests.places import PATIENCE_S, ROOT
from tests.support.command_line import CommandResult
from tests.support.lab import Lab
from tests.support.one_trial import skip_unless_possible

# What the only trial of each kind of engine has found: an outcome, or why it failed.
FINDINGS = {
    "crash_tested": "complete",
    "crashes_in_recovery": "unreadable: the process that opened it: killed by SIGSEGV:"
    " last words",
    "audits_in_nonsense": "unreadable: the process that opened it: gave no answer",
    "loses_the_newest": "newest_lost: ",
    "fails_in_audit": "error: the audit failed (exit code 1): the trace is unreadable",
    "writes_nothing": "error: the writer did not open the database: cannot open it",
    "traces_nonsense": "error: trace: not a trace of a crash test, format 1",
    "is_unable": "unsupported: it has no such level",
    "promises_nonsense": "error: the answers of the engine: documented.promise: 'the m",
    "ends_in_midair": "error: the writer failed on a good disk (",
    "fails_in_midair": "error: the writer failed on a good disk (exit code 1)",
}
INTACT = "the audit of the intact database: "
# Engines that fail without a crash, and what the audit of the control calls it.
BROKEN_WITHOUT_A_CRASH = {
    "scans_nothing": "unreadable: reading failed: a scan finds 0 entries",
    "cannot_reopen": "unreadable: opening failed: locked",
    "always_loses_the_newest": "newest lost: ",
    "reads_foreign_values": "wrong: ",
    "writes_once": "unwritable: ",
    "audits_another_trace": "another trace: ",
    "crashes_at_every_opening": "unreadable: the process that opened it: killed by SIG",
    "always_audits_in_nonsense": "unreadable: the process that opened it: gave no answ",
}
FINDINGS |= {k: f"error: {INTACT}{v}" for k, v in BROKEN_WITHOUT_A_CRASH.items()}


def finding(trial: dict[str, Any]) -> str:
    """Return what a trial with one outcome has found."""
    if trial["status"] != "ok":
        return f"{trial['status']}: {trial['reason']}"
    (row,) = trial["states"].values()
    (outcome,) = (name for name, count in row.items() if count and name != "tried")
    details = [f"{v['kind']}: {v['detail']}" for v in trial["violations"]]
    assert len(details) == (outcome != "complete")
    return details[0] if details else outcome


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> tuple[Lab, CommandResult]:
    """Return a lab in which each kind of engine has had its trial."""
    lab = make_crash_lab(tmp_path_factory.mktemp("engines"), *FINDINGS, kills=1)
    return lab, lab.call("durability", "tiny")


@pytest.mark.parametrize("kind", FINDINGS)
def test_what_an_engine_does_is_a_finding_or_an_error_with_a_reason(
    ended: tuple[Lab, CommandResult], kind: str
) -> None:
    lab, _ = ended
    (trial,) = (t for t in trials(lab) if t["engine"] == kind.replace("_", "-"))
    assert finding(trial).startswith(FINDINGS[kind])


def test_failed_trials_end_with_3_and_say_how_to_continue(
    ended: tuple[Lab, CommandResult],
) -> None:
    lab, done = ended
    assert done.returncode == 3
    assert "some trials failed; what was tried is kept; continue with:" in done.stderr
    assert f"kvmatrix resume {run_folders(lab)[0].name}" in done.stderr
    assert "Traceback" not in done.stderr
    assert len(passport(lab)["settings"]) == len(FINDINGS)
    assert not lab.data_files()


def test_an_engine_that_fails_without_a_crash_breaks_no_promise(
    ended: tuple[Lab, CommandResult],
) -> None:
    """It has no violation, no states and no class that was found by trying."""
    lab, _ = ended
    broken = {kind.replace("_", "-") for kind in BROKEN_WITHOUT_A_CRASH}
    rows = [row for row in passport(lab)["settings"] if row["engine"] in broken]
    assert len(rows) == len(broken)
    for row in rows:
        assert not row["violations"] and not row["states"]
        assert row["proof"] == {"kind": "not tried", "states": 0}
        assert row["found"] == {"class": "", "may_be_corrupt": None}
        (reason,) = row["not_tried"]
        assert reason.startswith(INTACT)


@pytest.mark.parametrize(
    ("kind", "found"),
    [
        ("hangs_in_recovery", "unreadable: the process that opened it: did not end wi"),
        ("hangs_at_every_opening", f"error: {INTACT}unreadable: the process that open"),
        ("hangs_at_opening", "error: the writer did not open the database: it printed"),
    ],
)
def test_an_engine_that_hangs_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, found: str
) -> None:
    monkeypatch.setattr(durability_session, "TRIAL_TIMEOUT_S", 0.5)
    lab = make_crash_lab(tmp_path, kind, kills=1)
    done = lab.call("durability", "tiny")
    assert "Traceback" not in done.stderr
    (trial,) = trials(lab)
    assert finding(trial).startswith(found)


def test_a_worker_that_is_stuck_is_ended_by_the_watchdog(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(durability_session, "TRIAL_TIMEOUT_S", 0.05)
    monkeypatch.setattr(laboratory, "_command", lambda _: ["sleep", "3600"])
    lab = make_crash_lab(tmp_path, "crash_tested")
    done = lab.call("durability", "tiny")
    assert done.returncode == 3
    (trial,) = trials(lab)
    assert finding(trial) == "error: the worker was stuck and was killed"


def test_a_worker_that_dies_is_an_error_with_its_last_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ["sh", "-c", "echo 'no module' >&2; kill -9 $$"]
    monkeypatch.setattr(laboratory, "_command", lambda _: words)
    lab = make_crash_lab(tmp_path, "crash_tested")
    assert lab.call("durability", "tiny").returncode == 3
    (trial,) = trials(lab)
    assert finding(trial) == "error: the worker ended with -9: no module"


def on_a_small_disk(lab: Lab, folder: Path, size: str) -> CommandResult:
    """Run a lab's suite with `folder` on a disk that only that process sees."""
    skip_unless_possible(FULL)
    script = 'mount -t tmpfs -o "size=$1" tmpfs "$2" && shift 2 && exec "$@"'
    done = subprocess.run(
        [
            *("unshare", "--mount", "--propagation", "private"),
            *("sh", "-c", script, "sh", size, str(folder)),
            *lab.command("durability", "tiny"),
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    return CommandResult(done.returncode, done.stdout, done.stderr)


@pytest.mark.slow
@pytest.mark.parametrize("size", ["4k", "8k", "12k"])  # for the plan, a line, the rest
def test_a_full_results_disk_is_named(tmp_path: Path, size: str) -> None:
    lab = make_crash_lab(tmp_path, "crash_tested", kills=1)
    lab.results.mkdir()
    done = on_a_small_disk(lab, lab.results, size)
    assert done.returncode in (2, 3), done.stderr
    assert "no space left" in done.stderr.lower() and "free some" in done.stderr
    assert "Traceback" not in done.stderr
    assert not lab.data_files()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("size", "code", "words"),
    [
        ("8m", 2, "free; free some space, or choose another with --data-dir"),
        ("24m", 3, "the writer did not open the database: no space left"),
    ],
)
def test_a_full_data_disk_is_named(
    tmp_path: Path, size: str, code: int, words: str
) -> None:
    lab = make_crash_lab(tmp_path, "fills_the_disk", kills=1)
    done = on_a_small_disk(lab, lab.data, size)
    assert done.returncode == code, done.stderr
    assert words in done.stderr
