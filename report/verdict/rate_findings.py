"""What makes a rate suspect without making it wrong.

The rate covers the loop and the flush.  An engine that does its work while it is
opened or closed, or after it has said that nothing is left to do, has a better
rate than it deserves.  So may one that holds less on disk than its entries can be
packed into, or that is faster while it is watched more closely.  Their figures
may be true, so they keep them, and the finding stands beside them.
"""

from __future__ import annotations

from collections.abc import Sequence

from report.model.record import Record
from report.stats import repetition_stats
from report.terms import numbers
from report.terms.rulebook import Benchmark

# Opening or closing that takes longer than all of the timed work.  Where that is
# short, the dozen barriers by which some engines open are enough: 5 ms of an
# idle disk, and 125 ms of one that others keep busy have been seen.
MOST_OF_TIMED_WORK = 1.0
LEAST_NS = 250_000_000
# Of the 10 ms that the process slept once it had settled.  The harness sleeps, so
# all of it is an engine's threads: a fifth of a processor is no housekeeping.
MOST_IDLE_CPU_NS = 2_000_000
_IDLE_NS = 10_000_000
# Of the random part of all values, which nothing can pack.  Some file systems
# count late, and short runs are within a page or a log that is not counted yet.
LEAST_PACKED = 0.5
LEAST_LIVE_BYTES = 1 << 20
# A clock reading per call makes no operation faster; noise makes some.
MOST_TIMES_FASTER = 2.0


def findings(
    records: Sequence[Record],
    benchmark: Benchmark | None,
    latency: Record | None = None,
    stores: bool = True,
) -> tuple[str, ...]:
    """Sentences about a cell, from its ok lines of the throughput pass.

    `benchmark` is what the engine's description says of it, `latency` the line of
    an ok latency repetition.  A line is taken by its own ratio, and a cell by its
    least: what an engine does, it does in every repetition, and a slow moment of
    the disk is not in all of them.
    """
    if not records:
        return ()
    told = [*_outside(records, benchmark)]
    told += _too_small(records) if stores else []
    told += _faster_when_timed(records, latency) if latency else []
    return tuple(told)


def _outside(records: Sequence[Record], benchmark: Benchmark | None) -> list[str]:
    """Work outside the clock."""
    starts_fresh = benchmark is not None and benchmark.is_fill
    spans = [
        ("closing", [(r, r["close_ns"]) for r in records]),
        (
            "opening a new database",
            [(r, r["open_ns"]) for r in records] if starts_fresh else [],
        ),
        ("reopening", _reopening(records)),
    ]
    found = []
    for what, each in spans:
        times = min((_times_too_long(r, span_ns) for r, span_ns in each), default=0.0)
        if times:
            found.append(f"{what} took {numbers.slower(times)} the timed work")
    idle_ns = min((r.get("idle_cpu_ns") or 0 for r in records), default=0)
    if idle_ns > MOST_IDLE_CPU_NS:
        used = f"{numbers.seconds(idle_ns)} of processor time"
        told = f"still works after settling: {used} in {numbers.seconds(_IDLE_NS)}"
        found.append(told)
    return found


def _too_small(records: Sequence[Record]) -> list[str]:
    """Less on disk than the entries can be packed into, in every repetition."""
    sizes = [(r.get("disk_bytes"), _unpackable_bytes(r)) for r in records]
    held = [(disk, due) for disk, due in sizes if disk is not None and due]
    if len(held) < len(records):
        return []
    disk, due = max(held, key=lambda pair: pair[0] / pair[1])
    if disk >= LEAST_PACKED * due:
        return []
    least = f"at least {numbers.size(due)} that cannot be compressed"
    return [f"holds {numbers.size(disk)} on disk for {least}"]


def _unpackable_bytes(record: Record) -> float:
    """The random part of the live values; 0 of few entries, or where it is unknown."""
    options, live_bytes = record["options"], record.get("live_bytes") or 0
    ratio = options.get("compression_ratio")
    if live_bytes < LEAST_LIVE_BYTES or ratio is None:
        return 0.0
    value_size, key_size = float(options["value_size"]), float(options["key_size"])
    return min(float(ratio), 1.0) * value_size / (key_size + value_size) * live_bytes


def _faster_when_timed(records: Sequence[Record], latency: Record) -> list[str]:
    """A latency repetition that leaves every throughput repetition behind.

    An open loop has a pace of its own, and other work another.
    """
    same = [r for r in records if r["ops"] == latency["ops"]]
    if latency.get("open_loop") or len(same) < len(records):
        return []
    fastest_ns = min(_timed_ns(r) for r in same)
    times = fastest_ns / max(1, _timed_ns(latency))
    if fastest_ns < LEAST_NS or times <= MOST_TIMES_FASTER:
        return []
    return [f"{numbers.slower(times)} faster while it was timed call by call"]


def _timed_ns(record: Record) -> int:
    return int(record["loop_ns"] + record["flush_ns"])


def _times_too_long(record: Record, span_ns: int) -> float:
    """How many times the timed work; 0 if that is no finding."""
    elapsed_ns = _timed_ns(record)
    if span_ns <= max(LEAST_NS, MOST_OF_TIMED_WORK * elapsed_ns):
        return 0.0
    return float(span_ns / elapsed_ns)


def reopen_ns(records: Sequence[Record]) -> float | None:
    """How long a fresh process took to open what had been closed: the median."""
    return repetition_stats.median(span_ns for _, span_ns in _reopening(records))


def _reopening(records: Sequence[Record]) -> list[tuple[Record, int]]:
    closed = [r for r in records if r.get("ending") == "closed"]
    audits = [(r, (r.get("audit") or {}).get("open_ns")) for r in closed]
    return [(r, open_ns) for r, open_ns in audits if open_ns is not None]
