"""What the doctor measures: small work on one processor, and 4 KiB on the disk.

A probe only takes times; what they mean is judged elsewhere, without a clock.
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
from typing import Protocol

NOISE_S = 5
SAMPLES = 100
PAGE_BYTES = 4096
_UNIT_NS = 50_000  # of the fixed piece of work: five gaps of 10 µs
_MOST_UNITS = 1_000_000
_FILE_PAGES = 4096  # 16 MiB
_WARM_UP = 5

Progress = Callable[[str], None]


class Probes(Protocol):
    """Measures a machine; an empty answer is: it cannot be measured here."""

    def overwrites_ns(self) -> Sequence[int]:
        """Each: 4 KiB written over old ones, and fdatasync."""

    def reads_ns(self) -> Sequence[int]:
        """Each: 4 KiB read from the disk itself, at random."""

    def work_ns(self, progress: Progress) -> Sequence[int]:
        """Each: the same piece of work again, without a pause, on one processor."""


@dataclass(frozen=True)
class SystemProbes:
    """Measures this machine, the disk with a file in a folder that exists."""

    folder: Path
    seconds: int = NOISE_S  # of work

    def overwrites_ns(self) -> Sequence[int]:
        """Overwrites of a file that is all on the disk already."""
        page = os.urandom(PAGE_BYTES)

        def overwrite(fd: int, place: int) -> None:
            os.pwrite(fd, page, place * PAGE_BYTES)
            os.fdatasync(fd)

        return self._on_disk(os.O_WRONLY, range(SAMPLES + _WARM_UP), overwrite)

    def reads_ns(self) -> Sequence[int]:
        """Reads past the page cache; none where the file system has no such thing."""
        buffer = mmap.mmap(-1, PAGE_BYTES)  # aligned, as O_DIRECT wants it

        def read(fd: int, place: int) -> None:
            os.preadv(fd, [buffer], place * PAGE_BYTES)

        places = random.Random(1).sample(range(_FILE_PAGES), SAMPLES + _WARM_UP)
        return self._on_disk(os.O_RDONLY | os.O_DIRECT, places, read)

    def _on_disk(
        self, flags: int, places: Sequence[int], use: Callable[[int, int], None]
    ) -> Sequence[int]:
        """The time of each use of a place; the first ones are left out."""
        found: list[int] = []
        try:
            with _file(self.folder / "doctor-probe") as path:
                fd = os.open(path, flags | os.O_CLOEXEC)
                try:
                    for place in places:
                        started_ns = time.perf_counter_ns()
                        use(fd, place)
                        found.append(time.perf_counter_ns() - started_ns)
                finally:
                    os.close(fd)
        except OSError:
            return ()
        return found[_WARM_UP:]

    def work_ns(self, progress: Progress) -> Sequence[int]:
        """CRC-32 of one buffer, for seconds, on the last processor allowed.

        No pure Python in the piece of work: the interpreter is noise of its own.
        """
        with _alone_on_one_processor():
            content = _work_of(_UNIT_NS)
            found = array.array("q", bytes(8 * _MOST_UNITS))
            count = 0
            for second in range(self.seconds):
                progress(f"noise floor, {self.seconds - second} s to go")
                count = _work(content, found, count)
        return found[:count]


def _work(content: bytes, found: "array.array[int]", count: int) -> int:
    """Works for one second from found[count] on; the new count."""
    now_ns = time.perf_counter_ns()
    end_ns = now_ns + 10**9
    while now_ns < end_ns and count < _MOST_UNITS:
        before_ns = now_ns
        zlib.crc32(content)
        now_ns = time.perf_counter_ns()
        found[count] = now_ns - before_ns
        count += 1
    return count


def _work_of(wanted_ns: int) -> bytes:
    """A buffer whose checksum takes about so long here."""
    content = bytes(PAGE_BYTES)
    while len(content) < 16 << 20:
        started_ns = time.perf_counter_ns()
        for _ in range(5):
            zlib.crc32(content)
        if time.perf_counter_ns() - started_ns >= 5 * wanted_ns:
            break
        content *= 2
    return content


@contextmanager
def _alone_on_one_processor() -> Iterator[None]:
    """Within the block: pinned, and no garbage collection."""
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
def _file(path: Path) -> Iterator[Path]:
    """A file of pages that no two share their content, and that the disk has."""
    try:
        with path.open("wb") as file:
            for _ in range(_FILE_PAGES // 256):
                file.write(os.urandom(256 * PAGE_BYTES))
            file.flush()
            os.fsync(file.fileno())
        yield path
    finally:
        path.unlink(missing_ok=True)
