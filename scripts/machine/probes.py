"""The doctor's measurements: a small CPU workload and 4 KiB disk accesses.

A probe only measures durations.  scripts/doctor judges them.
"""

import array
import gc
import mmap
import os
import random
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import Protocol

NOISE_S = 5
SAMPLES = 100
PAGE_BYTES = 4096
_UNIT_NS = 50_000  # least duration of a unit of work: five gaps of 10 µs
_MOST_UNITS = 1_000_000
_FILE_PAGES = 4096  # 16 MiB
_WARM_UP = 5
_FLOOR_SYNCS = 10

Progress = Callable[[str], None]


class Probes(Protocol):
    """Measurements of a machine; an empty result means that it cannot be measured."""

    def overwrites_ns(self) -> Sequence[int]:
        """Time overwrites of 4 KiB, each followed by fdatasync."""

    def reads_ns(self) -> Sequence[int]:
        """Time random reads of 4 KiB that bypass the page cache."""

    def work_ns(self, progress: Progress) -> Sequence[int]:
        """Time repetitions of a unit of work, without pauses, on one processor."""


@dataclass(frozen=True)
class SystemProbes:
    """Measurements of this machine; for the disk, with a file in `folder`."""

    folder: Path  # must exist
    seconds: int = NOISE_S  # of work

    def overwrites_ns(self) -> Sequence[int]:
        """Time overwrites of pages that are already allocated on the disk."""
        content = os.urandom(PAGE_BYTES)

        def overwrite(fd: int, page: int) -> None:
            os.pwrite(fd, content, page * PAGE_BYTES)
            os.fdatasync(fd)

        return self._on_disk(os.O_WRONLY, range(SAMPLES + _WARM_UP), overwrite)

    def reads_ns(self) -> Sequence[int]:
        """Time reads with O_DIRECT; empty if the file system does not support it."""
        buffer = mmap.mmap(-1, PAGE_BYTES)  # aligned, as O_DIRECT requires

        def read(fd: int, page: int) -> None:
            os.preadv(fd, [buffer], page * PAGE_BYTES)

        pages = random.Random(1).sample(range(_FILE_PAGES), SAMPLES + _WARM_UP)
        return self._on_disk(os.O_RDONLY | os.O_DIRECT, pages, read)

    def _on_disk(
        self, flags: int, pages: Sequence[int], use: Callable[[int, int], None]
    ) -> Sequence[int]:
        """Time each use of a page, except the first _WARM_UP; empty on an OSError."""
        durations_ns: list[int] = []
        try:
            with _file(self.folder) as path:
                fd = os.open(path, flags | os.O_CLOEXEC)
                try:
                    for page in pages:
                        started_ns = time.perf_counter_ns()
                        use(fd, page)
                        durations_ns.append(time.perf_counter_ns() - started_ns)
                finally:
                    os.close(fd)
        except OSError:
            return ()
        return durations_ns[_WARM_UP:]

    def work_ns(self, progress: Progress) -> Sequence[int]:
        """Time the CRC-32 of a buffer, for `seconds`, on the last allowed processor.

        A unit of work is one call into C, because the interpreter adds its own noise.
        """
        with _pinned_without_gc():
            content = _buffer_of(_UNIT_NS)
            durations_ns = array.array("q", bytes(8 * _MOST_UNITS))
            count = 0
            for second in range(self.seconds):
                progress(f"noise floor, {self.seconds - second} s to go")
                count = _work(content, durations_ns, count)
        return durations_ns[:count]


def sync_floor_ns(folder: Path) -> int | None:
    """Return the least time of a write of 4 KiB and its fdatasync; None: unknown.

    Of overwrites and of appends, the cheaper.  Takes a few milliseconds on most disks.
    """
    path, content = folder / "sync-floor", os.urandom(PAGE_BYTES)
    durations_ns: list[int] = []
    try:
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        try:
            for offset in (*range(_FLOOR_SYNCS), *[0] * _FLOOR_SYNCS):
                started_ns = time.perf_counter_ns()
                os.pwrite(fd, content, offset * PAGE_BYTES)
                os.fdatasync(fd)
                durations_ns.append(time.perf_counter_ns() - started_ns)
        finally:
            os.close(fd)
            path.unlink()
    except OSError:
        return None
    return min(durations_ns)


def _work(content: bytes, durations_ns: "array.array[int]", count: int) -> int:
    """Work for one second, storing durations from index `count`; return their end."""
    now_ns = time.perf_counter_ns()
    end_ns = now_ns + 10**9
    while now_ns < end_ns and count < _MOST_UNITS:
        before_ns = now_ns
        zlib.crc32(content)
        now_ns = time.perf_counter_ns()
        durations_ns[count] = now_ns - before_ns
        count += 1
    return count


def _buffer_of(unit_ns: int) -> bytes:
    """Return a buffer whose checksum takes at least `unit_ns` on this machine.

    The size doubles from one page, up to 16 MiB.
    """
    content = bytes(PAGE_BYTES)
    while len(content) < 16 << 20:
        started_ns = time.perf_counter_ns()
        for _ in range(5):
            zlib.crc32(content)
        if time.perf_counter_ns() - started_ns >= 5 * unit_ns:
            break
        content *= 2
    return content


@contextmanager
def _pinned_without_gc() -> Iterator[None]:
    """Pin the process to one processor and stop garbage collection in the block."""
    allowed = os.sched_getaffinity(0)
    collects = gc.isenabled()
    os.sched_setaffinity(0, {max(allowed)})
    gc.disable()
    try:
        yield
    finally:
        os.sched_setaffinity(0, allowed)
        if collects:
            gc.enable()


@contextmanager
def _file(folder: Path) -> Iterator[str]:
    """Provide a file of random pages, all written to the disk, which has no name.

    No two pages are equal, so that the disk can neither compress nor deduplicate them.
    It vanishes with this process, in whatever way that ends.
    """
    with TemporaryFile(dir=folder) as file:
        for _ in range(_FILE_PAGES // 256):
            file.write(os.urandom(256 * PAGE_BYTES))
        file.flush()
        os.fsync(file.fileno())
        yield f"/proc/self/fd/{file.fileno()}"
