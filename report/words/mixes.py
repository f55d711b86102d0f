"""Tables of what operations of several kinds, or a writer beside them, did.

And of what was drawn beside what theory expects.  A line of an earlier schema has
none of it.
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
from report.words.cell_text import DASH, CellText, DetailTable, EngineRow, figure, table
from report.words.usage import rated

MB = 2**20
_PERCENTILES = ("p50", "p90", "p99", "p99.9")


def writer(chart: Chart) -> DetailTable | None:
    """The one writer beside the readers, whose operations the chart does not count."""
    lines = []
    for row in rated(chart):
        found = [w for m in row.repetitions if (w := m.record.get("writer"))]
        if not found:
            continue
        rates = [w["ops"] * 1e9 / w["loop_ns"] for w in found if w["loop_ns"]]
        moved = [w["bytes"] * 1e9 / w["loop_ns"] / MB for w in found if w["loop_ns"]]
        asked = found[0]["rate_ops_per_sec"]
        timed = row.latency.record.get("writer") if row.latency else None
        lines.append(
            EngineRow(
                row.engine,
                (
                    CellText(numbers.rounded(asked) if asked else "as fast as it goes"),
                    figure(repetition_stats.median(rates), numbers.rounded),
                    figure(repetition_stats.median(moved), numbers.rounded),
                    figure(
                        repetition_stats.median([w["ops"] for w in found]),
                        numbers.whole,
                    ),
                    *_percentiles(timed["latency_ns"] if timed else None),
                ),
            )
        )
    return table("The writer beside them", column_help.WRITER, lines)


def types(chart: Chart) -> tuple[DetailTable, ...]:
    """Of each type of operation how many there were, and their latencies."""
    names: dict[str, None] = {}
    for row in rated(chart):
        names |= dict.fromkeys(
            _medians(m.record.get("ops_by_type") for m in row.repetitions)
        )
    made = (_type(chart, name) for name in names)
    return tuple(t for t in made if t)


def _type(chart: Chart, name: str) -> DetailTable | None:
    lines = []
    for row in rated(chart):
        counts = _medians(m.record.get("ops_by_type") for m in row.repetitions)
        if name in counts:
            times = (
                row.latency.record.get("latency_by_type_ns") if row.latency else None
            )
            share = counts[name] / max(sum(counts.values()), 1)
            lines.append(
                EngineRow(
                    row.engine,
                    (
                        CellText(numbers.whole(counts[name])),
                        CellText(numbers.percent(share)),
                        *_percentiles((times or {}).get(name)),
                    ),
                )
            )
    return table(f"Operations of type {name}", column_help.TYPES, lines)


def shares(chart: Chart) -> DetailTable | None:
    """What was drawn, beside what theory expects; of the first repetition."""
    found = [(row, _shares(row)) for row in rated(chart)]
    names = dict.fromkeys(share["what"] for _, told in found for share in told)
    lines = []
    for row, told in found:
        by_name = {share["what"]: share for share in told}
        lines.append(
            EngineRow(row.engine, tuple(_share(by_name.get(n)) for n in names))
        )
    titles = [(name, "drawn, and what theory expects") for name in names]
    return table("Shares drawn, and as theory has them", titles, lines)


def counters(chart: Chart) -> DetailTable | None:
    """What the drivers counted while they waited; medians."""
    found = [
        (row, _medians(m.record.get("counters") for m in row.repetitions))
        for row in rated(chart)
    ]
    names = dict.fromkeys(name for _, counted in found for name in counted)
    lines = [
        EngineRow(
            row.engine, tuple(figure(counted.get(n), numbers.whole) for n in names)
        )
        for row, counted in found
    ]
    titles = [(name, "counted by the driver") for name in names]
    return table("Counted by the drivers", titles, lines)


def _shares(row: Row) -> Sequence[ShareFigures]:
    found = (m.record.get("shares") for m in row.repetitions)
    return next((told for told in found if told), ())


def _share(told: ShareFigures | None) -> CellText:
    if told is None:
        return CellText()
    if told["what"].endswith(("bytes", "entries")):
        return CellText(f"{told['share']:,.1f}, theory {told['theory']:,.1f}")
    drawn, theory = told["share"] * 100, told["theory"] * 100
    return CellText(f"{drawn:.2f} %, theory {theory:.2f} %")


def _medians(counts: Iterable[Mapping[str, int] | None]) -> dict[str, float]:
    """Counts by name; what a repetition does not name happened 0 times in it."""
    counted = [named for named in counts if named]
    names = dict.fromkeys(name for found in counted for name in found)
    return {
        name: statistics.median(found.get(name, 0) for found in counted)
        for name in names
    }


def _percentiles(histogram: Histogram | None) -> tuple[CellText, ...]:
    found = latency.percentiles(histogram)
    if not found:
        return (CellText(),) * (len(_PERCENTILES) + 1)
    shown = (found.at[name] for name in _PERCENTILES)
    return (
        *(CellText(DASH if ns is None else numbers.seconds(ns)) for ns in shown),
        CellText(numbers.seconds(found.max_ns)),
    )
