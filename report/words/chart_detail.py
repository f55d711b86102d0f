"""The tables behind a chart: latency, resources used, repetitions.

Every table has one line for each engine that has data for it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from report.model.record import OpenLoopFigures, histogram_of
from report.model.run import Measurement, Run
from report.stats import latency
from report.stats.latency import Percentiles
from report.terms import numbers
from report.verdict.chart_row import Row
from report.verdict.comparison import Chart
from report.words import column_help, mixes, usage
from report.words.cell_text import (
    CellText,
    DetailTable,
    EngineRow,
    figure,
    positive,
    table,
    too_few,
)

_MOST_LISTED = 5  # disturbed attempts of a chart, one by one


@dataclass(frozen=True)
class ChartDetail:
    """All tables behind one chart; tables without data are None or left out."""

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
        """All tables except the shares, which do not depend on the engine."""
        timed = (self.writer, *self.types, *self.latency)
        tables = (*timed, *self.work, *self.resources, self.repetitions)
        return tuple(table for table in tables if table)


def detail_of(run: Run, chart: Chart) -> ChartDetail:
    """Return the tables of a chart, in the order of the page."""
    timed = (latencies(run, chart), open_loops(run, chart), services(run, chart))
    spent = (usage.work(chart), usage.later(chart))
    used = (
        *(usage.limits(chart), usage.device(chart), usage.steadiness(chart)),
        *(usage.cold_start(chart), usage.durability(chart)),
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


def latencies_of(run: Run, chart: Chart, row: Row) -> tuple[Measurement, ...]:
    """Return the latency repetitions of a cell, with any status."""
    cell = run.cell(row.engine.name, chart.scenario.name, chart.benchmark)
    return cell.latencies if cell else ()


def latencies(run: Run, chart: Chart) -> DetailTable | None:
    """Return percentiles of latency, in an open loop from the intended start."""
    caption = "Latency of one call"
    lines = []
    for row in chart.all_rows:
        timed = latencies_of(run, chart, row)
        if not timed:
            continue
        if any(m.record.get("open_loop") for m in timed):
            caption = "Latency (open loop, from the intended start)"
        shown = _percentile_cells(timed, "latency_ns")
        place = len(column_help.PERCENTILES)
        cells = (*shown[:place], _observer(row), *shown[place:])
        lines.append(EngineRow(row.engine, cells))
    return table(caption, column_help.LATENCY, lines)


def services(run: Run, chart: Chart) -> DetailTable | None:
    """Return percentiles from the actual start, which only open loops have."""
    pairs = [(row, latencies_of(run, chart, row)) for row in chart.all_rows]
    return table(
        "Service time (from the actual start)",
        column_help.SERVICE,
        (
            EngineRow(row.engine, _percentile_cells(timed, "service_ns"))
            for row, timed in pairs
            if any(m.record.get("service_ns") for m in timed)
        ),
    )


def open_loops(run: Run, chart: Chart) -> DetailTable | None:
    """Return how each engine kept up with the requested rate."""
    lines = [
        EngineRow(row.engine, _open_loop(m, loop))
        for row in chart.all_rows
        for m in latencies_of(run, chart, row)
        if (loop := m.record.get("open_loop"))
    ]
    return table("Open loop, operations per second", column_help.OPEN_LOOP, lines)


def _share(loop: OpenLoopFigures) -> str:
    """Return what a rate is a share of, "" unless it is one."""
    most = loop.get("max_ops_per_sec")
    if not most:
        return ""
    share = numbers.percent(loop["rate_ops_per_sec"] / most)
    return (
        f"{share} of the {numbers.rounded(most)} operations per second of the warm-up"
    )


def _open_loop(m: Measurement, loop: OpenLoopFigures) -> tuple[CellText, ...]:
    late = loop["late_starts"] / m.ops if m.ops else 0.0
    return (
        CellText(numbers.rounded(loop["rate_ops_per_sec"]), _share(loop)),
        CellText(numbers.rounded(loop["offered_ops_per_sec"])),
        CellText(numbers.rounded(loop["achieved_ops_per_sec"])),
        CellText(f"{loop['late_starts']:,} ({numbers.percent(late)})"),
        CellText(numbers.seconds(loop["max_lag_ns"])),
        CellText("saturated", warns=True) if loop["saturated"] else CellText("kept up"),
    )


def repetitions(run: Run, chart: Chart) -> DetailTable | None:
    """Return the rate of every repetition and of its retried attempts."""
    lines = []
    for row in chart.all_rows:
        cell = run.cell(row.engine.name, chart.scenario.name, chart.benchmark)
        last = [*row.repetitions, *(cell.latencies if cell else ())]
        earlier = cell.superseded if cell else ()
        cells = [
            _attempts([m for m in (*earlier, *last) if m.repetition == number])
            for number in range(1, run.plan.rounds + 1)
        ]
        spread = row.summary.spread if row.summary else None
        lines.append(
            EngineRow(
                row.engine,
                (
                    *cells[: run.plan.repetitions],
                    figure(spread, numbers.percent),
                    positive(row.ns_per_op, numbers.seconds),
                    *cells[run.plan.repetitions :],
                ),
            )
        )
    titles = [(str(n), "") for n in range(1, run.plan.repetitions + 1)]
    titles += [("spread", "highest minus lowest rate, divided by the median")]
    titles += [("per op", "at the median")]
    titles += [
        (
            f"latency pass {number}" if number > 1 else "latency pass",
            "not in the median",
        )
        for number in range(1, run.plan.latency_repetitions + 1)
    ]
    return table(f"Repetitions, {chart.unit}", titles, lines)


def disturbances(run: Run, chart: Chart) -> list[str]:
    """Return a sentence about each disturbed attempt and what disturbed it."""
    return [
        f"{row.engine.title}, {_which(run, m)}, attempt {m.attempt}:"
        f" {', '.join(m.disturbed)}; {fate}"
        for row, m, fate in _disturbed(run, chart)
    ]


def disturbances_in_short(run: Run, chart: Chart) -> list[str]:
    """Return the same, or one sentence with counts if they are more than a few."""
    attempts = _disturbed(run, chart)
    if len(attempts) <= _MOST_LISTED:
        return disturbances(run, chart)
    engines = Counter(row.engine.title for row, _, _ in attempts)
    fates = Counter(fate for _, _, fate in attempts)
    became = " and ".join(f"{number} {fate}" for fate, number in fates.items())
    each = ", ".join(f"{title} {number}" for title, number in engines.items())
    row, first, _ = attempts[0]
    return [
        f"{len(attempts)} disturbed attempts, {became}: {each}; for example"
        f" {row.engine.title}, {_which(run, first)}: {', '.join(first.disturbed)}"
    ]


def _disturbed(run: Run, chart: Chart) -> list[tuple[Row, Measurement, str]]:
    """Return each disturbed attempt of a chart, with what became of it."""
    found = []
    for row in chart.all_rows:
        cell = run.cell(row.engine.name, chart.scenario.name, chart.benchmark)
        if not cell:
            continue
        latest = [*cell.repetitions, *cell.latencies]
        attempts = (m for m in (*latest, *cell.superseded) if m.disturbed)
        for m in sorted(attempts, key=lambda m: (m.repetition, m.attempt)):
            found.append((row, m, "used" if m in latest else "retried"))
    return found


def _which(run: Run, m: Measurement) -> str:
    is_timed = m.repetition > run.plan.repetitions
    return "latency" if is_timed else f"repetition {m.repetition}"


def _percentile_cells(timed: Sequence[Measurement], name: str) -> tuple[CellText, ...]:
    blank = (CellText(),) * (len(column_help.SERVICE) - 1)
    failed = next((m for m in timed if m.status != "ok"), None)
    if failed:
        return (CellText(failed.status, failed.reason, warns=True), *blank)
    loops = [m.record.get("open_loop") for m in timed]
    if any(loop["saturated"] for loop in loops if loop):
        return (CellText("saturated", "see the open-loop table", warns=True), *blank)
    samples = latency.percentiles(*(histogram_of(m.record, name) for m in timed))
    if not samples:
        return (CellText(), *blank)
    few = too_few(samples.least)
    return (
        *(
            few if ns is None else CellText(_ranged(ns, samples, at))
            for at, ns in samples.at.items()
        ),
        CellText(numbers.seconds(samples.max_ns)),
        CellText(numbers.seconds(samples.min_ns)),
        CellText(f"{samples.count:,}"),
    )


def _ranged(ns: float, samples: Percentiles, name: str) -> str:
    """Return a percentile with its spread, if it has one: "1.96 µs ±4.2 %"."""
    spread = samples.spread.get(name)
    text = numbers.seconds(ns)
    return text if spread is None else f"{text} ±{numbers.percent(spread)}"


def _observer(row: Row) -> CellText:
    cost = row.observer_cost
    if cost is None:
        return CellText()
    return CellText(numbers.more(cost))


def _attempts(attempts: Sequence[Measurement]) -> CellText:
    if not attempts:
        return CellText()
    *before, last = sorted(attempts, key=lambda m: m.attempt)
    return CellText(
        _rate(last),
        "disturbed: " + ", ".join(last.disturbed) if last.disturbed else "",
        warns=bool(last.disturbed),
        before=tuple(_rate(m) for m in before),
    )


def _rate(m: Measurement) -> str:
    rate = m.ops_per_sec
    return numbers.rounded(rate) if rate else "transient" if m.transient else m.status
