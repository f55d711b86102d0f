"""The positions of the marks of an A/B page: percent across, pixels down."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from report.model.ab_rule import CONFIRM, SCREEN, AbRule
from report.model.ab_run import AbCell, Repetition
from report.model.judgement import Judgement
from report.page.axes import Dot, LevelLine, Scale, Tick
from report.terms import numbers

# Half widths of the axis, as losses of the rate; changes beyond it become arrows.
_LIMITS = (0.06, 0.1, 0.15, 0.2, 0.3, 0.5, 0.7)
_ALWAYS_SHOWN = 0.3
_COVERED = 0.9  # of all ends of intervals
_TICKS = (0.02, 0.05, 0.1, 0.2, 0.3, 0.5)
HEIGHT = 92  # of a cell's drawing, in pixels
_EDGE = 8  # kept free above and below, in pixels
_LEAST_RANGE = math.log(1.02)
# Changes of the rate that can be labelled, up and down.  They are dense enough that the
# largest one inside a drawing is at least a line of text away from its middle.
_STEPS_UP = (99, 49, 19, 9, 4, 1, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01)
_STEPS_DOWN = (0.99, 0.98, 0.95, 0.9, 0.8, 0.5, 0.3, 0.2, 0.1, 0.05, 0.02, 0.01)
_GAP = 1.0  # between the stages, in widths of a repetition


@dataclass(frozen=True)
class Mark:
    """A point with its whiskers; `beyond` is -1 or 1 if the point is off the axis.

    `low` and `high` are None without an interval; `cut` lists the sides (-1, 1) on
    which the whisker ends at the edge of the drawing instead of the interval.
    """

    at: float
    low: float | None
    high: float | None
    beyond: int
    cut: tuple[int, ...]


@dataclass(frozen=True)
class Axis:
    """Logarithms of the rate, -limit to limit, across the drawing."""

    limit: float
    band: tuple[float, float]
    ticks: tuple[Tick, ...]

    def at(self, log_change: float) -> float:
        """Return the position of a change, clamped to the drawing."""
        return Scale(-self.limit, self.limit).percent(log_change)

    def side(self, log_change: float) -> int:
        """Return -1 or 1 if a change lies beyond the axis, else 0."""
        if abs(log_change) <= self.limit:
            return 0
        return 1 if log_change > 0 else -1

    def mark(self, judgement: Judgement) -> Mark:
        """Return the drawing of one judgement."""
        at = -judgement.log_shift
        ends = _interval(judgement)
        if ends is None:
            return Mark(self.at(at), None, None, self.side(at), ())
        low, high = ends
        if self.side(low) == self.side(high) != 0:  # no part of it is on the axis
            return Mark(self.at(at), None, None, self.side(at), ())
        cut = tuple(side for side in (self.side(low), self.side(high)) if side)
        return Mark(self.at(at), self.at(low), self.at(high), self.side(at), cut)


def axis(rule: AbRule, judgements: Iterable[Judgement]) -> Axis:
    """Return the narrowest axis that shows nearly every interval.

    Every change within 30 % is on it; a larger one does not compress the others.
    """
    shown = list(judgements)
    ends = [_interval(j) or (-j.log_shift,) * 2 for j in shown]
    reach = sorted(max(abs(low), abs(high)) for low, high in ends)
    needed = reach[math.ceil(_COVERED * len(reach)) - 1] if reach else 0.0
    changes = (abs(j.log_shift) for j in shown)
    needed = max([needed, *(c for c in changes if c <= _reach(_ALWAYS_SHOWN))])
    limit = next((n for n in _LIMITS if _reach(n) >= needed), _LIMITS[-1])
    bare = Axis(_reach(limit), (0, 0), ())
    edge = math.log1p(rule.unchanged_within)
    outer = max(n for n in _TICKS if n <= limit)
    inner = max(n for n in _TICKS if n <= outer / 2)
    steps = (inner, outer) if limit < _LIMITS[-1] else (outer,)
    marks = (*(-n for n in reversed(steps)), 0.0, *steps)
    ticks = tuple(Tick(bare.at(math.log1p(n)), _label(n)) for n in marks)
    return Axis(bare.limit, (bare.at(-edge), bare.at(edge)), ticks)


def _interval(judgement: Judgement) -> tuple[float, float] | None:
    """Return the interval in logarithms of the rate, low to high."""
    if judgement.log_low is None or judgement.log_high is None:
        return None
    return -judgement.log_high, -judgement.log_low


def _reach(share: float) -> float:
    """Return the distance of a loss of the rate from zero, in logarithms."""
    return -math.log1p(-share)


def _label(n: float) -> str:
    return numbers.sign(n) + numbers.limit(abs(n))


@dataclass(frozen=True)
class Runs:
    """Every repetition of a cell in the order of measuring.

    `names` are (position, stage); `divider` is the start of the second stage.
    """

    dots: tuple[Dot, ...]
    levels: tuple[LevelLine, ...]
    lines: tuple[Tick, ...]
    names: tuple[tuple[float, str], ...]
    divider: float | None


def runs(cell: AbCell) -> Runs | None:
    """Return the drawing of a cell, or None if it has no complete round."""
    stages = [(SCREEN, in_order(cell, SCREEN)), (CONFIRM, in_order(cell, CONFIRM))]
    repetitions = [repetition for _, own in stages for _, repetition in own]
    if not repetitions:
        return None
    middle = statistics.median([_log_rate(r) for r in repetitions if r.side == "a"])
    reach = max(_LEAST_RANGE, *(abs(_log_rate(r) - middle) for r in repetitions))
    places = len(repetitions) + (_GAP if all(own for _, own in stages) else 0.0)
    across, up = Scale(0, places), Scale(middle + reach, middle - reach)

    def down(log_rate: float) -> float:
        return round(_EDGE + up.share(log_rate) * (HEIGHT - 2 * _EDGE), 1)

    dots: list[Dot] = []
    levels: list[LevelLine] = []
    names: list[tuple[float, str]] = []
    place, divider = 0.0, None
    for stage, own in stages:
        if not own:
            continue
        if dots:
            divider = across.percent(place + _GAP / 2)
            place += _GAP
        start = place
        for number, r in own:
            x, y = across.percent(place + 0.5), down(_log_rate(r))
            label = _label_of(stage, number, r)
            dots.append(Dot(x, y, label, r.side, bool(r.disturbed)))
            place += 1
        ends = across.percent(start), across.percent(place)
        names.append((ends[0], stage))
        for side in ("a", "b"):
            rates = [_log_rate(r) for _, r in own if r.side == side]
            levels.append(LevelLine(*ends, down(statistics.median(rates)), side))
    return Runs(
        tuple(dots), tuple(levels), _lines(reach, down, middle), tuple(names), divider
    )


def in_order(cell: AbCell, stage: str) -> list[tuple[int, Repetition]]:
    """Return (round, repetition) of one stage in the order of measuring."""
    rounds = cell.screen if stage == SCREEN else cell.confirm
    pairs = [(round_.number, r) for round_ in rounds for r in (*round_.a, *round_.b)]
    return sorted(pairs, key=lambda pair: pair[1].order)


def rate(repetition: Repetition) -> float:
    """Return the rate in operations per second."""
    return 1e9 / repetition.ns_per_op


def _log_rate(repetition: Repetition) -> float:
    return -math.log(repetition.ns_per_op)


def _label_of(stage: str, number: int, repetition: Repetition) -> str:
    label = f"{repetition.side}, {stage}, round {number}:"
    label += f" {numbers.rounded(rate(repetition))} ops/s"
    marks = ", ".join(repetition.disturbed)
    return f"{label}; disturbed: {marks}" if marks else label


def _lines(
    reach: float, down: Callable[[float], float], middle: float
) -> tuple[Tick, ...]:
    """Return ticks at the median of a, and at the largest round change each way."""
    lines = [Tick(down(middle), "a")]
    for steps, sign in ((_STEPS_UP, 1), (_STEPS_DOWN, -1)):
        shares = (sign * n for n in steps)
        largest = next((n for n in shares if abs(math.log1p(n)) <= reach), None)
        if largest is not None:
            lines.append(Tick(down(middle + math.log1p(largest)), _label(largest)))
    return tuple(lines)
