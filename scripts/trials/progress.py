"""How a trial says how far it is."""

from typing import Protocol


class Report(Protocol):
    """Called after each state that was tried."""

    def __call__(self, done: int, of: int) -> None:
        """Note that `done` of about `of` states have been tried."""
