"""Which cells of a chart are ranked; the others are shown with the reason.

A verdict needs work that is long enough and the same for all engines, and data that
exceed the memory that an engine may keep them in, unless the scenario says otherwise.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from report.model.plan import CellName, Engine
from report.model.record import Record, passes_of
from report.model.run import Cell, Measured, Measurement
from report.stats import steady_state
from report.stats.steady_state import SteadyState
from report.terms import numbers
from report.terms.class_stamp import LOSES_NOTHING, Kept, KnownClass, class_of_cell
from report.terms.rulebook import WRITING_TYPES, Benchmark, Flags

# Of timed work (loop and flush) in the median repetition.  In less time, one burst of
# writes to the disk or one preemption decides the rate.
LEAST_TIMED_NS = 500_000_000
# Or of requests to a disk of its own, of which no few decide the rate.  A scan of data
# larger than memory cannot be repeated until it has taken long.
LEAST_REQUESTS = 500
# Beside readers: the fastest writer may write this many times as much as the slowest.
MOST_TIMES_WRITTEN = 1.1
# A durable commit takes at least this share of the fastest sync of the disk (R14 of
# METHODOLOGY).  Half, as the two are not measured at the same moment.
LEAST_OF_FLOOR = 0.5
_DIFFERENT_WRITERS = "the writers next to the readers did different work"


@dataclass(frozen=True)
class Entrant:
    """An engine that competes in a chart and has values."""

    engine: Engine
    place: tuple[str, bool]  # see Metric.place; and whether its class is unknown
    known: KnownClass | None  # what its writes keep
    unranked: str  # the reason, or ""

    def is_rival(self, place: tuple[str, bool], kept: Sequence[Kept]) -> bool:
        """Return True if only its reason keeps it out of a ranking.

        `kept` is what the ranked engines keep, [] if the ranking is open to all.
        """
        if not self.unranked or self.place != place:
            return False
        return not kept or self.known is None or self.known.kept >= min(kept)


def entrants(
    run: Measured,
    chart: tuple[str, str],
    rated: Iterable[Engine],
    place_of: Callable[[Cell, Benchmark | None], str],
) -> list[Entrant]:
    """Return the engines of a chart that compete, of those that have values."""
    reasons = unranked(run, *chart)
    found = []
    for engine in rated:
        cell = run.cell(engine.name, *chart)
        if cell and engine.ranked:
            records = (m.record for m in cell.repetitions)
            known = class_of_cell(records, engine.passports)
            place = place_of(cell, engine.benchmark(chart[1])), known is None
            reason = reasons.get(engine.name, "")
            found.append(Entrant(engine, place, known, reason))
    return found


def unranked(run: Measured, scenario: str, benchmark: str) -> Mapping[str, str]:
    """Return why engines are not ranked in a chart, by name.

    Only engines without a role are considered, and only if they have a rate.  If the
    work was too short or too small for the fastest, nobody is ranked: it would be
    missing.
    """
    alone, obstacles, able, rates = {}, {}, {}, {}
    floor_ns = _sync_floor_ns(run, scenario, benchmark)
    planned = run.plan.scenario(scenario)
    must_be_steady = planned.regime is not None and planned.regime.steady
    for engine in run.plan.engines:
        name = CellName(engine.name, scenario, benchmark)
        cell = run.cell(engine.name, scenario, benchmark)
        declared = engine.benchmark(benchmark)
        if not engine.ranked or cell is None or not cell.rates or declared is None:
            continue
        if cell.assertions_live:
            alone[engine.name] = "live assertions"
        elif reason := _not_credible(cell, declared, floor_ns, must_be_steady):
            alone[engine.name] = reason
        elif reason := obstacle(
            cell, declared, run.plan.flags(name), planned.data_fits
        ):
            obstacles[engine.name] = (engine.title, reason)
        else:
            able[engine.name] = _writer_rate(cell)
        rates[engine.name] = statistics.median(cell.rates)
    own = {name: reason for name, (_, reason) in obstacles.items()}
    writers = [rate for rate in able.values() if rate]
    common = ""
    fastest = max({**obstacles, **able}, key=lambda name: rates[name], default="")
    if fastest in obstacles:
        title, reason = obstacles[fastest]
        common = f"{title} has {reason}"
    elif writers and max(writers) > MOST_TIMES_WRITTEN * min(writers):
        common = _DIFFERENT_WRITERS
    return alone | own | (dict.fromkeys(able, common) if common else {})


def obstacle(
    cell: Cell, benchmark: Benchmark, flags: Flags, data_fits: bool = False
) -> str:
    """Return what a cell has too little of for its chart to rank anybody, or ""."""
    timed_ns = statistics.median(m.elapsed_ns or 0 for m in cell.repetitions)
    if timed_ns < LEAST_TIMED_NS and _requests(cell) < LEAST_REQUESTS:
        return f"only {numbers.seconds(timed_ns)} of timed work"
    if data_fits or benchmark.is_durable(flags):
        return ""  # in the second case each write goes to the device
    held_bytes = data_bytes(cell, benchmark, flags)
    memory_bytes = given_bytes(cell, flags)
    if not held_bytes or held_bytes > memory_bytes:
        return ""
    data, memory = numbers.size(held_bytes), numbers.size(memory_bytes)
    return f"only {data} of data for {memory} of cache and buffers"


def _requests(cell: Cell) -> float:
    """Return the median number of requests to the cell's own disk in a loop, or 0."""
    devices = [d for m in cell.repetitions if (d := m.record.get("device"))]
    requests = [d["loop"]["reads"] + d["loop"]["writes"] for d in devices]
    return statistics.median(requests) if requests else 0


def _not_credible(
    cell: Cell, benchmark: Benchmark, floor_ns: int, must_be_steady: bool
) -> str:
    """Return why the rate of a cell says nothing about its engine, or ""."""
    return (
        _short_fill(cell, benchmark)
        or _broken_promise(cell, benchmark)
        or cheaper_than_disk(cell, benchmark, floor_ns)
        or (transient(cell) if must_be_steady else "")
    )


def transient(cell: Cell) -> str:
    """Return why the writes of a cell are not in a steady state, or "".

    Most repetitions decide; those of which nothing is known, as of reads, do not.
    """
    states = [steady_state.of_record(m.record) for m in cell.repetitions]
    known = [state for state in states if state]
    if not known or any(m.last_rate for m in cell.repetitions):
        return ""
    return transient_reason(known)


def transient_reason(states: Sequence[SteadyState]) -> str:
    """Return why most of these repetitions were not steady."""
    late = [state for state in states if not state.is_steady]
    least = min(late or states, key=lambda state: state.rewrites)
    rewritten = f"after {numbers.rounded(least.rewrites)} rewrites of the data"
    if least.rewrites < steady_state.LEAST_WINDOWS:
        return f"transient: ended {rewritten}, before {steady_state.LEAST_WINDOWS}"
    return f"transient: rate or write amplification still changed {rewritten}"


def _short_fill(cell: Cell, benchmark: Benchmark) -> str:
    """Return how a fill ended too early, or "": it is faster while there is little."""
    short = [m for m in cell.repetitions if m.truncated]
    if not short or not benchmark.is_fill:
        return ""
    written, planned = (short[0].figure(name) or 0 for name in ("ops", "planned_ops"))
    return f"only {written:,} of {planned:,} entries"


def _broken_promise(cell: Cell, benchmark: Benchmark) -> str:
    """Return how a repetition of a cell had too few barriers, or "".

    One that has enough does not make up for the others, whose rates decide the median.
    """
    texts = (too_few_barriers(m.record, benchmark) for m in cell.repetitions)
    return next(filter(None, texts), "")


def cheaper_than_disk(cell: Cell, benchmark: Benchmark, floor_ns: int) -> str:
    """Return how durable writes took less time than the disk needs for one, or "".

    The median of the repetitions decides, as of the rate.  Lines without a floor of
    their own do not promise that their writes are durable, or are old.
    """
    times_ns = [_commit_ns(m, benchmark) for m in cell.repetitions]
    floors_ns = [m.figure("sync_floor_ns") for m in cell.repetitions]
    known_ns = [ns for ns in times_ns if ns is not None]
    if not (all(floors_ns) and known_ns and len(known_ns) == len(times_ns)):
        return ""
    took_ns = statistics.median(known_ns)
    if took_ns >= LEAST_OF_FLOOR * floor_ns:
        return ""
    took, least = numbers.seconds(took_ns), numbers.seconds(floor_ns)
    return f"cheaper than the disk: a durable write in {took}, a sync in {least}"


def _sync_floor_ns(run: Measured, scenario: str, benchmark: str) -> int:
    """Return the least time of a sync after any repetition of a chart, 0 if unknown.

    One of them may be slow because of other work on the disk.
    """
    cells = (run.cell(e.name, scenario, benchmark) for e in run.plan.engines)
    lines = (m for cell in cells if cell for m in cell.repetitions)
    return min(filter(None, (m.figure("sync_floor_ns") for m in lines)), default=0)


def too_few_barriers(record: Record, benchmark: Benchmark) -> str:
    """Return how a promise to lose nothing had fewer barriers than commits, or "".

    One barrier can serve one commit of each thread, not more.
    """
    commits, barriers = _commits(record, benchmark), record.get("barriers")
    if commits is None or barriers is None or record.get("promise") != LOSES_NOTHING:
        return ""
    if barriers * benchmark.threads(record["options"]) >= commits:
        return ""
    return (
        "promises to lose nothing, with"
        f" {numbers.count(barriers, 'barrier')} for {commits:,.0f} writes"
    )


def _commit_ns(m: Measurement, benchmark: Benchmark) -> float | None:
    """Return the most time that a thread can have spent on a commit; None: unknown.

    A commit may share the barrier of other threads, so each thread is counted with the
    whole time of the loop.  In a mix this includes the reads.
    """
    loop_ns, commits = m.figure("loop_ns"), _commits(m.record, benchmark)
    if not commits or not loop_ns:
        return None
    return loop_ns * benchmark.threads(m.record["options"]) / commits


def _commits(record: Record, benchmark: Benchmark) -> float | None:
    """Return how many commits a line has at least; None: unknown.

    A batch is one.  The delete of an absent key needs none, so deletes count as far as
    entries are gone afterwards, and in a mix, where that is unknown, not at all.
    """
    options, ops = record["options"], float(record["ops"] or 0)
    if benchmark.kind == "mix":
        by_type = record.get("ops_by_type") or {}
        return sum(n for t, n in by_type.items() if t in WRITING_TYPES[:-1])
    if benchmark.kind not in ("write", "delete"):
        return None
    if benchmark.kind == "delete":
        sizes = [int(options.get(name, 0)) for name in ("key_size", "value_size")]
        has_one_size = options.get("value_size_distribution_type", "fixed") == "fixed"
        if not has_one_size or not sum(sizes):
            return None
        left = (record.get("live_bytes") or 0) / sum(sizes)
        ops = max(0.0, min(ops, int(options["num"]) - left))
    return ops / benchmark.batch_entries(options)


def given_bytes(cell: Cell, flags: Flags) -> int:
    """Return the memory that an engine was given for its cache and its write buffer.

    The cache is the one in force, which the lines have, as a scenario may leave its
    size to the executable.  A write buffer that no flag sets is the engine's own.
    """
    options = (m.record.get("options") or {} for m in cell.repetitions)
    caches = [o["cache_size_bytes"] for o in options if "cache_size_bytes" in o]
    cache_bytes = max(caches, default=flags.get("cache_size", 0))
    return int(cache_bytes) + int(flags.get("write_buffer_size", 0))


def data_bytes(cell: Cell, benchmark: Benchmark, flags: Flags) -> int:
    """Return the entries that a cell works on, in bytes."""
    if benchmark.kind == "delete":
        sizes = ("key_size", "value_size")
        return int(flags.get("num", 0)) * sum(int(flags.get(s, 0)) for s in sizes)
    live = max(m.figure("live_bytes") or 0 for m in cell.repetitions)
    written = (
        (m.figure("bytes") or 0) // passes_of(m.record) for m in cell.repetitions
    )
    return max(live, *written) if benchmark.writes else live


def _writer_rate(cell: Cell) -> float:
    """Return the median rate of the writer next to the readers, in ops/s."""
    writers = [m.record.get("writer") for m in cell.repetitions]
    rates = [w["ops"] * 1e9 / w["loop_ns"] for w in writers if w and w["loop_ns"]]
    return statistics.median(rates) if rates else 0.0
