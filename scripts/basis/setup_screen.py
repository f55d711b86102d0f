"""Progress of the set-up, on stderr."""

import re
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from scripts.basis.commands import CommandHeartbeat

_CLEAR = "\r\x1b[2K"  # erase the line of the cursor
_TERMINAL_S, _LOG_S = 0.5, 30.0  # between updates on a terminal, or lines in a log
_NINJA = re.compile(r"^\[(\d+)/(\d+)\] ", re.M)  # "[12/345] Building CXX object"
_TAIL_BYTES = 1 << 16


class Screen:
    """The output of the set-up: its steps and how long each took."""

    def __init__(self, out: TextIO = sys.stderr, quiet: bool = False) -> None:
        """Write to `out`; only warnings if quiet."""
        self._out = out
        self._quiet = quiet
        self._clear = ""  # _CLEAR if the cursor is in an unfinished line of progress

    def say(self, text: str) -> None:
        """Print a line, unless quiet."""
        if not self._quiet:
            self.warn(text)

    def warn(self, text: str) -> None:
        """Print a line, even if quiet."""
        print(f"{self._clear}{text}", file=self._out, flush=True)
        self._clear = ""

    def build_progress(self, text: str, log: Path) -> CommandHeartbeat:
        """Return a heartbeat that shows the progress of a build, read from its log.

        On a terminal it rewrites one line; otherwise it prints a line every 30 s.
        """
        is_terminal = self._out.isatty()
        started_ns = time.monotonic_ns()

        def beat() -> None:
            elapsed_s = (time.monotonic_ns() - started_ns) / 1e9
            line = f"{text}: {_steps_done(log)}{elapsed_s:.0f} s so far"
            if not is_terminal:
                self.say(line)
            elif not self._quiet:
                print(f"{_CLEAR}{line}", end="", file=self._out, flush=True)
                self._clear = _CLEAR

        return CommandHeartbeat(_TERMINAL_S if is_terminal else _LOG_S, beat)

    @contextmanager
    def step(self, text: str) -> Iterator[None]:
        """Print `text` before the block, and its duration afterwards."""
        started_ns = time.monotonic_ns()
        self.say(f"{text} ...")
        yield
        elapsed_s = (time.monotonic_ns() - started_ns) / 1e9
        self.say(f"{text}: done in {elapsed_s:.1f} s")


def _steps_done(log: Path) -> str:
    """Return ninja's latest count, such as "12 of 345 (3 %), "; "" without one."""
    try:
        with log.open("rb") as file:
            file.seek(max(0, log.stat().st_size - _TAIL_BYTES))
            counts = _NINJA.findall(file.read().decode(errors="replace"))
    except OSError:
        return ""
    if not counts:
        return ""
    done, total = map(int, counts[-1])
    return f"{done} of {total} ({100 * done // max(1, total)} %), "
