"""What a gate knows and how it decides, whatever the evidence came from.

gate_sources.py fills it from an A/B run, from two runs or from the history; the
formats (gate_text, gate_github, gate_junit) show it.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from report.regressions.judgement import Judgement, Verdict

REGRESSION, INCONCLUSIVE, NEVER = "regression", "inconclusive", "never"
FAIL_ON = (REGRESSION, INCONCLUSIVE, NEVER)
PASSED, REGRESSED, USAGE, INCOMPLETE, NOTHING = 0, 1, 2, 3, 5


class Outcome(StrEnum):
    """What became of one row; the gravest first."""

    FAILED = "failed"  # ok in the base and not in the new, or failed in an A/B run
    MISSING = "missing"  # ok in the base, and not part of the new run
    REGRESSED = "regressed"
    INCONCLUSIVE = "inconclusive"
    IMPROVED = "improved"
    UNCHANGED = "unchanged"
    UNCOMPARED = "not compared"  # no base to compare it with


class Kind(StrEnum):
    """What a row is about."""

    CELL = "cell"
    ENGINE = "engine"  # all its cells together
    COUNT = "count"  # work, not time


@dataclass(frozen=True)
class Row:
    """One thing that the gate looks at.

    `name` is engine/scenario/benchmark, or the engine; a count has its name after
    it.  `change` and `interval` are shares of what `unit` says, of rates below 0 is
    slower, of counts above 0 is more work.  `judged` says that a regression could
    have been found.
    """

    kind: Kind
    name: str
    outcome: Outcome
    judged: bool
    unit: str = "ops/s"
    base: float | None = None
    new: float | None = None
    change: float | None = None
    interval: tuple[float, float] | None = None
    confidence: float | None = None
    reason: str = ""


@dataclass(frozen=True)
class Gate:
    """All rows, and what was compared with what.

    `nothing` tells why no row is judged, if that is known of all of them together;
    `no_base` says that the reason is a history, or a base, that is not there yet.
    """

    run: str
    against: str
    method: str  # one sentence: by which rule
    rows: tuple[Row, ...]
    unfinished: bool = False
    nothing: str = ""
    no_base: bool = False
    hint: str = ""  # a command that confirms what was found

    def of(self, *outcomes: Outcome) -> tuple[Row, ...]:
        """The rows that came out so, the largest change first."""
        found = [row for row in self.rows if row.outcome in outcomes]
        return tuple(sorted(found, key=lambda row: -abs(row.change or 0)))

    @property
    def judged(self) -> int:
        """Rows in which a regression could have been found."""
        return sum(row.judged for row in self.rows)

    @property
    def can_pass(self) -> bool:
        """Whether a time was judged; counts that are the same are not enough."""
        return any(row.judged and row.kind is not Kind.COUNT for row in self.rows)

    @property
    def why_nothing(self) -> str:
        """Why nothing was judged: what is known of all rows, or of the first."""
        if self.nothing:
            return self.nothing
        told = next((row for row in self.rows if row.reason), None)
        return f"{told.name}: {told.reason}" if told else "nothing was measured"

    def exit_code(self, fail_on: str = REGRESSION, allow_no_base: bool = False) -> int:
        """0 passed; 1 regressed; 3 a cell failed or is missing; 5 nothing judged.

        A gate that judged nothing never passes, unless there is no base yet and
        that is allowed.
        """
        if not self.can_pass and not self.of(Outcome.REGRESSED):
            return PASSED if self.no_base and allow_no_base else NOTHING
        if fail_on != NEVER and self.of(Outcome.REGRESSED):
            return REGRESSED
        if fail_on == INCONCLUSIVE and self.of(Outcome.INCONCLUSIVE):
            return REGRESSED
        if self.of(Outcome.FAILED, Outcome.MISSING) or self.unfinished:
            return INCOMPLETE
        return PASSED


def row_of(
    kind: Kind,
    name: str,
    judgement: Judgement,
    sides: tuple[float | None, float | None],
    unit: str = "ops/s",
    least_confidence: float = 0.0,
) -> Row:
    """The row of a judgement; `sides` are the figures of base and new.

    Without an interval of `least_confidence` it is inconclusive, and not judged.
    """
    sure = judgement.confidence >= least_confidence - 1e-9
    judged = bool(judgement.pairs) and judgement.rate_interval is not None and sure
    verdict = judgement.verdict if judged else Verdict.INCONCLUSIVE
    return Row(
        kind,
        name,
        Outcome(verdict.value),
        judged,
        unit,
        *sides,
        change=judgement.rate_change if judgement.pairs else None,
        interval=judgement.rate_interval if judgement.pairs else None,
        confidence=judgement.confidence,
        reason=judgement.reason,
    )
