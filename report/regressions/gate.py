"""What a gate knows and how it decides, whatever the evidence came from.

gate_sources.py fills it from an A/B run or from two runs, gate_history.py from the
history; the formats (gate_text, gate_github, gate_junit) show it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from report.numbers import percent
from report.regressions.judgement import Judgement, Verdict

REGRESSION, INCONCLUSIVE, NEVER = "regression", "inconclusive", "never"
FAIL_ON = (REGRESSION, INCONCLUSIVE, NEVER)
PASSED, REGRESSED, USAGE, INCOMPLETE, NOTHING = 0, 1, 2, 3, 5
# A cell that could be so much slower unseen gates nothing (REGRESSIONS.md).
MOST_UNSEEN = 0.10
Chosen = Callable[[str], bool]  # whether a cell is, by its name


class Outcome(StrEnum):
    """What became of one row; the gravest first."""

    FAILED = "failed"  # ok in the base and not in the new, or failed in an A/B run
    MISSING = "missing"  # ok in the base, and not part of the new run
    REGRESSED = "regressed"
    NOMINATED = "nominated"  # a step of the history, not confirmed by an A/B run
    INCONCLUSIVE = "inconclusive"
    IMPROVED = "improved"
    UNCHANGED = "unchanged"
    NOT_GATED = "not gated"  # it says too little, or is no evidence
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
    have been found; `unseen` is the slowdown, as a share of the time, that could be
    there nevertheless, None if that is not known.  `alert` marks what people must
    see although nothing was found: a cell that was gated and is not any more.
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
    unseen: float | None = None
    alert: bool = False

    @property
    def timed(self) -> bool:
        """Whether it is about time; counts do not swell a number of rows."""
        return self.kind is not Kind.COUNT


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
    hints: tuple[str, ...] = ()  # commands that confirm what was found

    def of(self, *outcomes: Outcome) -> tuple[Row, ...]:
        """The rows that came out so, the largest change first."""
        found = [row for row in self.rows if row.outcome in outcomes]
        return tuple(sorted(found, key=lambda row: -abs(row.change or 0)))

    def timed(self, *outcomes: Outcome) -> tuple[Row, ...]:
        """The rows about time that came out so."""
        return tuple(row for row in self.of(*outcomes) if row.timed)

    @property
    def slower(self) -> tuple[Row, ...]:
        """The rows that fail the gate: regressed, or nominated for it."""
        return self.of(Outcome.REGRESSED, Outcome.NOMINATED)

    @property
    def judged(self) -> int:
        """Rows about time in which a regression could have been found."""
        return sum(row.judged and row.timed for row in self.rows)

    @property
    def can_pass(self) -> bool:
        """Whether a time was judged; counts that are the same are not enough."""
        return self.judged > 0

    @property
    def blindest(self) -> Row | None:
        """The inconclusive row in which the largest slowdown could go unseen."""
        rows = [row for row in self.timed(Outcome.INCONCLUSIVE) if row.unseen]
        return max(rows, key=lambda row: row.unseen or 0, default=None)

    @property
    def why_nothing(self) -> str:
        """Why nothing was judged: what is known of all rows, or of the first."""
        if self.nothing:
            return self.nothing
        vague = self.timed(Outcome.NOT_GATED)
        told = next((row for row in (*vague, *self.rows) if row.reason), None)
        return f"{told.name}: {told.reason}" if told else "nothing was measured"

    def exit_code(self, fail_on: str = REGRESSION, allow_no_base: bool = False) -> int:
        """0 passed; 1 slower; 3 a cell failed or is missing; 5 nothing judged.

        A gate that judged nothing never passes, unless there is no base yet, that is
        allowed, and nothing failed, is missing or unfinished.
        """
        incomplete = bool(self.of(Outcome.FAILED, Outcome.MISSING)) or self.unfinished
        if not self.can_pass and not self.slower:
            if not (self.no_base and allow_no_base):
                return NOTHING
            return INCOMPLETE if incomplete else PASSED
        if fail_on != NEVER and self.slower:
            return REGRESSED
        unsure = self.timed(Outcome.INCONCLUSIVE, Outcome.NOT_GATED)
        if fail_on == INCONCLUSIVE and unsure:
            return REGRESSED
        return INCOMPLETE if incomplete else PASSED


def row_of(
    kind: Kind,
    name: str,
    judgement: Judgement,
    sides: tuple[float | None, float | None],
    unseen: float | None,
    unit: str = "ops/s",
    least_confidence: float = 0.0,
    most_unseen: float = MOST_UNSEEN,
) -> Row:
    """The row of a judgement; `sides` are the figures of base and new.

    Without an interval of `least_confidence` it is not gated, nor if inconclusive
    and `unseen` is above `most_unseen`.
    """
    sure = judgement.confidence >= least_confidence - 1e-9
    known = bool(judgement.pairs) and judgement.rate_interval is not None and sure
    reason, verdict = judgement.reason, judgement.verdict
    outcome = Outcome(verdict.value)
    if not known or verdict is Verdict.INCONCLUSIVE:
        unseen = _at_least_seen(judgement, unseen) if known else None
        if unseen is None or unseen > most_unseen:
            outcome = Outcome.NOT_GATED
            told = "how large a slowdown could go unseen is not known"
            if unseen is not None:
                told = f"a slowdown below {percent(unseen)} could go unseen"
            reason = "; ".join(filter(None, (told if known else "", reason))) or told
    else:
        unseen = None
    return Row(
        kind,
        name,
        outcome,
        outcome is not Outcome.NOT_GATED,
        unit,
        *sides,
        change=judgement.rate_change if judgement.pairs else None,
        interval=judgement.rate_interval if judgement.pairs else None,
        confidence=judgement.confidence,
        reason=reason,
        unseen=unseen,
    )


def _at_least_seen(judgement: Judgement, unseen: float | None) -> float | None:
    """What could go unseen is no less than the slowdown that was not believed."""
    if unseen is None:
        return None
    return max(unseen, math.expm1(judgement.log_shift))
