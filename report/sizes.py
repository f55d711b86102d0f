"""Whether the bytes that a line tells of can be those of its keys and values.

Each rule returns what is wrong as a text, or "".
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Flags = Mapping[str, Any]

_USUAL_KEY, _USUAL_VALUE = 16, 100  # bytes, where nothing is asked for
_LARGEST_VALUE = 1 << 30
# The 100,000 bytes that a fill may have of its own; mixgraph bounds its values.
_LARGEST_OF_FILLS, _LARGEST_OF_GRAPH = 100_000, 65_535
_OF_THEIR_OWN = "100K"  # how the names of such fills end, as in db_bench
_PUTS = ("update", "insert", "readmodifywrite", "put")
# Entries of one operation at most, and both are written and read.
_LONGEST = {"scan": 100, "seek": 10_000, "readmodifywrite": 2, "update": 2}


def most_of(what: str, flags: Flags) -> float:
    """The largest figure of report/mixes.py shares(): 1, but for means."""
    if what.endswith("bytes"):
        return _LARGEST_VALUE
    if what.endswith("entries"):
        return float(flags.get("mix_max_scan_len") or _LONGEST["seek"])
    return 1


def fault(record: Mapping[str, Any], benchmark: Mapping[str, Any], flags: Flags) -> str:
    """Of all that a line wrote or found; deletes and what is no store's have none."""
    kind = benchmark.get("kind")
    if kind == "mix":
        return _of_mix(record, flags)
    if kind not in ("read", "write", "delete", "compact"):
        return ""
    by_kind = {"write": record["ops"], "read": record["found"]}
    own = benchmark.get("value_size") or None
    if kind == "read" and str(benchmark.get("fill", "")).endswith(_OF_THEIR_OWN):
        own = _LARGEST_OF_FILLS
    return of_entries(record["bytes"], by_kind.get(kind, 0), flags, own)


def of_entries(
    moved: int, entries: int, flags: Flags, value_size: int | None = None
) -> str:
    """Whether so many bytes are those of so many entries."""
    key_size = int(flags.get("key_size", _USUAL_KEY))
    least, most = _range(flags) if value_size is None else (value_size, value_size)
    if entries * (key_size + least) <= moved <= entries * (key_size + most):
        return ""
    return f"{moved:,} bytes of {entries:,} entries"


def _range(flags: Flags) -> tuple[int, int]:
    """The least and the largest value; a replayed stream may have filled large ones."""
    size = int(flags.get("value_size", _USUAL_VALUE))
    if flags.get("value_size_distribution_type", "fixed") != "fixed":
        most = int(flags.get("value_size_max") or 0)
        return 0, most or _LARGEST_VALUE
    if flags.get("stream", "kvmatrix") != "kvmatrix":
        return 0, max(size, _LARGEST_OF_FILLS)
    return size, size


def _of_mix(record: Mapping[str, Any], flags: Flags) -> str:
    moved, by_type = record["bytes"], record["ops_by_type"]
    key_size = int(flags.get("key_size", _USUAL_KEY))
    _, largest = _range(flags)
    if any(kind in ("get", "put", "seek") for kind in by_type):
        largest = max(largest, _LARGEST_OF_GRAPH)
    least = sum(n for kind, n in by_type.items() if kind in _PUTS) * key_size
    entries = sum(n * _LONGEST.get(kind, 1) for kind, n in by_type.items())
    if least <= moved <= entries * (key_size + largest):
        return ""
    return f"{moved:,} bytes of {record['ops']:,} operations"
