"""Jobs of a fleet on this machine, as calls within the process of the tests.

Whatever command line a job has is run by the command line of the tests, on a quiet
machine; what it prints is in its log, as that of a process.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest

from scripts.fleet import fleet_control
from scripts.machine.system_access import SystemAccess
from tests.support.command_line import CommandResult, call
from tests.support.fake_executor import FakeExecutor
from tests.support.quiet_machine import quiet_machine

_PROGRAM = "scripts/kvmatrix"


def _program_in(words: Sequence[str]) -> int:
    return next((i for i, word in enumerate(words) if word.endswith(_PROGRAM)), -1)


class _JobInProcess:
    """A process that has ended when it begins."""

    def __init__(self, command: Sequence[str], stdout: Any, **_unused: Any) -> None:
        words = [str(word) for word in command]
        at = _program_in(words)
        done = call(words[at + 1 :], self.system)
        self.said = f"{done.stdout}{done.stderr}".encode()
        os.write(stdout if isinstance(stdout, int) else stdout.fileno(), self.said)

    system: SystemAccess

    def poll(self) -> int:
        """Return the exit code."""
        return 0

    def wait(self, _timeout: float | None = None) -> int:
        """Return the exit code."""
        return 0

    def send_signal(self, _signum: int) -> None:
        """Do nothing: it has ended."""


@contextmanager
def in_process(
    system: SystemAccess | None = None,
) -> Iterator[Callable[[Sequence[str]], CommandResult]]:
    """Yield what runs a command; the jobs that it starts run in this process."""
    access = system or quiet_machine(FakeExecutor)

    real = subprocess.Popen

    class Job(_JobInProcess):
        system = access

    class Opened:
        """Popen, except for the jobs."""

        def __new__(cls, command: Any, *given: Any, **options: Any) -> Any:
            is_job = isinstance(command, list | tuple)
            if is_job and _program_in([*map(str, command)]) >= 0:
                return Job(command, **options)
            return real(command, *given, **options)

        def __class_getitem__(cls, _item: Any) -> Any:
            return cls

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(subprocess, "Popen", Opened)
        patch.setattr(fleet_control, "PERIOD_S", 0.0)
        yield lambda words: call(words, access)
