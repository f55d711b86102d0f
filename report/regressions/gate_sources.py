"""A gate's evidence: an A/B run, or two runs; gate_history.py has the third."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable

from report.model.plan import CellName
from report.model.run import NOT_MEASURED, Run
from report.numbers import count
from report.regressions.ab_verdicts import AbResult, CellResult, EngineResult
from report.regressions.comparing import (
    ComparedCell,
    ComparedRuns,
    NotComparable,
    Standing,
)
from report.regressions.count_lines import cell_of_count
from report.regressions.counts import (
    COUNTED,
    LESS,
    MORE,
    NOT_GATED,
    SAME,
    CountResult,
)
from report.regressions.deciding import Limits
from report.regressions.gate import (
    MOST_UNSEEN,
    Chosen,
    Gate,
    Kind,
    Outcome,
    Row,
    row_of,
)
from report.regressions.judgement import Judgement
from report.regressions.samples import SampledCell

LEAST_CONFIDENCE = 0.95  # of two runs; an A/B run has its own rule
_COUNT_OUTCOMES = {
    MORE: Outcome.REGRESSED,
    LESS: Outcome.IMPROVED,
    SAME: Outcome.UNCHANGED,
    NOT_GATED: Outcome.NOT_GATED,
}
_NO_LINES = "the run has no measurements: measurements.jsonl is empty or missing"


def is_unfinished(run: Run) -> bool:
    """Whether repetitions of the plan are missing, but for those of failed cells."""
    return any(
        len(cell.repetitions) < run.plan.repetitions
        for cell in run.cells.values()
        if cell.status in ("ok", NOT_MEASURED)
    )


def _every(name: str) -> bool:
    return True


def of_ab(result: AbResult, chosen: Chosen | None = None) -> Gate:
    """The verdict of an A/B run.

    A choice of cells leaves the engines out: they are judged by all their cells.
    The limits remain those of the whole run.
    """
    run = result.run
    wanted = chosen or _every
    rows = [_of_ab_cell(cell) for cell in result.cells if wanted(str(cell.name))]
    if chosen is None:
        rows += [_of_engine(found) for found in result.engines]
    rows += _of_counts(result, wanted)
    rule = run.plan.rule
    return Gate(
        run.plan.run,
        f"{run.a.label} (side a), with {run.b.label} (side b)",
        f"A/B run: suspects of {count(rule.screen_rounds, 'round')}, judged on"
        f" {count(rule.confirm_rounds, 'fresh round')}; a regression is"
        f" p ≤ {rule.alpha:g} over all suspects and {100 * rule.least_shift:g} % of"
        f" time or more; a cell whose smallest visible slowdown is above"
        f" {100 * MOST_UNSEEN:g} % is not gated",
        tuple(rows),
        unfinished=run.unfinished,
        nothing="" if run.lines else _NO_LINES,
    )


def _of_engine(found: EngineResult) -> Row:
    judged = found.judgement
    unseen = judged.smallest_effect
    return row_of(Kind.ENGINE, found.engine, judged, (None, None), unseen)


def _of_ab_cell(cell: CellResult) -> Row:
    name = str(cell.name)
    if cell.failure is not None:
        failure = cell.failure
        told = " ".join(
            f"side {failure.side}: {failure.status}: {failure.reason}".split()
        )
        return Row(Kind.CELL, name, Outcome.FAILED, judged=False, reason=told)
    if cell.judgement is None:
        reason = "not measured"
        return Row(Kind.CELL, name, Outcome.NOT_GATED, judged=False, reason=reason)
    sides = cell.a_median_ops_per_sec, cell.b_median_ops_per_sec
    unseen = cell.judgement.smallest_effect
    return row_of(Kind.CELL, name, cell.judgement, sides, unseen)


def _of_counts(result: AbResult, wanted: Chosen) -> Iterable[Row]:
    """Every count; in the place of those that side b alone fails to make, a failure."""
    failed = _failed_counts(result)
    counted = {kind.name for kind in COUNTED}
    for name, reason in failed.items():
        if wanted(str(name)):
            title = f"{name} counts"
            yield Row(Kind.COUNT, title, Outcome.FAILED, judged=False, reason=reason)
    for made in result.counts:
        instead = made.cell in failed and made.name in counted
        if wanted(str(made.cell)) and not instead:
            yield _of_count(made)


def _failed_counts(result: AbResult) -> dict[CellName, str]:
    """Why side b could not be counted, of the cells of which side a could."""
    sides = {"a": dict[CellName, str](), "b": dict[CellName, str]()}
    counted = set[CellName]()
    for line in result.run.counts:
        name, side = cell_of_count(line), line["side"]
        if line["status"] != "ok":
            told = f"side {side}: {line['status']}: {line['reason']}"
            sides[side].setdefault(name, " ".join(told.split()))
        elif side == "a":
            counted.add(name)
    good = counted - sides["a"].keys()
    return {name: why for name, why in sides["b"].items() if name in good}


def _of_count(made: CountResult) -> Row:
    return Row(
        Kind.COUNT,
        f"{made.cell} {made.name}",
        _COUNT_OUTCOMES[made.verdict],
        judged=made.verdict != NOT_GATED,
        unit=made.unit,
        base=made.a,
        new=made.b,
        change=made.change,
        reason=made.reason,
    )


def of_comparison(
    compared: ComparedRuns | NotComparable,
    chosen: Chosen | None = None,
    *,
    unfinished: bool = False,
) -> Gate:
    """Two runs made at different times, at 95 % only; `unfinished` is the new one."""
    if isinstance(compared, NotComparable):
        told = "; ".join(str(difference) for difference in compared.differences)
        method = "two runs that do not mean the same"
        return Gate(compared.new, compared.base, method, (), unfinished, nothing=told)
    wanted = chosen or _every
    limits = compared.limits
    rows = (_of_compared(cell, limits) for cell in compared.cells if wanted(cell.name))
    return Gate(
        compared.new.name,
        compared.base.name,
        f"two runs at different times: a regression is {100 * limits.threshold:g} % of"
        f" time or more, with a 95 % interval beyond {100 * limits.margin:g} %; what"
        " the machine did in between is part of every change",
        tuple(row for row in rows if row is not None),
        unfinished,
        nothing="" if compared.confidences else "no cell has a rate in both runs",
    )


def _of_compared(cell: ComparedCell, limits: Limits) -> Row | None:
    """None of a cell that has no rate in either run."""
    if cell.judgement is not None:
        return row_of(
            Kind.CELL,
            cell.name,
            cell.judgement,
            cell.rates,
            _half(cell.judgement, limits.threshold, limits.margin),
            unit=cell.new.unit if cell.new else "ops/s",
            least_confidence=LEAST_CONFIDENCE,
            most_unseen=max(MOST_UNSEEN, limits.threshold),
        )
    outcome = {
        Standing.LOST: Outcome.FAILED,
        Standing.DISPUTED: Outcome.FAILED,
        Standing.GAINED: Outcome.UNCOMPARED,
        Standing.ONLY_NEW: Outcome.UNCOMPARED,
    }.get(cell.standing)
    if cell.standing is Standing.ONLY_BASE and cell.base and cell.base.rates:
        outcome = Outcome.MISSING
    if outcome is None:
        return None
    reason = cell.reason or cell.standing.value
    return Row(Kind.CELL, cell.name, outcome, judged=False, reason=reason)


def _half(judgement: Judgement, threshold: float, margin: float = 0) -> float | None:
    """What half of the interval, beyond the margin, hides; at least the threshold."""
    if judgement.log_low is None or judgement.log_high is None:
        return None
    half = (judgement.log_high - judgement.log_low) / 2
    return max(threshold, math.expm1(half + math.log1p(margin)))


def _median(cell: SampledCell | None) -> float | None:
    return statistics.median(cell.rates) if cell and cell.rates else None
