"""What happens during a run, as plain objects: views are fed these and nothing else."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from scripts.plan import Cell, Plan


@dataclass(frozen=True)
class RunStarted:
    """The plan, and what an earlier session of the same run left."""

    plan: Plan
    machine_line: str  # one line about the machine, for people
    done: tuple[Mapping[str, Any], ...]  # the lines already on disk


@dataclass(frozen=True)
class RepetitionStarted:
    """A cell's turn begins; `planned_ops` is 0 where it is unknown."""

    cell: Cell
    repetition: int
    planned_ops: int
    attempt: int = 1


@dataclass(frozen=True)
class Progressed:
    """The running cell has done so many operations."""

    ops: int
    at_s: float  # on the same clock as every other at_s


@dataclass(frozen=True)
class RepetitionFinished:
    """One line is on disk: of a repetition, or of an attempt that is made again."""

    line: Mapping[str, Any]
    seconds: float  # wall time, also of what failed
    elapsed_s: float  # since the session began
    left_s: float | None  # predicted; None: nobody knows yet
    share_done: float  # 0 to 1, weighted by predicted time


@dataclass(frozen=True)
class Beat:
    """Time passes while a cell runs."""

    elapsed_s: float
    left_s: float | None
    share_done: float


@dataclass(frozen=True)
class Note:
    """Something the user should know."""

    text: str
    level: str = "note"  # note or warn


@dataclass(frozen=True)
class RunEnded:
    """The session is over, with or without everything done."""

    elapsed_s: float
    failed: tuple[str, ...] = field(default=())  # cells without a number


Event = (
    RunStarted
    | RepetitionStarted
    | Progressed
    | RepetitionFinished
    | Beat
    | Note
    | RunEnded
)
Listener = Callable[[Event], None]
