"""The rows of a comparison of two runs."""

from __future__ import annotations

import math
import statistics

from report.model.judgement import Judgement, Verdict
from report.stats.two_run_decision import Limits
from report.terms import numbers
from report.terms.class_stamp import stamp_of_sides
from report.verdict.comparable_run import moved_amounts
from report.verdict.run_changes import (
    ComparedCell,
    ComparedRuns,
    Difference,
    RatePresence,
)
from report.words.verdict_rows import (
    OPS,
    Kind,
    VerdictRow,
    cpu_row,
    with_judgement,
)
from report.words.verdict_words import MISSING

_MOST_MOVED = 8  # amounts without a verdict, in the head of a table
# The change of the medians is shown as well if it differs from the change by more.
_NOTABLE_GAP = 0.01
_LEAST_SHOWN = 0.001  # the last printed digit of a change
_CHANGED = (Verdict.REGRESSED, Verdict.IMPROVED)


def compared_row(cell: ComparedCell, limits: Limits) -> VerdictRow:
    """Return the row of a cell; without a verdict its outcome is its standing."""
    outcome: str = cell.verdict or cell.standing
    if cell.is_lost and cell.standing is RatePresence.ONLY_BASE:
        outcome = MISSING
    side, rates = cell.new or cell.base, cell.rates
    unit = side.unit if side else OPS
    both = {"base": cell.base, "new": cell.new}
    row = VerdictRow(
        *(Kind.CELL, cell.name, outcome, note(cell), *rates, unit),
        durability=stamp_of_sides({k: s.durability for k, s in both.items() if s}),
    )
    if not cell.judgement:
        return row
    return with_judgement(row, cell.judgement, _half(cell.judgement, limits))


def compared_cpu_row(cell: ComparedCell, limits: Limits) -> VerdictRow | None:
    """Return the row of a cell's processor time; None if it is not judged."""
    if not (cell.cpu and cell.base and cell.new):
        return None
    base, new = (statistics.median(side.cpu_ns) for side in (cell.base, cell.new))
    return cpu_row(cell.name, cell.cpu, (base, new), _half(cell.cpu, limits))


def note(cell: ComparedCell) -> str:
    """Return the remarks about a cell, or ""."""
    remarks = [cell.reason]
    if cell.judgement:
        remarks.append(cell.judgement.reason)
        if (share := _change_of_medians(cell)) is not None:
            medians = f"the medians differ by {numbers.signed(share)}"
            remarks.append(f"{medians}; the change is the median over all pairs")
        if cell.same_build and cell.verdict in _CHANGED:
            remarks.append("same executable: not caused by its code")
        for what in ("disturbed", "truncated"):
            counts = [getattr(side, what) for side in (cell.base, cell.new) if side]
            if any(counts):
                word = "cut short" if what == "truncated" else what
                remarks.append(f"{word}: {counts[0]} in base, {counts[1]} in new")
    return "; ".join(filter(None, remarks))


def varied(compared: ComparedRuns) -> str:
    """Return what differs between the runs as it does on one machine, or ""."""
    changes = [f"{d.what} {d.base} → {d.new}" for d in compared.varied]
    return f"{'; '.join(changes)}; that varies on one machine, too" if changes else ""


def amounts(compared: ComparedRuns) -> tuple[list[str], list[Difference]]:
    """Return the names of all amounts without a verdict, and those that moved."""
    names: dict[str, None] = {}
    moved = []
    for cell in compared.cells:
        if (base := cell.base) and (new := cell.new):
            names |= dict.fromkeys(n for n in base.amounts if n in new.amounts)
            for name, was, now in moved_amounts(base, new, compared.limits.threshold):
                of = f"{name} of {cell.name}"
                moved.append(Difference(of, f"{was:,.12g}", f"{now:,.12g}"))
    return list(names), moved


def unjudged(compared: ComparedRuns) -> str:
    """Return which values have no verdict, and how they changed, or ""."""
    names, moved = amounts(compared)
    if not names:
        return ""
    changes = [f"{d.what} {d.base} → {d.new}" for d in moved[:_MOST_MOVED]]
    if len(moved) > _MOST_MOVED:
        changes.append(f"{len(moved) - _MOST_MOVED} more (--format json)")
    return f"{', '.join(names)}; {'; '.join(changes) or 'none differs clearly'}"


def _change_of_medians(cell: ComparedCell) -> float | None:
    """Return the change of the medians if it must be shown next to the change.

    The change is estimated from all pairs of repetitions, so it differs from that of
    the medians if the repetitions are spread.
    """
    base, new = cell.rates
    if not cell.judgement or base is None or new is None:
        return None
    share = new / base - 1
    gap = abs(share - cell.judgement.rate_change)
    low, high = cell.judgement.rate_interval or (-math.inf, math.inf)
    agrees = gap < _NOTABLE_GAP and low <= share <= high
    is_opposite = share * cell.judgement.rate_change < 0 and gap >= _LEAST_SHOWN
    return share if not agrees or is_opposite else None


def _half(judgement: Judgement, limits: Limits) -> float | None:
    """Return the slowdown that could be missed in an inconclusive cell, as a share.

    It is half the interval plus the margin, and at least the threshold.  None if the
    interval does not have the confidence that a verdict needs.
    """
    if judgement.log_low is None or judgement.log_high is None:
        return None
    if not limits.suffices(judgement.confidence):
        return None
    half = (judgement.log_high - judgement.log_low) / 2
    return max(limits.threshold, math.expm1(half + math.log1p(limits.margin)))


def unchanged_builds_drift(compared: ComparedRuns) -> tuple[float, float, int] | None:
    """Return (median, largest, cells) of changes of rates with unchanged executables.

    Changes are shares, and the largest is the one furthest from 0.  They are caused
    by the machine or by chance.  None for fewer than 3 cells.
    """
    changes = [
        cell.judgement.rate_change
        for cell in compared.cells
        if cell.judgement and cell.same_build
    ]
    if len(changes) < 3:
        return None
    return statistics.median(changes), max(changes, key=abs), len(changes)
