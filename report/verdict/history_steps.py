"""What the history says: steps in its series, and what became of each.

A step is a nomination.  An A/B run of a build before it against a build after it
decides: only what it confirms is called a regression.  The machine changes too, and
points of one commit after another cannot tell that from a change of the code.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import accumulate

from report.model.history_entry import AB, HistoryEntry
from report.model.judgement import Verdict
from report.stats.change_points import LEAST_SHIFT, Step, change_points
from report.verdict.history_series import Series, SeriesKey, series

# Points within which a step may go back by itself, and may be placed wrongly.
SHORT, NEAR = 5, 5


class State(StrEnum):
    """What became of a step; all but the first two are closed."""

    CONFIRMED = "confirmed"
    NOMINATED = "nominated"
    REJECTED = "rejected"
    SAME_BUILD = "same build"
    WENT_AWAY = "went away"
    MENDED = "took one back"


@dataclass(frozen=True)
class Change:
    """One step of a series, between two neighbouring points of it.

    `decided_by` is the A/B run that confirmed or rejected it.  `ended` is the first
    entry from which on the level was back where it had been, or None.
    """

    series: Series
    step: Step
    state: State
    decided_by: HistoryEntry | None
    ended: HistoryEntry | None

    @property
    def key(self) -> tuple[SeriesKey, int]:
        """What tells it from all others of a history."""
        return self.series.key, self.step.index

    @property
    def before(self) -> HistoryEntry:
        """The last entry of the old level."""
        return self.series.entries[self.step.index - 1]

    @property
    def after(self) -> HistoryEntry:
        """The first entry of the new level."""
        return self.series.entries[self.step.index]

    @property
    def direction(self) -> Verdict:
        """What it is called once an A/B run has confirmed it."""
        return Verdict.REGRESSED if self.step.is_slower else Verdict.IMPROVED

    @property
    def is_open(self) -> bool:
        """Whether somebody has to do something about it."""
        known = self.state in (State.CONFIRMED, State.NOMINATED)
        return known and self.ended is None

    @property
    def is_regression(self) -> bool:
        """Slower, confirmed, and still so."""
        return self.is_open and self.step.is_slower and self.state is State.CONFIRMED

    @property
    def is_nominated(self) -> bool:
        """Slower, and still to be confirmed."""
        return self.is_open and self.step.is_slower and self.state is State.NOMINATED

    @property
    def is_improvement(self) -> bool:
        """Faster, and not closed."""
        return self.is_open and not self.step.is_slower

    @property
    def verdict(self) -> str:
        """One word for people; a step that is only nominated is no regression."""
        if self.ended and self.state is State.CONFIRMED:
            return "over"
        if self.ended and self.state is State.NOMINATED:
            return "over, unconfirmed"
        if self.state is not State.CONFIRMED:
            return str(self.state)
        return self.direction.value


@dataclass(frozen=True)
class SeriesSteps:
    """One series and its steps, oldest first."""

    series: Series
    changes: tuple[Change, ...]


def judge(
    entries: Iterable[HistoryEntry], evidence: Sequence[HistoryEntry] = ()
) -> tuple[SeriesSteps, ...]:
    """Every series of a history, with what became of its steps.

    The A/B runs that decide are those of `evidence`, or else of the entries.
    """
    entries = tuple(entries)
    decisive = [entry for entry in evidence or entries if entry.kind == AB]
    return tuple(_judged(found, decisive) for found in series(entries))


def _judged(found: Series, decisive: Sequence[HistoryEntry]) -> SeriesSteps:
    steps = change_points(found.values)
    return SeriesSteps(
        found, tuple(_change(found, steps, i, decisive) for i in range(len(steps)))
    )


def _change(
    found: Series, steps: Sequence[Step], which: int, decisive: Sequence[HistoryEntry]
) -> Change:
    state, decided_by = _decision(found, steps, which, decisive)
    if decided_by is None:
        if _went_away(steps, which) or (which and _went_away(steps, which - 1)):
            state = State.WENT_AWAY
        elif _is_same_build(found, steps[which].index):
            state = State.SAME_BUILD
        elif _is_mending(steps, which):
            state = State.MENDED
    return Change(found, steps[which], state, decided_by, _ended(found, steps, which))


def _decision(
    found: Series, steps: Sequence[Step], which: int, decisive: Sequence[HistoryEntry]
) -> tuple[State, HistoryEntry | None]:
    """The newest A/B run across the step that could tell, and what it told.

    The points of a series of ratios made the nomination: they cannot confirm it.
    """
    edges = [0, *(step.index for step in steps), len(found.points)]
    engine = found.cell.engine
    left, right = (
        {entry.binary(engine) for entry in found.entries[start:end]} - {""}
        for start, end in (edges[which : which + 2], edges[which + 1 : which + 3])
    )
    spent = {entry.run for entry in found.entries} if found.is_ratio else set()
    for entry in reversed(decisive):
        cell = entry.by_name.get(found.cell)
        if cell is None or cell.ratio is None or entry.run in spent:
            continue
        assert entry.reference is not None
        across = (
            entry.reference.engines.get(engine) in left - right
            and entry.binary(engine) in right - left
        )
        same = (cell.settings_sha256, entry.method) == (
            found.key.settings_sha256,
            found.key.method,
        )
        state = _told(cell.verdict, steps[which]) if across and same else None
        if state:
            return state, entry
    return State.NOMINATED, None


def _told(verdict: Verdict | None, step: Step) -> State | None:
    """What the verdict of an A/B run says of a step; None: it cannot tell.

    Nothing weaker confirms: an interval of one cell that excludes 0 is not held
    against the number of cells that were looked at.
    """
    if verdict in (None, Verdict.INCONCLUSIVE):
        return None
    expected = Verdict.REGRESSED if step.is_slower else Verdict.IMPROVED
    return State.CONFIRMED if verdict is expected else State.REJECTED


def _went_away(steps: Sequence[Step], which: int) -> bool:
    """Whether the next step, soon after, takes this one back."""
    if which + 1 >= len(steps):
        return False
    step, following = steps[which], steps[which + 1]
    soon = following.index - step.index <= SHORT
    return soon and _is_back(step.log_shift + following.log_shift, step)


def _is_back(rest: float, step: Step) -> bool:
    """Whether what is left of a step is less than a step, or its opposite."""
    return (rest if step.is_slower else -rest) < math.log1p(LEAST_SHIFT)


def _ended(found: Series, steps: Sequence[Step], which: int) -> HistoryEntry | None:
    sums = list(accumulate(step.log_shift for step in steps[which:]))
    for following, rest in zip(steps[which + 1 :], sums[1:], strict=True):
        if _is_back(rest, steps[which]):
            return found.entries[following.index]
    return None


def _is_mending(steps: Sequence[Step], which: int) -> bool:
    """Whether a step does no more than take an earlier slowdown back."""
    if steps[which].is_slower:
        return False
    sums = accumulate(step.log_shift for step in reversed(steps[: which + 1]))
    earlier = zip(reversed(steps[: which + 1]), sums, strict=True)
    return any(
        s.is_slower and abs(rest) < math.log1p(LEAST_SHIFT) for s, rest in earlier
    )


def _is_same_build(found: Series, index: int) -> bool:
    """Whether one executable made all points where the step may be."""
    near = found.entries[max(0, index - NEAR) : index + NEAR]
    builds = {entry.binary(found.cell.engine) for entry in near}
    return len(builds) == 1 and "" not in builds
