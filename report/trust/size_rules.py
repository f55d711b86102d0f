"""Rules of bytes: whether they can be those of keys and values."""

from __future__ import annotations

from report.model.plan import Flags
from report.model.record import Record
from report.terms.rulebook import BENCHMARKS, FLAGS, OWN_STREAM, UNKNOWN, flag_of
from report.trust.rule import ONE_CALL_ALONE, Context, Rule

_LARGEST_VALUE = int(FLAGS["value_size"].most)
_LARGEST_OF_GRAPH = int(FLAGS["mix_max_value_size"].most)  # mixgraph bounds its values
_LARGEST_OF_FILLS = max(b.value_size for b in BENCHMARKS.values() if b.is_fill)
_PUTS = ("update", "insert", "readmodifywrite", "put")
# Entries of one operation at most, and both are written and read.
_LONGEST = {"scan": 100, "seek": 10_000, "readmodifywrite": 2, "update": 2}


def most_of(what: str, flags: Flags) -> float:
    """Return the largest figure of a share: 1, but for means."""
    if what.endswith("bytes"):
        return _LARGEST_VALUE
    if what.endswith("entries"):
        return float(flags.get("mix_max_scan_len") or _LONGEST["seek"])
    return 1


def of_entries(
    moved: int, entries: int, flags: Flags, value_size: int | None = None
) -> str:
    """Return what is wrong if so many bytes cannot be those of so many entries."""
    key_size = int(flag_of(flags, "key_size"))
    least, most = _range(flags) if value_size is None else (value_size, value_size)
    if entries * (key_size + least) <= moved <= entries * (key_size + most):
        return ""
    return f"{moved:,} bytes of {entries:,} entries"


def _range(flags: Flags) -> tuple[int, int]:
    """The least and the largest value; a replayed stream may have filled large ones."""
    size = int(flag_of(flags, "value_size"))
    if flags.get("value_size_distribution_type", "fixed") != "fixed":
        most = int(flags.get("value_size_max") or 0)
        return 0, most or _LARGEST_VALUE
    if flags.get("stream", OWN_STREAM) != OWN_STREAM:
        return 0, max(size, _LARGEST_OF_FILLS)
    return size, size


def bytes_of_entries(record: Record, context: Context) -> str:
    """The bytes that it wrote or found are those of its keys and values."""
    kind, benchmark = context.kind, context.benchmark
    if kind not in ("read", "write", "delete", ONE_CALL_ALONE):
        return ""
    by_kind = {"write": record["ops"], "read": record["found"]}
    own = benchmark.value_size or None
    if kind == "read" and benchmark.fill in BENCHMARKS:
        own = BENCHMARKS.get(benchmark.fill, UNKNOWN).value_size or None
    return of_entries(record["bytes"], by_kind.get(kind, 0), context.flags, own)


def bytes_of_mix(record: Record, context: Context) -> str:
    """The bytes of a mix are those that its operations can have moved."""
    moved, by_type, flags = record["bytes"], record["ops_by_type"], context.flags
    if context.kind != "mix" or by_type is None:
        return ""
    key_size = int(flag_of(flags, "key_size"))
    _, largest = _range(flags)
    if None in context.benchmark.types.values():
        largest = max(largest, _LARGEST_OF_GRAPH)
    least = sum(n for kind, n in by_type.items() if kind in _PUTS) * key_size
    entries = sum(n * _LONGEST.get(kind, 1) for kind, n in by_type.items())
    if least <= moved <= entries * (key_size + largest):
        return ""
    return f"{moved:,} bytes of {record['ops']:,} operations"


RULES = tuple(
    Rule(fault, since=3, planned=True) for fault in (bytes_of_entries, bytes_of_mix)
)
