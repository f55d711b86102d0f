"""Tables for mixed operations, concurrent writers, and drawn shares next to theory.

Lines of earlier schemas have none of this data.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence

from report.model.record import Histogram, ShareFigures
from report.stats import latency, repetition_stats
from report.terms import numbers
from report.verdict.chart_row import Row
from report.verdict.comparison import Chart
from report.words import column_help
from report.words.cell_text import (
    CellText,
    DetailTable,
    EngineRow,
    figure,
    table,
    too_few,
)

MB = 2**20
_PERCENTILES = ("p50", "p90", "p99", "p99.9")


def writer(chart: Chart) -> DetailTable | None:
    """Return the writer that runs concurrently with the readers.

    Its operations are not part of the chart's rates.
    """
    lines = []
    for row in chart.rated_rows:
        writers = [w for m in row.repetitions if (w := m.record.get("writer"))]
        if not writers:
            continue
        rates = [w["ops"] * 1e9 / w["loop_ns"] for w in writers if w["loop_ns"]]
        moved = [w["bytes"] * 1e9 / w["loop_ns"] / MB for w in writers if w["loop_ns"]]
        rate = writers[0]["rate_ops_per_sec"]
        timed = [w for m in row.timed if (w := m.record.get("writer"))]
        lines.append(
            EngineRow(
                row.engine,
                (
                    CellText(numbers.rounded(rate) if rate else "unlimited"),
                    figure(repetition_stats.median(rates), numbers.rounded),
                    figure(repetition_stats.median(moved), numbers.rounded),
                    figure(
                        repetition_stats.median([w["ops"] for w in writers]),
                        numbers.whole,
                    ),
                    *_percentiles([w["latency_ns"] for w in timed]),
                ),
            )
        )
    return table("Concurrent writer", column_help.WRITER, lines)


def types(chart: Chart) -> tuple[DetailTable, ...]:
    """Return the number and the latencies of each type of operation."""
    names: dict[str, None] = {}
    for row in chart.rated_rows:
        names |= dict.fromkeys(
            _medians(m.record.get("ops_by_type") for m in row.repetitions)
        )
    tables = (_type(chart, name) for name in names)
    return tuple(t for t in tables if t)


def _type(chart: Chart, name: str) -> DetailTable | None:
    lines = []
    for row in chart.rated_rows:
        counts = _medians(m.record.get("ops_by_type") for m in row.repetitions)
        if name in counts:
            times = [m.record.get("latency_by_type_ns") or {} for m in row.timed]
            share = counts[name] / max(sum(counts.values()), 1)
            lines.append(
                EngineRow(
                    row.engine,
                    (
                        CellText(numbers.whole(counts[name])),
                        CellText(numbers.percent(share)),
                        *_percentiles([by_type.get(name) for by_type in times]),
                    ),
                )
            )
    return table(f"Operations of type {name}", column_help.TYPES, lines)


def shares(chart: Chart) -> DetailTable | None:
    """Return drawn and expected shares, from the first repetition that has them."""
    pairs = [(row, _shares(row)) for row in chart.rated_rows]
    names = dict.fromkeys(share["what"] for _, drawn in pairs for share in drawn)
    lines = []
    for row, drawn in pairs:
        by_name = {share["what"]: share for share in drawn}
        lines.append(
            EngineRow(row.engine, tuple(_share(by_name.get(n)) for n in names))
        )
    titles = [(name, "drawn share, and expected share") for name in names]
    return table("Shares drawn and expected", titles, lines)


def counters(chart: Chart) -> DetailTable | None:
    """Return medians of the drivers' own counters."""
    pairs = [
        (row, _medians(m.record.get("counters") for m in row.repetitions))
        for row in chart.rated_rows
    ]
    names = dict.fromkeys(name for _, counted in pairs for name in counted)
    lines = [
        EngineRow(
            row.engine, tuple(figure(counted.get(n), numbers.whole) for n in names)
        )
        for row, counted in pairs
    ]
    titles = [(name, "counted by the driver") for name in names]
    return table("Counters of the drivers", titles, lines)


def _shares(row: Row) -> Sequence[ShareFigures]:
    by_repetition = (m.record.get("shares") for m in row.repetitions)
    return next((shares for shares in by_repetition if shares), ())


def _share(figures: ShareFigures | None) -> CellText:
    if figures is None:
        return CellText()
    # A name that ends in bytes or entries has means, not shares.
    if figures["what"].endswith(("bytes", "entries")):
        return CellText(f"{figures['share']:,.1f}, expected {figures['theory']:,.1f}")
    drawn, theory = figures["share"] * 100, figures["theory"] * 100
    return CellText(f"{drawn:.2f} %, expected {theory:.2f} %")


def _medians(counts: Iterable[Mapping[str, int] | None]) -> dict[str, float]:
    """Return median counts by name; a repetition without a name has a count of 0."""
    counted = [by_name for by_name in counts if by_name]
    names = dict.fromkeys(name for by_name in counted for name in by_name)
    return {
        name: statistics.median(by_name.get(name, 0) for by_name in counted)
        for name in names
    }


def _percentiles(timed: Iterable[Histogram | None]) -> tuple[CellText, ...]:
    samples = latency.percentiles(*timed)
    if not samples:
        return (CellText(),) * (len(_PERCENTILES) + 1)
    shown = (samples.at[name] for name in _PERCENTILES)
    few = too_few(samples.least)
    return (
        *(few if ns is None else CellText(numbers.seconds(ns)) for ns in shown),
        CellText(numbers.seconds(samples.max_ns)),
    )
