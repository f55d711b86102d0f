"""What the doctor is at, on stderr: it takes seconds, and must not look dead."""

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console

from scripts.machine.probes import Progress


@contextmanager
def progress_on(console: Console, quiet: bool) -> Iterator[Progress]:
    """One line that is rewritten on a terminal; elsewhere a line for each new thing.

    No thread redraws it: that would be in the measurement.
    """
    told = ""

    def tell(text: str) -> None:
        nonlocal told
        what = text.partition(",")[0]
        if quiet:
            return
        if console.is_terminal:
            console.print(f"{f'doctor: {text}':<{console.width - 1}}", end="\r")
        elif what != told:
            console.print(f"doctor: {text}", soft_wrap=True)
        told = what

    try:
        yield tell
    finally:
        if told and console.is_terminal:
            console.print(" " * (console.width - 1), end="\r")
