"""The course of a process with a regime: operations, its disk and its memory.

All columns of one sample are read within a fraction of a millisecond, so that windows
of operations can be compared with what the disk did meanwhile.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from scripts.regime.loop_device import disk_counts
from scripts.regime.memory_group import MemoryGroup
from scripts.regime.regime_disk import Disk

MOST_POINTS = 256
COLUMNS = (
    "elapsed_ns",  # since the first sample
    "ops",
    "device_read_bytes",
    "device_written_bytes",
    "disk_bytes",  # in use on the disk, deleted files that are open included
    "anonymous_bytes",
    "page_cache_bytes",
)


_Memory = tuple[int | None, int | None]  # anonymous memory and page cache


@dataclass(frozen=True)
class Watched:
    """What a regime gives a process: a disk, or none, and a memory group, or none."""

    disk: Disk | None
    group: MemoryGroup | None


class Course:
    """The samples of one process; call sample() ten times a second.

    At most MOST_POINTS are kept: when there are more, every second one is dropped, and
    from then on only every second sample is kept, and so on.
    """

    def __init__(
        self,
        watched: Watched,
        operations: Callable[[], int],
        clock_ns: Callable[[], int] = time.monotonic_ns,
    ) -> None:
        self._watched, self._operations, self._clock_ns = watched, operations, clock_ns
        self._points: list[tuple[int | None, ...]] = []
        self._stride, self._samples, self._began_ns = 1, 0, 0
        self._peaks: _Memory = (None, None)

    def sample(self) -> None:
        """Take one sample."""
        now_ns = self._clock_ns()
        self._began_ns = self._began_ns or now_ns
        memory = self._memory()
        self._peaks = (
            _most(self._peaks[0], memory[0]),
            _most(self._peaks[1], memory[1]),
        )
        self._samples += 1
        if (self._samples - 1) % self._stride:
            return
        elapsed_ns = now_ns - self._began_ns
        disk = self._disk()
        self._points.append((elapsed_ns, self._operations(), *disk, *memory))
        if len(self._points) > MOST_POINTS:
            self._points = self._points[::2]
            self._stride *= 2

    def _disk(self) -> tuple[int | None, int | None, int | None]:
        disk = self._watched.disk
        counts = disk_counts(disk.stat.read_text()) if disk else None
        if not disk or not counts:
            return None, None, None
        return counts.read_bytes, counts.written_bytes, disk.used_bytes()

    def _memory(self) -> _Memory:
        memory = self._watched.group.memory if self._watched.group else None
        return (memory.anonymous_bytes, memory.file_bytes) if memory else (None, None)

    def fields(self) -> dict[str, Any]:
        """Return "course" and "memory" of the result line; null if nothing was seen.

        A column is null if one of its samples is unknown.
        REQUIRES: the process has ended, and its group still exists.
        """
        group = self._watched.group
        if not self._points:
            return {"course": None, "memory": None}
        columns = [
            None if None in column else list(column)
            for column in zip(*self._points, strict=True)
        ]
        memory = None
        if group:
            memory = {
                "peak_bytes": group.peak_bytes,
                "peak_anonymous_bytes": self._peaks[0],
                "peak_page_cache_bytes": self._peaks[1],
            }
        return {"course": dict(zip(COLUMNS, columns, strict=True)), "memory": memory}


def _most(*numbers: int | None) -> int | None:
    return max((n for n in numbers if n is not None), default=None)
