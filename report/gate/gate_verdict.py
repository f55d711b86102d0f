"""A gate: rows of evidence, and the decision on them.

gate_evidence.py fills it from an A/B run or from two runs, gate_history.py from the
history; gate_text.py, gate_github.py and gate_junit.py print it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum

from report.words.verdict_rows import Kind, VerdictRow, least_certain

REGRESSION, INCONCLUSIVE, NEVER = "regression", "inconclusive", "never"
PASSED, REGRESSED, USAGE, INCOMPLETE, NOTHING = 0, 1, 2, 3, 5
# A cell in which a larger slowdown could be missed is not gated (REGRESSIONS.md).
MAX_UNSEEN = 0.10
_UNKNOWN = "the slowdown that could have been missed is unknown"
Chosen = Callable[[str], bool]  # by the name of a cell


class GateOutcome(StrEnum):
    """The outcome of one row, most severe first."""

    FAILED = "failed"  # ok in the base and not in the new, or failed in an A/B run
    MISSING = "missing"  # ok in the base, but not part of the new run
    REGRESSED = "regressed"
    NOMINATED = "nominated"  # a step of the history, not confirmed by an A/B run
    INCONCLUSIVE = "inconclusive"
    IMPROVED = "improved"
    UNCHANGED = "unchanged"
    NOT_GATED = "not gated"  # too uncertain, or not evidence
    UNCOMPARED = "not compared"  # no base to compare it with


@dataclass(frozen=True)
class Gate:
    """All rows, and what was compared with what.

    `common_reason` is why no row was judged, if the reason is the same for all rows.
    `no_base` is True if there is no base run or history yet.
    """

    run: str
    against: str
    method: str  # the rule, in one sentence
    rows: tuple[VerdictRow, ...]
    unfinished: bool = False
    common_reason: str = ""
    no_base: bool = False
    hints: tuple[str, ...] = ()  # commands that confirm the findings
    differences: tuple[str, ...] = ()  # each prevents the comparison
    notes: tuple[str, ...] = ()  # about the machine and what both sides share

    def of(self, *outcomes: GateOutcome) -> tuple[VerdictRow, ...]:
        """Return the rows with these outcomes, the largest change first."""
        rows = [row for row in self.rows if row.outcome in outcomes]
        return tuple(sorted(rows, key=lambda row: -abs(row.change or 0)))

    def timed(self, *outcomes: GateOutcome) -> tuple[VerdictRow, ...]:
        """Return the rows about time with these outcomes."""
        return tuple(row for row in self.of(*outcomes) if row.timed)

    @property
    def slower(self) -> tuple[VerdictRow, ...]:
        """The rows that fail the gate: regressed or nominated."""
        return self.of(GateOutcome.REGRESSED, GateOutcome.NOMINATED)

    @property
    def judged(self) -> int:
        """The number of rows about time that could have shown a regression."""
        return sum(row.judged and row.kind is not Kind.COUNT for row in self.rows)

    @property
    def can_pass(self) -> bool:
        """True if a time of a cell was judged; counts and engines are not enough.

        The judgement of a whole engine can hide a slowdown of one of its cells.
        """
        cpu = (row for row in self.rows if row.kind is Kind.CPU)
        return self.sees_waiting or any(row.judged and row.cells == 1 for row in cpu)

    @property
    def sees_waiting(self) -> bool:
        """True if the wall time of a cell was judged."""
        return any(row.judged and row.kind is Kind.CELL for row in self.rows)

    @property
    def least_certain_row(self) -> VerdictRow | None:
        """The inconclusive row in which the largest slowdown could have been missed."""
        return least_certain(row for row in self.rows if row.timed)

    @property
    def no_verdict_reason(self) -> str:
        """The reason that nothing was judged: that of all rows, or of the first."""
        if self.common_reason:
            return self.common_reason
        vague = self.timed(GateOutcome.NOT_GATED)
        first = next((row for row in (*vague, *self.rows) if row.remark), None)
        return f"{first.name}: {first.remark}" if first else "nothing was measured"

    def exit_code(self, fail_on: str = REGRESSION, allow_no_base: bool = False) -> int:
        """Return 0: passed, 1: slower, 3: incomplete, 5: nothing judged.

        Incomplete is a failed or missing cell, or an unfinished run.  A gate that
        judged nothing passes only if there is no base yet, `allow_no_base` is True,
        and the run is complete.
        """
        incomplete = (
            bool(self.of(GateOutcome.FAILED, GateOutcome.MISSING)) or self.unfinished
        )
        if not self.can_pass and not self.slower:
            if not (self.no_base and allow_no_base):
                return NOTHING
            return INCOMPLETE if incomplete else PASSED
        if fail_on != NEVER and self.slower:
            return REGRESSED
        uncertain = self.timed(GateOutcome.INCONCLUSIVE, GateOutcome.NOT_GATED)
        if fail_on == INCONCLUSIVE and uncertain:
            return REGRESSED
        return INCOMPLETE if incomplete else PASSED


def gated(row: VerdictRow, max_unseen: float = MAX_UNSEEN) -> VerdictRow:
    """Return a row about time with its outcome for a gate.

    It is not gated if it has no interval, or if it is inconclusive and `unseen` is
    above `max_unseen`.
    """
    unseen, note = row.unseen if row.interval else None, row.note
    if row.interval and row.outcome != GateOutcome.INCONCLUSIVE:
        return row
    if unseen is None and (row.interval or not note):
        note = "; ".join(filter(None, (_UNKNOWN, note)))
    elif unseen is not None and unseen <= max_unseen:
        return row
    return replace(row, outcome=GateOutcome.NOT_GATED, note=note, unseen=unseen)
