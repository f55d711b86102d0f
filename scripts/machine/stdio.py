"""Standard streams that fail at most once: closed ones are /dev/null.

A broken pipe discards the output; so does any other fault of stderr.  A fault of stdout
such as a full disk is one OSError, which names it; what follows is discarded.

The exit code says how the run ended, even if the reader of its output went away.
"""

import io
import os
import sys
from typing import Any, TextIO

from report.terms.encoding import reason_of


class _Quiet(io.FileIO):
    """A file descriptor that discards output after its first fault."""

    def __init__(self, fd: int) -> None:
        super().__init__(fd, "w", closefd=False)

    def write(self, content: Any) -> int:
        """Write `content`, or discard it.  Raises OSError once, and only for stdout."""
        try:
            return super().write(content)
        except OSError as error:
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, self.fileno())
            os.close(null)
            if isinstance(error, BrokenPipeError) or self.fileno() != 1:
                return len(memoryview(content).cast("B"))
            reason = f"cannot write: {reason_of(error)}"
            raise OSError(error.errno, reason, "stdout") from None


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
