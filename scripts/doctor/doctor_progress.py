"""Doctor progress on stderr: the probes need seconds."""

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console

from scripts.machine.probes import Progress


@contextmanager
def progress_on(console: Console, quiet: bool) -> Iterator[Progress]:
    """Yield a function that shows progress: one line that a terminal rewrites.

    Elsewhere each new step is a line.  No thread redraws it: that would disturb the
    measurement.
    """
    shown = ""

    def notify(text: str) -> None:
        nonlocal shown
        what = text.partition(",")[0]
        if quiet:
            return
        if console.is_terminal:
            console.print(f"{f'doctor: {text}':<{console.width - 1}}", end="\r")
        elif what != shown:
            console.print(f"doctor: {text}", soft_wrap=True)
        shown = what

    try:
        yield notify
    finally:
        if shown and console.is_terminal:
            console.print(" " * (console.width - 1), end="\r")
