"""A machine where nothing else ever happens, and the command line on it.

What disturbs a measured process is what its fake executable leaves in a file of the
data directory.  As a program: `python -m tests.support.quiet_machine VERB ...`.
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
    """Disturbs as the file says, once."""

    def __init__(self, data_dir: Path) -> None:
        self._marks = data_dir / MARKS

    def snapshot(self) -> None:
        """There is nothing to count."""

    def disturbance(self, *_unused: Any) -> dict[str, Any]:
        """The marks that were left behind, of nothing else."""
        marks = json.loads(self._marks.read_text()) if self._marks.exists() else []
        self._marks.unlink(missing_ok=True)
        return {"wall_ns": 1, "marks": marks}

    def watch(self, pid: int, database: Path) -> "QuietWatch":
        """Watches a process that always weighs the same."""
        return QuietWatch(pid, database)


class QuietWatch:
    """Counts its samples, and says whom it watched."""

    def __init__(self, pid: int, database: Path) -> None:
        self._samples = 0
        self._is_there = Path(f"/proc/{pid}").exists() and database.exists()

    def sample(self) -> None:
        """Looks once."""
        self._samples += 1

    def document(self) -> dict[str, Any]:
        """What was seen."""
        return {"samples": self._samples, "peak_disk_bytes": int(self._is_there)}


class SteadyProbes:
    """Measures nothing: every time is the same."""

    def __init__(self, _folder: Path) -> None:
        pass

    def overwrites_ns(self) -> Sequence[int]:
        """Times of a disk."""
        return [200_000] * 100

    def reads_ns(self) -> Sequence[int]:
        """Times of a disk."""
        return [80_000] * 100

    def work_ns(self, progress: Progress) -> Sequence[int]:
        """Times of an idle processor."""
        progress("noise floor, 1 s to go")
        return [50_000] * 100_000


def quiet_machine(executor: Callable[[Mapping[str, str]], Executor]) -> SystemAccess:
    """Return the outside of such a machine, whose programs are run by an executor."""
    return SystemAccess(
        executor, lambda machine: QuietSurroundings(machine.data_dir), SteadyProbes
    )


if __name__ == "__main__":
    main.main(quiet_machine(Spawner))
