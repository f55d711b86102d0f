"""Matrices of a whole run: one value for every engine in every chart.

They show latency tails, space and writes without opening a chart.  The colour of a cell
depends on its ratio to the best of its row.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from report.model.plan import Engine, Plan
from report.model.run import Run
from report.stats import latency
from report.terms import numbers, row_settings
from report.verdict.chart_row import Row
from report.verdict.comparison import Chart, Comparison, by_family
from report.verdict.engine_groups import (
    EngineGroup,
    RowSet,
    are_many,
    engine_groups,
    row_sets,
)
from report.verdict.metric import Outcome
from report.words.cell_text import DASH, too_few
from report.words.chart_detail import latencies_of
from report.words.provenance import whose_settings

SPACE_MEANING = (
    "On disk: bytes allocated in the closed database per byte of live entries, and the"
    " total. For benchmarks that write, also the bytes written up to the flush, per"
    " byte of entries: through write calls → to storage."
)
# Doublings of the least value after which a cell has no colour.
_TAIL_HALVINGS = 6
_SPACE_HALVINGS = 3
# Kinds of benchmarks that do not change the database: only the harness writes.
_ONLY_READS = ("read", "verify")


@dataclass(frozen=True)
class MatrixCell:
    """One cell; `heat` depends on `number`: 1 for the least value, 0 for no colour.

    One that is not ranked has no colour, and does not stand for its group if another
    has a value.
    """

    engine: Engine
    text: str = DASH
    small: str = ""
    note: str = ""
    number: float | None = None
    heat: float = 0.0
    is_ranked: bool = True


@dataclass(frozen=True)
class MatrixRow:
    """One chart's cells, in the order of the engines."""

    chart: Chart
    spots: tuple[MatrixCell, ...]

    def cell_of(self, engine: Engine) -> MatrixCell:
        """Return the cell of an engine of the matrix."""
        return next(spot for spot in self.spots if spot.engine is engine)


@dataclass(frozen=True)
class Matrix:
    """A matrix; `groups` has the rows by the title of their scenario or family."""

    engines: tuple[Engine, ...]
    groups: tuple[tuple[str, tuple[MatrixRow, ...]], ...]


@dataclass(frozen=True)
class RowTable:
    """Charts that are measured with the same rows, as one table of a report.

    `title` says what they share, "" if the report has one table.  `labels` has whose
    settings each row has, by engine, unless its title says so; `groups` the ranked
    engines by structure if a table of the report has too many for columns, else ().
    """

    title: str
    engines: tuple[Engine, ...]
    compared: Comparison
    labels: Mapping[str, str]
    groups: tuple[EngineGroup, ...]

    @property
    def ranked(self) -> list[Engine]:
        """The engines that are ranked, in the order in which reports list them."""
        in_groups = [engine for group in self.groups for engine in group.engines]
        return in_groups or [engine for engine in self.engines if engine.ranked]

    @property
    def references(self) -> list[Engine]:
        """The engines that are correct by definition."""
        return [engine for engine in self.engines if engine.role == "reference"]


def row_tables(plan: Plan, compared: Comparison) -> tuple[RowTable, ...]:
    """Return the tables of a report; no chart in them has a row that is not planned."""
    sets = row_sets(plan)
    is_grouped = any(are_many(rows.engines) for rows in sets)
    labels = [
        [(e, whose_settings(plan, e, rows.source(e))) for e in rows.engines]
        for rows in sets
    ]
    titles = [list(dict.fromkeys(label for _, label in of if label)) for of in labels]
    are_telling = all(titles) and len({*map(tuple, titles)}) == len(sets)
    tables = []
    for rows, words, of in zip(sets, titles, labels, strict=True):
        scenarios = dict.fromkeys(s.title for s in rows.scenarios)
        title = ", ".join(words if are_telling else scenarios)
        table = RowTable(
            title[:1].upper() + title[1:] if len(sets) > 1 else "",
            rows.engines,
            _narrowed(compared, rows),
            {e.name: label for e, label in of if label not in e.title},
            engine_groups(rows.engines) if is_grouped else (),
        )
        tables.append(table)
    return tuple(tables)


def labels_explained(tables: Iterable[RowTable]) -> str:
    """Return what the labels of these tables mean, in a sentence; "": none has one."""
    labels = (label for table in tables for label in table.labels.values())
    known = row_settings.meanings(labels).items()
    text = "; ".join(f"“{label}”: {meaning}" for label, meaning in known)
    return f"Settings of a row: {text}." if text else ""


def joined(compared: Comparison, tables: Iterable[RowTable]) -> Comparison:
    """Return a comparison with the charts of these tables."""
    charts = tuple(chart for table in tables for chart in table.compared.charts)
    return replace(compared, charts=charts)


def ranked_of(tables: Iterable[RowTable]) -> list[Engine]:
    """Return the ranked engines of all tables, each once."""
    return list({e.name: e for table in tables for e in table.ranked}.values())


def by_scenario(tables: Iterable[RowTable]) -> dict[str, RowTable]:
    """Return the table of each scenario, by its name."""
    return {c.scenario.name: table for table in tables for c in table.compared.charts}


def by_table(
    tables: Iterable[RowTable], matrix: Callable[[Comparison], Matrix | None]
) -> list[tuple[RowTable, Matrix]]:
    """Return pairs of a table and its matrix, without those that have none."""
    pairs = ((table, matrix(table.compared)) for table in tables)
    return [(table, found) for table, found in pairs if found]


def _narrowed(compared: Comparison, rows: RowSet) -> Comparison:
    """Return the charts and standings of some rows, without any other row."""
    names = {engine.name for engine in rows.engines}

    def own(of: Iterable[Row]) -> tuple[Row, ...]:
        return tuple(row for row in of if row.engine.name in names)

    charts = tuple(
        replace(
            chart,
            rows=own(chart.rows),
            references=own(chart.references),
            floors=own(chart.floors),
            controls=own(chart.controls),
        )
        for chart in compared.charts
        if rows.has(chart.scenario)
    )
    standings = tuple(s for s in compared.standings if s.engine.name in names)
    return replace(compared, charts=charts, standings=standings)


def tails(run: Run, compared: Comparison) -> Matrix | None:
    """Return the 99th percentile and the median of the latency repetitions."""
    return _matrix(compared, lambda chart, row: _tail(run, chart, row), _TAIL_HALVINGS)


def bytes_and_space(compared: Comparison) -> Matrix | None:
    """Return bytes on disk and bytes written, per byte of entries.

    Covers benchmarks that write, or the size of all databases if none does.
    """
    written = _matrix(
        compared,
        lambda chart, row: _space(row) if _writes(chart, row) else None,
        _SPACE_HALVINGS,
    )
    return written or _matrix(compared, lambda _, row: _stored(row), _SPACE_HALVINGS)


def least(group: EngineGroup, entry: MatrixRow) -> MatrixCell | None:
    """Return the ranked cell of a group with the least value, or any with the least.

    None if none has a value.
    """
    cells = [entry.cell_of(engine) for engine in group.engines]
    valued = [(not c.is_ranked, c.number, c) for c in cells if c.number is not None]
    return min(valued, key=lambda place: place[:2], default=(0, 0, None))[2]


def contents(group: EngineGroup, charts: Iterable[Chart]) -> str:
    """Return the number of engines, and of cells without a rate by their status."""
    rows = [chart.row_of(engine) for chart in charts for engine in group.engines]
    unrated = Counter(row.status for row in rows if row.summary is None)
    texts = [f"{number} × {status}" for status, number in unrated.items()]
    return ", ".join([numbers.count(len(group.engines), "engine"), *texts])


def _matrix(
    compared: Comparison,
    spot: Callable[[Chart, Row], MatrixCell | None],
    halvings: float,
) -> Matrix | None:
    """Return a matrix of the cells from `spot`, None if all are empty."""
    groups: list[tuple[str, tuple[MatrixRow, ...]]] = []
    for title, charts in by_family(compared.charts):
        entries = []
        for chart in charts:
            rows = (*chart.rows, *chart.controls, *chart.references)
            cells = [spot(chart, row) for row in rows]
            spots = [
                cell or MatrixCell(row.engine, DASH if row.summary else row.status)
                for cell, row in zip(cells, rows, strict=True)
            ]
            if any(cells):
                alike = "rate_share" not in chart.scenario.swept
                shown = _compared(spots, halvings) if alike else tuple(spots)
                entries.append(MatrixRow(chart, shown))
        if entries:
            groups.append((title, tuple(entries)))
    if not groups:
        return None
    engines = tuple(s.engine for s in groups[0][1][0].spots)
    return Matrix(engines, tuple(groups))


def _compared(spots: Sequence[MatrixCell], halvings: float) -> tuple[MatrixCell, ...]:
    rivals = [s.number for s in spots if s.engine.ranked and s.is_ranked and s.number]
    best = min(rivals, default=None)
    return tuple(
        replace(s, heat=max(0.0, 1 - math.log2(s.number / best) / halvings))
        if best and s.number and s.engine.ranked and s.is_ranked
        else s
        for s in spots
    )


def _tail(run: Run, chart: Chart, row: Row) -> MatrixCell | None:
    timed = latencies_of(run, chart, row)
    if not timed or row.summary is None:
        return None
    failed = next((m for m in timed if m.status != "ok"), None)
    if failed:
        return MatrixCell(row.engine, failed.status, note=failed.reason)
    loops = [m.record.get("open_loop") for m in timed]
    if any(loop["saturated"] for loop in loops if loop):
        return MatrixCell(row.engine, "saturated", note="fell behind the offered rate")
    samples = latency.percentiles(*(m.record.get("latency_ns") for m in timed))
    if not samples:
        return None
    tail, middle = samples.at["p99"], samples.at["p50"]
    small = f"p50 {numbers.seconds(middle)}" if middle is not None else ""
    if tail is None:
        note = too_few(samples.least).note
        return MatrixCell(row.engine, small=small, note=note)
    if "p99" in samples.spread:
        small = f"±{numbers.percent(samples.spread['p99'])} · {small}"
    mark = {Outcome.WIN.value: "★ ", Outcome.LEVEL.value: "≈ "}
    text = mark.get(row.lead(row.tail), "") + numbers.seconds(tail)
    faster = row.tail.faster.get(row.engine.name, ()) if row.tail else ()
    is_ranked = not (row.unranked and chart.accepted)  # none is, if nobody is
    note = "; ".join(faster) if is_ranked else "not ranked"
    return MatrixCell(row.engine, text, small, note, tail, is_ranked=is_ranked)


def _writes(chart: Chart, row: Row) -> bool:
    benchmark = row.engine.benchmark(chart.benchmark)
    return benchmark is None or benchmark.kind not in _ONLY_READS


def _space(row: Row) -> MatrixCell | None:
    """Return the bytes on disk and the bytes written by a cell that writes."""
    used, cell = row.used, _stored(row)
    written, stored = used.written_per_byte, used.storage_written_per_byte
    if cell is None or written is None or stored is None:
        return cell
    moved = f"{numbers.times(written)} → {numbers.times(stored)}"
    return replace(cell, small=f"{cell.small} · {moved}" if cell.small else moved)


def _stored(row: Row) -> MatrixCell | None:
    """Return the bytes on disk per byte of live entries, with the total below."""
    disk_bytes, share = row.used.disk_bytes, row.used.space_amplification
    if row.summary is None or not row.engine.stores or disk_bytes is None:
        return None
    size = numbers.size(disk_bytes)
    if share is None:
        note = "bytes of live entries unknown"
        return MatrixCell(row.engine, size, note=note)
    return MatrixCell(row.engine, numbers.times(share), size, number=share)
