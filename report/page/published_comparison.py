"""Every published figure of a run's suite, next to ours or marked as not measured here.

Figures that a sweep or the comparison with a page of rates shows are left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from report.model.plan import Engine
from report.model.run import Run
from report.page.log_charts import Dumbbells
from report.published import published_figures, published_tables
from report.published.published_figures import About, Page
from report.published.published_tables import (
    NOT_MEASURED_HERE,
    TESTS,
    PrintedRow,
    PublishedTable,
)
from report.terms import numbers
from report.verdict import sweeps
from report.verdict.chart_row import Row
from report.verdict.comparison import Chart, Comparison
from report.verdict.sweeps import Sweep
from report.words.cell_text import CellText, as_printed

_COLUMNS = {
    "duration": "duration",
    "micros_per_op": "µs/op",
    "ops_per_s": "ops/s",
    "mb_per_s": "MB/s",
    "transactions": "transactions",
    "records_per_transaction": "records in each",
    "value_bytes": "value, bytes",
    "data_bytes": "data, bytes",
    "database_bytes": "database, bytes",
    "overhead_bytes_per_record": "overhead, B/record",
    "write_seconds": "write, s",
    "read_seconds": "read, s",
    "write_kops": "write, kops/s",
    "read_kops": "read, kops/s",
    "write_mb_per_s": "write, MB/s",
    "read_mb_per_s": "read, MB/s",
}
_NO_CELL = "no matching cell in this run"


@dataclass(frozen=True)
class PublishedRow:
    """A published row (`engine` is None), or a row of this run under it."""

    label: str
    engine: Engine | None
    anchor: str
    figures: tuple[CellText, ...]
    note: str
    is_published: bool


@dataclass(frozen=True)
class PublishedGroup:
    """Rows that belong together."""

    title: str
    lines: tuple[PublishedRow, ...]


@dataclass(frozen=True)
class PublishedSource:
    """One source with all of its rows that are not drawn elsewhere on the page."""

    about: About
    columns: tuple[str, ...]
    groups: tuple[PublishedGroup, ...]


def tables(run: Run) -> list[PublishedTable]:
    """Return the suite's published tables except pages of rates, in its order."""
    known = [n for n in run.plan.suite.published if n in published_figures.names()]
    return [
        published_tables.load(name)
        for name in known
        if published_figures.kind(name) != published_figures.RATES
    ]


def rates(run: Run) -> Page | None:
    """Return the suite's first page of rates, with which the charts are compared."""
    for name in run.plan.suite.published:
        if (
            name in published_figures.names()
            and published_figures.kind(name) == published_figures.RATES
        ):
            return published_figures.load(name)
    return None


def sources_of(
    compared: Comparison, tables: Sequence[PublishedTable], drawn: Sequence[Sweep]
) -> list[PublishedSource]:
    """Return each table with the rows that are not drawn elsewhere, if it has any."""
    sources = [
        PublishedSource(
            table,
            tuple(_COLUMNS.get(column, column) for column in table.columns),
            _grouped(compared, table, drawn),
        )
        for table in tables
    ]
    return [one for one in sources if one.groups]


def unmatched(
    page: Page, drawn: Dumbbells | None
) -> list[published_figures.PublishedFigure]:
    """Return the rows of a page of rates that no chart of the run matches."""
    shown = {
        (group.chart.scenario.name, group.chart.benchmark, pair.engine.name)
        for group in (drawn.groups if drawn else ())
        for pair in group.pairs
    }
    return [figure for key, figure in page.figures.items() if key not in shown]


def _grouped(
    compared: Comparison, table: PublishedTable, drawn: Sequence[Sweep]
) -> tuple[PublishedGroup, ...]:
    groups: dict[str, list[PublishedRow]] = {}
    shown = [row for sweep in drawn for row in sweep.published(table)]
    for row in table.rows:
        if table.kind == TESTS or row not in shown:
            lines = groups.setdefault(row.group, [])
            lines += _lines(compared, table, row)
    return tuple(PublishedGroup(title, tuple(lines)) for title, lines in groups.items())


def _lines(
    compared: Comparison, table: PublishedTable, row: PrintedRow
) -> Iterable[PublishedRow]:
    ours = list(_ours(compared, row)) if table.kind == TESTS else []
    reproduced = any(own_row.summary for _, own_row in ours)
    note = row.printed.get("note", "")
    if not reproduced:
        why = "" if ours else _NO_CELL if row.engines else ""
        note = "; ".join(filter(None, (NOT_MEASURED_HERE, why, note)))
    cells = tuple(as_printed(row.printed[column]) for column in table.columns)
    yield PublishedRow(row.label, None, "", cells, note, is_published=True)
    for chart, own_row in ours:
        yield _line(table, chart, own_row)


def _ours(compared: Comparison, row: PrintedRow) -> Iterable[tuple[Chart, Row]]:
    """Yield the cells of this run that a row is about, with a rate or without."""
    if row.target is None:
        return
    for chart in compared.charts:
        is_same = chart.benchmark == row.target.benchmarks.get("benchmark")
        if is_same and row.target.is_of(chart.scenario.name):
            for own_row in chart.rows:
                if own_row.engine.name in row.engines:
                    yield chart, own_row


def _line(table: PublishedTable, chart: Chart, row: Row) -> PublishedRow:
    label = f"here: {row.engine.title}, {chart.benchmark}"
    anchor = chart.link
    if row.summary is None:
        empty = (CellText(),) * (len(table.columns) - 1)
        blank = (CellText(row.status, row.reason), *empty)
        return PublishedRow(
            label, row.engine, anchor, blank, row.reason, is_published=False
        )
    median, elapsed = row.summary.median, sweeps.elapsed_s(row)
    moved = sweeps.mb_per_sec(row)
    cells = {
        "duration": numbers.duration(elapsed) if elapsed else "",
        "micros_per_op": numbers.rounded(1e6 / median),
        "ops_per_s": numbers.rounded(median),
        "mb_per_s": numbers.rounded(moved) if moved else "",
    }
    shown = tuple(CellText(cells.get(c) or CellText().text) for c in table.columns)
    return PublishedRow(label, row.engine, anchor, shown, _note(chart, row), False)


def _note(chart: Chart, row: Row) -> str:
    parts = [chart.scenario.title]
    if count := sweeps.entries(row):
        parts.append(f"{count:,} entries")
    if (threads := row.threads) > 1:
        parts.append(f"{threads} threads")
    if row.settle_ns:
        each = " per pass" if row.is_repeated else ""
        parts.append(f"settling takes another {numbers.seconds(row.settle_ns)}{each}")
    return ", ".join(parts)
