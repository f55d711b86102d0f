"""Findings: reasons to suspect a rate that do not prove it wrong.

The rate covers the loop and the flush.  An engine that works while it is opened or
closed, or after it has reported that no work is left, has a better rate than it
deserves.  The same may be true of an engine that uses less disk space than its entries
can be compressed to, that is faster while each call is timed, or that uses more memory
than it was given.  The rates may still be true, so they are kept and shown together
with the finding.
"""

from __future__ import annotations

from collections.abc import Sequence

from report.model.record import Record, passes_of
from report.stats import repetition_stats, resources
from report.terms import numbers
from report.terms.rulebook import Benchmark
from report.verdict.eligibility import LEAST_TIMED_NS, too_few_barriers
from report.verdict.metric import FINISHED, LEVEL

# Opening or closing is suspect if it takes longer than the timed work and LEAST_NS.
# After short timed work, the dozen barriers with which some engines open would be
# enough: they took 5 ms on an idle disk and 125 ms on a busy one.
MOST_OF_TIMED_WORK = 1.0
LEAST_NS = 250_000_000
# What closing and reopening may take of the time until an engine that has written
# claims to have no work left.  Less cannot decide a verdict.  Shorter times count as
# the shortest that is ranked.
MOST_OWED = LEVEL
# Processor time per time that the process sleeps after it has settled, 10 ms unless a
# line says otherwise.  The harness sleeps, so all of it is used by threads of the
# engine.  A fifth of a processor is more than housekeeping.
MOST_IDLE_CPU = 0.2
_IDLE_NS = 10_000_000
# Share of the threads' time in which the harness may keep threads from the engine,
# because another one is writing the same key.
MOST_CLAIM_WAIT = 0.01
# Least share of the random part of the values, which cannot be compressed, that must
# be on disk.  Some file systems count with a delay, and the data of a short run may
# be in a page or a log that is not counted yet.
LEAST_PACKED = 0.5
LEAST_LIVE_BYTES = 1 << 20
# Memory of an engine per byte of the cache and buffers that it was given (R24 of
# METHODOLOGY), and what it may use on top of that: the kernel's counts lag by some
# hundred KiB per processor, and small caches need some memory of constant size.  Every
# cache has an overhead: what is beyond the budget decides a rate if the data fit in it.
MOST_OF_BUDGET = 1.25
LEAST_EXCESS_BYTES = 1 << 20
# Reading a clock for each call cannot make operations faster, but noise can.
MOST_TIMES_FASTER = 2.0


def findings(
    records: Sequence[Record],
    benchmark: Benchmark | None,
    timed: Sequence[Record] = (),
    stores: bool = True,
    held_bytes: int = 0,
) -> tuple[str, ...]:
    """Return sentences about a cell, from its ok lines of the throughput pass.

    `benchmark` comes from the engine's description, `timed` are the ok lines of
    the latency pass, `held_bytes` is the memory that it was given.  Each line has its
    own ratio, and the cell has the lowest: an engine behaves the same in every
    repetition, whereas a slow moment of the disk does not affect all of them.
    """
    if not records:
        return ()
    sentences = [*_outside(records, benchmark, held_bytes), *_waits(records)]
    broken = [too_few_barriers(r, benchmark) for r in records if benchmark]
    sentences += broken[:1] if all(broken) else []
    sentences += _too_small(records) if stores else []
    sentences += _faster_when_timed(records, timed)
    return tuple(sentences)


def own_bytes(records: Sequence[Record], floor: Sequence[Record]) -> int | None:
    """Return the memory that an engine used in each repetition, None if unknown.

    `floor` are the ok lines of an engine that does nothing, in the same chart and
    behind the same binding: what they use belongs to the harness and the runtime.
    Only anonymous memory counts, at its peak: the kernel can take back the pages of
    files, mapped or not, and any engine may use those.
    """
    used_bytes = _anonymous_bytes(records)
    floor_bytes = _anonymous_bytes(floor)
    if not used_bytes or not floor_bytes:
        return None
    return int(min(used_bytes) - max(floor_bytes))


def over_budget(used_bytes: int, given_bytes: int, data_bytes: int) -> tuple[str, ...]:
    """Return a sentence if memory that an engine was not given can hold its data."""
    if used_bytes <= MOST_OF_BUDGET * given_bytes + LEAST_EXCESS_BYTES:
        return ()
    if used_bytes - given_bytes < data_bytes:
        return ()
    used, given = numbers.size(used_bytes), numbers.size(given_bytes)
    return (f"over its budget: {used} of memory for {given} of cache and buffers",)


def _anonymous_bytes(records: Sequence[Record]) -> list[float]:
    """Return the peak of each line, [] if a line does not have it."""
    peaks = [resources.anonymous_bytes(r) for r in records]
    known = [peak for peak in peaks if peak is not None]
    return known if len(known) == len(peaks) else []


def _outside(
    records: Sequence[Record], benchmark: Benchmark | None, held_bytes: int
) -> list[str]:
    """Return sentences about work outside the timed part."""
    starts_fresh = benchmark is not None and benchmark.is_fill
    spans = [
        ("closing", [(r, r["close_ns"]) for r in records]),
        (
            "opening a new database",
            [(r, r["open_ns"]) for r in records] if starts_fresh else [],
        ),
        ("reopening", _reopening_beyond(records, held_bytes)),
    ]
    factors = {
        phase: factor
        for phase, times_ns in spans
        if (factor := min((_times_too_long(*each) for each in times_ns), default=0.0))
    }
    sentences = [
        f"{phase} took {numbers.slower(factor)} the timed work"
        for phase, factor in factors.items()
    ]
    if not factors.keys() & {"closing", "reopening"}:
        sentences += _owed(records, benchmark, held_bytes)
    return [*sentences, *_idle(records)]


def _idle(records: Sequence[Record]) -> list[str]:
    """Return a sentence if all watches of one length saw work after settling.

    An engine may begin later than a short one ends, and work for less than a long one.
    """
    watches: dict[int, list[int]] = {}
    for r in records:
        watches.setdefault(watched_ns(r), []).append(r.get("idle_cpu_ns") or 0)
    for slept_ns, used_ns in watches.items():
        if min(used_ns) > MOST_IDLE_CPU * slept_ns:
            cpu, rest = numbers.seconds(min(used_ns)), numbers.seconds(slept_ns)
            return [f"still works after settling: {cpu} of processor time in {rest}"]
    return []


def watched_ns(record: Record) -> int:
    """Return for how long a settled engine was watched at a time."""
    return record.get("idle_ns") or _IDLE_NS


def _reopening_beyond(
    records: Sequence[Record], held_bytes: int
) -> list[tuple[Record, int]]:
    """Return the times of reopening, of all passes, as far as they are not explained.

    What an engine holds in its cache and buffers, it may have to read from its log.
    """
    spans = [(r, passes_of(r) * span_ns) for r, span_ns in _reopening(records)]
    return [
        (r, 0 if span_ns * _data_bytes(r) <= held_bytes * _timed_ns(r) else span_ns)
        for r, span_ns in spans
    ]


def _data_bytes(record: Record) -> float:
    """Return the entries that one pass has left or written."""
    written = (record.get("bytes") or 0) / passes_of(record)
    return float(max(record.get("live_bytes") or 0, written))


def _owed(
    records: Sequence[Record], benchmark: Benchmark | None, held_bytes: int
) -> list[str]:
    """Return a sentence if settling left work for closing and reopening.

    Not if the engine could have written no more in that time than it may hold.
    """
    has_settled = all(r.get("settle_ns") for r in records)
    if not has_settled or not FINISHED.applies(benchmark, {}):
        return []
    shares = [_share_owed(r) for r in records]
    owed_bytes = [s * _data_bytes(r) for s, r in zip(shares, records, strict=True)]
    share = min(shares)
    if share <= MOST_OWED or min(owed_bytes) <= held_bytes:
        return []
    return [
        "owes work after settling: closing and reopening took"
        f" {numbers.percent(share)} of the time until then"
    ]


def _share_owed(record: Record) -> float:
    """Return the time of closing and reopening, per time until the end of settling.

    An opening that owes nothing takes some time, too: as much as the one before.
    """
    passes = passes_of(record)
    reopening = [passes * open_ns for _, open_ns in _reopening([record])]
    reopen_ns = sum(all_ns - record["open_ns"] for all_ns in reopening)
    finished_ns = max(_timed_ns(record) + record["settle_ns"], LEAST_TIMED_NS)
    return float((record["close_ns"] + max(0, reopen_ns)) / finished_ns)


def _waits(records: Sequence[Record]) -> list[str]:
    """Return a sentence if threads waited for each other's keys in the harness."""
    share = min(
        (r.get("claim_wait_ns") or 0)
        / (r["loop_ns"] * max(1, len(r.get("ops_by_thread") or ())))
        for r in records
    )
    if share <= MOST_CLAIM_WAIT:
        return []
    return [f"threads waited {share:.1%} of the time for keys that others wrote"]


def _too_small(records: Sequence[Record]) -> list[str]:
    """Return a sentence if every repetition has too few bytes on disk."""
    sizes = [(r.get("disk_bytes"), _unpackable_bytes(r)) for r in records]
    sized = [(disk, least) for disk, least in sizes if disk is not None and least]
    if len(sized) < len(records):
        return []
    disk, least = max(sized, key=lambda pair: pair[0] / pair[1])
    if disk >= LEAST_PACKED * least:
        return []
    return [
        f"only {numbers.size(disk)} on disk for at least {numbers.size(least)} of"
        " incompressible data"
    ]


def _unpackable_bytes(record: Record) -> float:
    """Return the random bytes in live values, 0 for few entries or if unknown."""
    options, live_bytes = record["options"], record.get("live_bytes") or 0
    ratio = options.get("compression_ratio")
    if live_bytes < LEAST_LIVE_BYTES or ratio is None:
        return 0.0
    value_size, key_size = float(options["value_size"]), float(options["key_size"])
    return min(float(ratio), 1.0) * value_size / (key_size + value_size) * live_bytes


def _faster_when_timed(records: Sequence[Record], timed: Sequence[Record]) -> list[str]:
    """Return a sentence if every latency repetition was faster than all others.

    Open loops are skipped, since their arrivals set the pace, and so are repetitions
    with another number of operations.
    """
    closed = [r for r in timed if not r.get("open_loop")]
    works = {r["ops"] // passes_of(r) for r in (*records, *closed)}
    if not closed or len(works) > 1:
        return []
    fastest_ns = min(_timed_ns(r) / passes_of(r) for r in records)
    factor = fastest_ns / max(1, *(_timed_ns(r) / passes_of(r) for r in closed))
    if min(map(_timed_ns, records)) < LEAST_NS or factor <= MOST_TIMES_FASTER:
        return []
    return [f"{numbers.slower(factor)} as fast while each call was timed"]


def _timed_ns(record: Record) -> int:
    return int(record["loop_ns"] + record["flush_ns"])


def _times_too_long(record: Record, span_ns: int) -> float:
    """Return a span as a multiple of the timed work, 0 if it is not a finding.

    Both are of all passes, of which each would be a finding by itself.
    """
    elapsed_ns = _timed_ns(record)
    least_ns = passes_of(record) * LEAST_NS
    if span_ns <= max(least_ns, MOST_OF_TIMED_WORK * elapsed_ns):
        return 0.0
    return float(span_ns / elapsed_ns)


def reopen_ns(records: Sequence[Record]) -> float | None:
    """Return the median time in which a fresh process opened a closed database."""
    return repetition_stats.median(span_ns for _, span_ns in _reopening(records))


def _reopening(records: Sequence[Record]) -> list[tuple[Record, int]]:
    closed = [r for r in records if r.get("ending") == "closed"]
    audits = [(r, (r.get("audit") or {}).get("open_ns")) for r in closed]
    return [(r, open_ns) for r, open_ns in audits if open_ns is not None]
