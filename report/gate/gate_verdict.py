"""What a gate knows and how it decides, whatever the evidence came from.

gate_evidence.py fills it from an A/B run or from two runs, gate_history.py from the
history; the formats (gate_text, gate_github, gate_junit) show it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum

from report.words.verdict_rows import Kind, VerdictRow, blindest

REGRESSION, INCONCLUSIVE, NEVER = "regression", "inconclusive", "never"
PASSED, REGRESSED, USAGE, INCOMPLETE, NOTHING = 0, 1, 2, 3, 5
# A cell that could be so much slower unseen gates nothing (REGRESSIONS.md).
MOST_UNSEEN = 0.10
_UNKNOWN = "how large a slowdown could go unseen is not known"
Chosen = Callable[[str], bool]  # whether a cell is, by its name


class GateOutcome(StrEnum):
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


@dataclass(frozen=True)
class Gate:
    """All rows, and what was compared with what.

    `nothing` tells why no row is judged, if that is known of all of them together;
    `no_base` says that the reason is a history, or a base, that is not there yet.
    """

    run: str
    against: str
    method: str  # one sentence: by which rule
    rows: tuple[VerdictRow, ...]
    unfinished: bool = False
    nothing: str = ""
    no_base: bool = False
    hints: tuple[str, ...] = ()  # commands that confirm what was found

    def of(self, *outcomes: GateOutcome) -> tuple[VerdictRow, ...]:
        """The rows that came out so, the largest change first."""
        found = [row for row in self.rows if row.outcome in outcomes]
        return tuple(sorted(found, key=lambda row: -abs(row.change or 0)))

    def timed(self, *outcomes: GateOutcome) -> tuple[VerdictRow, ...]:
        """The rows about time that came out so."""
        return tuple(row for row in self.of(*outcomes) if row.timed)

    @property
    def slower(self) -> tuple[VerdictRow, ...]:
        """The rows that fail the gate: regressed, or nominated for it."""
        return self.of(GateOutcome.REGRESSED, GateOutcome.NOMINATED)

    @property
    def judged(self) -> int:
        """Rows about time in which a regression could have been found."""
        return sum(row.judged and row.timed for row in self.rows)

    @property
    def can_pass(self) -> bool:
        """Return True if a cell's time was judged; counts and engines are not enough.

        All cells of an engine together can hide a slowdown of any one of them.
        """
        return any(row.judged and row.kind is Kind.CELL for row in self.rows)

    @property
    def blindest(self) -> VerdictRow | None:
        """The inconclusive row in which the largest slowdown could go unseen."""
        return blindest(row for row in self.rows if row.timed)

    @property
    def why_nothing(self) -> str:
        """Why nothing was judged: what is known of all rows, or of the first."""
        if self.nothing:
            return self.nothing
        vague = self.timed(GateOutcome.NOT_GATED)
        told = next((row for row in (*vague, *self.rows) if row.remark), None)
        return f"{told.name}: {told.remark}" if told else "nothing was measured"

    def exit_code(self, fail_on: str = REGRESSION, allow_no_base: bool = False) -> int:
        """0 passed; 1 slower; 3 a cell failed or is missing; 5 nothing judged.

        A gate that judged nothing never passes, unless there is no base yet, that is
        allowed, and nothing failed, is missing or unfinished.
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
        unsure = self.timed(GateOutcome.INCONCLUSIVE, GateOutcome.NOT_GATED)
        if fail_on == INCONCLUSIVE and unsure:
            return REGRESSED
        return INCOMPLETE if incomplete else PASSED


def gated(row: VerdictRow, most_unseen: float = MOST_UNSEEN) -> VerdictRow:
    """Return a row about time as a gate takes it.

    Without an interval it is not gated, nor if inconclusive and `unseen` is above
    `most_unseen`.
    """
    unseen, note = row.unseen if row.interval else None, row.note
    if row.interval and row.outcome != GateOutcome.INCONCLUSIVE:
        return row
    if unseen is None and (row.interval or not note):
        note = "; ".join(filter(None, (_UNKNOWN, note)))
    elif unseen is not None and unseen <= most_unseen:
        return row
    return replace(row, outcome=GateOutcome.NOT_GATED, note=note, unseen=unseen)
