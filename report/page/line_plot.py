"""Lines on log axes: percent from the left, pixels from the top."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from report.page.axes import Dot, LogScale, Scale, Tick, log_steps
from report.page.identity import EngineLook
from report.terms import numbers, titles

WIDE, HIGH_PX = 1000, 236  # units of the paths: parts of the width, pixels
_TOP_PX, _BOTTOM_PX = 10, HIGH_PX - 10  # positions of the largest and smallest value
_LABEL_PX = 16
_MOST_LABELS = 6  # of the axis of values
_LEAST_RATIO = 8  # of the largest to the smallest value, for a log axis


@dataclass(frozen=True)
class PlotPoint:
    """One point: median and interval; `value` is the index of its value in the list."""

    value: int
    median: float
    low: float
    high: float


@dataclass(frozen=True)
class PlotLine:
    """One line; `engine` is the name by which a switch hides it, or ""."""

    engine: str
    title: str
    look: EngineLook
    is_published: bool
    spots: tuple[PlotPoint, ...]


@dataclass(frozen=True)
class Curve:
    """A drawn line with its points and the position of its label."""

    series: PlotLine
    path: str
    marks: tuple[Dot, ...]
    label_px: float


@dataclass(frozen=True)
class Plot:
    """A whole drawing, and its description in words."""

    curves: tuple[Curve, ...]
    across: tuple[Tick, ...]
    up: tuple[Tick, ...]
    description: str

    @property
    def ends(self) -> list[tuple[Curve, float]]:
        """The curves from the highest label down, each with the pixels to the next.

        The labels are laid out one under the other, so that a label of two lines
        moves those under it.
        """
        order = sorted(self.curves, key=lambda curve: curve.label_px)
        tops = [curve.label_px for curve in order]
        steps = [b - a for a, b in pairwise(tops)]
        return list(zip(order, [*steps, _LABEL_PX], strict=True))

    @property
    def ends_px(self) -> float:
        """The top of the highest label."""
        return min(curve.label_px for curve in self.curves) - _LABEL_PX / 2


def plot(
    series: Sequence[PlotLine],
    values: Sequence[object],
    flag: str = "",
    is_linear: bool = False,
) -> Plot | None:
    """Return the drawing of all points above zero, or None if there are none.

    `values` are those of `flag`, along the horizontal axis: logarithmic if they are
    wide, or evenly spaced.
    """
    drawn = [_above_zero(one) for one in series]
    drawn = [one for one in drawn if one.spots]
    if not drawn:
        return None
    ends = [n for one in drawn for s in one.spots for n in (s.low, s.high)]
    scale = _scale(min(ends), max(ends))
    lefts = places(["" for _ in values] if is_linear else values)
    names = [titles.value(value, flag) for value in values]
    labels = _label_places([_top(scale, one.spots[-1].median) for one in drawn])
    return Plot(
        tuple(
            _curve(one, scale, lefts, names, label)
            for one, label in zip(drawn, labels, strict=True)
        ),
        _across(names, lefts),
        _up(scale),
        "; ".join(_in_words(one, names) for one in drawn) + ".",
    )


def places(values: Sequence[object]) -> list[float]:
    """Return the positions of the values in percent, on a log axis if they are wide."""
    known = [v for v in values if isinstance(v, int | float) and v > 0]
    if len(known) == len(values) and max(known) >= _LEAST_RATIO * min(known):
        scale = LogScale(min(known), max(known))
        return [scale.percent(number) for number in known]
    return [Scale(0, max(len(values) - 1, 1)).percent(i) for i in range(len(values))]


def _above_zero(series: PlotLine) -> PlotLine:
    return replace(series, spots=tuple(s for s in series.spots if s.low > 0))


def _scale(low: float, high: float) -> LogScale:
    """Return a scale of at least a factor of two, so that noise does not fill it."""
    if high < 2 * low:
        middle = math.sqrt(low * high)
        return LogScale(middle / math.sqrt(2), middle * math.sqrt(2))
    return LogScale(low, high)


def _top(scale: LogScale, number: float) -> float:
    span = _BOTTOM_PX - _TOP_PX
    return round(_BOTTOM_PX - scale.percent(number) / 100 * span, 1)


def _curve(
    series: PlotLine,
    scale: LogScale,
    lefts: Sequence[float],
    names: Sequence[str],
    label_px: float,
) -> Curve:
    marks = []
    path = ""
    before = None
    for spot in series.spots:
        left, top = lefts[spot.value], _top(scale, spot.median)
        high, low = _top(scale, spot.high), _top(scale, spot.low)
        label = f"{names[spot.value]}: {numbers.compact(spot.median)}"
        whisker = (high, low) if low - high >= 1 else None
        marks.append(Dot(left, top, label, whisker=whisker))
        step = "L" if before is not None and spot.value == before + 1 else "M"
        path += f"{step}{round(left * WIDE / 100)} {top:g}"
        before = spot.value
    return Curve(series, path, tuple(marks), label_px)


def _label_places(tops: Sequence[float]) -> list[float]:
    """Return positions at the ends of the lines, moved so that no labels overlap."""
    gap = min(_LABEL_PX, HIGH_PX / max(len(tops), 1))
    order = sorted(range(len(tops)), key=lambda i: (tops[i], i))
    places = [0.0] * len(tops)
    least = gap / 2
    for i in order:
        places[i] = least = max(tops[i], least)
        least += gap
    most = HIGH_PX - gap / 2
    for i in reversed(order):
        places[i] = most = min(places[i], most)
        most -= gap
    return [round(top, 1) for top in places]


def _across(names: Sequence[str], lefts: Sequence[float]) -> tuple[Tick, ...]:
    """Return a tick at each value; at most _MOST_LABELS of them have a label."""
    step = math.ceil(len(names) / _MOST_LABELS)
    return tuple(
        Tick(left, "" if i % step else name)
        for i, (name, left) in enumerate(zip(names, lefts, strict=True))
    )


def _up(scale: LogScale) -> tuple[Tick, ...]:
    """Return ticks at powers of ten, or at 1, 2, 5 if there are fewer than three."""
    steps = log_steps(scale.first, scale.last)
    if len(steps) < 3:
        steps = log_steps(scale.first, scale.last, (1, 2, 5))
    return tuple(Tick(_top(scale, n), numbers.label(n)) for n in steps)


def _in_words(series: PlotLine, names: Sequence[str]) -> str:
    first, last = series.spots[0], series.spots[-1]
    ends = [first] if last is first else [first, last]
    shown = (f"{numbers.compact(s.median)} at {names[s.value]}" for s in ends)
    published = ", published" if series.is_published else ""
    return f"{series.title}{published}: {', '.join(shown)}"
