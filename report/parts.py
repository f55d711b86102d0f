"""Whether the parts of a line agree with the whole: threads, types, the writer.

The runner asks this of an answer before it writes a line; the report asks it again
of the line.  Each rule returns what is wrong as a text, or "".
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from report import sizes
from report.cells import LATENCY
from report.work import threads, writes

Record = Mapping[str, Any]
Benchmark = Mapping[str, Any]
Flags = Mapping[str, Any]

# Standard deviations by which a share may be off: one run in 500 million is.
_MOST_SIGMAS = 6.0
# Standard errors of its draws by which a share may be off, and how many are drawn.
_MOST_ERRORS, _MOST_DRAWS = 10.0, 200_000
_RUSH = 1.01  # by how much a clock may be off when a pace is judged
_GRAPH = ("get", "put", "seek")
_YCSB: Mapping[str, Mapping[str, float]] = {
    "ycsba": {"read": 0.5, "update": 0.5},
    "ycsbb": {"read": 0.95, "update": 0.05},
    "ycsbc": {"read": 1.0},
    "ycsbd": {"read": 0.95, "insert": 0.05},
    "ycsbe": {"scan": 0.95, "insert": 0.05},
    "ycsbf": {"read": 0.5, "readmodifywrite": 0.5},
}


def fault(record: Record, benchmark: Benchmark, flags: Flags) -> str:
    """The first part that cannot be; `flags` are those that decide the work."""
    rules: tuple[Callable[[Record, Benchmark, Flags], str], ...] = (
        *(_digest, _by_thread, _by_type, _latency_by_type),
        *(_writer, _counters, _shares),
    )
    return next((f for rule in rules if (f := rule(record, benchmark, flags))), "")


def _digest(record: Record, benchmark: Benchmark, flags: Flags) -> str:
    """What was read is known, but where threads make it a matter of chance."""
    is_mixed = benchmark.get("kind") == "mix" or record["truncated"]
    if benchmark.get("writer") or (threads(benchmark, flags) > 1 and is_mixed):
        return "a digest of what is left to chance" if record["digest"] else ""
    if record["digest"] is None:
        return "no digest, and nothing left to chance"
    return ""


def _by_thread(record: Record, benchmark: Benchmark, flags: Flags) -> str:
    found = record["ops_by_thread"]
    if found is None:
        many = threads(benchmark, flags) > 1 or bool(benchmark.get("writer"))
        is_due = writes(benchmark) and many
        return "what each thread wrote is not told" if is_due else ""
    if not _are_counts(found):
        return f"ops_by_thread is {found!r}"[:200]
    writer = record["writer"]
    ops = writer["ops"] if writer and _is_count(writer.get("ops")) else record["ops"]
    number = 1 if benchmark.get("writer") else threads(benchmark, flags)
    if not writes(benchmark):
        return "operations of writing threads, of a benchmark that writes nothing"
    if sum(found) != ops or len(found) > number:
        told = f"{sum(found):,} operations of {len(found)} threads"
        return f"{told}, where {number} made {ops:,}"
    return ""


def _by_type(record: Record, benchmark: Benchmark, flags: Flags) -> str:
    found, ops = record["ops_by_type"], record["ops"]
    if (found is not None) != (benchmark.get("kind") == "mix"):
        return "operations by type, of no mix" if found else "a mix without its types"
    if found is None:
        return ""
    if not found or not _are_counts(tuple(found.values())):
        return f"ops_by_type is {found!r}"[:200]
    if sum(found.values()) != ops:
        return f"{sum(found.values()):,} operations by type, {ops:,} in all"
    due = _mix(benchmark, flags)
    for kind in found:
        if kind not in (due or _GRAPH):
            return f"operations of type {kind}, which this mix does not have"
    for kind in sorted({*found, *due}) if due else ():
        share = due.get(kind, 0.0)
        slack = _MOST_SIGMAS * math.sqrt(ops * share * (1 - share))
        if abs(found.get(kind, 0) - ops * share) > slack:
            told = f"{found.get(kind, 0):,} of {ops:,} operations are {kind}"
            return f"{told}, where {share:.0%} are due"
    return ""


def _mix(benchmark: Benchmark, flags: Flags) -> Mapping[str, float]:
    """The share of each type; {}: it is not known here."""
    name = str(benchmark.get("name"))
    if name == "readrandomwriterandom":
        reads = int(flags.get("readwritepercent", 90)) / 100
        return {"read": reads, "update": 1 - reads}
    return _YCSB.get(name, {})


def _latency_by_type(record: Record, benchmark: Benchmark, flags: Flags) -> str:
    found, by_type = record["latency_by_type_ns"], record["ops_by_type"]
    if not record["latency_ns"] or by_type is None:
        return "latencies by type, and none in all" if found else ""
    done = {kind: ops for kind, ops in by_type.items() if ops}
    if not isinstance(found, Mapping) or found.keys() != done.keys():
        return "latencies of other types than those of its operations"
    for kind, ops in done.items():
        if told := _samples(found[kind], ops):
            return f"{kind}: {told}"
    return ""


def _samples(found: Any, ops: int) -> str:
    """Whether a histogram has so many samples."""
    if not isinstance(found, Mapping) or not _is_count(found.get("count")):
        return "no histogram"
    buckets = found.get("buckets")
    pairs = buckets if isinstance(buckets, Sequence) else ()
    if not all(isinstance(p, list) and len(p) == 2 and _are_counts(p) for p in pairs):
        return "no histogram"
    if found["count"] != ops or sum(n for _, n in pairs) != ops:
        return f"{found['count']:,} latencies of {ops:,} operations"
    return ""


def _writer(record: Record, benchmark: Benchmark, flags: Flags) -> str:
    found = record["writer"]
    if (found is not None) != bool(benchmark.get("writer")):
        return "a writer, where there is none" if found else "nothing of its writer"
    if found is None:
        return ""
    figures = [found.get(key) for key in ("ops", "loop_ns", "bytes")]
    if not _are_counts(figures):
        return f"its writer's ops, loop_ns and bytes are {figures}"
    ops, loop_ns, moved = figures
    if not ops:
        return "its writer wrote nothing"
    if told := sizes.of_entries(moved, ops, flags):
        return f"its writer: {told}"
    if loop_ns < ops:
        return f"less than 1 ns for each of {ops:,} writes beside it"
    asked, told = int(flags.get("writes_per_second", 0)), found["rate_ops_per_sec"]
    if (told or 0) != asked:
        return f"its writer was asked for {told!r} a second, not for {asked:,}"
    if asked and ops > asked * loop_ns * _RUSH / 1e9 + 1:
        return f"{ops:,} writes in {loop_ns:,} ns, at {asked:,} a second"
    latency = found["latency_ns"]
    if latency is None:
        is_due = bool(record["latency_ns"] and ops) and record.get("pass") == LATENCY
        return "no latencies of its writer" if is_due else ""
    problem = _samples(latency, ops)
    return f"its writer: {problem}" if problem else ""


def _counters(record: Record, benchmark: Benchmark, flags: Flags) -> str:
    found = record["counters"]
    is_sound = isinstance(found, Mapping) and _are_counts(tuple(found.values()))
    return "" if is_sound else f"counters is {found!r}"[:200]


def _shares(record: Record, benchmark: Benchmark, flags: Flags) -> str:
    draws = min(_MOST_DRAWS, record["ops"] // threads(benchmark, flags)) or 1
    for entry in record["shares"] or ():
        if not isinstance(entry, Mapping) or not isinstance(entry.get("what"), str):
            return f"shares has {entry!r}"[:200]
        most = sizes.most_of(entry["what"], flags)
        for key in ("share", "theory"):
            value: Any = entry.get(key)
            if type(value) not in (int, float) or not 0 <= value <= most:
                return f"{entry['what']}: {key} is {value!r}"[:200]
        share, theory = entry["share"], entry["theory"]
        error = math.sqrt(theory * (1 - theory) / draws) if most == 1 else math.inf
        if abs(share - theory) > _MOST_ERRORS * (error + 1 / draws):
            told = f"{entry['what']}: a share of {share:.4f}"
            return f"{told}, where theory has {theory:.4f}"
    return ""


def _are_counts(values: Sequence[Any]) -> bool:
    return all(_is_count(value) for value in values)


def _is_count(value: Any) -> bool:
    return type(value) is int and value >= 0
