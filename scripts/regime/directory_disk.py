"""A directory that the user names, as the disk of a regime.

Others may use its file system and its device, which count their requests as well.
"""

import os
import shutil
from pathlib import Path

from report.terms import numbers
from scripts.basis.system_programs import run_program
from scripts.regime.loop_device import DiskError
from scripts.regime.regime_disk import Disk


class DirectoryDisk(Disk):
    """A folder of the runner's own, which is removed at the end."""

    def __init__(self, root: Path, stat: Path, size_bytes: int) -> None:
        """`size_bytes` are those of the file system."""
        self._root, self._stat, self.size_bytes = root, stat, size_bytes

    @property
    def root(self) -> Path:
        """The folder in which databases are created."""
        return self._root

    @property
    def stat(self) -> Path:
        """The file with the counters of the device."""
        return self._stat

    def _empty(self) -> None:
        shutil.rmtree(self.root, ignore_errors=True)
        self.root.mkdir(parents=True)

    def _evict(self) -> None:
        evict_files(self.root)

    def close(self) -> None:
        """Remove the folder."""
        shutil.rmtree(self.root, ignore_errors=True)


def evict_files(folder: Path) -> None:
    """Evict the pages of all files below a folder.  Raises DiskError if some stay."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    for path in files:
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(handle)
            os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_DONTNEED)
        finally:
            os.close(handle)
    if pages := sum(map(_cached_bytes, files)):
        problem = f"{numbers.size(pages)} of {folder.name} stay in the page cache"
        raise DiskError(f"{problem}; does another process use the files?")


def _cached_bytes(path: Path) -> int:
    """Return how much of a file is in the page cache: fincore(1) of util-linux.

    Raises DiskError if it cannot tell, or MissingProgram.
    """
    command = ("fincore", "--bytes", "--noheadings", "--output", "RES", str(path))
    done = run_program(command)
    words = done.stdout.split()
    if done.returncode or len(words) != 1 or not words[0].isdecimal():
        problem = done.stderr.strip() or f"it printed {done.stdout!r}"
        what = f"how much of {path.name} is in the page cache"
        raise DiskError(f"fincore cannot tell {what}: {problem}")
    return int(words[0])
