"""The drawings and tables of one sweep, published figures included.

Every engine is a line of points, one for each value of the flag, and so is every
engine of a published sweep of the same flag and family: the drawings and the table
are of the same points.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from report.model.plan import Engine
from report.model.run import FAILURES, Run
from report.page import line_plot
from report.page.identity import EngineLook, look_of, looks_of
from report.page.line_plot import Plot, PlotLine, PlotPoint
from report.published.published_tables import (
    NOT_MEASURED_HERE,
    PrintedRow,
    PublishedTable,
)
from report.terms import numbers
from report.verdict import sweeps
from report.verdict.chart_row import Row
from report.verdict.sweeps import Member, Sweep
from report.words import chart_detail, remarks, workloads
from report.words.cell_text import EMPTY, CellText, as_printed, figure, merged
from report.words.cell_text import DetailTable as Figures

Interval = tuple[float, float, float]  # median, least, largest
# Columns about the database, with those of published sweeps; each benchmark adds
# columns of rates.
_DATABASE, _OVERHEAD = "database, bytes", "overhead, B/record"
_STORED = {
    "transactions": "transactions",
    "entries in each": "records_per_transaction",
    "data, bytes": "data_bytes",
    _DATABASE: "database_bytes",
    _OVERHEAD: "overhead_bytes_per_record",
}
_SECONDS, _KOPS, _MB = "s", "kops/s", "MB/s"
_RATES = {_SECONDS: "seconds", _KOPS: "kops", _MB: "mb_per_s"}
_ROLES = ("write", "read")  # prefixes of the columns of a published sweep
_OFFERED = "offered, kops/s"
_TAILS = {"p50, µs": "p50", "p99, µs": "p99"}


@dataclass(frozen=True)
class Quantity:
    """One value of a point, as the table shows it and as it is drawn."""

    figure: CellText = EMPTY
    drawn: Interval | None = None


@dataclass(frozen=True)
class SweepPoint:
    """An engine at one value; `place` is the value's index in the sweep, or None.

    `source` is "" or the remark on a published figure; `cells` are by column.
    """

    value: str
    place: int | None
    order: float
    source: str
    cells: Mapping[str, Quantity]


@dataclass(frozen=True)
class Trace:
    """All points of one engine; `engine` is None if this run does not have it."""

    title: str
    engine: Engine | None
    look: EngineLook
    is_published: bool
    points: tuple[SweepPoint, ...]


@dataclass(frozen=True)
class Drawing:
    """One chart of a sweep; `anchor` is its id on the page."""

    anchor: str
    title: str
    unit: str
    plot: Plot


@dataclass(frozen=True)
class SweepDetail:
    """Everything behind one benchmark: tables with a line for each value."""

    benchmark: str
    title: str
    tables: tuple[Figures, ...]
    remarks: tuple[str, ...]
    disturbances: tuple[str, ...]


@dataclass(frozen=True)
class Panel:
    """One sweep as the page shows it; `groups` are the lines of the table."""

    sweep: Sweep
    workload: tuple[str, ...]
    drawings: tuple[Drawing, ...]
    columns: tuple[str, ...]
    groups: tuple[Trace, ...]
    without: tuple[str, ...]  # why some cells have no rate
    published: tuple[PublishedTable, ...]
    behind: tuple[SweepDetail, ...]


def panel(run: Run, sweep: Sweep, tables: Iterable[PublishedTable]) -> Panel:
    """Return a sweep with the published figures of its flag and family."""
    printed = tuple(table for table in tables if sweep.published(table))
    columns = _columns(sweep, [row for t in printed for row in sweep.published(t)])
    ours, theirs = _ours(run, sweep), _theirs(run, sweep, printed, columns)
    ranked = [line for line in ours if line.engine and line.engine.ranked]
    rows = [row for chart in sweep.charts for row in chart.rows]
    return Panel(
        sweep,
        (*_entries(rows), *workloads.workload(rows)),
        tuple(_drawings(sweep, (*ranked, *theirs))),
        tuple(columns),
        tuple(_groups(ours, theirs)),
        tuple(_without(sweep)),
        printed,
        tuple(_behind(run, sweep, benchmark) for benchmark in sweep.benchmarks),
    )


def _columns(sweep: Sweep, printed: Iterable[PrintedRow]) -> dict[str, str]:
    """Return each column of the table with that of published sweeps, or ""."""
    if sweep.is_paced:
        columns = (_KOPS, _OFFERED, *_TAILS)
        return {f"{b}, {column}": "" for b in sweep.benchmarks for column in columns}
    targets = [row.target.benchmarks for row in printed if row.target]
    roles = {t[role]: role for t in targets for role in _ROLES if role in t}
    rates = {
        f"{b}, {unit}": f"{roles[b]}_{column}" if b in roles else ""
        for unit, column in _RATES.items()
        for b in sweep.benchmarks
    }
    return _STORED | rates


def _ours(run: Run, sweep: Sweep) -> list[Trace]:
    seen = looks_of(run.plan)
    return [
        Trace(
            engine.title,
            engine,
            seen[engine.name],
            False,
            tuple(
                SweepPoint(
                    sweep.label(member.value),
                    place,
                    _order(sweep, str(member.value)),
                    "",
                    _measured(sweep, engine, member),
                )
                for place, member in enumerate(sweep.members)
            ),
        )
        for engine in sweep.engines
    ]


def _measured(sweep: Sweep, engine: Engine, member: Member) -> dict[str, Quantity]:
    rows = {b: sweep.row(engine, member, b) for b in sweep.benchmarks}
    if sweep.is_paced:
        return {f"{b}, {c}": q for b, row in rows.items() for c, q in _paced(row)}
    wrote = rows.get(sweep.writing)
    row = wrote if wrote and wrote.summary else None
    batches = int(member.scenario.flags.get(engine.name, {}).get("transactions") or 0)
    entries = sweeps.entries(row) if row else None
    stored = (
        _quantity(batches or None),
        _quantity(entries / batches if batches and entries else None),
        _quantity(sweeps.data_bytes(row) if row else None),
        _quantity(row.used.disk_bytes if row else None),
        _quantity(sweeps.overhead_bytes(row) if row else None, numbers.rounded),
    )
    rates = {
        f"{b}, {unit}": _rate(row, unit) for unit in _RATES for b, row in rows.items()
    }
    return dict(zip(_STORED, stored, strict=True)) | rates


def _quantity(
    number: float | None, form: Callable[[float], str] = numbers.whole
) -> Quantity:
    return Quantity(figure(number, form), _alone(number))


def _rate(row: Row | None, unit: str) -> Quantity:
    if row is None:
        return Quantity()
    if row.summary is None:
        return Quantity(CellText(row.status, row.reason, warns=row.status in FAILURES))
    if unit == _SECONDS:
        return _quantity(sweeps.elapsed_s(row), numbers.rounded)
    ends = row.summary.median, row.summary.low, row.summary.high
    if unit == _MB:
        moved = sweeps.bytes_per_op(row)
        if not moved:
            return Quantity()
        median, low, high = (rate * moved / sweeps.MB for rate in ends)
    else:
        median, low, high = (rate / 1e3 for rate in ends)
    return Quantity(CellText(numbers.rounded(median)), (median, low, high))


def _paced(row: Row | None) -> Iterable[tuple[str, Quantity]]:
    """Yield the columns of a benchmark at one pace."""
    yield _KOPS, _rate(row, _KOPS)
    yield _OFFERED, _interval(sweeps.offered_kops(row) if row else [])
    saturated = Quantity(CellText("saturated", warns=True))
    for column, name in _TAILS.items():
        known = _interval(sweeps.latencies_us(row, name) if row else [])
        yield column, saturated if row and sweeps.is_saturated(row) else known


def _interval(values: Sequence[float]) -> Quantity:
    """Return the median of repetitions, with the least and the largest."""
    if not values:
        return Quantity()
    middle = statistics.median(values)
    shown = CellText(numbers.rounded(middle))
    return Quantity(shown, (middle, min(values), max(values)))


def _theirs(
    run: Run, sweep: Sweep, tables: Iterable[PublishedTable], columns: Mapping[str, str]
) -> list[Trace]:
    """Return the published engines; one that is not in this run gets a new look."""
    ours = {engine.name: engine for engine in run.plan.engines}
    seen = looks_of(run.plan)
    lines = []
    for table in tables:
        by_title: dict[str, list[PrintedRow]] = {}
        for row in sweep.published(table):
            by_title.setdefault(row.title, []).append(row)
        for title, rows in by_title.items():
            own = next((ours[name] for name in rows[0].engines if name in ours), None)
            shown = seen[own.name] if own else look_of(title, seen.values())
            points = (_printed(sweep, own, table, row, columns) for row in rows)
            lines.append(Trace(title, own, shown, True, tuple(points)))
    return lines


def _printed(
    sweep: Sweep,
    engine: Engine | None,
    table: PublishedTable,
    row: PrintedRow,
    columns: Mapping[str, str],
) -> SweepPoint:
    value, number = row.printed[table.value], row.number(table.value)
    same = (v == number or str(v) == value for v in sweep.values)
    place = next((i for i, is_same in enumerate(same) if is_same), None)
    rated = engine and place is not None and sweep.is_rated(engine, place)
    source = "published" if rated else NOT_MEASURED_HERE
    shown = {title: row.printed.get(column, "") for title, column in columns.items()}
    cells = {
        title: Quantity(as_printed(text), _alone(row.number(columns[title])))
        for title, text in shown.items()
    }
    return SweepPoint(
        as_printed(value).text, place, _order(sweep, value), source, cells
    )


def _alone(number: float | None) -> Interval | None:
    """Return a value without an interval."""
    return None if number is None else (number, number, number)


def _order(sweep: Sweep, value: str) -> float:
    try:
        return float(value)
    except ValueError:
        return [str(known) for known in sweep.values].index(value)


def _groups(ours: Iterable[Trace], theirs: Sequence[Trace]) -> Iterable[Trace]:
    """Yield our engines with their published points, then the other engines.

    At the same value our point comes first.
    """
    for line in ours:
        same = [
            p for their in theirs if their.engine is line.engine for p in their.points
        ]
        yield _ordered(line, (*line.points, *same))
    for line in theirs:
        if line.engine is None:
            yield _ordered(line, line.points)


def _ordered(line: Trace, points: Iterable[SweepPoint]) -> Trace:
    return replace(line, points=tuple(sorted(points, key=lambda point: point.order)))


def _drawings(sweep: Sweep, lines: Sequence[Trace]) -> Iterable[Drawing]:
    charts = [
        (
            f"{sweep.title_of(b)}, {name}",
            "µs, from when a call was due",
            f"{b}, {column}",
        )
        for b in sweep.benchmarks
        for column, name in _TAILS.items()
        if sweep.is_paced
    ]
    rated = () if sweep.is_paced else sweep.benchmarks
    charts += [
        (sweep.title_of(b), "thousands a second", f"{b}, {_KOPS}") for b in rated
    ]
    charts += [
        (
            f"{sweep.title_of(b)}, data",
            "MB/s of keys and values, 2^20 bytes",
            f"{b}, {_MB}",
        )
        for b in rated
    ]
    if sweep.writing and not sweep.is_paced:
        beyond = "bytes on disk beyond the data, for each entry"
        charts.append(("Overhead", beyond, _OVERHEAD))
        charts.append(("Database", "bytes on disk", _DATABASE))
    for number, (title, unit, column) in enumerate(charts, 1):
        series = [_series(line, column) for line in lines]
        if plot := line_plot.plot(series, sweep.values, sweep.flag):
            yield Drawing(f"{sweep.anchor}-{number}", title, unit, plot)


def _series(line: Trace, column: str) -> PlotLine:
    """Return the points of a line at values that the sweep has."""
    spots = [
        PlotPoint(point.place, *drawn)
        for point in line.points
        if point.place is not None and (drawn := point.cells[column].drawn)
    ]
    return PlotLine(
        line.engine.name if line.engine else "",
        line.title,
        line.look,
        line.is_published,
        tuple(sorted(spots, key=lambda spot: spot.value)),
    )


def _entries(rows: Iterable[Row]) -> Iterable[str]:
    """Yield the number of entries if all cells have the same."""
    counts = {count for row in rows if (count := sweeps.entries(row))}
    return [f"{count:,} entries" for count in counts if len(counts) == 1]


def _without(sweep: Sweep) -> Iterable[str]:
    """Yield the cells without a rate: each reason once, for all its values."""
    values: dict[tuple[str, str, str, str], list[str]] = {}
    for member in sweep.members:
        for benchmark, chart in member.charts.items():
            for row in sweeps.shown(chart):
                if row.summary is None:
                    key = (row.engine.title, benchmark, row.status, row.reason)
                    values.setdefault(key, []).append(sweep.label(member.value))
    for (title, benchmark, status, reason), at in values.items():
        yield f"{title}, {benchmark}, {', '.join(at)}: {status}, {reason}"


def _behind(run: Run, sweep: Sweep, benchmark: str) -> SweepDetail:
    tables: dict[str, list[tuple[str, Figures]]] = {}
    told, disturbances, title = [], [], benchmark
    for member in sweep.members:
        chart = member.charts.get(benchmark)
        if chart is None:
            continue
        title, value = chart.title, sweep.label(member.value)
        parts = chart_detail.detail_of(run, chart)
        for table in parts.measured:
            tables.setdefault(table.caption, []).append((value, table))
        disturbances += [f"{value}: {text}" for text in parts.disturbances]
        for row in sweeps.shown(chart):
            if row.summary and (notes := remarks.notes(row)):
                told.append(f"{row.engine.title}, {value}: {', '.join(notes)}")
    return SweepDetail(
        benchmark,
        title,
        tuple(merged(sweep.flag, same) for same in tables.values()),
        tuple(told),
        tuple(disturbances),
    )
