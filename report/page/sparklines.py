"""Rate over time as small drawings: geometry only, a template draws the SVG.

Every lane spans the whole loop of its repetition, and from zero to its own fastest
part, so that shapes can be compared whatever the rates are.
"""

from __future__ import annotations

from dataclasses import dataclass

from report.model.run import Measurement
from report.page.axes import Scale
from report.stats import timeline
from report.verdict.chart_row import Row
from report.verdict.comparison import Chart

COLUMNS = 100
HEIGHT = 40  # of the drawing's own units, in whole numbers
_LISTED = 3


@dataclass(frozen=True)
class Spark:
    """One engine's lane; positions of stalls are percentages of the loop."""

    row: Row
    path: str
    line: timeline.Timeline
    stalls: timeline.Stalls | None
    stall_percents: tuple[float, ...]
    longest: tuple[timeline.Stall, ...]


def sparks(chart: Chart) -> list[Spark]:
    """Return the lane of each engine whose median repetition has a timeline."""
    drawn = []
    for row in chart.all_rows:
        m = median_repetition(row)
        line = timeline.timeline(m.record) if m else None
        if not m or not line:
            continue
        gaps = timeline.stalls(m.record)
        listed = gaps.longest if gaps else ()
        places = sorted({round(s.at_ns / line.loop_ns * 100, 1) for s in listed})
        drawn.append(
            Spark(row, area(line), line, gaps, tuple(places), listed[:_LISTED])
        )
    return drawn


def median_repetition(row: Row) -> Measurement | None:
    """Return the repetition with the median rate, the slower one of two."""
    rated = [m for m in row.repetitions if m.ops_per_sec]
    if not row.summary or not rated:
        return None
    ordered = sorted(rated, key=lambda m: (m.ops_per_sec or 0.0, m.repetition))
    return ordered[(len(ordered) - 1) // 2]


def area(line: timeline.Timeline) -> str:
    """Return the area under the rate as an SVG path, COLUMNS wide and HEIGHT high."""
    rates = line.resampled(COLUMNS)
    scale = Scale(0, max(rates))
    tops = [HEIGHT - round(scale.share(rate) * HEIGHT) for rate in rates]
    path, at, run = f"M0 {HEIGHT}", HEIGHT, 0
    for top in tops:
        if top != at:
            path += (f"h{run}" if run else "") + f"v{top - at}"
            at, run = top, 0
        run += 1
    return path + f"h{run}V{HEIGHT}z"
