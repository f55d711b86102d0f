"""The tables behind a chart: latency, what was spent, repetitions.

Every table has one line for each engine that has something to tell.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from report.model.record import histogram_of
from report.model.run import Measurement, Run
from report.stats import latency
from report.terms import numbers
from report.verdict.chart_row import Row
from report.verdict.comparison import Chart
from report.words import column_help, mixes, usage
from report.words.cell_text import (
    DASH,
    CellText,
    DetailTable,
    EngineRow,
    figure,
    positive,
    table,
)
from report.words.usage import everyone


@dataclass(frozen=True)
class ChartDetail:
    """Everything behind one chart; what has nothing to tell is empty."""

    latency: tuple[DetailTable, ...]
    work: tuple[DetailTable, ...]
    resources: tuple[DetailTable, ...]
    repetitions: DetailTable | None
    writer: DetailTable | None
    types: tuple[DetailTable, ...]
    shares: DetailTable | None
    disturbances: tuple[str, ...]

    @property
    def measured(self) -> tuple[DetailTable, ...]:
        """All tables but that of shares, which say nothing of an engine."""
        timed = (self.writer, *self.types, *self.latency)
        found = (*timed, *self.work, *self.resources, self.repetitions)
        return tuple(table for table in found if table)


def behind(run: Run, chart: Chart) -> ChartDetail:
    """The tables of a chart, in the order of the page."""
    timed = (latencies(run, chart), open_loops(run, chart), services(run, chart))
    spent = (usage.work(chart), usage.later(chart))
    used = (
        *(usage.processors(chart), usage.memory(chart), usage.bytes_moved(chart)),
        mixes.counters(chart),
    )
    return ChartDetail(
        latency=tuple(t for t in timed if t),
        work=tuple(t for t in spent if t),
        resources=tuple(t for t in used if t),
        repetitions=repetitions(run, chart),
        writer=mixes.writer(chart),
        types=mixes.types(chart),
        shares=mixes.shares(chart),
        disturbances=tuple(disturbances(run, chart)),
    )


def latency_of(run: Run, chart: Chart, row: Row) -> Measurement | None:
    """The latency repetition of a cell, whatever its status, or None."""
    cell = run.cell(row.engine.name, chart.scenario.name, chart.benchmark)
    return cell.latency if cell else None


def latencies(run: Run, chart: Chart) -> DetailTable | None:
    """Percentiles; those of an open loop are from the intended start."""
    caption = "Latency of one call"
    lines = []
    for row in everyone(chart):
        m = latency_of(run, chart, row)
        if m is None:
            continue
        if m.record.get("open_loop"):
            caption = "Latency, of an open loop from the intended start"
        shown = _percentile_figures(m, "latency_ns")
        place = len(column_help.PERCENTILES)
        told = (*shown[:place], _observer(row), *shown[place:])
        lines.append(EngineRow(row.engine, told))
    return table(caption, column_help.LATENCY, lines)


def services(run: Run, chart: Chart) -> DetailTable | None:
    """Percentiles from the actual start; open loops alone have them."""
    found = [(row, latency_of(run, chart, row)) for row in everyone(chart)]
    return table(
        "Service time, from the actual start",
        column_help.SERVICE,
        (
            EngineRow(row.engine, _percentile_figures(m, "service_ns"))
            for row, m in found
            if m and m.record.get("service_ns")
        ),
    )


def open_loops(run: Run, chart: Chart) -> DetailTable | None:
    """How each engine kept up with the rate that was asked for."""
    lines = []
    for row in everyone(chart):
        m = latency_of(run, chart, row)
        loop = m.record.get("open_loop") if m else None
        if m and loop:
            late = loop["late_starts"] / m.ops if m.ops else 0.0
            lines.append(
                EngineRow(
                    row.engine,
                    (
                        CellText(numbers.rounded(loop["rate_ops_per_sec"])),
                        CellText(numbers.rounded(loop["offered_ops_per_sec"])),
                        CellText(numbers.rounded(loop["achieved_ops_per_sec"])),
                        CellText(f"{loop['late_starts']:,} ({numbers.percent(late)})"),
                        CellText(numbers.seconds(loop["max_lag_ns"])),
                        CellText("saturated", warns=True)
                        if loop["saturated"]
                        else CellText("kept up"),
                    ),
                )
            )
    return table("Open loop, operations a second", column_help.OPEN_LOOP, lines)


def repetitions(run: Run, chart: Chart) -> DetailTable | None:
    """The rate of every repetition, with the attempts that were made again."""
    lines = []
    for row in everyone(chart):
        cell = run.cell(row.engine.name, chart.scenario.name, chart.benchmark)
        last = [*row.repetitions, *([cell.latency] if cell and cell.latency else [])]
        earlier = cell.superseded if cell else ()
        cells = [
            _attempts([m for m in (*earlier, *last) if m.repetition == number])
            for number in range(1, run.plan.repetitions + 2)
        ]
        spread = row.summary.spread if row.summary else None
        lines.append(
            EngineRow(
                row.engine,
                (
                    *cells[:-1],
                    figure(spread, numbers.percent),
                    positive(row.ns_per_op, numbers.seconds),
                    cells[-1],
                ),
            )
        )
    titles = [(str(n), "") for n in range(1, run.plan.repetitions + 1)]
    titles += [("spread", "from the lowest to the highest, by the median")]
    titles += [("per op", "at the median"), ("latency pass", "not in the median")]
    return table(f"Repetitions, {chart.unit}", titles, lines)


def disturbances(run: Run, chart: Chart) -> list[str]:
    """What else the machine did, for each attempt that it disturbed."""
    found = []
    for row in everyone(chart):
        cell = run.cell(row.engine.name, chart.scenario.name, chart.benchmark)
        if not cell:
            continue
        latest = [*cell.repetitions, *([cell.latency] if cell.latency else [])]
        made = sorted(
            (m for m in (*latest, *cell.superseded) if m.disturbed),
            key=lambda m: (m.repetition, m.attempt),
        )
        for m in made:
            number = m.repetition
            which = (
                f"repetition {number}" if number <= run.plan.repetitions else "latency"
            )
            fate = "it counts" if m in latest else "made again"
            marks = ", ".join(m.disturbed)
            found.append(
                f"{row.engine.title}, {which}, attempt {m.attempt}: {marks}; {fate}"
            )
    return found


def _percentile_figures(m: Measurement, name: str) -> tuple[CellText, ...]:
    blank = (CellText(),) * (len(column_help.SERVICE) - 1)
    if m.status != "ok":
        return (CellText(m.status, m.reason, warns=True), *blank)
    loop = m.record.get("open_loop")
    if loop and loop["saturated"]:
        return (CellText("saturated", "see the open loop", warns=True), *blank)
    found = latency.percentiles(histogram_of(m.record, name))
    if not found:
        return (CellText(), *blank)
    why = f"fewer than {latency.LEAST_ABOVE} of {found.count:,} samples lie above"
    return (
        *(
            CellText(DASH, why) if ns is None else CellText(numbers.seconds(ns))
            for ns in found.at.values()
        ),
        CellText(numbers.seconds(found.max_ns)),
        CellText(numbers.seconds(found.min_ns)),
        CellText(f"{found.count:,}"),
    )


def _observer(row: Row) -> CellText:
    cost = row.observer_cost
    if cost is None:
        return CellText()
    return CellText(numbers.sign(cost) + numbers.percent(abs(cost)))


def _attempts(made: Sequence[Measurement]) -> CellText:
    if not made:
        return CellText()
    *before, last = sorted(made, key=lambda m: m.attempt)
    rate = last.ops_per_sec
    return CellText(
        numbers.rounded(rate) if rate else last.status,
        "disturbed: " + ", ".join(last.disturbed) if last.disturbed else "",
        warns=bool(last.disturbed),
        before=tuple(numbers.rounded(m.ops_per_sec or 0) for m in before),
    )
