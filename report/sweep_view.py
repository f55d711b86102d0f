"""What the report draws and tabulates of one sweep, published figures included."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from report import plot, sweep_published, sweep_table, sweeps, workloads
from report.cells import Engine, Run
from report.comparison import Row
from report.identity import looks
from report.plot import Plot, Series, Spot
from report.published_tables import Table
from report.sweep_figures import Metric, metrics
from report.sweep_published import Theirs
from report.sweep_table import Group
from report.sweeps import Sweep


@dataclass(frozen=True)
class Drawing:
    """One chart of a sweep; `anchor` is its id on the page."""

    anchor: str
    title: str
    unit: str
    plot: Plot


@dataclass(frozen=True)
class View:
    """One sweep as the page shows it."""

    sweep: Sweep
    workload: tuple[str, ...]
    drawings: tuple[Drawing, ...]
    columns: tuple[str, ...]
    groups: tuple[Group, ...]
    without: tuple[str, ...]  # why some cells have no rate
    published: tuple[Table, ...]


def views(run: Run, found: Iterable[Sweep], tables: Sequence[Table]) -> list[View]:
    """Every sweep of a run with what was published of the same kind."""
    return [_view(run, sweep, tables) for sweep in found]


def _view(run: Run, sweep: Sweep, tables: Sequence[Table]) -> View:
    beside = sweep_published.beside(sweep, tables)
    theirs = sweep_published.theirs(run, sweep, beside)
    rows = [row for chart in sweep.charts for row in chart.rows]
    return View(
        sweep,
        (*_entries(rows), *workloads.workload(rows)),
        tuple(_drawings(run, sweep, theirs)),
        sweep_table.columns(sweep),
        tuple(sweep_table.groups(run, sweep, theirs)),
        tuple(sweep_table.without(sweep)),
        beside,
    )


def _entries(rows: Iterable[Row]) -> Iterable[str]:
    """How many entries there are, where all cells have as many."""
    found = {count for row in rows if (count := sweeps.entries(row))}
    return [f"{count:,} entries" for count in found if len(found) == 1]


def _drawings(run: Run, sweep: Sweep, theirs: Sequence[Theirs]) -> Iterable[Drawing]:
    seen = looks(run.engines)
    drawn = [engine for engine in sweep.engines if engine.ranked]
    found = metrics(sweep, sweep_published.roles(theirs))
    for number, metric in enumerate(found, 1):
        lines = [
            Series(e.name, e.title, seen[e.name], False, _spots(sweep, e, metric))
            for e in drawn
        ]
        lines += [
            Series(
                one.engine.name if one.engine else "",
                one.title,
                one.look,
                True,
                _published_spots(sweep, one, metric.column),
            )
            for one in theirs
        ]
        if made := plot.plot(lines, sweep.values, sweep.flag):
            yield Drawing(f"{sweep.anchor}-{number}", metric.title, metric.unit, made)


def _spots(sweep: Sweep, engine: Engine, metric: Metric) -> tuple[Spot, ...]:
    found = []
    for place, member in enumerate(sweep.members):
        row = sweep.row(engine, member, metric.benchmark)
        figure = metric.of(row) if row else None
        if figure:
            found.append(Spot(place, *figure))
    return tuple(found)


def _published_spots(sweep: Sweep, one: Theirs, column: str) -> tuple[Spot, ...]:
    """Those at values that the sweep has too."""
    places = {float(v): i for i, v in enumerate(sweep.values) if not isinstance(v, str)}
    found = []
    for row in one.rows:
        number, at = row.number(column), row.number(one.value)
        if number is not None and at in places:
            found.append(Spot(places[at], number, number, number))
    return tuple(sorted(found, key=lambda spot: spot.value))
