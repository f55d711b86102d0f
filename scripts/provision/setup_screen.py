"""What the set-up says while it works: one line per step, on stderr."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO


class Screen:
    """Says what is being done and how long it took."""

    def __init__(self, out: TextIO = sys.stderr, quiet: bool = False) -> None:
        """Write to `out`; when quiet, only what needs a person's attention."""
        self._out = out
        self._quiet = quiet

    def say(self, text: str) -> None:
        """Show one line, unless quiet."""
        if not self._quiet:
            print(text, file=self._out, flush=True)

    def warn(self, text: str) -> None:
        """Show one line, always."""
        print(text, file=self._out, flush=True)

    @contextmanager
    def step(self, text: str) -> Iterator[None]:
        """Show `text` before the work and its duration after."""
        started_ns = time.monotonic_ns()
        self.say(f"{text} ...")
        yield
        elapsed_s = (time.monotonic_ns() - started_ns) / 1e9
        self.say(f"{text}: done in {elapsed_s:.1f} s")
