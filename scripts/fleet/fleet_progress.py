"""What is shown while a fleet is measured."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class RunningBlock:
    """A block that a node measures, and how many of its repetitions are on disk."""

    block: int
    node: str
    repetitions: int


@dataclass(frozen=True)
class FleetProgress:
    """The state of all blocks of a fleet."""

    finished: int
    running: tuple[RunningBlock, ...]
    queued: int
    given_up: int
    left_s: float  # predicted, for all nodes together; 0 if unknown
    elapsed_s: float
    reasons: tuple[str, ...] = ()  # why blocks are queued, if that is unusual


class FleetView(ABC):
    """What is shown while a fleet is measured."""

    @abstractmethod
    def progress(self, progress: FleetProgress) -> None:
        """Show the state of all blocks."""

    @abstractmethod
    def finished(self, block: int, run: Path) -> None:
        """Show that a block has a finished run."""

    @abstractmethod
    def note(self, text: str) -> None:
        """Show what happened to a block."""

    def close(self) -> None:  # noqa: B027  # most views leave nothing behind
        """Leave the terminal as it was."""
