"""A gate from the history: a run as the newest point of each of its series.

The detector is that of `kvmatrix history`.  It nominates a step.  An A/B run decides
whether the code is slower, and the gate prints the command for it.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import groupby

import numpy as np

from report.formats.history_text import since
from report.gate.gate_verdict import MAX_UNSEEN, Chosen, Gate, GateOutcome
from report.model.history_entry import HistoryEntry
from report.model.plan import CellName
from report.stats.change_points import WINDOW, critical, despiked
from report.terms.numbers import count, percent
from report.verdict.history_series import Series
from report.verdict.history_steps import Change, SeriesSteps, State, judge
from report.words.history_view import confirm_command
from report.words.verdict_rows import Kind, VerdictRow

RECENT = 20  # runs; an earlier step is the new normal, not a regression
LEAST_EARLIER = 5  # runs of a cell; with fewer, the cell is not judged
LATER = 8  # runs within which a slowdown that begins now must be detected
_DEVIATIONS_95 = 1.645  # standard deviations: detected in 95 of 100 cases
_RULE = (
    'lasting slowdowns ("steps") that `kvmatrix history` finds, of at least {least} in'
    f" time per operation, in the last {RECENT} runs of a cell; a step is detected from"
    " its second run on, and is only a nomination: an A/B run confirms or rejects it"
)


def gate_from_history(
    new: HistoryEntry,
    entries: Sequence[HistoryEntry],
    threshold: float,
    chosen: Chosen | None = None,
    *,
    unfinished: bool = False,
    place: str = "the history",
) -> Gate:
    """Judge a run as if it were the last one of the history.

    Of `entries` (oldest first), only those older than the run are points, but the A/B
    runs among all of them decide on steps.  `threshold` is the smallest slowdown that
    fails, as a share of the time.  `place` names the history for people.
    """
    is_chosen = chosen or (lambda name: True)
    older = [entry for entry in entries if entry.run < new.run]
    before = [entry for entry in older if _comparable(entry, new)][-RECENT:]
    series = [
        judged
        for judged in judge((*older, new), entries)
        if judged.series.entries[-1] is new and is_chosen(str(judged.series.cell))
    ]
    known = [judged for judged in series if len(judged.series.points) > LEAST_EARLIER]
    young = [judged for judged in series if len(judged.series.points) <= LEAST_EARLIER]
    steps = [(judged, _step(judged, threshold)) for judged in known]
    rows = [_row(judged, step, threshold) for judged, step in steps]
    rows += [_young_row(of, new, before) for of in young if of.series.is_rate]
    rows += _lost(new, before, is_chosen)
    reason, no_base = _no_verdict_reason(new, older, rated=bool(series))
    return Gate(
        new.run,
        f"{place}: {count(len(older), 'earlier run')}",
        _RULE.format(least=f"{100 * threshold:g} %"),
        tuple(rows),
        unfinished,
        notes=_moved(known),
        common_reason="" if known else reason,
        no_base=no_base and not known,
        hints=_commands(step for _, step in steps if step),
    )


def smallest_visible(judged: SeriesSteps) -> float:
    """Return the slowdown that LATER further runs would show in 95 of 100 cases.

    It is a share of the time, from the spread of the points about their levels and
    the detector's limit for that many points.
    """
    logs = np.log(np.asarray(judged.series.aligned, dtype=np.float64))
    start = max(0, len(logs) - WINDOW)
    cuts = [change.step.index for change in judged.changes if change.step.index > start]
    levels = np.split(logs[start:], [cut - start for cut in cuts])
    rest = despiked(np.concatenate([level - level.mean() for level in levels]))
    spread = math.sqrt(float(np.sum(rest**2)) / (len(rest) - len(levels)))
    points = len(levels[-1])
    limit = critical(points + LATER) + _DEVIATIONS_95
    share = math.expm1(limit * spread * math.sqrt(1 / LATER + 1 / points))
    return max(share, judged.series.least_shift)


def _step(judged: SeriesSteps, threshold: float) -> Change | None:
    """Return the largest recent open step; a slowdown comes before a speed-up.

    The threshold is one of times: of a count, every step is large enough.
    """
    least = 0.0 if judged.series.is_count else math.log1p(threshold)
    recent = len(judged.series.points) - RECENT
    steps = [
        change
        for change in judged.changes
        if change.is_open
        and change.step.index >= recent
        and abs(change.step.log_shift) >= least
    ]
    return max(steps, key=lambda change: change.step.log_shift, default=None)


def _row(judged: SeriesSteps, step: Change | None, threshold: float) -> VerdictRow:
    if step is None:
        return _steady_row(judged, threshold)
    outcome = GateOutcome.NOMINATED
    if not step.step.is_slower:
        outcome = GateOutcome.IMPROVED
    elif step.state is State.CONFIRMED:
        outcome = GateOutcome.REGRESSED
    by = f"; {step.state} by {step.decided_by.run}" if step.decided_by else ""
    state = f"{step.state}, " if step.state is State.MACHINE_OR_CODE else ""
    return replace(
        _series_row(judged.series, outcome, f"{state}{since(step)}{by}"),
        change=step.share,
    )


def _steady_row(judged: SeriesSteps, threshold: float) -> VerdictRow:
    """Return the row of a series without a step.

    It is unchanged only if no slowdown above `threshold` could have been missed.
    """
    last = max((change.step.index for change in judged.changes), default=0)
    *level, newest = judged.series.aligned[last:]
    slower = statistics.median(level) / newest - 1
    if judged.series.is_count:
        threshold = max(judged.series.least_shift, MAX_UNSEEN)
    visible = smallest_visible(judged)
    unseen, reason = max(visible, slower), ""
    if slower > max(visible, threshold):
        reason = f"this run is {percent(slower)} slower, but a step needs two runs"
    outcome = GateOutcome.INCONCLUSIVE
    own = judged.series.processors.count(judged.series.processors[-1])
    if judged.series.crossings and own < LEAST_EARLIER:
        reason = f"{count(own, 'run')} on this processor: its level is not yet known"
    elif unseen <= threshold:
        outcome = GateOutcome.UNCHANGED
    elif unseen > max(MAX_UNSEEN, threshold):
        outcome = GateOutcome.NOT_GATED
    return replace(
        _series_row(judged.series, outcome, reason),
        unseen=None if outcome is GateOutcome.UNCHANGED else unseen,
    )


def _young_row(
    judged: SeriesSteps, new: HistoryEntry, before: Sequence[HistoryEntry]
) -> VerdictRow:
    """Return the row of a cell with too few runs.

    It is an alert if the cell had enough runs with other settings.
    """
    cell, points = judged.series.cell, len(judged.series.points) - 1
    settings = new.by_name[cell].settings_sha256
    earlier = [entry.by_name.get(cell) for entry in before]
    other = [c for c in earlier if c and c.rate and c.settings_sha256 != settings]
    few = f"{count(points, 'earlier run')}; at least {LEAST_EARLIER} are needed"
    if not other:
        return _plain(cell, GateOutcome.UNCOMPARED, few)
    gated = len(other) >= LEAST_EARLIER
    was = " and it was gated before" if gated else ""
    reason = f"its settings changed{was}; with these settings: {few}"
    return replace(_plain(cell, GateOutcome.UNCOMPARED, reason), alert=gated)


def _lost(
    new: HistoryEntry, before: Sequence[HistoryEntry], is_chosen: Chosen
) -> Iterable[VerdictRow]:
    """Yield the cells with a rate in any comparable recent entry but not in the run.

    The newest entry alone is not enough: once a run that lost a cell is in the
    history, the loss would be forgotten.
    """
    rated: dict[CellName, HistoryEntry] = {}
    for entry in reversed(before):
        for cell in entry.cells:
            if cell.rate is not None and is_chosen(str(cell.name)):
                rated.setdefault(cell.name, entry)
    for name, base in rated.items():
        now = new.by_name.get(name)
        if now is None:
            reason = f"in {base.title}, but not part of this run"
            yield _plain(name, GateOutcome.MISSING, reason)
        elif now.rate is None:
            yield _plain(name, GateOutcome.FAILED, f"{now.status}; ok in {base.title}")


def _series_row(series: Series, outcome: GateOutcome, reason: str) -> VerdictRow:
    kind = Kind.COUNT if series.is_count else Kind.CELL if series.is_rate else Kind.CPU
    return replace(_plain(series.cell, outcome, reason), kind=kind, name=series.name)


def _moved(known: Sequence[SeriesSteps]) -> tuple[str, ...]:
    """Return the boundaries within the last RECENT runs, as text."""
    found = {
        of.series.entries[boundary.index].run: str(boundary)
        for of in known
        for boundary in of.series.boundaries
        if boundary.index >= len(of.series.points) - RECENT
    }
    return tuple(f"{text}, with {run}" for run, text in sorted(found.items()))


def _plain(cell: CellName, outcome: GateOutcome, reason: str) -> VerdictRow:
    return VerdictRow(Kind.CELL, str(cell), outcome, reason)


def _commands(steps: Iterable[Change]) -> tuple[str, ...]:
    """Return the A/B commands that decide on nominations, one per pair of builds."""

    def builds(change: Change) -> tuple[str, str]:
        old, new = change.compared
        return old.run, new.run

    nominated = sorted((s for s in steps if s.is_nominated), key=builds)
    return tuple(confirm_command(*group) for _, group in groupby(nominated, builds))


def _comparable(entry: HistoryEntry, new: HistoryEntry) -> bool:
    return (entry.machine_key, entry.method, entry.kind, entry.suite) == (
        new.machine_key,
        new.method,
        new.kind,
        new.suite,
    )


def _no_verdict_reason(
    new: HistoryEntry, older: Sequence[HistoryEntry], *, rated: bool
) -> tuple[str, bool]:
    """Return why no cell was judged, and True if the history is still too short.

    A history of other machines is not too short: if that could pass, a CI that uses
    a new machine for each run would never compare anything.
    """
    if not rated:
        return "no cell of this run has a rate", False
    has = f"the history has {count(len(older), 'earlier run')}"
    if len(older) < LEAST_EARLIER:
        return f"{has}; at least {LEAST_EARLIER} are needed", True
    same = [entry for entry in older if _comparable(entry, new)]
    if not same:
        return f"{has}, none with this machine, method, suite and kind of run", False
    if len(same) < LEAST_EARLIER:
        runs = count(len(same), "earlier run")
        needed = f"with this machine and suite; at least {LEAST_EARLIER} are needed"
        return f"the history has {runs} {needed}", True
    return "the cells' settings differ from those of the earlier runs", False
