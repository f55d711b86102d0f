"""How much work a benchmark is, and what must come of it, by its description.

The runner asks this of an answer before it writes a line; the report asks it
again of the line.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

# They write every key once: whatever is asked for is found after them.
_WHOLE = ("fillseq", "fillseqbatch", "filluniquerandom", "ycsbload")


def writes(benchmark: Mapping[str, Any]) -> bool:
    """Whether a benchmark changes the entries that the database holds.

    One of kind "mix" counts as one that does, whatever its shares.
    """
    is_writing = benchmark.get("kind") in ("write", "delete", "mix")
    return is_writing or bool(benchmark.get("writer"))


def holds_all(fill: Sequence[str]) -> bool:
    """Whether a database has every key after these benchmarks."""
    return any(name in _WHOLE for name in fill)


def planned_ops(benchmark: Mapping[str, Any], flags: Mapping[str, Any]) -> int:
    """Operations of one repetition under these flags, at least 1.

    A scan ends at the last entry: it reads a database that holds `num`.
    """
    num, reads = int(flags["num"]), int(flags.get("reads", -1))
    if benchmark["kind"] == "compact":
        return 1
    if benchmark["kind"] == "mix":
        return (reads if reads >= 0 else num) * int(flags.get("threads", 1))
    total = reads if benchmark["kind"] == "read" and reads >= 0 else num
    if benchmark["kind"] == "read" and benchmark["one_call"]:
        total = min(total, num)
    return max(1, total // int(benchmark["ops_divisor"]))


def entries_due(ops: int, digest: str | None, finds: str = "") -> int:
    """Entries that `ops` reads of a filled database find.

    By what its description says that the benchmark finds.  Where that is not all
    or none, keys that were cut short so as to be missing leave a digest of
    nothing, and all others are there.
    """
    if finds in ("all", "none"):
        return ops if finds == "all" else 0
    return ops if digest and digest.strip("0") else 0
