"""The tables behind the charts of a sweep, those of all its values as one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from report import detail, sentences
from report.cells import Engine, Run
from report.sweeps import Sweep
from report.tables import Figure, Table


@dataclass(frozen=True)
class Line:
    """One engine at one value."""

    engine: Engine
    value: str
    figures: tuple[Figure, ...]


@dataclass(frozen=True)
class Merged:
    """Tables of one caption as one; what one of them lacks is empty."""

    caption: str
    columns: tuple[tuple[str, str], ...]
    lines: tuple[Line, ...]


@dataclass(frozen=True)
class Behind:
    """Everything behind one benchmark of a sweep."""

    benchmark: str
    title: str
    tables: tuple[Merged, ...]
    remarks: tuple[str, ...]
    disturbances: tuple[str, ...]


def behind(run: Run, sweep: Sweep) -> list[Behind]:
    """One for each benchmark that has anything to tell."""
    return [_behind(run, sweep, benchmark) for benchmark in sweep.benchmarks]


def _behind(run: Run, sweep: Sweep, benchmark: str) -> Behind:
    found: dict[str, list[tuple[str, Table]]] = {}
    remarks, disturbances, title = [], [], benchmark
    for member in sweep.members:
        chart = member.charts.get(benchmark)
        if chart is None:
            continue
        title, value = chart.title, sweep.told(member.value)
        parts = detail.behind(run, chart)
        timed = (parts.writer, *parts.types, *parts.latency)
        tables = (*timed, *parts.work, *parts.resources, parts.repetitions)
        for table in tables:
            if table:
                found.setdefault(table.caption, []).append((value, table))
        disturbances += [f"{value}: {told}" for told in parts.disturbances]
        for row in (*chart.rows, *chart.controls, *chart.references):
            said = sentences.notes(row) if row.summary else []
            if said:
                remarks.append(f"{row.engine.title}, {value}: {', '.join(said)}")
    return Behind(
        benchmark,
        title,
        tuple(_merged(caption, parts) for caption, parts in found.items()),
        tuple(remarks),
        tuple(disturbances),
    )


def _merged(caption: str, parts: list[tuple[str, Table]]) -> Merged:
    columns: list[tuple[str, str]] = []
    for _, table in parts:
        place = 0
        for column in table.columns:
            if column not in columns:
                columns.insert(place, column)
            place = columns.index(column) + 1
    lines = [line for value, table in parts for line in _lines(value, table, columns)]
    order = list(dict.fromkeys(line.engine.name for line in lines))
    lines.sort(key=lambda line: order.index(line.engine.name))
    return Merged(caption, tuple(columns), tuple(lines))


def _lines(value: str, table: Table, columns: list[tuple[str, str]]) -> Iterable[Line]:
    for line in table.lines:
        told = dict(zip(table.columns, line.figures, strict=True))
        figures = tuple(told.get(column, Figure()) for column in columns)
        yield Line(line.engine, value, figures)
