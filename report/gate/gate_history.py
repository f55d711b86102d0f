"""A gate's evidence: a run as the newest point of each of its series in the history.

The detector is that of `kvmatrix history`.  It nominates a step; whether the code is
slower is decided by an A/B run, and the gate says by which.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import groupby

import numpy as np

from report.formats.history_text import since
from report.gate.gate_verdict import MOST_UNSEEN, Chosen, Gate, GateOutcome
from report.model.history_entry import HistoryEntry
from report.model.plan import CellName
from report.stats.change_points import LEAST_SHIFT, WINDOW, critical, despiked
from report.terms.numbers import count, percent
from report.verdict.history_steps import Change, SeriesSteps, State, judge
from report.words.history_view import confirming
from report.words.verdict_rows import Kind, VerdictRow

RECENT = 20  # runs: what began before them is the new normal of the gate
LEAST_EARLIER = 5  # runs of a cell; with fewer nothing is judged
LATER = 8  # runs within which a slowdown that begins now has to be seen
_SURELY = 1.645  # standard deviations: 95 times of 100
_RULE = (
    "steps of the history, as `kvmatrix history` finds them, of {least} of time or"
    f" more and in the last {RECENT} runs of a cell; a step is seen from its second run"
    " on, and is a nomination: an A/B run confirms or rejects it"
)


def gate_from_history(
    new: HistoryEntry,
    entries: Sequence[HistoryEntry],
    threshold: float,
    chosen: Chosen | None = None,
    *,
    unfinished: bool = False,
) -> Gate:
    """Judge a run as if it were the last one of the history.

    Runs of `entries` (oldest first) that are not older than it make no points; what
    their A/B runs say of a step counts.  `threshold` is the least slowdown that
    fails, as a share of the time.
    """
    wanted = chosen or (lambda name: True)
    older = [entry for entry in entries if entry.run < new.run]
    before = [entry for entry in older if _comparable(entry, new)][-RECENT:]
    series = [
        found
        for found in judge((*older, new), entries)
        if found.series.entries[-1] is new and wanted(str(found.series.cell))
    ]
    known = [found for found in series if len(found.series.points) > LEAST_EARLIER]
    young = [found for found in series if len(found.series.points) <= LEAST_EARLIER]
    steps = {found.series.cell: _step(found, threshold) for found in known}
    rows = [_row(found, steps[found.series.cell], threshold) for found in known]
    rows += [_young_row(found, new, before) for found in young]
    rows += _lost(new, before, wanted)
    nothing, no_base = _why_nothing(new, older, rated=bool(series))
    return Gate(
        new.run,
        f"the history: {count(len(older), 'earlier run')}",
        _RULE.format(least=f"{100 * threshold:g} %"),
        tuple(rows),
        unfinished,
        nothing="" if known else nothing,
        no_base=no_base and not known,
        hints=_commands(step for step in steps.values() if step),
    )


def smallest_visible(found: SeriesSteps) -> float:
    """Return the slowdown that LATER further runs would show, 95 times of 100.

    A share of the time, by the spread of the points about their levels and by the
    detector's limit for that many points.
    """
    logs = np.log(np.asarray(found.series.values, dtype=np.float64))
    start = max(0, len(logs) - WINDOW)
    cuts = [change.step.index for change in found.changes if change.step.index > start]
    levels = np.split(logs[start:], [cut - start for cut in cuts])
    rest = despiked(np.concatenate([level - level.mean() for level in levels]))
    spread = math.sqrt(float(np.sum(rest**2)) / (len(rest) - len(levels)))
    points = len(levels[-1])
    limit = critical(points + LATER) + _SURELY
    share = math.expm1(limit * spread * math.sqrt(1 / LATER + 1 / points))
    return max(share, LEAST_SHIFT)


def _step(found: SeriesSteps, threshold: float) -> Change | None:
    """Return the largest recent step that is open, a slowdown before a speed-up."""
    recent = len(found.series.points) - RECENT
    steps = [
        change
        for change in found.changes
        if change.is_open
        and change.step.index >= recent
        and abs(change.step.log_shift) >= math.log1p(threshold)
    ]
    return max(steps, key=lambda change: change.step.log_shift, default=None)


def _row(found: SeriesSteps, step: Change | None, threshold: float) -> VerdictRow:
    if step is None:
        return _steady_row(found, threshold)
    outcome = GateOutcome.NOMINATED
    if not step.step.is_slower:
        outcome = GateOutcome.IMPROVED
    elif step.state is State.CONFIRMED:
        outcome = GateOutcome.REGRESSED
    by = f"; {step.state} by {step.decided_by.run}" if step.decided_by else ""
    return replace(
        _plain(found.series.cell, outcome, f"{since(step)}{by}"),
        change=step.step.rate_change,
    )


def _steady_row(found: SeriesSteps, threshold: float) -> VerdictRow:
    """No step: what could go unseen decides whether that says anything."""
    last = max((change.step.index for change in found.changes), default=0)
    *level, newest = found.series.values[last:]
    slower = statistics.median(level) / newest - 1
    visible = smallest_visible(found)
    unseen, reason = max(visible, slower), ""
    if slower > max(visible, threshold):
        reason = f"this run is {percent(slower)} slower: one run is no step yet"
    outcome = GateOutcome.INCONCLUSIVE
    if unseen <= threshold:
        outcome = GateOutcome.UNCHANGED
    elif unseen > max(MOST_UNSEEN, threshold):
        outcome = GateOutcome.NOT_GATED
    return replace(
        _plain(found.series.cell, outcome, reason),
        unseen=None if outcome is GateOutcome.UNCHANGED else unseen,
    )


def _young_row(
    found: SeriesSteps, new: HistoryEntry, before: Sequence[HistoryEntry]
) -> VerdictRow:
    """A cell of too few runs; an alert if it had enough of other settings."""
    cell, points = found.series.cell, len(found.series.points) - 1
    settings = new.by_name[cell].settings_sha256
    earlier = [entry.by_name.get(cell) for entry in before]
    other = [c for c in earlier if c and c.rate and c.settings_sha256 != settings]
    few = f"{points} of at least {LEAST_EARLIER} earlier runs are there"
    if not other:
        return _plain(cell, GateOutcome.UNCOMPARED, few)
    gated = len(other) >= LEAST_EARLIER
    was = ", it was gated before" if gated else ""
    reason = f"its settings changed{was}: of these settings {few}"
    return replace(_plain(cell, GateOutcome.UNCOMPARED, reason), alert=gated)


def _lost(
    new: HistoryEntry, before: Sequence[HistoryEntry], wanted: Chosen
) -> Iterable[VerdictRow]:
    """Cells that any comparable recent entry rates, and the new run does not.

    The newest one only would forget what is lost as soon as that is in the history.
    """
    rated: dict[CellName, HistoryEntry] = {}
    for entry in reversed(before):
        for cell in entry.cells:
            if cell.rate is not None and wanted(str(cell.name)):
                rated.setdefault(cell.name, entry)
    for name, base in rated.items():
        now = new.by_name.get(name)
        if now is None:
            reason = f"in {base.title}, and not part of this run"
            yield _plain(name, GateOutcome.MISSING, reason)
        elif now.rate is None:
            yield _plain(name, GateOutcome.FAILED, f"{now.status}; ok in {base.title}")


def _plain(cell: CellName, outcome: GateOutcome, reason: str) -> VerdictRow:
    return VerdictRow(Kind.CELL, str(cell), outcome, reason)


def _commands(steps: Iterable[Change]) -> tuple[str, ...]:
    """Return the A/B runs that decide on the nominations, one a pair of builds."""

    def builds(change: Change) -> tuple[str, str]:
        return change.before.run, change.after.run

    nominated = sorted((s for s in steps if s.is_nominated), key=builds)
    return tuple(confirming(*group) for _, group in groupby(nominated, builds))


def _comparable(entry: HistoryEntry, new: HistoryEntry) -> bool:
    return (entry.machine_key, entry.method, entry.kind, entry.suite) == (
        new.machine_key,
        new.method,
        new.kind,
        new.suite,
    )


def _why_nothing(
    new: HistoryEntry, older: Sequence[HistoryEntry], *, rated: bool
) -> tuple[str, bool]:
    """Return why no cell was judged, and whether the history is not there yet.

    A history of another machine is no young history: whoever lets that pass would
    never compare anything where each run has another machine.
    """
    if not rated:
        return "no cell of this run has a rate", False
    has = f"the history has {count(len(older), 'earlier run')}"
    if len(older) < LEAST_EARLIER:
        return f"{has} of at least {LEAST_EARLIER}", True
    same = [entry for entry in older if _comparable(entry, new)]
    if not same:
        return f"{has}, none of this machine, method, suite and kind of run", False
    if len(same) < LEAST_EARLIER:
        runs = count(len(same), "earlier run")
        wanted = f"of this machine and suite, of at least {LEAST_EARLIER}"
        return f"the history has {runs} {wanted}", True
    return "the cells' settings are not those of the earlier runs", False
