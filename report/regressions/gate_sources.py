"""A gate's evidence: an A/B run, two runs, or a run and the history before it."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Sequence

from report.cells import CellName
from report.regressions import history
from report.regressions.ab_verdicts import AbResult, CellResult
from report.regressions.comparing import (
    ComparedCell,
    ComparedRuns,
    NotComparable,
    Standing,
)
from report.regressions.counts import LESS, MORE, NOT_GATED, SAME, CountResult
from report.regressions.gate import Gate, Kind, Outcome, Row, row_of
from report.regressions.history_entries import Entry, EntryCell
from report.regressions.samples import SampledCell
from report.regressions.window import (
    ALPHA,
    LEAST_REFERENCE,
    Point,
    Watched,
    judge,
)

LEAST_CONFIDENCE = 0.95  # of two runs; an A/B run has its own rule
_COUNT_OUTCOMES = {
    MORE: Outcome.REGRESSED,
    LESS: Outcome.IMPROVED,
    SAME: Outcome.UNCHANGED,
}
Chosen = Callable[[str], bool]


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
        rows += [
            row_of(Kind.ENGINE, found.engine, found.judgement, (None, None))
            for found in result.engines
        ]
    rows += [
        _of_count(count)
        for count in result.counts
        if count.verdict != NOT_GATED and wanted(str(count.cell))
    ]
    rule = run.rule
    return Gate(
        run.run_id,
        f"{run.a.label} (side a), with {run.b.label} (side b)",
        f"A/B run: suspects of {rule.screen_rounds} rounds, judged on"
        f" {rule.confirm_rounds} fresh ones; a regression is p <= {rule.alpha:g} over"
        f" all suspects and {100 * rule.least_shift:g} % of time or more",
        tuple(rows),
        unfinished=run.unfinished,
    )


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
        return Row(Kind.CELL, name, Outcome.INCONCLUSIVE, judged=False, reason=reason)
    sides = cell.a_median_ops_per_sec, cell.b_median_ops_per_sec
    return row_of(Kind.CELL, name, cell.judgement, sides)


def _of_count(count: CountResult) -> Row:
    return Row(
        Kind.COUNT,
        f"{count.cell} {count.name}",
        _COUNT_OUTCOMES[count.verdict],
        judged=True,
        unit=count.unit,
        base=count.a,
        new=count.b,
        change=count.change,
        reason=count.reason,
    )


def of_comparison(
    compared: ComparedRuns | NotComparable, chosen: Chosen | None = None
) -> Gate:
    """Two runs made at different times, at 95 % only."""
    if isinstance(compared, NotComparable):
        told = "; ".join(str(difference) for difference in compared.differences)
        method = "two runs that do not mean the same"
        return Gate(compared.new, compared.base, method, (), nothing=told)
    wanted = chosen or _every
    rows = (_of_compared(cell) for cell in compared.cells if wanted(cell.name))
    limits = compared.limits
    return Gate(
        compared.new.name,
        compared.base.name,
        f"two runs at different times: a regression is {100 * limits.threshold:g} % of"
        f" time or more, with a 95 % interval beyond {100 * limits.margin:g} %; what"
        " the machine did in between is part of every change",
        tuple(row for row in rows if row is not None),
        nothing="" if compared.confidences else "no cell has a rate in both runs",
    )


def _of_compared(cell: ComparedCell) -> Row | None:
    """None of a cell that has no rate in either run."""
    if cell.judgement is not None:
        sides = _median(cell.base), _median(cell.new)
        unit = cell.new.unit if cell.new else "ops/s"
        return row_of(
            Kind.CELL, cell.name, cell.judgement, sides, unit, LEAST_CONFIDENCE
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


def _median(cell: SampledCell | None) -> float | None:
    return statistics.median(cell.rates) if cell and cell.rates else None


def of_window(
    new: Entry,
    entries: Sequence[Entry],
    window: int,
    threshold: float,
    chosen: Chosen | None = None,
) -> Gate:
    """A run against the last `window` entries of each of its series.

    `entries` are the history, oldest first; what is not older than the run, or is
    the run itself, is left out.
    """
    wanted = chosen or _every
    older = [entry for entry in entries if entry.run < new.run]
    found = {
        series.cell: series
        for series in history.series((*older, new))
        if series.points[-1].entry is new and wanted(str(series.cell))
    }
    watched = {
        cell: Watched(
            tuple(_point(p, series.is_ratio) for p in series.points[-1 - window : -1]),
            _point(series.points[-1], series.is_ratio),
        )
        for cell, series in found.items()
    }
    judged = judge(watched, threshold)
    rows = []
    for cell, series in found.items():
        earlier = len(watched[cell].reference)
        if cell in judged:
            base = statistics.median(p.median for p in watched[cell].reference)
            unit = "of the reference's rate" if series.is_ratio else "ops/s"
            sides = base, watched[cell].new.median
            rows.append(row_of(Kind.CELL, str(cell), judged[cell], sides, unit))
        else:
            told = f"{earlier} of at least {LEAST_REFERENCE} earlier runs are there"
            rows.append(_plain(cell, Outcome.UNCOMPARED, told))
    rows += _lost(new, older, wanted)
    nothing, no_base = _why_nothing(new, older, rated=bool(found))
    return Gate(
        new.run,
        f"the last {window} runs of each cell in the history",
        f"prediction from earlier runs: {ALPHA:.0%} false alarms over all cells"
        f" together, and {100 * threshold:g} % of time or more",
        tuple(rows),
        nothing="" if judged else nothing,
        no_base=no_base and not judged,
    )


def _point(point: history.Point, is_ratio: bool) -> Point:
    band = point.band
    repetitions = 0 if is_ratio else point.cell.n
    return Point(point.entry.run, band.median, band.low, band.high, repetitions)


def _plain(cell: CellName, outcome: Outcome, reason: str) -> Row:
    return Row(Kind.CELL, str(cell), outcome, judged=False, reason=reason)


def _lost(new: Entry, older: Sequence[Entry], wanted: Chosen) -> Iterable[Row]:
    """Cells that the newest comparable entry has, and the new run has not."""
    base = next((e for e in reversed(older) if _comparable(e, new)), None)
    if base is None:
        return
    for cell in base.cells:
        if cell.rate is None or not wanted(str(cell.name)):
            continue
        now: EntryCell | None = new.by_name.get(cell.name)
        if now is None:
            told = f"in {base.title}, and not part of this run"
            yield _plain(cell.name, Outcome.MISSING, told)
        elif now.rate is None:
            yield _plain(cell.name, Outcome.FAILED, f"{now.status}; ok in {base.title}")


def _comparable(entry: Entry, new: Entry) -> bool:
    return (entry.machine_key, entry.method, entry.kind, entry.suite) == (
        new.machine_key,
        new.method,
        new.kind,
        new.suite,
    )


def _why_nothing(
    new: Entry, older: Sequence[Entry], *, rated: bool
) -> tuple[str, bool]:
    """In words, and whether it is that the history is not there yet.

    A history of another machine is no young history: whoever lets that pass would
    never compare anything where each run has another machine.
    """
    if not rated:
        return "no cell of this run has a rate", False
    if len(older) < LEAST_REFERENCE:
        told = (
            f"the history has {len(older)} earlier runs of at least {LEAST_REFERENCE}"
        )
        return told, True
    same = [entry for entry in older if _comparable(entry, new)]
    if not same:
        told = "none of this machine, method, suite and kind of run"
        return f"the history has {len(older)} earlier runs, {told}", False
    if len(same) < LEAST_REFERENCE:
        told = f"of this machine and suite, of at least {LEAST_REFERENCE}"
        return f"the history has {len(same)} earlier runs {told}", True
    return "the cells' settings are not those of the earlier runs", False
