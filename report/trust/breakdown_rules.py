"""Rules about parts: threads, types of operations, the writer, and drawn shares."""

from __future__ import annotations

import math

from report.model.record import Histogram, Record
from report.trust import byte_bounds
from report.trust.rule import Context, Rule

# Standard deviations by which a share may be off; one run in 500 million exceeds it.
_MOST_SIGMAS = 6.0
# Standard errors by which a share of random draws may be off, and the most draws.
_MOST_ERRORS, _MOST_DRAWS = 10.0, 200_000
_RUSH = 1.01  # tolerance for clocks when a pace is judged
_NO_TYPES = "ops_by_type of a mix is missing"


def threads(record: Record, context: Context) -> str:
    """Check that writes by several threads are counted by thread, and reads are not."""
    is_there = record["ops_by_thread"] is not None
    if is_there and not context.writes:
        return "ops_by_thread is present, but the benchmark does not write"
    is_due = context.threads > 1 or context.benchmark.writer
    if is_there or not (context.writes and is_due):
        return ""
    return "ops_by_thread is missing"


def warmup(record: Record, context: Context) -> str:
    """Check that exactly the cells with a warm-up have its operations, by thread."""
    threads = len(record.get("warmup_ops_by_thread") or ())
    due = context.threads if context.benchmark.warmup_s(context.flags) else 0
    return "" if threads == due else f"a warm-up by {threads} threads, expected {due}"


def threads_sum(record: Record, context: Context) -> str:
    """Check that the writes of all threads add up, and no thread is surplus."""
    by_thread, writer = record["ops_by_thread"], record["writer"]
    if by_thread is None:
        return ""
    ops = writer["ops"] if writer else record["ops"]
    most = 1 if context.benchmark.writer else context.threads
    if sum(by_thread) == ops and len(by_thread) <= most:
        return ""
    actual = f"{sum(by_thread):,} operations by {len(by_thread)} threads"
    return f"{actual}, expected {ops:,} by at most {most}"


def types(record: Record, context: Context) -> str:
    """Check that the operations of a mix, and only those, are reported by type."""
    is_there = record["ops_by_type"] is not None
    if is_there == (context.kind == "mix"):
        return ""
    return "ops_by_type of a benchmark that is not a mix" if is_there else _NO_TYPES


def types_sum(record: Record, context: Context) -> str:
    """Check that the operations of all types add up."""
    by_type, ops = record["ops_by_type"], record["ops"]
    if by_type is None or sum(by_type.values()) == ops:
        return ""
    return f"{sum(by_type.values()):,} operations by type, but {ops:,} in total"


def types_known(record: Record, context: Context) -> str:
    """Check that all operations of a mix have one of its types."""
    due = context.benchmark.types
    for kind in record["ops_by_type"] or ():
        if kind not in due and context.kind == "mix":
            return f"operations of type {kind}, which is not part of this mix"
    return ""


def types_shares(record: Record, context: Context) -> str:
    """Check that the types of a mix have their expected shares, within chance."""
    by_type, ops = record["ops_by_type"] or {}, record["ops"]
    due = context.benchmark.shares(context.flags) if by_type else {}
    for kind, share in due.items():
        slack = _MOST_SIGMAS * math.sqrt(ops * share * (1 - share))
        if abs(by_type.get(kind, 0) - ops * share) > slack:
            actual = f"{by_type.get(kind, 0):,} of {ops:,} operations are {kind}"
            return f"{actual}, expected about {share:.0%}"
    return ""


def latency_by_type(record: Record, context: Context) -> str:
    """Check that there are latencies for exactly the types that were timed."""
    timed, by_type = record["latency_by_type_ns"] or {}, record["ops_by_type"] or {}
    is_timed = record["latency_ns"] is not None
    due = {kind for kind, ops in by_type.items() if ops and is_timed}
    return "" if timed.keys() == due else "latencies for other types than were timed"


def latency_by_type_count(record: Record, context: Context) -> str:
    """Check that each type has as many latencies as operations."""
    by_type = record["ops_by_type"] or {}
    for kind, latencies in (record["latency_by_type_ns"] or {}).items():
        if kind in by_type and (fault := _samples(latencies, by_type[kind])):
            return f"{kind}: {fault}"
    return ""


def writer(record: Record, context: Context) -> str:
    """Check that there is data of a writer if and only if one ran with the readers."""
    is_there = record["writer"] is not None
    if is_there == context.benchmark.writer:
        return ""
    return "writer is present, but none ran" if is_there else "writer is missing"


def writer_bytes(record: Record, context: Context) -> str:
    """Check that the bytes of the writer are possible for its keys and values."""
    if (figures := record["writer"]) is None:
        return ""
    fault = byte_bounds.of_entries(figures["bytes"], figures["ops"], context.flags)
    return f"writer: {fault}" if fault else ""


def writer_time(record: Record, context: Context) -> str:
    """Check that each operation of the writer takes at least a nanosecond."""
    figures = record["writer"]
    if figures is None or figures["loop_ns"] >= figures["ops"]:
        return ""
    return f"writer: less than 1 ns for each of {figures['ops']:,} writes"


def writer_rate(record: Record, context: Context) -> str:
    """Check that the writer has the requested rate."""
    if (figures := record["writer"]) is None:
        return ""
    due, rate = _writer_rate(context), figures["rate_ops_per_sec"]
    if (rate or 0) == due:
        return ""
    return f"writer: a rate of {rate!r} ops/s, expected {due:,}"


def writer_pace(record: Record, context: Context) -> str:
    """Check that the writer is no faster than the requested rate."""
    figures, rate = record["writer"], _writer_rate(context)
    if figures is None or not rate:
        return ""
    ops, loop_ns = figures["ops"], figures["loop_ns"]
    if ops <= rate * loop_ns * _RUSH / 1e9 + 1:
        return ""
    return f"writer: {ops:,} writes in {loop_ns:,} ns, faster than {rate:,} ops/s"


def writer_latency(record: Record, context: Context) -> str:
    """Check that the writer has latencies if the readers have them."""
    figures = record["writer"]
    if figures is None or figures["latency_ns"] or not record["latency_ns"]:
        return ""
    return "writer: no latencies"


def writer_latency_count(record: Record, context: Context) -> str:
    """Check that the writer has as many latencies as operations."""
    figures = record["writer"]
    if figures is None or figures["latency_ns"] is None:
        return ""
    fault = _samples(figures["latency_ns"], figures["ops"])
    return f"writer: {fault}" if fault else ""


def shares_range(record: Record, context: Context) -> str:
    """Check that a drawn share is at most 1, and a drawn mean a possible value."""
    for entry in record["shares"] or ():
        most = byte_bounds.most_of(entry["what"], context.flags)
        for key in ("share", "theory"):
            if entry[key] > most:
                return f"{entry['what']}: {key} is {entry[key]!r}, above {most:,}"
    return ""


def shares(record: Record, context: Context) -> str:
    """Check that a drawn share agrees with theory, within chance."""
    operations = min(_MOST_DRAWS, record["ops"] // context.threads) or 1
    for entry in record["shares"] or ():
        share, theory = entry["share"], entry["theory"]
        draws = min(operations, entry.get("draws", operations))
        is_share = byte_bounds.most_of(entry["what"], context.flags) == 1
        if not is_share or not theory <= 1:
            continue
        error = math.sqrt(theory * (1 - theory) / draws)
        if abs(share - theory) > _MOST_ERRORS * (error + 1 / draws):
            actual = f"{entry['what']}: a share of {share:.4f}"
            return f"{actual}, but {theory:.4f} in theory"
    return ""


def _writer_rate(context: Context) -> int:
    return int(context.flags.get("writes_per_second", 0))


def _samples(histogram: Histogram | None, ops: int) -> str:
    """Return what is wrong if a histogram does not have `ops` samples, or ""."""
    count = histogram["count"] if histogram else 0
    if histogram and count == ops == sum(n for _, n in histogram["buckets"]):
        return ""
    return f"{count:,} latencies for {ops:,} operations"


RULES = tuple(
    Rule(fault, since=3, planned=True)
    for fault in (
        threads,
        threads_sum,
        warmup,
        types,
        types_sum,
        types_known,
        types_shares,
        latency_by_type,
        latency_by_type_count,
        writer,
        writer_bytes,
        writer_time,
        writer_rate,
        writer_pace,
        writer_latency,
        writer_latency_count,
        shares_range,
        shares,
    )
)
