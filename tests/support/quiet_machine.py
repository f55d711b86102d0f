"""A machine on which nothing else runs, and the command line on it.

The only disturbances are those that a fake executable writes to a file in the data
directory.  As a program: `python -m tests.support.quiet_machine VERB ...`.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from scripts.cli import main
from scripts.machine.child_process import Executor, Spawner
from scripts.machine.probes import Progress
from scripts.machine.system_access import SystemAccess

MARKS = "marks.json"  # the marks of the process that ran last


class QuietSurroundings:
    """Surroundings that report the marks of the file MARKS, once."""

    def __init__(self, data_dir: Path) -> None:
        self._marks = data_dir / MARKS

    def snapshot(self) -> None:
        """Do nothing: this machine counts nothing."""

    def disturbance(self, *_unused: Any) -> dict[str, Any]:
        """Return the marks in the file, and remove it."""
        marks = json.loads(self._marks.read_text()) if self._marks.exists() else []
        self._marks.unlink(missing_ok=True)
        return {"wall_ns": 1, "marks": marks}

    def watch(self, pid: int, database: Path) -> "QuietWatch":
        """Return the watch of a process."""
        return QuietWatch(pid, database)


class QuietWatch:
    """A watch that counts its samples, and notes whether process and database exist."""

    def __init__(self, pid: int, database: Path) -> None:
        self._samples = 0
        self._is_there = Path(f"/proc/{pid}").exists() and database.exists()

    def sample(self) -> None:
        """Take a sample."""
        self._samples += 1

    def document(self) -> dict[str, Any]:
        """Return the number of samples and a peak."""
        return {"samples": self._samples, "peak_disk_bytes": int(self._is_there)}


class SteadyProbes:
    """Probes that return constant times."""

    def __init__(self, _folder: Path) -> None:
        pass

    def overwrites_ns(self) -> Sequence[int]:
        """Return constant times of a disk."""
        return [200_000] * 100

    def reads_ns(self) -> Sequence[int]:
        """Return constant times of a disk."""
        return [80_000] * 100

    def work_ns(self, progress: Progress) -> Sequence[int]:
        """Return constant times of an idle processor."""
        progress("noise floor, 1 s to go")
        return [50_000] * 100_000


def quiet_machine(executor: Callable[[Mapping[str, str]], Executor]) -> SystemAccess:
    """Return the system access of this machine, which runs programs by `executor`.

    Its writes can be durable, also in a temporary folder in memory.
    """
    return SystemAccess(
        executor,
        lambda machine: QuietSurroundings(machine.data_dir),
        SteadyProbes,
        not_durable=lambda _machine: "",
    )


if __name__ == "__main__":
    main.main(quiet_machine(Spawner))
