"""The disk of a regime: a folder, the counters of its device, and how to evict it."""

import os
import time
from abc import ABC, abstractmethod
from pathlib import Path

# The folder of the runner, where it is not alone.
FOLDER = ".kvmatrix-device"
_QUIET_S, _LONGEST_WAIT_S, _POLL_S = 0.2, 10.0, 0.02


class Disk(ABC):
    """A disk on which the databases of cells are created, one after the other."""

    size_bytes: int
    _bytes_when_empty: int = 0

    @property
    @abstractmethod
    def root(self) -> Path:
        """The folder in which databases are created."""

    @property
    @abstractmethod
    def stat(self) -> Path:
        """The file with its counters: Documentation/block/stat.rst of Linux."""

    @abstractmethod
    def _empty(self) -> None:
        """Make `root` an empty folder.  Raises DiskError."""

    @abstractmethod
    def _evict(self) -> None:
        """Evict everything that is in `root`.  Raises DiskError."""

    @abstractmethod
    def close(self) -> None:
        """Remove what was made."""

    def clear(self) -> None:
        """Make `root` an empty folder.  Raises DiskError."""
        self._empty()
        self._bytes_when_empty = self._all_used_bytes()

    def evict(self) -> None:
        """Evict everything that is in `root`; wait until the disk is idle.

        Raises DiskError.
        """
        self._evict()
        _wait_until_idle(self.stat)

    def used_bytes(self) -> int:
        """Return the bytes in use since it was empty, deleted open files included."""
        return max(0, self._all_used_bytes() - self._bytes_when_empty)

    @property
    def is_full(self) -> bool:
        """True if less than a 64th of it is free."""
        stat = os.statvfs(self.root)
        return stat.f_bavail * stat.f_frsize <= self.size_bytes // 64

    def _all_used_bytes(self) -> int:
        stat = os.statvfs(self.root)
        return (stat.f_blocks - stat.f_bfree) * stat.f_frsize


def _wait_until_idle(stat: Path) -> None:
    """Wait until a device has done nothing for a while, or for ten seconds."""
    began_s = changed_s = time.monotonic()
    last = stat.read_text()
    while (now_s := time.monotonic()) - changed_s < _QUIET_S:
        if now_s - began_s > _LONGEST_WAIT_S:
            break
        time.sleep(_POLL_S)
        if (counters := stat.read_text()) != last:
            last, changed_s = counters, time.monotonic()
