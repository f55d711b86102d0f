"""Where marks go on a log scale: geometry only, templates draw the SVG.

Positions are percentages of a lane's width, so one drawing serves every screen
and its text is never stretched.  A log scale carries dots, never bars.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from report import numbers
from report.comparison import Chart, Comparison, Standing
from report.published import Page
from report.results import Engine, Run
from report.sentences import chart_name
from report.ticks import Tick

# Marks nearer than this share of the lane are put on different levels.
_CROWDED_PERCENT = 2.2
_LEVELS = 5
_LEVEL_PX = 7


@dataclass(frozen=True)
class LogScale:
    """Maps low..high to 0..100 %."""

    low: float
    high: float

    def percent(self, number: float) -> float:
        """The place of a number, kept inside the lane."""
        share = math.log(number / self.low) / math.log(self.high / self.low)
        return round(min(max(share, 0.0), 1.0) * 100, 2)


@dataclass(frozen=True)
class Mark:
    """One dot; `level` 0, 1, 2 ... moves it off its neighbours."""

    at_percent: float
    level: int
    label: str

    @property
    def offset_px(self) -> int:
        """Down from the middle of the lane: 0, 7, -7, 14, -14."""
        steps = (self.level + 1) // 2
        return _LEVEL_PX * (steps if self.level % 2 else -steps)


@dataclass(frozen=True)
class Lane:
    """One engine's marks, from its best chart to its worst."""

    standing: Standing
    marks: tuple[Mark, ...]


@dataclass(frozen=True)
class Strip:
    """How far from the best: one lane per engine, one mark per chart."""

    lanes: tuple[Lane, ...]
    ticks: tuple[Tick, ...]


@dataclass(frozen=True)
class Pair:
    """One engine in one chart, published and now; a side may be absent."""

    engine: Engine
    published: float | None
    now: float | None
    status: str
    published_percent: float | None
    now_percent: float | None

    @property
    def ratio(self) -> float | None:
        """Now as a multiple of what was published."""
        return self.now / self.published if self.now and self.published else None


@dataclass(frozen=True)
class Dumbbell:
    """One chart beside its published twin."""

    chart: Chart
    pairs: tuple[Pair, ...]
    order: str


@dataclass(frozen=True)
class Dumbbells:
    """Every chart that has a published twin, on one scale."""

    groups: tuple[Dumbbell, ...]
    ticks: tuple[Tick, ...]


def strip(comparison: Comparison) -> Strip | None:
    """None if no engine has a distance from the best."""
    distances = [row.off_best for _, row in comparison.ranked_rows if row.off_best]
    if not distances:
        return None
    scale = LogScale(1.0, max(2.0, max(distances) * 1.15))
    steps = [1.0, 2.0, 5.0]
    ladder = [step * 10**power for power in range(7) for step in steps]
    if scale.high > 500:
        ladder = [10.0**power for power in range(8)]
    ticks = [
        Tick(scale.percent(n), "best" if n == 1 else f"{n:,.0f}×")
        for n in ladder
        if n <= scale.high
    ]
    lanes = (_lane(s, comparison, scale) for s in comparison.standings)
    return Strip(tuple(lanes), tuple(ticks))


def dumbbells(run: Run, comparison: Comparison, page: Page) -> Dumbbells | None:
    """None if the run has no chart that the page has."""
    found = []
    for chart in comparison.charts:
        pairs = [
            (row, page.find(chart.scenario.name, chart.benchmark, row.engine.name))
            for row in chart.rows
        ]
        if any(figure for _, figure in pairs):
            found.append((chart, pairs))
    rates = [f.ops_per_sec for _, pairs in found for _, f in pairs if f]
    rates += [r.summary.median for _, ps in found for r, _ in ps if r.summary]
    if not found:
        return None
    scale = LogScale(_power_under(min(rates)), _power_under(max(rates)) * 10)
    groups = []
    for chart, pairs in found:
        members = []
        for row, figure in pairs:
            old = figure.ops_per_sec if figure else None
            now = row.summary.median if row.summary else None
            members.append(
                Pair(
                    row.engine,
                    old,
                    now,
                    row.status,
                    scale.percent(old) if old else None,
                    scale.percent(now) if now else None,
                )
            )
        groups.append(Dumbbell(chart, tuple(members), _order(members)))
    return Dumbbells(tuple(groups), _decades(scale))


def _lane(standing: Standing, comparison: Comparison, scale: LogScale) -> Lane:
    found = sorted(
        (row.off_best, chart_name(chart))
        for chart, row in comparison.ranked_rows
        if row.engine is standing.engine and row.off_best
    )
    placed: list[Mark] = []
    for ratio, name in found:
        at_percent = scale.percent(ratio)
        taken = {
            m.level for m in placed if at_percent - m.at_percent < _CROWDED_PERCENT
        }
        level = next((n for n in range(_LEVELS) if n not in taken), _LEVELS - 1)
        label = f"{name}: {'best' if ratio == 1 else numbers.slower(ratio) + ' off'}"
        placed.append(Mark(at_percent, level, label))
    return Lane(standing, tuple(placed))


def _order(pairs: Sequence[Pair]) -> str:
    """Whether the engines come in the same order in both."""
    both = [p for p in pairs if p.published and p.now]
    if len(both) < 2:
        return ""
    then = sorted(both, key=lambda p: -(p.published or 0))
    now = sorted(both, key=lambda p: -(p.now or 0))
    same = [p.engine.name for p in then] == [p.engine.name for p in now]
    return "order of engines: same" if same else "order of engines: changed"


def _power_under(rate: float) -> float:
    return float(10.0 ** math.floor(math.log10(rate)))


def _decades(scale: LogScale) -> tuple[Tick, ...]:
    first, last = round(math.log10(scale.low)), round(math.log10(scale.high))
    powers = [10.0**power for power in range(first, last + 1)]
    labels = [f"{n:,.0f}" if n < 1e3 else numbers.compact(n) for n in powers]
    short = [label.replace(".00", "").replace("0.0", "0") for label in labels]
    return tuple(Tick(scale.percent(n), s) for n, s in zip(powers, short, strict=True))
