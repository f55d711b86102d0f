"""The course of a chart: its engines on one time axis, with their stalls.

Drawn are rate, write amplification, space amplification and memory of the repetition
with the median rate, in COLUMNS equal parts of the longest loop.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from report.model.plan import Engine
from report.model.record import Record
from report.page import line_plot
from report.page.identity import EngineLook
from report.page.line_plot import Plot, PlotLine, PlotPoint
from report.page.sparklines import median_repetition
from report.stats import loop_course, timeline
from report.stats.loop_course import Part
from report.verdict.comparison import Chart

COLUMNS = 30


@dataclass(frozen=True)
class CourseDrawing:
    """One quantity over time; `anchor` is its id on the page."""

    anchor: str
    title: str
    unit: str
    plot: Plot


_QUANTITIES: tuple[tuple[str, str, Callable[[Part], float | None]], ...] = (
    ("rate", "operations per second", lambda part: part.ops_per_sec),
    (
        "write amplification",
        "bytes written to the disk per byte accepted",
        lambda part: part.write_amplification,
    ),
    (
        "space amplification",
        "bytes on the file system per byte of live entries",
        lambda part: part.space_amplification,
    ),
    ("memory", "bytes charged, page cache included", lambda part: part.memory_bytes),
)


def course_of(chart: Chart, looks: Mapping[str, EngineLook]) -> list[CourseDrawing]:
    """Return the drawings of a chart; [] without a course."""
    rows = [(row, m.record) for row in chart.rows if (m := median_repetition(row))]
    longest_ns = max((loop_course.duration_ns(r) for _, r in rows), default=0.0)
    if not longest_ns:
        return []
    width_ns = longest_ns / COLUMNS
    parts = [(row, loop_course.parts_of(r, width_ns)) for row, r in rows]
    seconds = [round((i + 1) * width_ns / 1e9, 1) for i in range(COLUMNS)]
    stalled = {row.engine.name: _stalled(r, width_ns) for row, r in rows}
    drawings = []
    for title, unit, value in _QUANTITIES:
        series = [_line(row.engine, looks, of, value) for row, of in parts]
        drawn = line_plot.plot(series, seconds, is_linear=True)
        if drawn:
            marks = stalled if title == "rate" else {}
            anchor = f"{chart.anchor}-{title.replace(' ', '-')}"
            drawings.append(CourseDrawing(anchor, title, unit, _marked(drawn, marks)))
    return drawings


def _line(
    engine: Engine,
    looks: Mapping[str, EngineLook],
    parts: Sequence[Part],
    value: Callable[[Part], float | None],
) -> PlotLine:
    points = []
    for index, part in enumerate(parts[:COLUMNS]):
        number = value(part)
        if number is not None:
            points.append(PlotPoint(index, number, number, number))
    look = looks[engine.name]
    return PlotLine(engine.name, engine.title, look, False, tuple(points))


def _stalled(record: Record, width_ns: float) -> set[int]:
    """Return the parts of the loop in which a stall began."""
    stalls = timeline.stalls(record)
    return {int(s.at_ns / width_ns) for s in stalls.longest} if stalls else set()


def _marked(plot: Plot, stalled: dict[str, set[int]]) -> Plot:
    """Return a drawing with marks only where an engine stalled."""
    curves = []
    for curve in plot.curves:
        places = stalled.get(curve.series.engine, set())
        spots = zip(curve.series.spots, curve.marks, strict=True)
        marks = tuple(mark for spot, mark in spots if spot.value in places)
        curves.append(replace(curve, marks=marks))
    return replace(plot, curves=tuple(curves))
