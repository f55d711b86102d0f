"""Standard streams that are closed or broken, and Ctrl-C before a run has begun."""

import errno
import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from scripts.machine.child_process import ProcessResult
from scripts.planning import disk_room
from scripts.store import report_file, run_places, run_store
from tests.places import ROOT
from tests.support.command_line import call, copy_commands
from tests.support.fake_executor import FakeExecutor
from tests.support.lab import Lab, make_lab
from tests.support.quiet_machine import quiet_machine

RUN = str(ROOT / "results/20261125-143631-rocksjava")


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    lab = make_lab(tmp_path)
    lab.scenario()
    lab.suite()
    return lab


@pytest.mark.slow
@pytest.mark.parametrize("after", [">&-", "2>&-", "<&- >&- 2>&-", "| true", "|& true"])
@pytest.mark.parametrize(("kind", "code"), [("honest", 0), ("crash", 3)])
def test_closed_and_broken_streams_leave_the_exit_code_alone(
    lab: Lab, after: str, kind: str, code: int
) -> None:
    lab.scenario(benchmarks=("fillrandom",))
    lab.engine("one", kind)
    shell = ["bash", "-c", f'"$@" {after}; exit ${{PIPESTATUS[0]}}', "bash"]
    done = subprocess.run(
        [*shell, *lab.command("run", "lab", "-n", "1")],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    assert len(lab.lines()) == 1


@pytest.mark.parametrize("words", [("list", "suites"), ("--help",)])
def test_a_full_stdout_is_one_line_and_exit_code_2(words: tuple[str, ...]) -> None:
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = subprocess.run(
            [sys.executable, "-m", "scripts.cli.main", *words],
            cwd=ROOT,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
            timeout=60,
        )
    problem = "kvmatrix: stdout: cannot write: No space left on device\n"
    assert (done.returncode, done.stderr) == (2, problem)


def test_an_interrupt_during_start_up_is_one_line() -> None:
    program = """
import sys
class Finder:
    def find_spec(self, name, *_):
        if name == "scripts.cli.verbs":
            raise KeyboardInterrupt
sys.meta_path.insert(0, Finder())
import scripts.cli.main
scripts.cli.main.main()
"""
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (130, "kvmatrix: interrupted\n")


def version_of(program: str) -> subprocess.CompletedProcess[str]:
    """Run a program that starts `kvmatrix --version`."""
    return subprocess.run(
        [sys.executable, "-c", program, "--version"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]


def test_signals_wait_until_python_can_handle_them(tmp_path: Path) -> None:
    """The command line starts Python with signals blocked, wherever that is."""
    scripts = copy_commands(tmp_path, "kvmatrix")
    python = tmp_path / "build/venv/bin/python"
    python.parent.mkdir(parents=True)
    python.write_text("#!/bin/sh\nexec grep SigBlk: /proc/self/status\n")
    python.chmod(0o755)
    said = subprocess.check_output([scripts / "kvmatrix"], text=True, timeout=60)
    blocked = int(said.split()[1], 16)
    assert blocked == sum(1 << (signum - 1) for signum in SIGNALS)


@pytest.mark.parametrize("signum", SIGNALS)
def test_a_signal_before_the_first_line_is_one_sentence(signum: int) -> None:
    program = f"""
import os, signal
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # also under nohup
signal.pthread_sigmask(signal.SIG_BLOCK, {{{int(signum)}}})
os.kill(os.getpid(), {int(signum)})
import scripts.cli.main
scripts.cli.main.main()
"""
    done = version_of(program)
    assert (done.returncode, done.stderr) == (130, "kvmatrix: interrupted\n")


@pytest.mark.parametrize("signum", SIGNALS)
def test_a_signal_after_the_last_line_changes_nothing(signum: int) -> None:
    program = f"""
import atexit, os, signal
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # also under nohup
atexit.register(os.kill, os.getpid(), {int(signum)})
import scripts.cli.main
scripts.cli.main.main()
"""
    done = version_of(program)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("\n") == 1


SWALLOWED = {
    "by a callback": """
class Swallowing:
    def __del__(self):
        signal.raise_signal(signal.SIGTERM)
Swallowing()
while True:
    time.sleep(0.01)
""",
    "by another exception": """
class Wrapping:
    def __set_name__(self, owner, name):
        signal.raise_signal(signal.SIGTERM)
class Owner:
    field = Wrapping()
""",
}


@pytest.mark.parametrize("how", SWALLOWED)
def test_an_interrupt_that_python_hides_is_one_sentence(how: str) -> None:
    code = f"""
import sys, signal, time
class Finder:
    def find_spec(self, name, *_):
        if name == "scripts.cli.verbs":
            exec({SWALLOWED[how]!r}, {{"signal": signal, "time": time}})
sys.meta_path.insert(0, Finder())
import scripts.cli.main
scripts.cli.main.main()
"""
    done = version_of(code)
    assert (done.returncode, done.stderr) == (130, "kvmatrix: interrupted\n")


@pytest.mark.parametrize("verb", ["report", "run", "merge"])
def test_an_interrupt_while_a_report_is_written_is_one_sentence(
    lab: Lab, monkeypatch: pytest.MonkeyPatch, verb: str
) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    lab.engine("one", "honest")
    shard = ("--shard", "1/2") if verb == "merge" else ()
    words = lab.arguments("run", "lab", "-n", "2", *shard)
    if verb != "run":
        assert call(words, quiet_machine(FakeExecutor)).returncode == 0
        results = ["--results-dir", str(lab.results)]
        words = ["report", "@last", *results]
        if verb == "merge":
            words = ["merge", str(lab.run_folder), *results]
    else:
        words.remove("--no-report")
    monkeypatch.setattr(report_file, "write_whole", interrupt)
    done = call(words, quiet_machine(FakeExecutor))
    assert done.returncode == 130, done.stderr
    (line,) = (x for x in done.stderr.splitlines() if x.startswith("kvmatrix: inter"))
    assert "Traceback" not in done.stderr
    assert ("all results are kept" in line) == (verb != "report")


def test_a_second_interrupt_during_the_report_keeps_the_command_to_resume(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    @dataclass(frozen=True)
    class Stopping(FakeExecutor):
        def run(self, *given: Any, **more: Any) -> ProcessResult:
            result = super().run(*given, **more)
            if len(self.commands) == 20:
                self.stop.request()
            return result

    lab.engine("one", "honest")
    words = [w for w in lab.arguments("run", "lab", "-n", "3") if w != "--no-report"]
    monkeypatch.setattr(report_file, "write_whole", interrupt)
    done = call(words, quiet_machine(Stopping))
    assert done.returncode == 130
    name = lab.run_folder.name
    assert f"kvmatrix resume {name}" in done.stderr
    assert "interrupted while the report was written" in done.stderr


@pytest.mark.slow
def test_a_report_that_fails_leaves_the_result_and_ends_with_2(lab: Lab) -> None:
    lab.engine("one", "honest")
    program = """
import sys
import scripts.store.report_file
def load_run(path):
    raise ZeroDivisionError("synthetic")
scripts.store.report_file.load_run = load_run
import scripts.cli.main
scripts.cli.main.main()
"""
    words = lab.arguments("run", "lab", "-n", "1")
    words.remove("--no-report")
    done = subprocess.run(
        [sys.executable, "-c", program, *words],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 2, done.stderr
    assert "results   " in done.stdout and "fillrandom" in done.stdout
    messages = [
        x
        for x in done.stderr.splitlines()
        if x.startswith("kvmatrix: cannot write the report")
    ]
    assert len(messages) == 1 and "ZeroDivisionError: synthetic" in messages[0]
    assert "Traceback" not in done.stderr


def test_a_full_disk_ends_a_run_before_it_begins(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    lab.engine("one", "honest")
    monkeypatch.setattr(disk_room, "free_bytes", lambda _: 0)
    monkeypatch.setattr(run_places, "free_bytes", lambda _: 0)
    done = lab.call("run", "lab", "--dry-run")
    assert done.returncode == 2
    told = f"kvmatrix: the data directory {lab.data} has only 0 B free; free some"
    assert told in done.stderr


def test_full_results_are_named_with_a_remedy(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    lab.engine("one", "honest")

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(run_store, "_write_file", full)
    done = lab.call("run", "lab", "-n", "1")
    assert done.returncode == 2
    told = f"results directory {lab.results}; nothing was measured; free some space"
    assert told in done.stderr
    monkeypatch.undo()
    monkeypatch.setattr(report_file, "write_whole", full)
    words = lab.arguments("run", "lab", "-n", "1")
    words.remove("--no-report")
    done = call(words, quiet_machine(FakeExecutor))
    assert done.returncode == 2
    told = f"cannot write the report: {lab.run_folder}: No space left on device; all"
    assert told in done.stderr and f"kvmatrix report {lab.run_folder}" in done.stderr


@cache
def printed_on_a_terminal_of(columns: str) -> str:
    """Return a table, as wide as a terminal that has this many columns."""
    done = subprocess.run(
        [sys.executable, "-m", "scripts.cli.main", "compare", RUN, RUN],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env={**os.environ, "COLUMNS": columns, "LINES": columns},
    )
    return done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("size", ["0", "-1", "1", "9" * 50, "many", "1e3"])
def test_an_absurd_size_of_the_terminal_hides_nothing(size: str) -> None:
    assert printed_on_a_terminal_of(size) == printed_on_a_terminal_of("80") != ""
