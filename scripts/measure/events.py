"""What happens during a run, as plain objects: views are fed these and nothing else."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Generic, TypeVar

from report.model.ab_plan import AbPlan
from report.model.plan import CellName, Plan
from report.model.record import AbPlace, Record

P = TypeVar("P", bound=Plan | AbPlan)


@dataclass(frozen=True)
class RunProgress:
    """How far a run is."""

    elapsed_s: float = 0.0  # since the session began
    left_s: float | None = None  # predicted; None: nobody knows yet
    share_done: float = 0.0  # 0 to 1, weighted by predicted time
    done: int = 0  # rounds of cells, where a run counts those
    planned: int = 0  # of the stages that are known

    def at(self, elapsed_s: float) -> "RunProgress":
        """Return the pace at a later moment, when nothing more is done."""
        left_s = self.left_s
        if left_s is not None:
            left_s = max(0.0, left_s - (elapsed_s - self.elapsed_s))
        return replace(self, elapsed_s=elapsed_s, left_s=left_s)


@dataclass(frozen=True)
class RunStarted:
    """What an earlier session of the same run left."""

    machine_line: str  # one line about the machine, for people
    done: tuple[Record, ...]  # the lines already on disk


@dataclass(frozen=True)
class RepetitionStarted:
    """A cell's turn begins; `planned_ops` is 0 where it is unknown."""

    cell: CellName
    repetition: int
    planned_ops: int
    attempt: int = 1
    place: AbPlace | None = None  # of an A/B run, as its line will have it


@dataclass(frozen=True)
class CellProgress:
    """The running cell has done so many operations."""

    ops: int
    at_s: float  # on the same clock as every other at_s


@dataclass(frozen=True)
class RepetitionFinished:
    """One line is on disk: of a repetition, or of an attempt that is made again."""

    line: Record
    seconds: float  # wall time, also of what failed
    pace: RunProgress


@dataclass(frozen=True)
class RoundFinished:
    """All repetitions of a cell in one round of an A/B run are on disk."""

    lines: Sequence[Record]


@dataclass(frozen=True)
class CountStep:
    """A step of counting what both sides of an A/B run do, in words."""

    text: str


@dataclass(frozen=True)
class Heartbeat:
    """Time passes while a cell runs."""

    pace: RunProgress


@dataclass(frozen=True)
class Notice:
    """Something the user should know."""

    text: str
    level: str = "note"  # note or warn


@dataclass(frozen=True)
class RunEnded:
    """The session is over, with or without everything done."""

    elapsed_s: float


Event = (
    RunStarted
    | RepetitionStarted
    | CellProgress
    | RepetitionFinished
    | RoundFinished
    | CountStep
    | Heartbeat
    | Notice
    | RunEnded
)
Listener = Callable[[Event], None]


class View:
    """Something that shows events as they come."""

    period_s: float  # how often it wants to hear of a running cell

    def show(self, event: Event) -> None:
        """Take one event."""
        raise NotImplementedError

    def close(self) -> None:
        """Leave the terminal as it was."""


@dataclass(frozen=True)
class SessionResult(Generic[P]):
    """How a session ended; `lines` are all of its run, as people are told of them."""

    plan: P
    path: Path
    lines: tuple[Record, ...]
    exit_code: int = 0
    message: str = ""  # why it stopped early
