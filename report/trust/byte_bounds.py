"""Bounds on the bytes that the entries of a workload can have."""

from __future__ import annotations

from report.terms.rulebook import BENCHMARKS, FLAGS, OWN_STREAM, Flags, flag_of

_LARGEST_VALUE = int(FLAGS["value_size"].most)
LARGEST_OF_GRAPH = int(FLAGS["mix_max_value_size"].most)  # largest mixgraph value
_LARGEST_OF_FILLS = max(b.value_size for b in BENCHMARKS.values() if b.is_fill)
# Most entries of one operation; the last two read an entry and write it.
LONGEST = {"scan": 100, "seek": 10_000, "readmodifywrite": 2, "update": 2}


def most_of(what: str, flags: Flags) -> float:
    """Return the largest possible value of a share: 1, except for means."""
    if what.endswith("bytes"):
        return _LARGEST_VALUE
    if what.endswith("entries"):
        most = flags.get("mix_max_scan_len") or LONGEST["seek"]
        return float(max(most, longest_scan(flags)))
    return 1


def longest_scan(flags: Flags) -> int:
    """Return the most entries of a scan of the benchmark mix."""
    drawn = int(flags.get("max_scan_length") or 0)
    return drawn or int(flag_of(flags, "scan_length"))


def of_entries(
    moved: int, entries: int, flags: Flags, value_size: int | None = None
) -> str:
    """Return what is wrong if `entries` cannot have `moved` bytes, or ""."""
    key_size = int(flag_of(flags, "key_size"))
    least, most = value_range(flags) if value_size is None else (value_size, value_size)
    if entries * (key_size + least) <= moved <= entries * (key_size + most):
        return ""
    return f"{moved:,} bytes are impossible for {entries:,} entries"


def value_range(flags: Flags) -> tuple[int, int]:
    """Return the smallest and the largest possible value in bytes.

    A replayed stream may read values that a fill with a size of its own wrote.
    """
    size = int(flag_of(flags, "value_size"))
    if flags.get("value_size_distribution_type", "fixed") != "fixed":
        most = int(flags.get("value_size_max") or 0)
        return 0, most or _LARGEST_VALUE
    if flags.get("stream", OWN_STREAM) != OWN_STREAM:
        return 0, max(size, _LARGEST_OF_FILLS)
    return size, size
