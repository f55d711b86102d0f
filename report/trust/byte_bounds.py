"""How many bytes the entries of a workload can have."""

from __future__ import annotations

from report.terms.rulebook import BENCHMARKS, FLAGS, OWN_STREAM, Flags, flag_of

_LARGEST_VALUE = int(FLAGS["value_size"].most)
LARGEST_OF_GRAPH = int(FLAGS["mix_max_value_size"].most)  # mixgraph bounds its values
_LARGEST_OF_FILLS = max(b.value_size for b in BENCHMARKS.values() if b.is_fill)
# Entries of one operation at most, and both are written and read.
LONGEST = {"scan": 100, "seek": 10_000, "readmodifywrite": 2, "update": 2}


def most_of(what: str, flags: Flags) -> float:
    """Return the largest figure of a share: 1, but for means."""
    if what.endswith("bytes"):
        return _LARGEST_VALUE
    if what.endswith("entries"):
        return float(flags.get("mix_max_scan_len") or LONGEST["seek"])
    return 1


def of_entries(
    moved: int, entries: int, flags: Flags, value_size: int | None = None
) -> str:
    """Return what is wrong if so many bytes cannot be those of so many entries."""
    key_size = int(flag_of(flags, "key_size"))
    least, most = value_range(flags) if value_size is None else (value_size, value_size)
    if entries * (key_size + least) <= moved <= entries * (key_size + most):
        return ""
    return f"{moved:,} bytes of {entries:,} entries"


def value_range(flags: Flags) -> tuple[int, int]:
    """The least and the largest value; a replayed stream may have filled large ones."""
    size = int(flag_of(flags, "value_size"))
    if flags.get("value_size_distribution_type", "fixed") != "fixed":
        most = int(flags.get("value_size_max") or 0)
        return 0, most or _LARGEST_VALUE
    if flags.get("stream", OWN_STREAM) != OWN_STREAM:
        return 0, max(size, _LARGEST_OF_FILLS)
    return size, size
