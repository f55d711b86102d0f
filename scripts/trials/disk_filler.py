"""A file that takes the room of a disk, and whatever becomes free."""

import os
import threading
from pathlib import Path
from typing import Self

_LARGEST_STEP = 1 << 20
_SMALLEST_STEP = 1 << 12
_PAUSE_S = 0.005


class DiskFiller:
    """Leaves some bytes of a disk at first, half as many every few milliseconds.

    The file is removed at the end.
    """

    def __init__(self, file: Path, left_bytes: int) -> None:
        self._file, self._left_bytes = file, left_bytes
        self._size = 0
        self._ends = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._handle = -1

    def __enter__(self) -> Self:
        self._handle = os.open(self._file, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC)
        self._take()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ends.set()
        self._thread.join()
        os.close(self._handle)
        self._file.unlink()

    def _run(self) -> None:
        while not self._ends.wait(_PAUSE_S):
            self._left_bytes //= 2
            self._take()

    def _take(self) -> None:
        """Take all of the disk but what is to be left."""
        step = _LARGEST_STEP
        while step >= _SMALLEST_STEP:
            status = os.fstatvfs(self._handle)
            free = status.f_bavail * status.f_frsize - self._left_bytes
            try:
                if free < step:
                    raise OSError
                os.posix_fallocate(self._handle, self._size, step)
                self._size += step
            except OSError:
                step //= 2
