"""Child processes: their end, what is recorded of them, and that nothing survives."""

import os
import signal
import subprocess
from pathlib import Path

import pytest

from scripts.machine.child_process import (
    REPORTER,
    STDERR_TAIL_BYTES,
    Interrupted,
    PeriodicCall,
    ProcessResult,
    Spawner,
    Stop,
)
from tests.places import PATIENCE_S
from tests.support.lab import is_alive

PATH = {"PATH": "/usr/bin:/bin"}
NAMED_AS_REPORTER = f"echo {REPORTER} >/proc/$$/comm"
LIMITS_S = (0.5, 5.0, 50.0, 500.0)  # a busy machine may need more to start a process


def shell(
    script: str, timeout_s: float = PATIENCE_S, *ticks: PeriodicCall
) -> ProcessResult:
    return Spawner(PATH).run(("sh", "-c", script), timeout_s, ticks)


@pytest.mark.parametrize(
    ("script", "exit"),
    [("true", "0"), ("exit 3", "3"), ("kill -ABRT $$", "signal 6")],
)
def test_the_end_of_a_child_is_reported(script: str, exit: str) -> None:
    outcome = shell(script)
    assert (outcome.exit, outcome.left_behind, outcome.timed_out) == (exit, 0, False)


def test_a_child_gets_exactly_the_given_environment(tmp_path: Path) -> None:
    spawner = Spawner({**PATH, "WORD": "one"})
    for executor, word in (
        (spawner, "WORD=one"),
        (spawner.with_environment({**PATH, "WORD": "two"}), "WORD=two"),
    ):
        with (tmp_path / "out").open("wb") as out:
            executor.run(("env",), PATIENCE_S, stdout=out)
        lines = (tmp_path / "out").read_text().splitlines()
        assert set(lines) - {"PWD=" + str(Path.cwd())} == {"PATH=/usr/bin:/bin", word}


def test_the_end_of_stderr_is_kept() -> None:
    outcome = shell(r"seq 3000 >&2; printf 'x\377' >&2")
    assert outcome.stderr_tail.endswith("2999\n3000\nx\N{REPLACEMENT CHARACTER}")
    assert len(outcome.stderr_tail.encode()) <= STDERR_TAIL_BYTES + 2


def test_a_child_that_ignores_signals_is_killed_with_its_children(
    tmp_path: Path,
) -> None:
    pid = tmp_path / "pid"
    script = f"trap '' TERM; sleep 3600 & echo $! >{pid}; wait; sleep 3600"
    for limit_s in LIMITS_S:
        outcome = shell(script, limit_s)
        assert outcome.timed_out
        if pid.exists() and pid.read_text().endswith("\n"):
            break
    assert not is_alive(int(pid.read_text()))


def test_processes_that_left_the_session_are_killed_and_counted(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    # The shell ends once its grandchild, in another session, has written its pid.
    leave = f"setsid sh -c 'echo $$ >{pid}; exec sleep 3600' &"
    outcome = shell(f"{leave} until [ -s {pid} ]; do sleep 0.01; done")
    was_alive = is_alive(int(pid.read_text()))
    if was_alive:
        os.kill(int(pid.read_text()), signal.SIGKILL)
    assert (outcome.exit, outcome.left_behind, was_alive) == ("0", 1, False)


def test_the_reporter_of_a_killed_child_may_end_after_it(tmp_path: Path) -> None:
    report = tmp_path / "report"
    reporter = f"(sleep 0.5; echo dead >{report})"
    command = ("sh", "-c", f"{NAMED_AS_REPORTER}; {reporter} & kill -9 $$")
    outcome = Spawner(PATH).run(command, PATIENCE_S)
    assert (outcome.exit, outcome.left_behind) == ("signal 9", 0)
    assert report.read_text() == "dead\n"


@pytest.mark.slow
def test_a_reporter_that_does_not_end_is_killed_and_counted() -> None:
    reporter = "(sleep 3600; true)"
    command = ("sh", "-c", f"{NAMED_AS_REPORTER}; {reporter} & kill -9 $$")
    outcome = Spawner(PATH).run(command, 5.0)
    assert (outcome.exit, outcome.left_behind) == ("signal 9", 2)  # and its sleep


def test_a_stop_ends_the_child_and_refuses_the_next() -> None:
    spawner, seen = Spawner(PATH), list[int]()

    def stop(pid: int) -> None:
        seen.append(pid)
        spawner.stop.request(signal.SIGTERM)

    with pytest.raises(Interrupted):
        spawner.run(("sleep", "3600"), PATIENCE_S, (PeriodicCall(stop, 0.01),))
    assert len(seen) == 1 and not is_alive(seen[0])
    with pytest.raises(Interrupted):
        spawner.run(("true",), PATIENCE_S)
    with pytest.raises(Interrupted):  # whatever its environment is
        spawner.with_environment({}).run(("true",), PATIENCE_S)


def test_processes_of_others_are_not_killed() -> None:
    stranger = subprocess.Popen(["sleep", "3600"], start_new_session=True)
    try:
        assert shell("true").left_behind == 0
        assert stranger.poll() is None
    finally:
        stranger.kill()
        stranger.wait()


@pytest.mark.parametrize("signum", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_request_that_nothing_noticed_interrupts_at_the_end(signum: int) -> None:
    with pytest.raises(Interrupted), Stop().on_signals():
        signal.raise_signal(signum)
    with Stop().on_signals():
        pass


def test_a_request_that_was_noticed_interrupts_once() -> None:
    stop = Stop()
    with stop.on_signals():
        signal.raise_signal(signal.SIGINT)
        with pytest.raises(Interrupted):
            stop.check()
