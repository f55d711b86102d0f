"""The regime of a scenario: how much memory its processes get, and which disk."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from report.terms import numbers

WARM, COLD = "warm", "cold"
CACHES = (WARM, COLD)
LOOP = "loop"  # a disk of its own, a file on a loop device
# What a command names instead of the file, whose size and file system it has then.
BLOCK, DIRECTORY = "block", "directory"
FILE_SYSTEMS = ("ext4", "xfs")
DEFAULT_READ_AHEAD_BYTES = 128 << 10  # the kernel's default for a disk
# The windows at the end of a loop that show a steady state; in each, the data are
# rewritten at least once.
STEADY_WINDOWS = 5
_DISKS = {
    LOOP: "a disk of its own",
    BLOCK: "a block device of its own",
    DIRECTORY: "a directory on a disk that counts the requests of others as well",
}


@dataclass(frozen=True)
class Regime:
    """The memory and the disk of the measured processes of a scenario."""

    cache: str = WARM  # of the files when the process opens them: one of CACHES
    memory_limit_bytes: int = 0  # anonymous memory and page cache together; 0: none
    device: str = ""  # LOOP, BLOCK or DIRECTORY; "": the data directory
    device_bytes: int = 0  # size of the device, or of the directory's file system
    file_system: str = ""  # one of FILE_SYSTEMS; of a directory, any
    read_ahead_bytes: int = 0  # of the device
    steady: bool = False  # whether cells are ranked only once they are steady

    @classmethod
    def of(cls, document: Mapping[str, Any] | None) -> Regime | None:
        """Return the regime in a document; None without one."""
        return None if document is None else cls(**document)

    def document(self) -> dict[str, Any]:
        """Return its document."""
        return asdict(self)

    @property
    def text(self) -> str:
        """What a process has, in words."""
        parts = []
        if self.memory_limit_bytes:
            limit = numbers.size(self.memory_limit_bytes)
            parts.append(f"{limit} of memory, page cache included")
        if self.device:
            parts.append(self.disk_text)
        cold = "nothing in the page cache when it opens the database"
        parts.append(cold if self.cache == COLD else "a warm page cache")
        return f"{', '.join(parts[:-1])} and {parts[-1]}" if parts[1:] else parts[0]

    @property
    def disk_text(self) -> str:
        """The disk in words.  REQUIRES: it has one."""
        size = numbers.size(self.device_bytes)
        ahead = numbers.size(self.read_ahead_bytes)
        facts = f"{size}, {self.file_system}, read-ahead {ahead}"
        return f"{_DISKS[self.device]} ({facts})"
