"""The history as one HTML file: the open steps, then a chart for each series.

render() is pure: the same entries give the same bytes on every machine.
"""

from __future__ import annotations

from dataclasses import dataclass

from report.page import frame
from report.page.history_charts import (
    HEIGHT_PX,
    Numbers,
    SeriesChart,
    chart,
    short,
)
from report.page.identity import NamedEngine, looks
from report.stats import change_points
from report.terms import numbers
from report.terms.text_table import TableRow, TextTable
from report.verdict import history_steps
from report.verdict.history_series import Series
from report.verdict.history_steps import Change
from report.words.history_view import (
    FEW,
    HistoryView,
    MachineHistory,
    confirm_command,
    decided,
    figures_of,
    glyph,
    newest_values,
    open_counts,
    style,
    value_of,
)
from report.words.summary_badges import Badge

_STYLES = ("two_builds/regressions.css", "two_builds/history.css")
_TEMPLATE = "history.html.j2"
# Points drawn on the whole page, and in one chart: a page stays under 2 MB.
_ALL_POINTS, _MOST_POINTS, _LEAST_POINTS = 12_000, 200, 20
_WORTH_A_CHART = 4  # points, the fewest that can show a step


@dataclass(frozen=True)
class MachineSection:
    """One machine with its charts, those with open steps first.

    `left_out` is the number of rates not drawn because they have too few points.
    Processor time and counts are drawn if they have a step.
    """

    machine: MachineHistory
    charts: tuple[SeriesChart, ...]
    left_out: int


def render(view: HistoryView) -> str:
    """Return the page as the text of one HTML file."""
    environment = frame.environment()
    environment.globals.update(
        anchor=anchor,
        chart_height=HEIGHT_PX,
        confirming=confirm_command,
        decided=decided,
        figures=figures,
        glyph=glyph,
        share=figures_of,
        short=short,
        newest_values=newest_values,
        unit=unit,
        value_of=value_of,
        verdict_class=style,
    )
    names = dict.fromkeys(name.engine for name in view.cells)
    engines = [NamedEngine(name, view.titles.get(name, name)) for name in names]
    numbers = _numbers(view)
    series = sum(
        judged.series.is_rate or bool(judged.changes)
        for machine in view.machines
        for judged in machine.judged
    )
    most = min(_MOST_POINTS, max(_LEAST_POINTS, _ALL_POINTS // max(series, 1)))
    parts = [_part(machine, numbers, most) for machine in view.machines]
    return frame.rendered(
        environment.get_template(_TEMPLATE),
        None,
        _STYLES,
        view=view,
        parts=parts,
        numbers=numbers,
        engines=engines,
        looks=looks(engines),
        lede=open_counts(*view.machines),
        chips=chips(view, parts),
        open=[c for machine in view.machines for c in machine.open],
        closed=[c for m in view.machines for c in m.changes if not c.is_open],
        few=FEW,
        detector=change_points,
        flags=history_steps,
    )


def chips(view: HistoryView, parts: list[MachineSection]) -> list[Badge]:
    """Return the badges: the size of the history, and every reason for caution."""
    runs = f"{numbers.count(view.runs, 'run')}"
    if view.runs < view.all_runs:
        runs = f"the last {view.runs} of {view.all_runs} runs"
    series = sum(len(part.machine.judged) for part in parts)
    steady = sum(part.machine.steady for part in parts)
    badges = [
        Badge(runs),
        Badge(numbers.count(len(parts), "machine")),
        Badge(f"{steady} of {series} series are steady: no open step"),
    ]
    few = sum(part.machine.short for part in parts)
    if few:
        badges.append(Badge(f"{few} series with fewer than {FEW} points", warns=True))
    thinned = max((c.runs_per_point for part in parts for c in part.charts), default=1)
    if thinned > 1:
        badges.append(Badge(f"each point covers up to {thinned} runs"))
    return badges


def figures(chart: SeriesChart) -> TextTable:
    """Return every point of a chart; the first after a step has the step's sign."""
    series = chart.judged.series
    is_ratio = series.is_ratio
    titles = ("ratio", "from, to", "ops/s") if is_ratio else (unit(series), "from, to")
    rows = []
    for one in chart.drawn:
        middle, low, high = (
            value_of(series, x) for x in (one.median, one.low, one.high)
        )
        sign = f" {glyph(one.change)}" if one.change else ""
        cells = [one.name, middle + sign, f"{low}–{high}"]
        rate = one.points[-1].cell.rate
        if is_ratio:
            cells.append(numbers.compact(rate.median) if rate else "")
        rows.append(TableRow(tuple(cells)))
    name = "Run" if chart.runs_per_point == 1 else "Runs up to"
    return TextTable((name,), titles, (), tuple(rows))


def unit(series: Series) -> str:
    """Return the unit of the values of a series."""
    if series.is_rate:
        return "ratio" if series.is_ratio else "ops/s"
    return "count" if series.is_count else "ns/op"


def anchor(numbers: Numbers, change: Change) -> str:
    """Return the HTML id of the mark of a step."""
    return f"step-{numbers[change.key]}"


def _part(machine: MachineHistory, numbers: Numbers, most: int) -> MachineSection:
    runs = {entry.run for entry in machine.entries}
    long = [
        judged
        for judged in machine.judged
        if len(judged.series.points) >= _WORTH_A_CHART
        and (judged.series.is_rate or judged.changes)
    ]
    charts = [chart(judged, runs, numbers, most) for judged in long]
    first = {change.series.key: i for i, change in reversed([*enumerate(machine.open)])}
    charts.sort(key=lambda c: first.get(c.judged.series.key, len(first)))
    left_out = sum(len(j.series.points) < _WORTH_A_CHART for j in machine.rates)
    return MachineSection(machine, tuple(charts), left_out)


def _numbers(view: HistoryView) -> Numbers:
    """Number all steps of the page, the open ones first."""
    shown = [c for m in view.machines for c in m.open]
    shown += [c for m in view.machines for j in m.judged for c in j.changes]
    keys = dict.fromkeys(change.key for change in shown)
    return {key: n for n, key in enumerate(keys, 1)}
