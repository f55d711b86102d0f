"""Rules of the parts of a whole: threads, types of operations, a writer, shares."""

from __future__ import annotations

import math

from report.model.record import Histogram, Record
from report.trust import byte_bounds
from report.trust.rule import Context, Rule

# Standard deviations by which a share may be off: one run in 500 million is.
_MOST_SIGMAS = 6.0
# Standard errors of its draws by which a share may be off, and how many are drawn.
_MOST_ERRORS, _MOST_DRAWS = 10.0, 200_000
_RUSH = 1.01  # by how much a clock may be off when a pace is judged


def threads(record: Record, context: Context) -> str:
    """It says what each thread wrote, if several wrote, and only if any did."""
    is_there = record["ops_by_thread"] is not None
    if is_there and not context.writes:
        return "operations of writing threads, of a benchmark that writes nothing"
    is_due = context.threads > 1 or context.benchmark.writer
    if is_there or not (context.writes and is_due):
        return ""
    return "what each thread wrote is not told"


def threads_sum(record: Record, context: Context) -> str:
    """What its threads wrote adds up, and there are no more than were asked for."""
    found, writer = record["ops_by_thread"], record["writer"]
    if found is None:
        return ""
    ops = writer["ops"] if writer else record["ops"]
    number = 1 if context.benchmark.writer else context.threads
    if sum(found) == ops and len(found) <= number:
        return ""
    told = f"{sum(found):,} operations of {len(found)} threads"
    return f"{told}, where {number} made {ops:,}"


def types(record: Record, context: Context) -> str:
    """A mix says how many operations it made of each type, and nothing else does."""
    is_there = record["ops_by_type"] is not None
    if is_there == (context.kind == "mix"):
        return ""
    return "operations by type, of no mix" if is_there else "a mix without its types"


def types_sum(record: Record, context: Context) -> str:
    """The operations of all types add up."""
    found, ops = record["ops_by_type"], record["ops"]
    if found is None or sum(found.values()) == ops:
        return ""
    return f"{sum(found.values()):,} operations by type, {ops:,} in all"


def types_known(record: Record, context: Context) -> str:
    """A mix makes operations of its own types."""
    due = context.benchmark.types
    for kind in record["ops_by_type"] or ():
        if kind not in due and context.kind == "mix":
            return f"operations of type {kind}, which this mix does not have"
    return ""


def types_shares(record: Record, context: Context) -> str:
    """The types of a mix have the shares that it is to have, but for chance."""
    found, ops = record["ops_by_type"] or {}, record["ops"]
    due = context.benchmark.shares(context.flags) if found else {}
    for kind, share in due.items():
        slack = _MOST_SIGMAS * math.sqrt(ops * share * (1 - share))
        if abs(found.get(kind, 0) - ops * share) > slack:
            told = f"{found.get(kind, 0):,} of {ops:,} operations are {kind}"
            return f"{told}, where {share:.0%} are due"
    return ""


def latency_by_type(record: Record, context: Context) -> str:
    """It has the latencies of each type of operation that it timed."""
    found, by_type = record["latency_by_type_ns"] or {}, record["ops_by_type"] or {}
    is_timed = record["latency_ns"] is not None
    due = {kind for kind, ops in by_type.items() if ops and is_timed}
    return "" if found.keys() == due else "latencies of other types than it timed"


def latency_by_type_count(record: Record, context: Context) -> str:
    """There are as many latencies of a type as operations."""
    by_type = record["ops_by_type"] or {}
    for kind, found in (record["latency_by_type_ns"] or {}).items():
        if kind in by_type and (told := _samples(found, by_type[kind])):
            return f"{kind}: {told}"
    return ""


def writer(record: Record, context: Context) -> str:
    """It has figures of a writer if one was beside its readers, and only then."""
    is_there = record["writer"] is not None
    if is_there == context.benchmark.writer:
        return ""
    return "a writer, where there is none" if is_there else "nothing of its writer"


def writer_bytes(record: Record, context: Context) -> str:
    """The bytes of the writer are those of its keys and values."""
    if (found := record["writer"]) is None:
        return ""
    told = byte_bounds.of_entries(found["bytes"], found["ops"], context.flags)
    return f"its writer: {told}" if told else ""


def writer_time(record: Record, context: Context) -> str:
    """Each operation of the writer takes a nanosecond at least."""
    found = record["writer"]
    if found is None or found["loop_ns"] >= found["ops"]:
        return ""
    return f"less than 1 ns for each of {found['ops']:,} writes beside it"


def writer_rate(record: Record, context: Context) -> str:
    """The writer has the rate that was asked for."""
    if (found := record["writer"]) is None:
        return ""
    asked, told = _writer_rate(context), found["rate_ops_per_sec"]
    if (told or 0) == asked:
        return ""
    return f"its writer was asked for {told!r} a second, not for {asked:,}"


def writer_pace(record: Record, context: Context) -> str:
    """The writer is no faster than it was asked to be."""
    found, asked = record["writer"], _writer_rate(context)
    if found is None or not asked:
        return ""
    ops, loop_ns = found["ops"], found["loop_ns"]
    if ops <= asked * loop_ns * _RUSH / 1e9 + 1:
        return ""
    return f"{ops:,} writes in {loop_ns:,} ns, at {asked:,} a second"


def writer_latency(record: Record, context: Context) -> str:
    """The writer has latencies where its readers have them."""
    found = record["writer"]
    if found is None or found["latency_ns"] or not record["latency_ns"]:
        return ""
    return "no latencies of its writer"


def writer_latency_count(record: Record, context: Context) -> str:
    """There are as many latencies of the writer as operations."""
    found = record["writer"]
    if found is None or found["latency_ns"] is None:
        return ""
    told = _samples(found["latency_ns"], found["ops"])
    return f"its writer: {told}" if told else ""


def shares_range(record: Record, context: Context) -> str:
    """A share that was drawn is one, and a mean is one of what may be drawn."""
    for entry in record["shares"] or ():
        most = byte_bounds.most_of(entry["what"], context.flags)
        for key in ("share", "theory"):
            if entry[key] > most:
                return f"{entry['what']}: {key} is {entry[key]!r}"
    return ""


def shares(record: Record, context: Context) -> str:
    """What was drawn has the share that theory has, but for chance."""
    draws = min(_MOST_DRAWS, record["ops"] // context.threads) or 1
    for entry in record["shares"] or ():
        share, theory = entry["share"], entry["theory"]
        is_share = byte_bounds.most_of(entry["what"], context.flags) == 1
        if not is_share or not theory <= 1:
            continue
        error = math.sqrt(theory * (1 - theory) / draws)
        if abs(share - theory) > _MOST_ERRORS * (error + 1 / draws):
            told = f"{entry['what']}: a share of {share:.4f}"
            return f"{told}, where theory has {theory:.4f}"
    return ""


def _writer_rate(context: Context) -> int:
    return int(context.flags.get("writes_per_second", 0))


def _samples(found: Histogram | None, ops: int) -> str:
    """Return what is wrong if a histogram does not have so many samples."""
    count = found["count"] if found else 0
    if found and count == ops == sum(n for _, n in found["buckets"]):
        return ""
    return f"{count:,} latencies of {ops:,} operations"


RULES = tuple(
    Rule(fault, since=3, planned=True)
    for fault in (
        threads,
        threads_sum,
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
