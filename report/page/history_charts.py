"""A series as a drawing, in percent from the left and from the top.

The axis does not begin at zero: it holds all medians, and at least a tenth of them.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from report.page.axes import Dot, LevelLine, Scale, Tick, edge, even_steps, free_level
from report.terms.numbers import compact
from report.verdict.history_series import Series, SeriesKey, SeriesPoint
from report.verdict.history_steps import Change, SeriesSteps
from report.words.history_view import value_of

# The number of each step on the page, by its key.
Numbers = Mapping[tuple[SeriesKey, int], int]
WIDE, HIGH = 1000, 200  # whole units of the paths
HEIGHT_PX = 128
_LEAST_SPAN = 0.1  # of the median
_LABEL_CHARS = 14
_MOST_DOTS = 60
_STROKE = 12  # where a band is cut at the edge
_CROWDED = 20  # percent: steps nearer than this have their numbers in two rows
_EDGE = 10  # percent


@dataclass(frozen=True)
class DrawnPoint:
    """One point as drawn; several runs become their median and their whole band."""

    points: tuple[SeriesPoint, ...]
    median: float
    low: float
    high: float
    change: Change | None  # which begins with it

    @property
    def name(self) -> str:
        """The label or the name of the run, or of the last of several runs."""
        return short(self.points[-1])


@dataclass(frozen=True)
class StepMark:
    """A step: its position, and its number on the page.

    Numbers of steps that are close together are written in different rows, `level`
    rows up.
    """

    at_percent: float
    number: int
    change: Change
    level: int

    @property
    def side(self) -> str:
        """The alignment that keeps the number inside the drawing."""
        return edge(self.at_percent, _EDGE)


@dataclass(frozen=True)
class BoundaryMark:
    """Where the machine changed, before one of the points drawn."""

    at_percent: float
    text: str


@dataclass(frozen=True)
class SeriesChart:
    """One series drawn; `runs_per_point` is 1 unless there are too many.

    `cut` is a path of short strokes where a band continues beyond an edge, which
    happens at `cut_points` points.
    """

    judged: SeriesSteps
    drawn: tuple[DrawnPoint, ...]
    band: str
    line: str
    levels: tuple[LevelLine, ...]
    ticks: tuple[Tick, ...]
    marks: tuple[StepMark, ...]
    dots: tuple[Dot, ...]
    runs_per_point: int
    cut: str
    cut_points: int
    boundaries: tuple[BoundaryMark, ...] = ()

    @property
    def heights(self) -> list[Tick]:
        """The labels of the vertical axis, in pixels from the top."""
        return [Tick(tick.at / 100 * HEIGHT_PX, tick.label) for tick in self.ticks]


def chart(
    judged: SeriesSteps, runs: set[str], numbers: Numbers, most: int
) -> SeriesChart:
    """Return the part of a series in these runs, drawn as about `most` points."""
    series = judged.series
    points = [i for i, point in enumerate(series.points) if point.entry.run in runs]
    steps = {change.step.index: change for change in judged.changes}
    drawn, per_point = _thinned(series.points, points, steps, most)
    low, high = _range(drawn)
    scale = Scale(high, low)
    beyond = [(one.high > high, one.low < low) for one in drawn]
    lefts = [round((i + 0.5) / len(drawn) * WIDE) for i in range(len(drawn))]
    ends = zip(*((one.high, one.median, one.low) for one in drawn), strict=True)
    upper, line, lower = (
        [(left, _top(scale, n)) for left, n in zip(lefts, values, strict=True)]
        for values in ends
    )
    return SeriesChart(
        judged,
        drawn,
        band=_path([*upper, *reversed(lower)]) + "z",
        line=_path(line) + ("h1" if len(line) == 1 else ""),
        levels=_levels(drawn, scale),
        ticks=_ticks(scale, series.is_ratio),
        marks=_marks(drawn, numbers),
        dots=_dots(drawn, line, series),
        runs_per_point=per_point,
        cut=_cut(lefts, beyond),
        cut_points=sum(map(any, beyond)),
        boundaries=_boundaries(series, drawn),
    )


def short(point: SeriesPoint) -> str:
    """Return the truncated label of a run, or its name, for narrow places."""
    label = point.entry.label
    if len(label) > _LABEL_CHARS:
        return label[: _LABEL_CHARS - 1] + "…"
    return label or point.entry.run


def _thinned(
    points: Sequence[SeriesPoint],
    shown: Sequence[int],
    steps: dict[int, Change],
    most: int,
) -> tuple[tuple[DrawnPoint, ...], int]:
    """Merge neighbouring points, but not across a step."""
    per_point = max(1, math.ceil(len(shown) / most))
    groups: list[list[int]] = []
    for index in shown:
        if not groups or index in steps or len(groups[-1]) == per_point:
            groups.append([])
        groups[-1].append(index)
    return tuple(_drawn(points, group, steps) for group in groups), per_point


def _drawn(
    points: Sequence[SeriesPoint], group: list[int], steps: dict[int, Change]
) -> DrawnPoint:
    members = tuple(points[index] for index in group)
    return DrawnPoint(
        members,
        statistics.median(point.band.median for point in members),
        min(point.band.low for point in members),
        max(point.band.high for point in members),
        steps.get(group[0]),
    )


def _range(drawn: Sequence[DrawnPoint]) -> tuple[float, float]:
    """Return the ends of the axis, at which wide bands are cut."""
    medians = [one.median for one in drawn]
    least, most = min(medians), max(medians)
    slack = max((most - least) * 0.4, statistics.median(medians) * _LEAST_SPAN / 2)
    low = max(min(one.low for one in drawn), least - slack)
    high = min(max(one.high for one in drawn), most + slack)
    missing = statistics.median(medians) * _LEAST_SPAN - (high - low)
    return low - max(0.0, missing) / 2, high + max(0.0, missing) / 2


def _top(scale: Scale, value: float) -> int:
    return round(scale.share(value) * HIGH)


def _path(places: Iterable[tuple[int, int]]) -> str:
    return "M" + "L".join(f"{left} {top}" for left, top in places)


def _cut(lefts: Sequence[int], beyond: Sequence[tuple[bool, bool]]) -> str:
    """Return a stroke at each edge at which a band is cut."""
    strokes = []
    for left, (above, below) in zip(lefts, beyond, strict=True):
        strokes += [f"M{left} 0v{_STROKE}"] * above
        strokes += [f"M{left} {HIGH}v-{_STROKE}"] * below
    return "".join(strokes)


def _dots(
    drawn: Sequence[DrawnPoint], line: Sequence[tuple[int, int]], series: Series
) -> tuple[Dot, ...]:
    if len(drawn) > _MOST_DOTS:
        return ()
    labels = (f"{one.name}: {value_of(series, one.median)}" for one in drawn)
    return tuple(
        Dot(left / WIDE * 100, top / HIGH * 100, label)
        for (left, top), label in zip(line, labels, strict=True)
    )


def _boundaries(
    series: Series, drawn: Sequence[DrawnPoint]
) -> tuple[BoundaryMark, ...]:
    """Return the boundaries among the points drawn; one within a point is before it."""
    places = {point.entry.run: i for i, one in enumerate(drawn) for point in one.points}
    marks = []
    for boundary in series.boundaries:
        run = series.entries[boundary.index].run
        if run in places:
            marks.append(BoundaryMark(places[run] / len(drawn) * 100, str(boundary)))
    return tuple(marks)


def _marks(drawn: Sequence[DrawnPoint], numbers: Numbers) -> tuple[StepMark, ...]:
    marks: list[StepMark] = []
    for i, one in enumerate(drawn):
        if not one.change:
            continue
        at = i / len(drawn) * 100
        taken = {mark.level for mark in marks if at - mark.at_percent < _CROWDED}
        number = numbers[one.change.key]
        marks.append(StepMark(at, number, one.change, free_level(taken)))
    return tuple(marks)


def _levels(drawn: Sequence[DrawnPoint], scale: Scale) -> tuple[LevelLine, ...]:
    begins = [i for i, one in enumerate(drawn) if i == 0 or one.change]
    across = Scale(0, len(drawn))
    lines = []
    for begin, end in zip(begins, [*begins[1:], len(drawn)], strict=True):
        medians = [p.band.median for one in drawn[begin:end] for p in one.points]
        y = _top(scale, statistics.median(medians)) / HIGH * 100
        lines.append(LevelLine(across.percent(begin), across.percent(end), y))
    return tuple(lines)


def _ticks(scale: Scale, is_ratio: bool) -> tuple[Tick, ...]:
    """Return ticks at round values, usually three, the highest first."""
    return tuple(
        Tick(_top(scale, n) / HIGH * 100, f"{n:.2f}×" if is_ratio else compact(n))
        for n in reversed(even_steps(scale.last, scale.first))
    )
