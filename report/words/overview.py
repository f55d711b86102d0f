"""Whole-run matrices: one figure of every engine in every chart.

So that tails, space and writes need no chart to be opened.  Only the stronger
colour of the better figure is taken from the ratio to the best of its row: one
latency repetition can win nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from report.model.plan import Engine
from report.model.run import Run
from report.stats import latency
from report.terms import numbers
from report.verdict.chart_row import Row
from report.verdict.comparison import Chart, Comparison, by_family
from report.words.cell_text import DASH
from report.words.chart_detail import latency_of

SPACE_MEANING = (
    "On disk: bytes allocated for each byte of live entries once the database is"
    " closed, and how many bytes that is; then, of benchmarks that write, bytes written"
    " for each byte of entries put, until they were flushed: by write calls → to"
    " storage."
)
# How many times twice as much as the least has no colour left.
_TAIL_HALVINGS = 6
_SPACE_HALVINGS = 3
# Kinds of benchmarks that change nothing: what they write is the harness's.
_ONLY_READS = ("read", "verify")


@dataclass(frozen=True)
class MatrixCell:
    """One cell: `number` is what `heat` goes by, 1 for the least and 0 for none."""

    engine: Engine
    text: str = DASH
    small: str = ""
    note: str = ""
    number: float | None = None
    heat: float = 0.0


@dataclass(frozen=True)
class MatrixRow:
    """One chart's cells, in the order of the engines."""

    chart: Chart
    spots: tuple[MatrixCell, ...]


@dataclass(frozen=True)
class Matrix:
    """`groups` are the entries by the titles of their scenarios or families."""

    engines: tuple[Engine, ...]
    groups: tuple[tuple[str, tuple[MatrixRow, ...]], ...]


def tails(run: Run, compared: Comparison) -> Matrix | None:
    """The 99th percentile of every latency repetition, with the median."""
    return _matrix(compared, lambda chart, row: _tail(run, chart, row), _TAIL_HALVINGS)


def bytes_and_space(compared: Comparison) -> Matrix | None:
    """Of writing benchmarks: on disk, and written, for each byte of entries.

    Of a run that only reads: what its databases hold.
    """
    found = _matrix(
        compared,
        lambda chart, row: _space(row) if _writes(chart, row) else None,
        _SPACE_HALVINGS,
    )
    return found or _matrix(compared, lambda _, row: _stored(row), _SPACE_HALVINGS)


def _matrix(
    compared: Comparison,
    spot: Callable[[Chart, Row], MatrixCell | None],
    halvings: float,
) -> Matrix | None:
    """None if no engine has a figure in any chart."""
    groups: list[tuple[str, tuple[MatrixRow, ...]]] = []
    for title, charts in by_family(compared.charts):
        entries = []
        for chart in charts:
            rows = (*chart.rows, *chart.controls, *chart.references)
            found = [spot(chart, row) for row in rows]
            spots = [
                told or MatrixCell(row.engine, DASH if row.summary else row.status)
                for told, row in zip(found, rows, strict=True)
            ]
            if any(found):
                entries.append(MatrixRow(chart, _compared(spots, halvings)))
        if entries:
            groups.append((title, tuple(entries)))
    if not groups:
        return None
    engines = tuple(s.engine for s in groups[0][1][0].spots)
    return Matrix(engines, tuple(groups))


def _compared(spots: Sequence[MatrixCell], halvings: float) -> tuple[MatrixCell, ...]:
    rivals = [s.number for s in spots if s.engine.ranked and s.number]
    best = min(rivals, default=None)
    return tuple(
        replace(s, heat=max(0.0, 1 - math.log2(s.number / best) / halvings))
        if best and s.number and s.engine.ranked
        else s
        for s in spots
    )


def _tail(run: Run, chart: Chart, row: Row) -> MatrixCell | None:
    m = latency_of(run, chart, row)
    if m is None or row.summary is None:
        return None
    if m.status != "ok":
        return MatrixCell(row.engine, m.status, note=m.reason)
    loop = m.record.get("open_loop")
    if loop and loop["saturated"]:
        return MatrixCell(row.engine, "saturated", note="fell behind the offered rate")
    found = latency.percentiles(m.record.get("latency_ns"))
    if not found:
        return None
    tail, middle = found.at["p99"], found.at["p50"]
    small = f"p50 {numbers.seconds(middle)}" if middle is not None else ""
    if tail is None:
        note = f"only {numbers.count(found.count, 'sample')}"
        return MatrixCell(row.engine, small=small, note=note)
    return MatrixCell(row.engine, numbers.seconds(tail), small, number=tail)


def _writes(chart: Chart, row: Row) -> bool:
    benchmark = row.engine.benchmark(chart.benchmark)
    return benchmark is None or benchmark.kind not in _ONLY_READS


def _space(row: Row) -> MatrixCell | None:
    """Return what a writing cell holds on disk, and what it wrote."""
    used, found = row.used, _stored(row)
    written, stored = used.written_per_byte, used.storage_written_per_byte
    if found is None or written is None or stored is None:
        return found
    moved = f"{numbers.times(written)} → {numbers.times(stored)}"
    return replace(found, small=f"{found.small} · {moved}" if found.small else moved)


def _stored(row: Row) -> MatrixCell | None:
    """Return the bytes on disk for each live byte, and below them all of them."""
    disk_bytes, share = row.used.disk_bytes, row.used.space_amplification
    if row.summary is None or not row.engine.stores or disk_bytes is None:
        return None
    size = numbers.size(disk_bytes)
    if share is None:
        note = "bytes of live entries unknown"
        return MatrixCell(row.engine, size, note=note)
    return MatrixCell(row.engine, numbers.times(share), size, number=share)
