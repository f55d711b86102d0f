"""An executor that runs the engines of fake_drivers/ in the process of the tests.

Files, flags, environments and answers are those of real processes.  Only what needs a
process (surviving its parent, being killed) is tested with one.  Run as a program, this
module is the kvmatrix command line with this executor.
"""

import contextlib
import io
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO

from scripts.cli import main
from scripts.machine.child_process import PeriodicCall, ProcessResult, Spawner, Stop
from tests.fake_drivers.kinds import driver_of
from tests.fake_drivers.protocol import FakeDriver, Signalled, check_command
from tests.support.quiet_machine import quiet_machine

_LEAST_S = 0.001  # duration of a process: longer than fake engines report for a loop


@dataclass(frozen=True)
class FakeExecutor:
    """An executor that runs fake engines here and other programs as processes."""

    environment: Mapping[str, str]
    stop: Stop = field(default_factory=Stop)
    commands: list[list[str]] = field(default_factory=list)  # that were run

    def with_environment(self, environment: Mapping[str, str]) -> "FakeExecutor":
        """Return the same executor with other variables."""
        return replace(self, environment=environment)

    def run(
        self,
        command: Sequence[str | Path],
        timeout_s: float,
        ticks: Sequence[PeriodicCall] = (),
        stdout: int | IO[bytes] = subprocess.DEVNULL,
    ) -> ProcessResult:
        """Run a command as scripts.machine.child_process.Spawner would."""
        self.stop.check()
        words = [str(word) for word in command]
        self.commands.append(words)
        if words[0] == "sync":
            return ProcessResult("0", 1, "")
        if words[0] == "cp" and Path(words[-2]).exists():
            copy = shutil.copytree if Path(words[-2]).is_dir() else shutil.copy2
            copy(words[-2], words[-1])
            return ProcessResult("0", 1, "")
        driver = self._driver(words)
        if driver and "--check" in words:
            driver, command = None, check_command(words[1:])
        if driver is None:
            return Spawner(self.environment, self.stop).run(
                command, timeout_s, ticks, stdout
            )
        return _served(driver, timeout_s, ticks, stdout)

    def _driver(self, words: Sequence[str]) -> FakeDriver | None:
        """Return the fake engine of a command; None for another program."""
        path = Path(words[0])
        with contextlib.suppress(OSError, UnicodeDecodeError):
            if path.is_file():
                return driver_of(path.read_text(), words, self.environment)
        return None


def _served(
    driver: FakeDriver,
    timeout_s: float,
    ticks: Sequence[PeriodicCall],
    stdout: int | IO[bytes],
) -> ProcessResult:
    """Run a fake engine; return its result as that of a process."""
    started_ns = time.monotonic_ns()
    printed, stderr = io.StringIO(), ""
    try:
        with contextlib.redirect_stdout(printed):
            code = str(driver.main())
    except SystemExit as ended:
        code = str(ended.code)
    except Signalled as death:
        code, stderr = f"signal {int(death.signum)}", death.last_words
    for _ in range(driver.samples):
        for tick in ticks:
            tick.call(os.getpid())
    if not isinstance(stdout, int):
        stdout.write(printed.getvalue().encode())
    time.sleep(_LEAST_S)
    wall_ns = time.monotonic_ns() - started_ns
    return ProcessResult("timeout" if timeout_s <= _LEAST_S else code, wall_ns, stderr)


@dataclass(frozen=True)
class DeadlyExecutor(FakeExecutor):
    """An executor that kills this process with SIGKILL around the Nth program."""

    left: list[int] = field(
        default_factory=list
    )  # programs before the kill; shared by copies
    before: bool = True  # kill before the program, or after it

    def run(
        self,
        command: Sequence[str | Path],
        timeout_s: float,
        ticks: Sequence[PeriodicCall] = (),
        stdout: int | IO[bytes] = subprocess.DEVNULL,
    ) -> ProcessResult:
        """Run a command, unless this process is killed before."""
        self.left[0] -= 1
        if self.left[0] < 0 and self.before:
            os.kill(os.getpid(), signal.SIGKILL)
        outcome = super().run(command, timeout_s, ticks, stdout)
        if self.left[0] < 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return outcome


if __name__ == "__main__":
    main.main(quiet_machine(FakeExecutor))
