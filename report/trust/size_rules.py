"""Rules about bytes: whether keys and values can add up to them."""

from __future__ import annotations

from report.model.record import Record
from report.terms.rulebook import BENCHMARKS, UNKNOWN, WRITING_TYPES, flag_of
from report.trust.byte_bounds import (
    LARGEST_OF_GRAPH,
    LONGEST,
    longest_scan,
    of_entries,
    value_range,
)
from report.trust.rule import ONE_CALL_ALONE, Context, Rule

_SCANS = ("scan", "scanreverse")


def bytes_of_entries(record: Record, context: Context) -> str:
    """Check that the bytes written or found are possible for the keys and values."""
    kind, benchmark = context.kind, context.benchmark
    if kind not in ("read", "write", "delete", ONE_CALL_ALONE):
        return ""
    by_kind = {"write": record["ops"], "read": record["found"]}
    value_size = benchmark.value_size or None
    entries = by_kind.get(kind, 0)
    if kind == "read" and (context.flags.keys() & {"seek_nexts", "reverse_iterator"}):
        # Of the entries that a seek reads, only the one that was sought is found.
        most = record["ops"] * (1 + int(context.flags.get("seek_nexts", 0)))
        _, largest = value_range(context.flags)
        key_size = int(flag_of(context.flags, "key_size"))
        if entries * key_size <= record["bytes"] <= most * (key_size + largest):
            return ""
    if kind == "read" and benchmark.fill in BENCHMARKS:
        value_size = BENCHMARKS.get(benchmark.fill, UNKNOWN).value_size or None
    return of_entries(record["bytes"], entries, context.flags, value_size)


def bytes_of_mix(record: Record, context: Context) -> str:
    """Check that the bytes of a mix are possible for its operations."""
    moved, by_type, flags = record["bytes"], record["ops_by_type"], context.flags
    if context.kind != "mix" or by_type is None:
        return ""
    key_size = int(flag_of(flags, "key_size"))
    _, largest = value_range(flags)
    if None in context.benchmark.types.values():
        largest = max(largest, LARGEST_OF_GRAPH)
    longest = LONGEST
    if context.benchmark.name == "mix":
        longest = LONGEST | dict.fromkeys(_SCANS, longest_scan(flags))
    least = sum(n for kind, n in by_type.items() if kind in WRITING_TYPES) * key_size
    entries = sum(n * longest.get(kind, 1) for kind, n in by_type.items())
    if least <= moved <= entries * (key_size + largest):
        return ""
    return f"{moved:,} bytes are impossible for {record['ops']:,} operations"


RULES = tuple(
    Rule(fault, since=3, planned=True) for fault in (bytes_of_entries, bytes_of_mix)
)
