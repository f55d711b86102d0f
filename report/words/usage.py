"""Tables of the resources that cells used: time, processors, memory, bytes.

Values are medians over the throughput repetitions and cover the loop and the flush
unless stated otherwise.  There is one line for each engine with a rate.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from report.model.run import Run
from report.stats import (
    device_use,
    limiter,
    loop_course,
    repetition_stats,
    steady_state,
)
from report.terms import numbers
from report.terms.regime import COLD
from report.verdict import chart_row, eligibility, rate_findings
from report.verdict.chart_row import Row
from report.verdict.comparison import Chart
from report.words import column_help
from report.words.cell_text import (
    CellText,
    DetailTable,
    EngineRow,
    figure,
    positive,
    table,
)


def work(chart: Chart) -> DetailTable | None:
    """Return the time of each phase of one pass, timed or not, and of reopening."""
    lines = []
    for row in chart.rated_rows:
        times_ns = (
            row.open_ns,
            *(
                chart_row.of_one_pass(row.repetitions, k)
                for k in ("loop_ns", "flush_ns")
            ),
            *(row.settle_ns, row.close_ns, row.reopen_ns, row.recover_ns),
        )
        shown = tuple(positive(time_ns, numbers.seconds) for time_ns in times_ns)
        lines.append(EngineRow(row.engine, shown))
    is_repeated = any(row.is_repeated for row in chart.rated_rows)
    caption = "Time by phase, per pass" if is_repeated else "Time by phase"
    return table(caption, column_help.WORK, lines)


def memory_texts(run: Run) -> dict[str, str]:
    """Return what each engine used at most of what it was given for caches, by name.

    Engines that stayed within it, and those of which it is unknown, are left out.
    """
    most: dict[str, tuple[float, str]] = {}
    for cell in run.cells.values():
        memory = chart_row.memory_of(run, cell)
        if memory is None or memory[0] <= memory[1]:
            continue
        used_bytes, given_bytes = memory
        where = f"{cell.name.scenario}, {cell.name.benchmark}"
        text = (
            f"up to {numbers.size(used_bytes)} for {numbers.size(given_bytes)} of cache"
            f" and buffers ({where})"
        )
        entry = (used_bytes / max(1, given_bytes), text)
        most[cell.name.engine] = max(most.get(cell.name.engine, entry), entry)
    return {engine: text for engine, (_, text) in most.items()}


def memory_given(charts: Sequence[Chart]) -> str:
    """Return what each row of a scenario had for its data, in sentences; "": unknown.

    The cache that it was given, or the engine's own word if it takes none, the write
    buffer in force, and the most that its process had of mapped files.
    """
    caches: dict[str, list[str]] = {}
    buffers: dict[str, list[str]] = {}
    mapped: dict[str, float] = {}
    for row in (r for chart in charts for r in (*chart.rows, *chart.floors)):
        title = row.engine.title
        if files := row.used.file_bytes:
            mapped[title] = max(files, mapped.get(title, 0.0))
        for m in row.repetitions if row.summary and row.engine.ranked else ():
            size = (m.record.get("options") or {}).get("cache_size_bytes")
            own = m.settings.get("cache_size", "")
            if own and not own[0].isdecimal():  # it has none, or a fixed one
                caches.setdefault(own, []).append(title)
            elif isinstance(size, int):
                caches.setdefault(numbers.size(size), []).append(title)
            text = m.settings.get("write_buffer_size", "").partition(" ")[0]
            if text.isascii() and text.isdecimal():
                buffers.setdefault(numbers.size(int(text)), []).append(title)
    most_first = sorted(mapped.items(), key=lambda entry: -entry[1])
    parts: tuple[tuple[str, Collection[tuple[str, list[str]]]], ...] = (
        ("Cache given", caches.items()),
        ("Write buffer", buffers.items()),
        (
            "Mapped files, the program included, at most",
            [(numbers.size(most), [title]) for title, most in most_first],
        ),
    )
    return " ".join(
        f"{what}: {', '.join(f'{size} ({_listed(of)})' for size, of in each)}."
        for what, each in parts
        if each
    )


def _listed(titles: Sequence[str]) -> str:
    return ", ".join(dict.fromkeys(titles))


def later(chart: Chart) -> DetailTable | None:
    """Return the cost of settling and closing, after the timed work."""
    lines = []
    for row in chart.rated_rows:
        used = row.used
        ops = _median(row, "ops")
        cpu_ns = used.deferred_cpu_ns
        lines.append(
            EngineRow(
                row.engine,
                (
                    positive(cpu_ns, numbers.seconds),
                    positive(cpu_ns / ops if cpu_ns and ops else None, numbers.seconds),
                    positive(used.deferred_written_bytes, numbers.size),
                    positive(used.deferred_storage_written_bytes, numbers.size),
                    positive(_at_rest(row), numbers.percent),
                ),
            )
        )
    return table("Deferred work", column_help.LATER, lines)


def _at_rest(row: Row) -> float | None:
    """Return the processors in use while the settled engine was watched."""
    return repetition_stats.median(
        m.record["idle_cpu_ns"] / rate_findings.watched_ns(m.record)
        for m in row.repetitions
        if m.record.get("idle_cpu_ns") is not None
    )


def processors(chart: Chart) -> DetailTable | None:
    """Return processor time, page faults and context switches."""
    lines = []
    for row in chart.rated_rows:
        used = row.used
        events = (
            *(used.minor_faults_per_op, used.major_faults_per_op),
            used.switches_per_op,
        )
        lines.append(
            EngineRow(
                row.engine,
                (
                    figure(used.cpu_user_ns_per_op, numbers.seconds),
                    figure(used.cpu_system_ns_per_op, numbers.seconds),
                    figure(used.processors, lambda n: f"{n:.2f}"),
                    *(positive(number, numbers.rare) for number in events),
                ),
            )
        )
    caption = "Processors, per operation"
    return table(caption, column_help.PROCESSORS, lines)


def limits(chart: Chart) -> DetailTable | None:
    """Return what limited each engine, with the shares of the time that say so."""
    lines = []
    for row in chart.rated_rows:
        found = limiter.median([m.record for m in row.repetitions])
        if found is None:
            continue
        names = (limiter.PROCESSOR, limiter.READS, limiter.WRITES, limiter.FLUSHES)
        shares = (figure(found.shares.get(n), numbers.percent) for n in names)
        lines.append(EngineRow(row.engine, (CellText(found.name), *shares)))
    return table("Limits", column_help.LIMITS, lines)


def device(chart: Chart) -> DetailTable | None:
    """Return what the scenario's own disk did, and the memory that was charged."""
    lines = []
    for row in chart.rated_rows:
        use = device_use.medians([m.record for m in row.repetitions])
        if use is None:
            continue
        memory = [m.record.get("memory") for m in row.repetitions]
        charged = [figures for figures in memory if figures]
        peaks = [figures["peak_bytes"] for figures in charged]
        caches = [figures["peak_page_cache_bytes"] for figures in charged]
        lines.append(
            EngineRow(
                row.engine,
                (
                    figure(use.reads_per_op, numbers.rounded),
                    figure(use.read_bytes_per_op, numbers.size),
                    figure(use.read_amplification, numbers.times),
                    positive(use.written_bytes_per_op, numbers.size),
                    figure(use.write_amplification, numbers.times),
                    figure(use.accepted_write_amplification, numbers.times),
                    figure(use.debt, numbers.times),
                    figure(use.flushes, numbers.whole),
                    figure(use.first_call_ns, numbers.seconds),
                    figure(repetition_stats.median(peaks), numbers.size),
                    figure(repetition_stats.median(caches), numbers.size),
                ),
            )
        )
    return table("The scenario's own disk", column_help.DEVICE, lines)


def steadiness(chart: Chart) -> DetailTable | None:
    """Return whether and when writes became steady, for scenarios that require it."""
    regime = chart.scenario.regime
    if regime is None or not regime.steady:
        return None
    lines = []
    for row in chart.rated_rows:
        is_steady = any(m.last_rate for m in row.repetitions)
        states = [steady_state.of_record(m.record) for m in row.repetitions]
        known = [state for state in states if state]
        if not known:
            continue
        shapes = dict.fromkeys(state.shape.value for state in known)
        late = CellText("transient", eligibility.transient_reason(known), warns=True)
        steady = [state for state in known if state.is_steady and is_steady]
        median = repetition_stats.median
        lines.append(
            EngineRow(
                row.engine,
                (
                    CellText(", ".join(shapes)),
                    figure(median(s.rewrites for s in known), numbers.rounded),
                    figure(median(s.steady_after for s in steady), numbers.rounded)
                    if steady
                    else late,
                    CellText(f"{sum(s.is_steady for s in known)} of {len(known)}"),
                    figure(median(s.ops_per_sec for s in steady), numbers.rounded),
                    figure(
                        median(s.write_amplification for s in steady), numbers.times
                    ),
                ),
            )
        )
    return table("Steady state", column_help.STEADY, lines)


def cold_start(chart: Chart) -> DetailTable | None:
    """Return how reads of an evicted database became warm, if memory suffices."""
    regime = chart.scenario.regime
    if regime is None or regime.cache != COLD or regime.memory_limit_bytes:
        return None
    lines = []
    median = repetition_stats.median
    for row in chart.rated_rows:
        each = [w for m in row.repetitions if (w := loop_course.warming(m.record))]
        lines.append(
            EngineRow(
                row.engine,
                (
                    figure(median(w.open_ns for w in each), numbers.seconds),
                    figure(median(w.first_call_ns for w in each), numbers.seconds),
                    figure(median(w.warm_ns for w in each), numbers.seconds),
                    figure(median(w.warm_ops for w in each), numbers.rounded),
                    figure(median(w.device_bytes for w in each), numbers.size),
                ),
            )
        )
    return table("From cold to warm", column_help.COLD, lines)


def memory(chart: Chart) -> DetailTable | None:
    """Return peak memory and the size of the database's files."""
    lines = []
    for row in chart.rated_rows:
        used = row.used
        sizes = (used.peak_rss_bytes, used.anonymous_bytes, used.file_bytes)
        disk = (used.disk_bytes, used.peak_disk_bytes)
        amplified = (used.space_amplification, used.peak_space_amplification)
        lines.append(
            EngineRow(
                row.engine,
                (
                    *(positive(number, numbers.size) for number in (*sizes, *disk)),
                    *(positive(number, numbers.times) for number in amplified),
                ),
            )
        )
    return table("Memory and disk", column_help.MEMORY, lines)


def durability(chart: Chart) -> DetailTable | None:
    """Return what a crash of the machine may cost, and what was done against it."""
    lines = []
    for row in chart.rated_rows:
        used, ops = row.used, _median(row, "ops")
        promises = dict.fromkeys(m.record.get("promise") for m in row.repetitions)
        if not row.durability_class:
            continue
        each = used.barriers / ops if used.barriers is not None and ops else None
        lines.append(
            EngineRow(
                row.engine,
                (
                    CellText(", ".join(filter(None, promises))),
                    CellText(row.durability_class),
                    figure(used.barriers, numbers.whole),
                    positive(each, numbers.rare),
                    figure(used.deferred_barriers, numbers.whole),
                    figure(used.device_written_bytes, numbers.size),
                ),
            )
        )
    return table("Durability", column_help.DURABILITY, lines)


def bytes_moved(chart: Chart) -> DetailTable | None:
    """Return the bytes read and written per byte of keys and values."""
    lines = []
    for row in chart.rated_rows:
        used = row.used
        moved = (
            *(used.read_per_byte, used.storage_read_per_byte),
            *(used.written_per_byte, used.storage_written_per_byte),
        )
        shown = tuple(positive(number, numbers.times) for number in moved)
        lines.append(EngineRow(row.engine, shown))
    return table("Bytes per byte of entries", column_help.BYTES, lines)


def _median(row: Row, key: str) -> float | None:
    return repetition_stats.median(m.figure(key) for m in row.repetitions)
