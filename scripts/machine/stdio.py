"""Standard streams that cannot fail: closed ones are /dev/null, broken pipes are quiet.

The exit code says how the run ended, even if the reader of its output went away.
"""

import io
import os
import sys
from typing import Any, TextIO


class _Quiet(io.FileIO):
    """A file descriptor that discards output once its reader is gone."""

    def __init__(self, fd: int) -> None:
        super().__init__(fd, "w", closefd=False)

    def write(self, content: Any) -> int:
        """Write `content`, or discard it once the reader is gone."""
        try:
            return super().write(content)
        except BrokenPipeError:
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, self.fileno())
            os.close(null)
            return len(memoryview(content).cast("B"))


def make_streams_safe() -> None:
    """Make stdin, stdout and stderr usable; call before anything is opened."""
    for fd in range(3):
        try:
            os.fstat(fd)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest free one: this very fd
            os.set_inheritable(fd, True)
    if sys.stdin is None:
        sys.stdin = open(0, closefd=False, encoding="utf-8")  # noqa: SIM115
    sys.stdout = _stream(1, sys.stdout)
    sys.stderr = _stream(2, sys.stderr)


def _stream(fd: int, old: TextIO | None) -> io.TextIOWrapper:
    """Return a stream like Python's own, on a quiet descriptor."""
    quiet = _Quiet(fd)
    return io.TextIOWrapper(
        io.BufferedWriter(quiet),
        encoding=old.encoding if old else "utf-8",
        errors="backslashreplace",  # in any locale
        line_buffering=fd == 2 or quiet.isatty(),
    )
