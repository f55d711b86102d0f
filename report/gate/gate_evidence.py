"""A gate from an A/B run or from two runs; gate_history.py makes the third kind."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from report.gate.gate_verdict import MAX_UNSEEN, Chosen, Gate, GateOutcome, gated
from report.model.count_lines import cell_of_count
from report.model.judgement import LESS, MORE, SAME, Verdict
from report.model.plan import KNOWN_FAILURE, CellName
from report.model.run import NOT_MEASURED
from report.terms.numbers import count
from report.verdict.ab_verdicts import AbResult
from report.verdict.count_verdicts import COUNTED
from report.verdict.run_changes import (
    ComparedCell,
    ComparedRuns,
    NotComparable,
    RatePresence,
)
from report.words import ab_words
from report.words.ab_words import count_row
from report.words.compare_rows import compared_cpu_row, compared_row, varied
from report.words.verdict_rows import Kind, VerdictRow

LEAST_CONFIDENCE = 0.95  # for two runs; an A/B run has its own rule
# The outcomes of rows without a change of time.
_OUTCOMES: Mapping[str, GateOutcome] = {
    NOT_MEASURED: GateOutcome.NOT_GATED,
    KNOWN_FAILURE: GateOutcome.NOT_GATED,
    MORE: GateOutcome.REGRESSED,
    LESS: GateOutcome.IMPROVED,
    SAME: GateOutcome.UNCHANGED,
    RatePresence.LOST: GateOutcome.FAILED,
    RatePresence.DISPUTED: GateOutcome.FAILED,
    RatePresence.GAINED: GateOutcome.UNCOMPARED,
    RatePresence.ONLY_NEW: GateOutcome.UNCOMPARED,
}
_NO_LINES = "the run has no measurements: measurements.jsonl is empty or missing"


def _every(name: str) -> bool:
    return True


def gate_from_ab(result: AbResult, chosen: Chosen | None = None) -> Gate:
    """Return the gate of an A/B run.

    A choice of cells leaves out the rows of whole engines, which are judged on all
    their cells.  The limits remain those of the whole run.
    """
    run = result.run
    is_chosen = chosen or _every
    rows = [_gated(row) for row in ab_words.rows(result) if is_chosen(row.name)]
    if chosen is None:
        rows += map(_gated, ab_words.engine_rows(result))
    rows += [
        _gated(row)
        for row in ab_words.cpu_rows(result)
        if (chosen is None if row.cells > 1 else is_chosen(row.name.split(" ")[0]))
    ]
    rows += _count_rows(result, is_chosen)
    rule = run.plan.rule
    return Gate(
        run.plan.run,
        f"{run.a.label} (side a); side b is {run.b.label}",
        f"A/B run: {ab_words.judged_time(rule)}cells that look different after"
        f" {count(rule.screen_rounds, 'round')} are measured in"
        f" {count(rule.confirm_rounds, 'fresh round')}; regressed: at least"
        f" {100 * rule.least_shift:g} % slower with p ≤ {rule.alpha:g} / number of"
        f" tests; not gated: cells too noisy to show a slowdown of"
        f" {100 * MAX_UNSEEN:g} %; a change is the median of the changes in each"
        " round, so it can differ from that between the medians shown",
        tuple(rows),
        unfinished=run.unfinished,
        common_reason="" if run.lines else _NO_LINES,
        notes=tuple(ab_words.circumstances(result)),
    )


def _gated(row: VerdictRow, max_unseen: float = MAX_UNSEEN) -> VerdictRow:
    if row.outcome in _OUTCOMES:
        note = row.note or (row.outcome if row.timed else "")
        return replace(row, outcome=_OUTCOMES[row.outcome], note=note)
    return gated(row, max_unseen) if row.outcome in tuple(Verdict) else row


def _count_rows(result: AbResult, is_chosen: Chosen) -> Iterable[VerdictRow]:
    """Yield every count; a failure replaces the counts that only side b lacks."""
    failed = _failed_counts(result)
    counted = {kind.name for kind in COUNTED}
    for name, reason in failed.items():
        if is_chosen(str(name)):
            yield VerdictRow(Kind.COUNT, f"{name} counts", GateOutcome.FAILED, reason)
    for count_result in result.counts:
        is_replaced = count_result.cell in failed and count_result.name in counted
        if is_chosen(str(count_result.cell)) and not is_replaced:
            yield _gated(count_row(count_result))


def _failed_counts(result: AbResult) -> dict[CellName, str]:
    """Return why counting failed on side b, for cells counted on side a."""
    sides = {"a": dict[CellName, str](), "b": dict[CellName, str]()}
    counted = set[CellName]()
    for line in result.run.counts:
        name, side = cell_of_count(line), line["side"]
        if line["status"] != "ok":
            failure = f"side {side}: {line['status']}: {line['reason']}"
            sides[side].setdefault(name, " ".join(failure.split()))
        elif side == "a":
            counted.add(name)
    good = counted - sides["a"].keys()
    return {name: why for name, why in sides["b"].items() if name in good}


_NO_ROW = (RatePresence.UNRATED, RatePresence.ONLY_BASE)


def _of_code(row: VerdictRow, cell: ComparedCell) -> VerdictRow:
    """Return a row that does not fail the gate if one executable made both sides."""
    if row.outcome != GateOutcome.REGRESSED or not cell.same_build:
        return row
    return replace(row, outcome=GateOutcome.NOT_GATED)


def gate_from_comparison(
    compared: ComparedRuns | NotComparable,
    chosen: Chosen | None = None,
    *,
    unfinished: bool = False,
) -> Gate:
    """Return the gate of two runs made at different times.

    They must have been compared with LEAST_CONFIDENCE: below it a cell has no
    verdict.  `unfinished` is True if the new run is unfinished.
    """
    if isinstance(compared, NotComparable):
        differences = tuple(map(str, compared.differences))
        words = ("difference prevents", "differences prevent")
        reason = f"{count(len(differences), *words)} a comparison"
        if compared.has_no_shared_cell:
            reason = "the runs have no cell in common"
        return Gate(
            compared.new,
            compared.base,
            "",  # no rule was applied
            (),
            unfinished,
            common_reason=reason,
            differences=differences,
        )
    is_chosen = chosen or _every
    limits = compared.limits
    max_unseen = max(MAX_UNSEEN, limits.threshold)
    cells = [cell for cell in compared.cells if is_chosen(cell.name)]
    rows = [
        _of_code(_gated(row, max_unseen), cell)
        for of in (compared_row, compared_cpu_row)
        for cell in cells
        if (row := of(cell, limits)) and row.outcome not in _NO_ROW
    ]
    differs = varied(compared)
    return Gate(
        compared.new.name,
        compared.base.name,
        f"two runs at different times; regressed: at least"
        f" {100 * limits.threshold:g} % slower, with all of a 95 % interval above"
        f" {100 * limits.margin:g} %; every change includes changes of the machine"
        f" between the runs{f' ({differs})' if differs else ''}",
        tuple(rows),
        unfinished,
        common_reason="" if compared.confidences else "no cell has a rate in both runs",
    )
