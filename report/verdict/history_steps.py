"""The steps in the series of a history, and the state of each.

A step is only a nomination.  It becomes a regression when an A/B run of a build before
it against a build after it confirms it.  The machine may have changed as well, and
points of successive commits cannot distinguish that from a change of the code.  Near a
boundary, where a kernel or a processor changed, that is said.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import accumulate

from report.model.history_entry import AB, EntryCell, HistoryEntry
from report.model.judgement import LESS, MORE, Verdict
from report.stats.change_points import Step, change_points, step_at
from report.verdict.history_series import Boundary, Series, SeriesKey, series

# In points: a step that is reversed within SHORT went away by itself, and the
# position of a step is uncertain by NEAR.
SHORT, NEAR = 5, 5


class State(StrEnum):
    """The state of a step; all except the first three are closed."""

    CONFIRMED = "confirmed"
    NOMINATED = "nominated"
    MACHINE_OR_CODE = "machine or code"  # nominated, near a boundary
    REJECTED = "rejected"
    SAME_BUILD = "same build"
    WENT_AWAY = "went away"
    MENDED = "took one back"
    LOCAL = "local"


_NOMINATED = (State.NOMINATED, State.MACHINE_OR_CODE)


@dataclass(frozen=True)
class Change:
    """One step of a series, between two adjacent points.

    `start` is the first point of the old level, `end` is behind the last one of the
    new level.  `decided_by` is the A/B run that confirmed or rejected it, or None.
    `ended` is the first entry at which the old level was restored, or None.  `seen_on`
    is the number of machines that have it.  A step that others should have seen is
    local.
    """

    series: Series
    step: Step
    start: int
    end: int
    state: State
    decided_by: HistoryEntry | None
    ended: HistoryEntry | None
    seen_on: int = 1

    @property
    def key(self) -> tuple[SeriesKey, int]:
        """The identity of the step within a history."""
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
    def compared(self) -> tuple[HistoryEntry, HistoryEntry]:
        """The entries whose builds decide, by an A/B run: old and new.

        The old one is before every point at which the step may be, and the new one
        the newest of its level.
        """
        old = max(self.start, self.step.index - 1 - NEAR)
        return self.series.entries[old], self.series.entries[self.end - 1]

    @property
    def is_narrow(self) -> bool:
        """True if a level is too short to compare builds from outside of NEAR."""
        index = self.step.index
        return self.start > index - 1 - NEAR or self.end - 1 < index + NEAR

    @property
    def boundary(self) -> Boundary | None:
        """The nearest boundary within NEAR points of the step, or None."""
        near = {
            abs(boundary.index - self.step.index): boundary
            for boundary in reversed(self.series.boundaries)
        }
        return near[least] if near and (least := min(near)) <= NEAR else None

    @property
    def share(self) -> float:
        """The change of the values as a share: -0.05 is 5 % less of them.

        From a count of 0 it is that of the count plus 1.
        """
        values, index = self.series.values, self.step.index
        if self.series.is_rate:
            return self.step.rate_change
        old = statistics.median(values[self.start : index])
        if not self.series.is_count or not old:
            return math.expm1(self.step.log_shift)
        return statistics.median(values[index : self.end]) / old - 1

    @property
    def direction(self) -> Verdict:
        """The verdict that an A/B run would confirm."""
        return Verdict.REGRESSED if self.step.is_slower else Verdict.IMPROVED

    @property
    def is_open(self) -> bool:
        """True if it needs attention: confirmed or nominated, and not ended."""
        is_live = self.state is State.CONFIRMED or self.state in _NOMINATED
        return is_live and self.ended is None

    @property
    def is_regression(self) -> bool:
        """True if it is slower, confirmed and not ended."""
        return self.is_open and self.step.is_slower and self.state is State.CONFIRMED

    @property
    def is_nominated(self) -> bool:
        """True if it is slower, not ended and not yet confirmed."""
        return self.is_open and self.step.is_slower and self.state in _NOMINATED

    @property
    def is_improvement(self) -> bool:
        """True if it is faster and open."""
        return self.is_open and not self.step.is_slower

    @property
    def verdict(self) -> str:
        """The word for reports; a nominated step is not called a regression."""
        if self.ended and self.state is State.CONFIRMED:
            return "over"
        if self.ended and self.state in _NOMINATED:
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
    """Return every series of a history with the state of its steps.

    The A/B runs in `evidence` decide, or those in `entries` if it is empty.
    """
    entries = tuple(entries)
    decisive = [entry for entry in evidence or entries if entry.kind == AB]
    judged = tuple(_judged(one_series, decisive) for one_series in series(entries))
    alike: dict[SeriesKey, list[SeriesSteps]] = {}
    for of in judged:
        alike.setdefault(_anywhere(of), []).append(of)
    return tuple(
        replace(
            of, changes=tuple(_witnessed(c, alike[_anywhere(of)]) for c in of.changes)
        )
        for of in judged
    )


def _anywhere(of: SeriesSteps) -> SeriesKey:
    """Return the key of a series without its machine."""
    return replace(of.series.key, machine="")


def _witnessed(change: Change, alike: Sequence[SeriesSteps]) -> Change:
    """Return a step with the machines that see it; local if others should and do not.

    A machine sees it if it has a step in the same direction between the same builds.
    It should if it has NEAR points with builds of before the step and as many with
    builds of after it.
    """
    others = [of for of in alike if of.series.key != change.series.key]
    old, new = _builds(change)
    seen = sum(any(_is_same_step(change, c) for c in of.changes) for of in others)
    state = change.state
    if state in _NOMINATED and not seen:
        counts = [
            [entry.binary(of.series.cell.engine) for entry in of.series.entries]
            for of in others
        ]
        could = [
            min(sum(b in side for b in builds) for side in (old, new)) >= NEAR
            for builds in counts
        ]
        state = State.LOCAL if any(could) else state
    return replace(change, state=state, seen_on=1 + seen)


def _is_same_step(change: Change, other: Change) -> bool:
    sides = zip(_builds(change), _builds(other), strict=True)
    is_between = all(one & another for one, another in sides)
    return is_between and change.step.is_slower == other.step.is_slower


def _builds(change: Change) -> tuple[set[str], set[str]]:
    """Return the builds that only the level before a step has, and only that after."""
    engine, index = change.series.cell.engine, change.step.index
    left, right = (
        {entry.binary(engine) for entry in entries} - {""}
        for entries in (change.series.entries[:index], change.series.entries[index:])
    )
    return left - right, right - left


def _judged(points: Series, decisive: Sequence[HistoryEntry]) -> SeriesSteps:
    steps = _steps(points)
    return SeriesSteps(
        points, tuple(_change(points, steps, i, decisive) for i in range(len(steps)))
    )


def _steps(points: Series) -> list[Step]:
    """Return the steps of a series, and those to the level of another processor.

    The first points on a processor show how fast it is.  A step of the code at the
    same place is not distinguished from that, so both are tested as one.
    """
    steps = change_points(points.aligned, points.least_shift)
    found = {step.index: step for step in steps}
    for place in points.crossings:
        if any(abs(index - place) <= NEAR for index in found):
            continue
        start = max((index for index in found if index < place), default=0)
        end = min((index for index in found if index > place), default=None)
        before, after = points.aligned[start:place], points.unaligned(place, end)
        if step := step_at(before, after, points.least_shift):
            found[place] = replace(step, index=place)
    return [found[index] for index in sorted(found)]


def _change(
    points: Series, steps: Sequence[Step], which: int, decisive: Sequence[HistoryEntry]
) -> Change:
    edges = [0, *(step.index for step in steps), len(points.points)]
    change = Change(
        points,
        steps[which],
        edges[which],
        edges[which + 2],
        State.NOMINATED,
        None,
        None,
    )
    state, decided_by = _decision(change, decisive)
    if decided_by is None:
        if _went_away(points, steps, which) or (
            which and _went_away(points, steps, which - 1)
        ):
            state = State.WENT_AWAY
        elif _is_same_build(points, steps[which].index):
            state = State.SAME_BUILD
        elif _is_mending(points, steps, which):
            state = State.MENDED
        elif change.boundary:
            state = State.MACHINE_OR_CODE
    ended = _ended(points, steps, which)
    return replace(change, state=state, decided_by=decided_by, ended=ended)


def _decision(
    change: Change, decisive: Sequence[HistoryEntry]
) -> tuple[State, HistoryEntry | None]:
    """Return the state by the newest conclusive A/B run across the step, and the run.

    Any pair of builds across it can confirm.  Only a pair from outside the uncertainty
    of its place can reject: a nearer one may be two builds of the new level.  The
    points of a series of ratios made the nomination, so they cannot confirm it.
    """
    points = change.series
    nominating = {entry.run for entry in points.entries} if points.is_ratio else set()
    for entry in reversed(decisive):
        cell = entry.by_name.get(points.cell)
        if cell is None or cell.ratio is None or entry.run in nominating:
            continue
        same = (cell.settings_sha256, entry.method) == (
            points.key.settings_sha256,
            points.key.method,
        )
        state = _state_by(_verdict(points, cell), change.step) if same else None
        if state and _is_across(change, entry, is_far=state is State.REJECTED):
            return state, entry
    return State.NOMINATED, None


def _verdict(points: Series, cell: EntryCell) -> str | None:
    """Return what an A/B run says about the measure of a series, or None."""
    if points.is_rate:
        return cell.verdict
    return cell.verdicts.get(points.key.measure)


def _is_across(change: Change, decisive: HistoryEntry, *, is_far: bool) -> bool:
    """Return True if the builds of an A/B run are those before and after a step.

    If `is_far`, they must be NEAR points away from it or, if their level is shorter,
    the oldest and the newest one of their levels when the run was made.
    """
    engine, index = change.series.cell.engine, change.step.index
    entries = change.series.entries
    left, right = (
        [entry.binary(engine) for entry in entries[start:end]]
        for start, end in ((change.start, index), (index, change.end))
    )
    later = [
        e.binary(engine) for e in entries[index : change.end] if e.run < decisive.run
    ]
    old, new = set(left) - set(right) - {""}, set(right) - set(left) - {""}
    if is_far:
        old &= {*left[: len(left) - NEAR], left[0]}
        new &= {*right[NEAR:], *later[-1:]}
    assert decisive.reference is not None
    return (
        decisive.reference.engines.get(engine) in old and decisive.binary(engine) in new
    )


def _state_by(verdict: str | None, step: Step) -> State | None:
    """Return the state of a step by the verdict of an A/B run, None if inconclusive.

    Only a verdict confirms.  An interval of one cell that excludes 0 is too weak: it
    is not corrected for the number of cells tested.
    """
    if verdict in (None, Verdict.INCONCLUSIVE):
        return None
    expected = (Verdict.REGRESSED, MORE) if step.is_slower else (Verdict.IMPROVED, LESS)
    return State.CONFIRMED if verdict in expected else State.REJECTED


def _went_away(points: Series, steps: Sequence[Step], which: int) -> bool:
    """Return True if the next step reverses this one within SHORT points."""
    if which + 1 >= len(steps):
        return False
    step, following = steps[which], steps[which + 1]
    soon = following.index - step.index <= SHORT
    return soon and _is_back(points, step.log_shift + following.log_shift, step)


def _is_back(points: Series, rest: float, step: Step) -> bool:
    """Return True if the remaining shift is too small for a step, or opposite."""
    return (rest if step.is_slower else -rest) < math.log1p(points.least_shift)


def _ended(points: Series, steps: Sequence[Step], which: int) -> HistoryEntry | None:
    """Return the first entry at which the old level was restored, or None.

    The level of a processor ends where one from before it is used again.
    """
    index = steps[which].index
    if index in points.crossings:
        earlier = set(points.processors[:index])
        for place in range(index, len(points.points)):
            if points.processors[place] in earlier:
                return points.entries[place]
    sums = list(accumulate(step.log_shift for step in steps[which:]))
    for following, rest in zip(steps[which + 1 :], sums[1:], strict=True):
        if _is_back(points, rest, steps[which]):
            return points.entries[following.index]
    return None


def _is_mending(points: Series, steps: Sequence[Step], which: int) -> bool:
    """Return True if a step only reverses an earlier slowdown."""
    if steps[which].is_slower:
        return False
    sums = accumulate(step.log_shift for step in reversed(steps[: which + 1]))
    earlier = zip(reversed(steps[: which + 1]), sums, strict=True)
    least = math.log1p(points.least_shift)
    return any(s.is_slower and abs(rest) < least for s, rest in earlier)


def _is_same_build(points: Series, index: int) -> bool:
    """Return True if one executable made all points where the step may be."""
    near = points.entries[max(0, index - NEAR) : index + NEAR]
    builds = {entry.binary(points.cell.engine) for entry in near}
    return len(builds) == 1 and "" not in builds
