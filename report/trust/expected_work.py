"""How much work a benchmark is, and what must come of it, by its description.

What is known of flags and benchmarks by their names is here and nowhere else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from report.rulebook import SCENARIO_FLAGS

# Options of a line that are the flags as they were given.
_ALWAYS_TOLD = (
    *("num", "key_size", "compression_ratio", "compression", "threads", "stream"),
    *("key_format", "key_distribution", "zipf_theta", "transactions"),
    *("value_size", "value_size_distribution_type"),
    *("writes_per_second", "readwritepercent", "value_size_min", "value_size_max"),
    *(name for name, flag in SCENARIO_FLAGS.items() if flag.option_if_set),
)
# What the executables take where nothing is asked for.
_USUAL = {
    **{"stream": "kvmatrix", "key_format": "decimal", "key_distribution": ""},
    **{"zipf_theta": 0.99, "transactions": 0, "value_size_distribution_type": "fixed"},
    **{"writes_per_second": 0, "readwritepercent": 90, "writeallfields": False},
    **{"key_size": 16, "compression_ratio": 0.5, "compression": True},
}
_TOLD = (*_ALWAYS_TOLD, "writeallfields")
# Types of operations of a mix, and the share of each as YCSB has it.
GRAPH_TYPES = ("get", "put", "seek")
_YCSB: Mapping[str, Mapping[str, float]] = {
    "ycsba": {"read": 0.5, "update": 0.5},
    "ycsbb": {"read": 0.95, "update": 0.05},
    "ycsbc": {"read": 1.0},
    "ycsbd": {"read": 0.95, "insert": 0.05},
    "ycsbe": {"scan": 0.95, "insert": 0.05},
    "ycsbf": {"read": 0.5, "readmodifywrite": 0.5},
}
# They write every key once: whatever is asked for is found after them.
_WHOLE = ("fillseq", "fillseqbatch", "filluniquerandom", "ycsbload")


def writes(benchmark: Mapping[str, Any]) -> bool:
    """Whether a benchmark changes the entries that the database holds.

    One of kind "mix" counts as one that does, whatever its shares.
    """
    is_writing = benchmark.get("kind") in ("write", "delete", "mix")
    return is_writing or bool(benchmark.get("writer"))


def needs_audit(benchmark: Mapping[str, Any]) -> bool:
    """Return whether a fresh process is to check the database afterwards.

    Reads change nothing, audits check each entry, a primitive needs no database.
    """
    is_harmless = benchmark.get("kind") in ("read", "verify", "primitive")
    return writes(benchmark) or not is_harmless


def holds_all(fill: Sequence[str]) -> bool:
    """Whether a database has every key after these benchmarks."""
    return any(name in _WHOLE for name in fill)


def threads(benchmark: Mapping[str, Any], flags: Mapping[str, Any]) -> int:
    """Sessions that a benchmark measures: an audit and a compaction have one."""
    alone = benchmark.get("kind") in ("compact", "verify")
    return 1 if alone else int(flags.get("threads", 1))


def planned_ops(benchmark: Mapping[str, Any], flags: Mapping[str, Any]) -> int:
    """Operations of one repetition under these flags, at least 1.

    Each thread makes the operations of a read or a mix; those of a write are divided
    among the threads.  A scan ends at the last entry: it reads a database that holds
    `num`.
    """
    num, reads = int(flags["num"]), int(flags.get("reads", -1))
    kind = benchmark["kind"]
    if kind == "compact":
        return 1
    if kind == "primitive":
        return int(benchmark["operations"])
    is_of_each = kind in ("read", "mix")
    total = reads if is_of_each and reads >= 0 else num
    if kind == "read" and benchmark["one_call"]:
        total = min(total, num)
    each = max(1, total // int(benchmark["ops_divisor"]))
    return each * threads(benchmark, flags) if is_of_each else each


def batch_size(benchmark: Mapping[str, Any], flags: Mapping[str, Any]) -> int:
    """Return the operations of one call on the engine."""
    if benchmark.get("kind") not in ("write", "delete"):
        return 1
    if int(benchmark.get("batch_size", 0)) > 1:
        return int(benchmark["batch_size"])
    if transactions := int(flags.get("transactions", 0)):
        return max(1, planned_ops(benchmark, flags) // transactions)
    return int(flags.get("batch_size", 1))


def rate(benchmark: Mapping[str, Any], flags: Mapping[str, Any]) -> float | None:
    """Return the operations per second of a latency repetition; None: no open loop."""
    asked = flags.get("rate")
    return None if benchmark.get("one_call") or not asked else float(asked)


def shares_of_mix(
    benchmark: Mapping[str, Any], flags: Mapping[str, Any]
) -> Mapping[str, float]:
    """Return the share of each type of operation; {}: it is not known here."""
    name = str(benchmark.get("name"))
    if name == "readrandomwriterandom":
        reads = int(flags.get("readwritepercent", 90)) / 100
        return {"read": reads, "update": 1 - reads}
    return _YCSB.get(name, {})


def plan_is_most(benchmark: Mapping[str, Any], fill: Sequence[str]) -> bool:
    """Whether the operations planned are a most: a scan of an unknown number."""
    is_scan = benchmark.get("kind") == "read" and bool(benchmark.get("one_call"))
    return is_scan and not holds_all(fill)


def finds(benchmark: Mapping[str, Any], fill: Sequence[str]) -> str:
    """What a read finds of all that it asks for: all, none; "any": nobody knows."""
    own = str(benchmark.get("finds", ""))
    return "any" if own == "all" and not holds_all(fill) else own


def options_fault(
    options: Mapping[str, Any], benchmark: Mapping[str, Any], flags: Mapping[str, Any]
) -> str:
    """Whether an executable did what its flags say, by the options that it tells."""
    usual = {key: value for key, value in _USUAL.items() if key in options}
    due = usual | {key: flags[key] for key in _TOLD if key in flags}
    due["threads"] = threads(benchmark, flags)
    if "value_size" in flags:
        due["value_size"] = benchmark.get("value_size") or flags["value_size"]
    for key, value in due.items():
        told = options.get(key)
        is_same = told == value and isinstance(told, bool) == isinstance(value, bool)
        if not is_same and (key in options or key in _ALWAYS_TOLD):
            return f"option {key} is {told!r}, asked for {value!r}"
    return ""


def entries_due(ops: int, digest: str | None, finds: str = "") -> int:
    """Entries that `ops` reads of a filled database find.

    By what its description says that the benchmark finds.  Where that is not all
    or none, keys that were cut short so as to be missing leave a digest of
    nothing, and all others are there.
    """
    if finds in ("all", "none"):
        return ops if finds == "all" else 0
    return ops if digest and digest.strip("0") else 0
