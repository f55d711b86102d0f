"""A gate's evidence: an A/B run, or two runs; gate_history.py has the third."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from report.gate.gate_verdict import MOST_UNSEEN, Chosen, Gate, GateOutcome, gated
from report.model.count_lines import cell_of_count
from report.model.judgement import LESS, MORE, SAME, Verdict
from report.model.plan import CellName
from report.model.run import NOT_MEASURED
from report.terms.numbers import count
from report.verdict.ab_verdicts import AbResult
from report.verdict.count_verdicts import COUNTED
from report.verdict.run_changes import ComparedRuns, NotComparable, RatePresence
from report.words import ab_words
from report.words.ab_counts import count_row
from report.words.compare_rows import compared_row
from report.words.verdict_rows import Kind, VerdictRow

LEAST_CONFIDENCE = 0.95  # of two runs; an A/B run has its own rule
# What rows without a change of time are to a gate.
_OUTCOMES: Mapping[str, GateOutcome] = {
    NOT_MEASURED: GateOutcome.NOT_GATED,
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
    """The verdict of an A/B run.

    A choice of cells leaves the engines out: they are judged by all their cells.
    The limits remain those of the whole run.
    """
    run = result.run
    wanted = chosen or _every
    rows = [_gated(row) for row in ab_words.rows(result) if wanted(row.name)]
    if chosen is None:
        rows += map(_gated, ab_words.engine_rows(result))
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


def _gated(row: VerdictRow, most_unseen: float = MOST_UNSEEN) -> VerdictRow:
    if row.outcome in _OUTCOMES:
        note = row.note or (row.outcome if row.timed else "")
        return replace(row, outcome=_OUTCOMES[row.outcome], note=note)
    return gated(row, most_unseen) if row.outcome in tuple(Verdict) else row


def _of_counts(result: AbResult, wanted: Chosen) -> Iterable[VerdictRow]:
    """Every count; in the place of those that side b alone fails to make, a failure."""
    failed = _failed_counts(result)
    counted = {kind.name for kind in COUNTED}
    for name, reason in failed.items():
        if wanted(str(name)):
            yield VerdictRow(Kind.COUNT, f"{name} counts", GateOutcome.FAILED, reason)
    for made in result.counts:
        instead = made.cell in failed and made.name in counted
        if wanted(str(made.cell)) and not instead:
            yield _gated(count_row(made))


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


def gate_from_comparison(
    compared: ComparedRuns | NotComparable,
    chosen: Chosen | None = None,
    *,
    unfinished: bool = False,
) -> Gate:
    """Two runs made at different times; `unfinished` is the new one.

    They must be compared with LEAST_CONFIDENCE: below it a cell has no verdict.
    """
    if isinstance(compared, NotComparable):
        told = "; ".join(str(difference) for difference in compared.differences)
        method = "two runs that do not mean the same"
        return Gate(compared.new, compared.base, method, (), unfinished, nothing=told)
    wanted = chosen or _every
    limits = compared.limits
    most_unseen = max(MOST_UNSEEN, limits.threshold)
    found = (compared_row(c, limits) for c in compared.cells if wanted(c.name))
    rows = (
        _gated(row, most_unseen)
        for row in found
        if row.outcome not in (RatePresence.UNRATED, RatePresence.ONLY_BASE)
    )
    return Gate(
        compared.new.name,
        compared.base.name,
        f"two runs at different times: a regression is {100 * limits.threshold:g} % of"
        f" time or more, with a 95 % interval beyond {100 * limits.margin:g} %; what"
        " the machine did in between is part of every change",
        tuple(rows),
        unfinished,
        nothing="" if compared.confidences else "no cell has a rate in both runs",
    )
