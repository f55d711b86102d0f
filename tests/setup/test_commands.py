"""Programs that the set-up starts end with it, however it ends."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from scripts.provision.commands import call
from tests.places import PATIENCE_S, ROOT
from tests.support.lab import is_alive, wait_for_number

_MAIN = """
import signal, sys
from scripts.provision import commands
signal.signal(signal.SIGINT, signal.default_int_handler)  # nohup may ignore it
signal.signal(signal.SIGHUP, signal.SIG_DFL)
commands._PATIENCE_S = float(sys.argv[1])
commands.run_program("scripts/made-up", lambda: commands.call(sys.argv[2:]))
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
    _, said = program.communicate(timeout=PATIENCE_S)
    assert program.returncode == 130
    assert said == "scripts/made-up: interrupted\n"
    assert (tmp_path / "tidied").exists() == (shell == POLITE)
    ends_s = time.monotonic() + PATIENCE_S
    while is_alive(sleeping) and time.monotonic() < ends_s:
        time.sleep(0.01)
    assert not is_alive(sleeping)


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
    # A shell starts what it runs in the background with interrupts ignored.
    kept = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            call(["sleep", "1000"])
    finally:
        signal.signal(signal.SIGINT, kept)
    assert not is_alive(started[0])
