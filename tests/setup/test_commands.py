"""Programs that the set-up starts end with it, however it ends."""

import io
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from scripts.basis.commands import CommandHeartbeat, call, run_logged
from scripts.basis.problem import SetupError
from scripts.basis.setup_screen import Screen
from tests.places import PATIENCE_S, ROOT
from tests.support.command_line import copy_commands
from tests.support.lab import is_alive, wait_for_number

_MAIN = """
import sys
from scripts.basis import commands
commands._PATIENCE_S = float(sys.argv[1])
commands.run_program("scripts/fake", lambda: commands.call(sys.argv[2:]))
"""
DEAF = "trap '' INT; sleep 1000 & echo $! > pid; wait"
POLITE = "trap 'echo > tidied; exit' INT; sleep 1000 & echo $! > pid; wait"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize(
    ("shell", "patience_s"), [(DEAF, 0.1), (POLITE, PATIENCE_S)], ids=["deaf", "polite"]
)
def test_an_interrupt_is_one_line_and_leaves_nothing_running(
    number: signal.Signals, shell: str, patience_s: float, tmp_path: Path
) -> None:
    command = [sys.executable, "-c", _MAIN, str(patience_s), "sh", "-c", shell]
    program = subprocess.Popen(
        command,
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stderr=subprocess.PIPE,
        text=True,
    )
    sleeping = wait_for_number(tmp_path / "pid", program)
    program.send_signal(number)
    _, error_text = program.communicate(timeout=PATIENCE_S)
    assert program.returncode == 130
    assert error_text == "scripts/fake: interrupted\n"
    assert (tmp_path / "tidied").exists() == (shell == POLITE)
    ends_s = time.monotonic() + PATIENCE_S
    while is_alive(sleeping) and time.monotonic() < ends_s:
        time.sleep(0.01)
    assert not is_alive(sleeping)


def test_an_interrupt_ends_what_a_shell_runs_in_the_background(tmp_path: Path) -> None:
    """A shell without job control has SIGINT ignored for that."""
    program = "import sys; from scripts.basis.commands import run_program; "
    program += "run_program('x', lambda: print(flush=True) or sys.stdin.readline())"
    ignoring = ["sh", "-c", "trap '' INT; exec \"$@\"", "sh"]
    started = subprocess.Popen(
        [*ignoring, sys.executable, "-c", program],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert started.stdout and started.stdout.readline()
    started.send_signal(signal.SIGINT)
    try:
        started.wait(PATIENCE_S)
    finally:
        started.kill()
    _, errors = started.communicate()
    assert (started.returncode, errors) == (130, "x: interrupted\n")


_ENDED = """
import signal, subprocess
def test_ended():
    assert signal.getsignal(signal.SIGINT) == signal.default_int_handler
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):
        child = subprocess.Popen(["sleep", "100"])
        child.send_signal(number)
        assert child.wait(60) == -number
"""


def test_tests_that_nohup_runs_can_end_what_they_start(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(_ENDED)
    plugins = ("-p", "tests.dispositions", "-p", "no:cacheprovider")
    pytest_here = [sys.executable, "-m", "pytest", *plugins, f"--rootdir={tmp_path}"]
    deaf = ["sh", "-c", "trap '' HUP INT QUIT; exec \"$@\"", "sh"]
    done = subprocess.run([*deaf, *pytest_here, tmp_path], cwd=ROOT, check=False)
    assert done.returncode == 0


CHANGING = (
    *("CFLAGS", "CXXFLAGS", "CPPFLAGS", "LDFLAGS", "MAKEFLAGS", "CPATH"),
    *("CMAKE_PREFIX_PATH", "CMAKE_BUILD_TYPE", "CMAKE_TOOLCHAIN_FILE", "DESTDIR"),
    *("CPLUS_INCLUDE_PATH", "LIBRARY_PATH", "GCC_EXEC_PREFIX", "TAR_OPTIONS"),
    *("RUSTFLAGS", "CARGO_PROFILE_RELEASE_OPT_LEVEL", "GOFLAGS", "CGO_CFLAGS"),
    *("GOAMD64", "JAVA_TOOL_OPTIONS", "JDK_JAVAC_OPTIONS", "CLASSPATH"),
    *("PIP_TARGET", "PIP_USER", "PIP_PREFIX", "PIP_CONSTRAINT", "PIP_DRY_RUN"),
)
NEEDED = (
    *("PATH", "HOME", "CC", "CXX", "JAVA_HOME", "CCACHE_DIR", "CARGO_HOME"),
    *("http_proxy", "PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_CERT"),
    *("PIP_CACHE_DIR", "PIP_TRUSTED_HOST", "GOPROXY", "SSL_CERT_FILE"),
)


def test_what_the_set_up_runs_gets_no_variable_that_changes_what_is_built(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in (*CHANGING, *NEEDED):
        monkeypatch.setenv(name, os.environ.get(name, "x"))
    run_logged(["env"], tmp_path / "log", cwd=tmp_path)
    names = {
        line.partition("=")[0] for line in (tmp_path / "log").read_text().splitlines()
    }
    assert not names & {*CHANGING}
    assert {*NEEDED} <= names
    run_logged(["env"], tmp_path / "own", cwd=tmp_path, env={"CFLAGS": "-O2"})
    assert "CFLAGS=-O2" in (tmp_path / "own").read_text()


def test_the_exit_status_is_that_of_the_program() -> None:
    assert call(["sh", "-c", "exit 3"]) == 3
    assert call(["sh", "-c", "kill -9 $$"]) == -9


def test_an_interrupt_while_a_program_starts_leaves_nothing_running(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    started: list[int] = []
    start = subprocess.Popen.__init__

    def interrupted(self: subprocess.Popen[bytes], *args: Any, **options: Any) -> None:
        start(self, *args, **options)
        started.append(self.pid)
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(subprocess.Popen, "__init__", interrupted)
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            call(["sleep", "1000"])
    finally:
        signal.signal(signal.SIGINT, handler)
    assert not is_alive(started[0])


def test_a_program_that_cannot_run_is_named(tmp_path: Path) -> None:
    program, log = tmp_path / "program", tmp_path / "log"
    with pytest.raises(SetupError, match=f"^{program} is not installed$"):
        run_logged([str(program)], log, cwd=tmp_path)
    program.write_text("neither a script nor an executable")
    program.chmod(0o755)
    with pytest.raises(SetupError, match=f"^{program} cannot run: Exec format error$"):
        run_logged([str(program)], log, cwd=tmp_path)
    with pytest.raises(FileNotFoundError, match="nowhere"):
        run_logged(["true"], log, cwd=tmp_path / "nowhere")


def test_a_program_that_fails_on_a_full_disk_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(SetupError, match="status 1") as failed:
        run_logged(["false"], tmp_path / "log", cwd=tmp_path)
    assert "full" not in str(failed.value)
    usage = shutil.disk_usage(tmp_path)._replace(free=0)
    monkeypatch.setattr("shutil.disk_usage", lambda _: usage)
    with pytest.raises(SetupError, match=f"The file system of {tmp_path} is full"):
        run_logged(["false"], tmp_path / "log", cwd=tmp_path)


def test_an_error_that_cannot_be_printed_is_exit_code_2() -> None:
    program = "from scripts.basis import commands\n"
    program += "def main(): raise OSError\ncommands.run_program('x', main)"
    with open("/dev/full", "w") as full:
        words = [sys.executable, "-c", program]
        assert subprocess.run(words, cwd=ROOT, stderr=full).returncode == 2


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


_NINJA = """
echo "[1/8] Building a"; echo "[6/8] Building b"
while [ ! -e shown ]; do sleep 0.01; done
"""


@pytest.mark.parametrize(
    ("out", "line", "interval_s"),
    [
        (io.StringIO(), "Building it: 6 of 8 (75 %), 0 s so far\n", 30.0),
        (Terminal(), "\r\x1b[2KBuilding it: 6 of 8 (75 %), 0 s so far", 0.5),
    ],
    ids=["pipe", "terminal"],
)
def test_a_build_shows_its_progress(
    out: io.StringIO, line: str, interval_s: float, tmp_path: Path
) -> None:
    screen, log = Screen(out), tmp_path / "build.log"
    with screen.step("Building it"):
        progress = screen.build_progress("Building it", log)

        def beat() -> None:
            if "\n[6/8]" in log.read_text():
                progress.beat()
                (tmp_path / "shown").touch()

        assert progress.interval_s == interval_s
        run_logged(
            ["sh", "-c", _NINJA], log, cwd=tmp_path, heartbeat=CommandHeartbeat(0, beat)
        )
    shown = re.sub(r"\d+ s so far", "0 s so far", out.getvalue())
    first, rest = shown.split("\n", 1)
    assert first == "Building it ..."
    assert rest.startswith(line)
    end = rest.replace(line, "")
    assert end.removeprefix("\r\x1b[2K").startswith("Building it: done in ")
    assert end.startswith("\r") == out.isatty()


def test_a_build_without_counts_still_shows_its_time(tmp_path: Path) -> None:
    out = io.StringIO()
    Screen(out).build_progress("Building it", tmp_path / "none").beat()
    assert out.getvalue() == "Building it: 0 s so far\n"
    Screen(out, quiet=True).build_progress("Building it", tmp_path / "none").beat()
    assert out.getvalue().count("\n") == 1


@pytest.mark.parametrize(
    ("python", "message"),
    [(None, "not set up yet; run"), ("/nowhere/python3", "its Python has moved")],
)
def test_kvmatrix_without_its_python_names_the_remedy(
    tmp_path: Path, python: str | None, message: str
) -> None:
    script = copy_commands(tmp_path, "kvmatrix") / "kvmatrix"
    (tmp_path / "build/venv/bin").mkdir(parents=True)
    if python:
        (tmp_path / "build/venv/bin/python").symlink_to(python)
    done = subprocess.run(["bash", script, "list"], capture_output=True, text=True)
    assert done.returncode == 2
    assert message in done.stderr and "scripts/setup" in done.stderr
