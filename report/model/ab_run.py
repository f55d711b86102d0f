"""The results of an A/B plan: its cells and their rounds, without verdicts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from statistics import geometric_mean
from typing import Any

from report.model.ab_plan import AbPlan, Failure
from report.model.ab_rule import CPU
from report.model.count_lines import CountLine
from report.model.plan import CellName, Engine
from report.model.record import Record


@dataclass(frozen=True)
class Side:
    """One of the two builds; `label` is its name for people."""

    label: str
    engines: tuple[Engine, ...]


@dataclass(frozen=True)
class Repetition:
    """One ok process: its position in the run and its times per operation.

    In a duet, it is one side of a process, and that side's processor time.

    `slot` is its position in the round, 0 to 3; `record` is its line unchanged.
    `cpu_ns_per_op` is None if the line has no processor time.
    """

    side: str
    slot: int
    order: int
    ns_per_op: float
    record: Record = field(repr=False, compare=False)
    disturbed: tuple[str, ...] = ()
    cpu_ns_per_op: float | None = None

    def time_ns(self, measure: str) -> float | None:
        """Return the time of an operation by a measure of ab_rule."""
        return self.cpu_ns_per_op if measure == CPU else self.ns_per_op


@dataclass(frozen=True)
class Round:
    """A complete round of one cell: two repetitions of each side, in slot order."""

    number: int  # from 1, continuing from the screen to the confirmation
    a: tuple[Repetition, Repetition]
    b: tuple[Repetition, Repetition]

    @property
    def is_duet(self) -> bool:
        """True if each of its processes measured both sides."""
        return "duet" in self.a[0].record.get("ab", {})

    def has(self, measure: str) -> bool:
        """Return True if each process has a time by a measure."""
        return all(m.time_ns(measure) for m in (*self.a, *self.b))

    def times(self, measure: str) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """Return the times of a and of b in ns per operation, two of each.

        In a duet there is one, the mean of both: what the place of a database in memory
        adds to one side in a process, it adds to the other in the next.  A process
        without a time has the time 0.
        """
        a, b = (
            tuple(r.time_ns(measure) or 0.0 for r in side) for side in (self.a, self.b)
        )
        if self.is_duet:
            a, b = (geometric_mean(a),), (geometric_mean(b),)
        return a, b

    @property
    def machine(self) -> str:
        """The machine that measured it, in a run of several; otherwise ""."""
        return self.a[0].record.get("machine") or ""


@dataclass(frozen=True)
class AbCell:
    """One cell with its complete rounds by stage."""

    name: CellName
    screen: tuple[Round, ...]
    confirm: tuple[Round, ...]
    failure: Failure | None = None


@dataclass(frozen=True)
class AbRun:
    """An A/B run whose lines have been judged.

    `counts` are the lines of counts.jsonl; `lines` those of measurements.jsonl
    unchanged, for the download in the page; `document` is ab.json.  `unfinished` is
    true if repetitions are missing or a planned count has not ended.  `tools` has the
    reason why each counting tool could not count, or "".
    """

    plan: AbPlan
    cells: tuple[AbCell, ...]
    unfinished: bool
    torn: bool
    lines_sha256: str
    document: Mapping[str, Any] = field(repr=False)
    environment: Mapping[str, Any] = field(repr=False)
    counts: tuple[CountLine, ...] = field(default=(), repr=False)
    lines: tuple[Record, ...] = field(default=(), repr=False)
    tools: Mapping[str, str] | None = None

    @property
    def a(self) -> Side:
        """The build that is the base."""
        return Side(self.plan.labels["a"], self.plan.a.engines)

    @property
    def b(self) -> Side:
        """The build that is compared with the base."""
        return Side(self.plan.labels["b"], self.plan.b.engines)

    def cell(self, name: CellName) -> AbCell:
        """Return the cell of this name, which must be part of the run."""
        return next(cell for cell in self.cells if cell.name == name)
