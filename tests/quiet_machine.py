"""The kvmatrix command line on a machine where nothing else ever happens.

A script, so that the packages are those of the current directory.  What disturbs a
measured process is what its fake executable leaves in a file of the data directory.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

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


def main() -> None:
    """Runs the command line."""
    sys.path[0] = os.getcwd()
    from scripts import cli, session

    session.surroundings_of = lambda machine: QuietSurroundings(machine.data_dir)
    cli.main()


if __name__ == "__main__":
    main()
