"""Positions of dots on log scales (bars need a zero)."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

from report.model.plan import Engine
from report.model.run import Run
from report.page.axes import Dot, LogScale, Tick, free_level, log_steps
from report.published.published_figures import Page
from report.terms import numbers
from report.verdict.comparison import Chart, Comparison, Standing
from report.verdict.contest import Contests
from report.verdict.metric import ACCEPTED
from report.words.sentences import chart_name

# Marks closer than this share of the lane are drawn on different levels.
_CROWDED_PERCENT = 2.2
_LEVELS = 5
_LEVEL_PX = 7


@dataclass(frozen=True)
class Lane:
    """One engine's marks, from its best chart to its worst."""

    standing: Standing
    marks: tuple[Dot, ...]


@dataclass(frozen=True)
class Strip:
    """The distances from the best: one lane per engine, one mark per chart."""

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
        """The rate of this run as a multiple of the published one."""
        return self.now / self.published if self.now and self.published else None


@dataclass(frozen=True)
class Dumbbell:
    """One chart next to its published counterpart."""

    chart: Chart
    pairs: tuple[Pair, ...]
    order: str


@dataclass(frozen=True)
class Dumbbells:
    """Every chart that has a published counterpart, on one scale."""

    groups: tuple[Dumbbell, ...]
    ticks: tuple[Tick, ...]


def strip(comparison: Comparison) -> Strip | None:
    """Return the strip, or None if no engine has a distance from the best."""
    distances = [row.off_best for _, row in comparison.ranked_rows if row.off_best]
    if not distances:
        return None
    scale = LogScale(1.0, max(2.0, max(distances) * 1.15))
    steps = log_steps(1.0, scale.last, (1, 2, 5) if scale.last <= 500 else (1,))
    ticks = [Tick(scale.percent(n), "best" if n == 1 else f"{n:,.0f}×") for n in steps]
    lanes = (_lane(s, comparison, scale) for s in comparison.standings)
    return Strip(tuple(lanes), tuple(ticks))


def dumbbells(run: Run, comparison: Comparison, page: Page) -> Dumbbells | None:
    """Return the dumbbells, or None if the run and the page share no chart."""
    charts = []
    for chart in comparison.charts:
        pairs = [
            (row, page.find(chart.scenario.name, chart.benchmark, row.engine.name))
            for row in chart.rows
        ]
        if any(figure for _, figure in pairs):
            charts.append((chart, pairs))
    rates = [f.ops_per_sec for _, pairs in charts for _, f in pairs if f]
    rates += [r.summary.median for _, ps in charts for r, _ in ps if r.summary]
    if not charts:
        return None
    scale = LogScale(_power_under(min(rates)), _power_under(max(rates)) * 10)
    groups = []
    contests = Contests(run, ACCEPTED)
    for chart, pairs in charts:
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
        order = _order(chart, members, contests)
        groups.append(Dumbbell(chart, tuple(members), order))
    ticks = [
        Tick(scale.percent(n), numbers.label(n))
        for n in log_steps(scale.first, scale.last)
    ]
    return Dumbbells(tuple(groups), tuple(ticks))


def _lane(standing: Standing, comparison: Comparison, scale: LogScale) -> Lane:
    ratios = sorted(
        (row.off_best, chart_name(chart))
        for chart, row in comparison.ranked_rows
        if row.engine is standing.engine and row.off_best
    )
    dots: list[Dot] = []
    levels: list[tuple[float, int]] = []
    for ratio, name in ratios:
        x = scale.percent(ratio)
        taken = [level for before, level in levels if x - before < _CROWDED_PERCENT]
        level = min(free_level(taken), _LEVELS - 1)
        levels.append((x, level))
        label = f"{name}: {'best' if ratio == 1 else numbers.slower(ratio) + ' slower'}"
        dots.append(Dot(x, _offset_px(level), label))
    return Lane(standing, tuple(dots))


def _offset_px(level: int) -> int:
    """Return the offset down from the middle of the lane: 0, 7, -7, 14, -14."""
    steps = (level + 1) // 2
    return _LEVEL_PX * (steps if level % 2 else -steps)


def _order(chart: Chart, pairs: Sequence[Pair], contests: Contests) -> str:
    """Return whether the published order is shown again, as text, or "".

    It is changed if a lead is shown the other way, and undecided if one is not shown.
    """
    both = [pair for pair in pairs if pair.published and pair.now]
    leads = [
        (first.engine.name, other.engine.name)
        for first, other in itertools.permutations(both, 2)
        if (first.published or 0) > (other.published or 0)
    ]
    if not leads:
        return ""
    if any(_is_shown(chart, other, first, contests) for first, other in leads):
        return "order of engines: changed"
    is_same = all(_is_shown(chart, first, other, contests) for first, other in leads)
    return f"order of engines: {'same' if is_same else 'undecided'}"


def _is_shown(chart: Chart, one: str, other: str, contests: Contests) -> bool:
    """Return True if an engine is shown to be faster than another; both are ranked."""
    is_compared = any({one, other} <= r.medians_ns.keys() for r in chart.accepted)
    key = chart.scenario.name, chart.benchmark
    return is_compared and contests.lead(key, one, other) is not None


def _power_under(rate: float) -> float:
    return float(10.0 ** math.floor(math.log10(rate)))
