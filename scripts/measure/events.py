"""The events of a run, as plain objects: the only input of a view."""

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
    """The progress of a run."""

    elapsed_s: float = 0.0  # since the session began
    left_s: float | None = None  # predicted; None: not known yet
    share_done: float = 0.0  # 0 to 1, weighted by predicted time
    done: int = 0  # rounds of cells, in runs that count rounds
    planned: int = 0  # rounds of all stages known so far

    def at(self, elapsed_s: float) -> "RunProgress":
        """Return the progress at a later time if nothing else has finished."""
        left_s = self.left_s
        if left_s is not None:
            left_s = max(0.0, left_s - (elapsed_s - self.elapsed_s))
        return replace(self, elapsed_s=elapsed_s, left_s=left_s)


@dataclass(frozen=True)
class RunStarted:
    """A session begins or resumes."""

    machine_line: str  # describes the machine
    done: tuple[Record, ...]  # lines of earlier sessions
    left_s: float = 0.0  # of what is left, predicted or guessed


@dataclass(frozen=True)
class RepetitionStarted:
    """A repetition begins; `planned_ops` is 0 if unknown."""

    cell: CellName
    repetition: int
    planned_ops: int
    attempt: int = 1
    place: AbPlace | None = None  # position in an A/B run, as the line records it


@dataclass(frozen=True)
class PhaseStarted:
    """Something that is not measured begins, such as a fill or a copy."""

    cell: CellName  # for which it is done
    repetition: int
    text: str  # what is done, as a participle: copying
    planned_ops: int = 0  # 0 if unknown


@dataclass(frozen=True)
class CellProgress:
    """The number of operations that the running process has done."""

    ops: int
    at_s: float  # all events use the same monotonic clock


@dataclass(frozen=True)
class RepetitionFinished:
    """One line is on disk: a repetition, or an attempt that will be retried."""

    line: Record
    seconds: float  # wall time, including that of failures
    pace: RunProgress


@dataclass(frozen=True)
class RoundFinished:
    """All repetitions of a cell in one round of an A/B run are on disk."""

    lines: Sequence[Record]


@dataclass(frozen=True)
class CountStep:
    """A step of the counting pass of an A/B run, described in words."""

    text: str


@dataclass(frozen=True)
class Heartbeat:
    """A periodic sign of life while a process runs."""

    pace: RunProgress


@dataclass(frozen=True)
class Notice:
    """Something the user should know."""

    text: str
    level: str = "note"  # note or warn

    @property
    def line(self) -> str:
        """The notice with its level."""
        return f"{'warning' if self.level == 'warn' else self.level}: {self.text}"


@dataclass(frozen=True)
class RunEnded:
    """The session is over; repetitions may still be missing."""

    elapsed_s: float


Event = (
    RunStarted
    | RepetitionStarted
    | PhaseStarted
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
    """Displays events as they arrive."""

    period_s: float  # interval between events while a cell runs

    def show(self, event: Event) -> None:
        """Display one event."""
        raise NotImplementedError

    def close(self) -> None:
        """Restore the terminal."""


@dataclass(frozen=True)
class SessionResult(Generic[P]):
    """How a session ended; `lines` are all lines of the run, as displayed."""

    plan: P
    path: Path
    lines: tuple[Record, ...]
    exit_code: int = 0
    message: str = ""  # why it stopped early
    was_complete: bool = False  # before this session, which changed nothing
    warnings: tuple[str, ...] = ()  # of a session that changed nothing
