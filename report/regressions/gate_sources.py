"""A gate's evidence: an A/B run, two runs, or a run and the history before it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from report.cells import NOT_MEASURED, CellName, Run
from report.numbers import count
from report.regressions import history
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
from report.regressions.gate import MOST_UNSEEN, Gate, Kind, Outcome, Row, row_of
from report.regressions.history_entries import Entry, EntryCell
from report.regressions.judgement import Judgement
from report.regressions.window import (
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
    NOT_GATED: Outcome.NOT_GATED,
}
_NO_LINES = "the run has no measurements: measurements.jsonl is empty or missing"
_WINDOW_RULE = (
    "prediction from earlier runs, {least} of time or more; where noise is normal"
    " simulated false alarms are at most 1 % of the runs of 60 cells, and more where"
    " a run's figure may be an outlier (REGRESSIONS.md)"
)
Chosen = Callable[[str], bool]


def is_unfinished(run: Run) -> bool:
    """Whether repetitions of the plan are missing, but for those of failed cells."""
    return any(
        len(cell.repetitions) < run.repetitions
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
    rule = run.rule
    return Gate(
        run.run_id,
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


def of_window(
    new: Entry,
    entries: Sequence[Entry],
    window: int,
    threshold: float,
    chosen: Chosen | None = None,
    *,
    unfinished: bool = False,
) -> Gate:
    """A run against the last `window` entries of each of its series.

    `entries` are the history, oldest first; what is not older than the run, or is
    the run itself, is left out.  `unfinished` says that repetitions of it are missing.
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
    before = [e for e in older if _comparable(e, new)][-window:]
    rows = []
    for cell, series in found.items():
        if cell in judged:
            rows.append(_watched_row(series, watched[cell], judged[cell], threshold))
        else:
            rows.append(_young(new, cell, before, len(watched[cell].reference)))
    rows += _lost(new, before, wanted)
    nothing, no_base = _why_nothing(new, older, rated=bool(found))
    return Gate(
        new.run,
        f"the last {window} runs of each cell in the history",
        _WINDOW_RULE.format(least=f"{100 * threshold:g} %"),
        tuple(rows),
        unfinished,
        nothing="" if judged else nothing,
        no_base=no_base and not judged,
    )


def _watched_row(
    series: history.Series, watched: Watched, judged: Judgement, threshold: float
) -> Row:
    """The base is what the reference predicts.

    What could go unseen is by the limit over all cells, which is far beyond the
    interval of one: by that it is decided whether the cell is gated.
    """
    new = watched.new.median
    return row_of(
        Kind.CELL,
        str(series.cell),
        judged,
        (new * math.exp(judged.log_shift), new),
        judged.smallest_effect,
        unit="of the reference's rate" if series.is_ratio else "ops/s",
        most_unseen=max(MOST_UNSEEN, threshold),
        width=_half(judged, threshold),
    )


def _young(new: Entry, cell: CellName, before: Sequence[Entry], points: int) -> Row:
    """A cell with too few points; an alert if it had enough of other settings."""
    settings = new.by_name[cell].settings_sha256
    found = [entry.by_name.get(cell) for entry in before]
    other = [c for c in found if c and c.rate and c.settings_sha256 != settings]
    told = f"{points} of at least {LEAST_REFERENCE} earlier runs are there"
    if not other:
        return _plain(cell, Outcome.UNCOMPARED, told)
    gated = len(other) >= LEAST_REFERENCE
    was = ", it was gated before" if gated else ""
    told = f"its settings changed{was}: of these settings {told}"
    return replace(_plain(cell, Outcome.UNCOMPARED, told), alert=gated)


def _point(point: history.Point, is_ratio: bool) -> Point:
    band = point.band
    repetitions = 0 if is_ratio else point.cell.n
    return Point(point.entry.run, band.median, band.low, band.high, repetitions)


def _plain(cell: CellName, outcome: Outcome, reason: str) -> Row:
    return Row(Kind.CELL, str(cell), outcome, judged=False, reason=reason)


def _lost(new: Entry, before: Sequence[Entry], wanted: Chosen) -> Iterable[Row]:
    """Cells that any comparable entry of the window rates, and the new run does not.

    The newest one only would forget what is lost as soon as that is in the history.
    """
    rated: dict[CellName, Entry] = {}
    for entry in reversed(before):
        for cell in entry.cells:
            if cell.rate is not None and wanted(str(cell.name)):
                rated.setdefault(cell.name, entry)
    for name, base in rated.items():
        now: EntryCell | None = new.by_name.get(name)
        if now is None:
            told = f"in {base.title}, and not part of this run"
            yield _plain(name, Outcome.MISSING, told)
        elif now.rate is None:
            yield _plain(name, Outcome.FAILED, f"{now.status}; ok in {base.title}")


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
