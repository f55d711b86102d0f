"""Synthetic records of schema 3: answers of executables, and lines of runs.

answer() is the answer of an honest executable to a benchmark, line() the line that the
runner stores for it.  Every value follows from the operations and the time of the loop.
Fake executables are processes that import this module, so it imports only the standard
library.
"""

import functools
import math
from collections.abc import Mapping
from typing import Any

from tests.builders.synthetic_descriptions import (
    BUILD,
    METHOD,
    finds,
    has_writer,
    kind_of,
    writes,
)

Record = Any  # the keys of a line, or some of them

SEED = 301  # of the plan
RUN_ID = "20260102-030405-synthetic"
OPS = 1000
ENTRY_BYTES = 116
NS_PER_OP = 50
RATE_OF_WARM_UP = 2000.0  # operations per second
OPTIONS: Record = {
    **{"num": OPS, "reads": OPS, "key_size": 16, "value_size": 100},
    **{"batch_size": 1, "compression_ratio": 0.5, "compression": True, "threads": 1},
    **{"stream": "kvmatrix", "key_format": "decimal", "key_distribution": ""},
    **{"zipf_theta": 0.99, "value_size_distribution_type": "fixed"},
    **{"transactions": 0, "writes_per_second": 0, "readwritepercent": 90},
    **{"sync": False, "durability": "buffered"},
}
QUIET: Record = {
    **{"wall_ns": 50000000, "competed_share": 0.0, "stolen_share": 0.0},
    **{"throttled_share": 0.0, "pressure_cpu_share": 0.0, "pressure_io_share": 0.0},
    **{"pressure_memory_share": None, "device_read_bytes": 0},
    **{"device_written_bytes": 262144, "marks": []},
}
_POINTS = 100
_NULL = (
    *("latency_ns", "service_ns", "open_loop", "ops_by_type", "latency_by_type_ns"),
    *("writer", "shares"),
)
_IDENTITY = (
    *("schema", "method", "run", "engine", "scenario", "benchmark"),
    *("repetition", "order", "seed", "pass", "attempt"),
)


def answer(
    benchmark: str,
    ops: int = OPS,
    loop_ns: int = OPS * NS_PER_OP,
    flush_ns: int = 0,
    options: Mapping[str, Any] | None = None,
    **changed: Any,
) -> Record:
    """Return the answer of an honest executable, with changes.

    A mix must be given its `ops_by_type`.
    """
    resolved = {**OPTIONS, "num": ops, "reads": ops, **(options or {})}
    entries_bytes = ops * (resolved["key_size"] + resolved["value_size"])
    is_writing, found = writes(benchmark), _found_count(benchmark, ops)
    has_bytes = found or kind_of(benchmark) == "write"
    is_chance = kind_of(benchmark) == "mix" and resolved["threads"] > 1
    by_thread = [ops // resolved["threads"]] * resolved["threads"]
    base = {
        **{"schema": 3, "method": METHOD, "engine": "one", "engine_version": "1.0"},
        **{"benchmark": benchmark, "seed": SEED, "status": "ok", "reason": ""},
        **{"verified": True, "planned_ops": ops, "ops": ops, "found": found},
        **{"bytes": entries_bytes if has_bytes else 0, "truncated": False},
        **{"ending": "closed", "open_ns": 1000000, "loop_ns": loop_ns},
        "flush_ns": flush_ns,
        "settle_ns": (loop_ns + flush_ns) // 4 if is_writing else 0,
        "close_ns": 500000,
        "digest": None if is_chance else _digest(benchmark),
        "options": resolved,
        "promise": "may lose the newest" if is_writing else None,
        "settings": {"cache_size": "4194304", "page_size": "1024"},
        **_used(loop_ns + flush_ns, ops, entries_bytes, is_writing),
        "lost": _lost(loop_ns + flush_ns, int(resolved["threads"])),
        "timeline": timeline(loop_ns, ops),
        **{"stalls": [], "stall_count": 0, "stalled_ns": 0},
        **dict.fromkeys(_NULL),
        "ops_by_thread": by_thread if is_writing else None,
        **{"counters": {}, "build": BUILD},
    }
    return (with_writer(base, ops // 5) if has_writer(benchmark) else base) | changed


def _found_count(benchmark: str, ops: int) -> int:
    is_asking = kind_of(benchmark) in ("read", "mix")
    return ops if is_asking and finds(benchmark) != "none" else 0


def _digest(benchmark: str) -> str:
    return "0" * 16 if finds(benchmark) == "none" else "0123456789abcdef"


def _used(timed_ns: int, ops: int, entries_bytes: int, is_writing: bool) -> Record:
    """Return the resources of a process."""
    stored_bytes, written_bytes = ops * 131072 // OPS, entries_bytes * is_writing
    return {
        **_processor(timed_ns),
        "deferred": {
            **{"cpu_ns": timed_ns // 5 * is_writing, "read_bytes": 0},
            "written_bytes": written_bytes,
            "storage_written_bytes": stored_bytes * is_writing,
            "barriers": 2 * is_writing,
        },
        **{"idle_cpu_ns": 20000 * is_writing, "peak_rss_bytes": 12582912},
        **{"anonymous_rss_bytes": 8388608, "file_rss_bytes": 4194304},
        **{"minor_faults": 100, "major_faults": 0},
        **{"voluntary_switches": 1, "involuntary_switches": 1},
        **{"read_bytes": 0, "written_bytes": written_bytes, "storage_read_bytes": 0},
        **{"storage_written_bytes": stored_bytes * is_writing},
        **{"barriers": ops // 10 * is_writing, "claim_wait_ns": 0},
        **{"live_bytes": entries_bytes, "disk_bytes": stored_bytes},
        "peak_disk_bytes": stored_bytes * 3 // 2,
    }


def _lost(timed_ns: int, threads: int) -> Record:
    return {
        **{"threads": threads, "processors": 4, "run_queue_ns": 900},
        **{"time_slices": 3, "stolen_ns": 0, "throttled_ns": None},
        "processors_user_ns": timed_ns,
    }


def _processor(timed_ns: int) -> Record:
    return {"cpu_user_ns": timed_ns * 9 // 10, "cpu_system_ns": timed_ns // 10}


def line(
    cell: Mapping[str, str],
    repetition: int = 1,
    ops_per_sec: float = 1e6,
    order: int = 0,
    ops: int = OPS,
    options: Mapping[str, Any] | None = None,
    **changed: Any,
) -> Record:
    """Return the line that the runner stores for a throughput repetition at a rate."""
    is_writing = writes(cell["benchmark"])
    timed_ns = round(ops * 1e9 / ops_per_sec)
    flush_ns = timed_ns // 20 if is_writing else 0
    audit = {"status": "ok", "reason": "", "entries": ops}
    audit |= {"audit_ns": 2000000, "open_ns": 400000}
    watch = {"samples": 4, "peak_disk_bytes": ops * 212992 // OPS}
    watch |= {"peak_anonymous_rss_bytes": 8388608, "peak_file_rss_bytes": 4194304}
    return {
        **answer(cell["benchmark"], ops, timed_ns - flush_ns, flush_ns, options),
        **{"run": RUN_ID, **cell, "repetition": repetition, "order": order},
        **{"pass": "throughput", "attempt": 1},
        "prepare_ns": None if is_writing else 20000000,
        "audit": audit if is_writing else None,
        **{"disturbance": QUIET, "watch": {**watch, "runner_cpu_ns": 900000}},
        **{"wall_ns": 2 * timed_ns + 10**12, "exit": "0", **changed},
    }


def failure(
    cell: Mapping[str, str], status: str, reason: str, **changed: Any
) -> Record:
    """Return the line of a repetition that has no results."""
    whole = line(cell)
    blank = {name: whole[name] if name in _IDENTITY else None for name in whole}
    return {**blank, "status": status, "reason": reason, **changed}


def counted(
    cell: Mapping[str, str], side: str = "a", number: int = 1, **changed: Any
) -> Record:
    """Return the line of a process of an A/B run that is counted and not timed."""
    return {
        **{"schema": 1, "run": RUN_ID, **cell, "side": side, "number": number},
        **{"seed": SEED, "status": "ok", "reason": "", "ops": OPS, "num": OPS},
        **{"instructions": 10**7, "write_calls": 100, "sync_calls": 0},
        **{"threads_started": 0, "exit": "0", **changed},
    }


def latency_of(line: Mapping[str, Any], repetition: int) -> Record:
    """Return the latency repetition for a throughput line: a tenth slower."""
    timed_ns = (line["loop_ns"] + line["flush_ns"]) * 11 // 10
    latency = timed(retimed(line, timed_ns - line["flush_ns"]))
    latency |= {"pass": "latency", "repetition": repetition}
    if line["audit"] is not None:
        latency = killed(latency) | {"exit": "signal 9"}
        latency["audit"] = {**line["audit"], "open_ns": 3000000}
    return latency


def timed(record: Mapping[str, Any]) -> Record:
    """Return the same with the time of each call."""
    loop_ns, ops, by_type = record["loop_ns"], record["ops"], record["ops_by_type"]
    variant = {**record, "latency_ns": latencies(loop_ns, ops)}
    if writer := record["writer"]:
        variant["writer"] = {**writer, "latency_ns": latencies(loop_ns, writer["ops"])}
    if by_type:
        variant["latency_by_type_ns"] = {
            name: latencies(loop_ns * count // ops, count)
            for name, count in by_type.items()
        }
    return variant


def killed(record: Mapping[str, Any]) -> Record:
    """Return the same of a process that was killed with its database open."""
    nothing = dict.fromkeys(("settle_ns", "close_ns", "idle_cpu_ns"), 0)
    deferred = dict.fromkeys(record["deferred"], 0)
    return {**record, **nothing, "ending": "killed", "deferred": deferred}


def retimed(record: Mapping[str, Any], loop_ns: int, ops: int | None = None) -> Record:
    """Return the same with another loop, and all that follows from it."""
    count = record["ops"] if ops is None else ops
    variant = {**record, "ops": count, "loop_ns": loop_ns}
    variant |= _processor(loop_ns + record["flush_ns"])
    variant["timeline"] = timeline(loop_ns, count)
    variant["bytes"] = record["bytes"] * count // record["ops"]
    if variant["ops_by_thread"] == [record["ops"]]:
        variant["ops_by_thread"] = [count]
    return variant if record["latency_ns"] is None else timed(variant)


def with_stall(record: Mapping[str, Any], at_ns: int, lasted_ns: int) -> Record:
    """Return the same with a pause, in which no operation ended, in the loop."""
    points = timeline(record["loop_ns"] - lasted_ns, record["ops"])
    return {
        **record,
        "timeline": [[t + (lasted_ns if t > at_ns else 0), n] for t, n in points],
        "stalls": [{"at_ns": at_ns, "lasted_ns": lasted_ns}],
        "stall_count": 1,
        "stalled_ns": lasted_ns,
    }


def offered(record: Mapping[str, Any], rate: float) -> Record:
    """Return the same of an open loop at this rate, which it may be too slow for."""
    if record["ops"] * 1e9 / record["loop_ns"] < rate:
        variant = open_loop(record, saturated=True)
        variant["open_loop"]["offered_ops_per_sec"] = rate
    else:
        variant = open_loop(retimed(record, round(record["ops"] * 1e9 / rate)))
    variant["open_loop"]["rate_ops_per_sec"] = rate
    return variant


def open_loop(record: Mapping[str, Any], saturated: bool = False) -> Record:
    """Return the same of an open loop at its own pace."""
    achieved = record["ops"] * 1e9 / record["loop_ns"]
    times_ns = None if saturated else record["latency_ns"]
    return {
        **record,
        "latency_ns": times_ns,
        "service_ns": times_ns,
        "open_loop": {
            "rate_ops_per_sec": achieved * (2 if saturated else 1),
            "offered_ops_per_sec": achieved * (2 if saturated else 1.002),
            "achieved_ops_per_sec": achieved,
            "late_starts": 600 if saturated else 12,
            "max_lag_ns": record["loop_ns"] // 2 if saturated else 40000,
            "saturated": saturated,
        },
    }


def warmed_up(
    record: Mapping[str, Any], warmup_s: float, share: float = 0, threads: int = 1
) -> Record:
    """Return the same after a warm-up; an open loop is at a share of its rate."""
    loop = record["open_loop"]
    most = loop["rate_ops_per_sec"] / share if share else RATE_OF_WARM_UP
    known = {"open_loop": {**loop, "max_ops_per_sec": most}} if share else {}
    done = warmup_operations(warmup_s, threads, most)
    return {**record, **known, "warmup_ops_by_thread": done}


def warmup_operations(
    warmup_s: float, threads: int, rate: float = RATE_OF_WARM_UP
) -> list[int]:
    """Return the operations of each thread."""
    return [math.ceil(warmup_s * rate / threads)] * threads


def with_writer(record: Mapping[str, Any], ops: int) -> Record:
    """Return the same with `ops` operations of a writer next to the readers."""
    writer = {"ops": ops, "loop_ns": record["loop_ns"], "bytes": ops * ENTRY_BYTES}
    writer |= {"rate_ops_per_sec": None, "latency_ns": None}
    return {**record, "writer": writer, "ops_by_thread": [ops], "digest": None}


def timeline(loop_ns: int, ops: int) -> list[list[int]]:
    """Return an even pace from the start of a loop to its end."""
    return [list(point) for point in _points(loop_ns, ops)]


@functools.cache
def _points(loop_ns: int, ops: int) -> tuple[tuple[int, int], ...]:
    steps = min(_POINTS, ops)
    return tuple((loop_ns * i // steps, ops * i // steps) for i in range(1, steps + 1))


def latencies(loop_ns: int, count: int) -> Record:
    """Return nine tenths of all calls at 0.8 of the mean, a tail at 1.5 and at 12."""
    mean_ns = loop_ns // count
    tail, far = count * 9 // 100, count // 100
    every = {mean_ns * 4 // 5: count - tail - far, mean_ns * 3 // 2: tail}
    return _histogram({**every, mean_ns * 12: far})


def histogram(count: int, ns: int) -> Record:
    """Return `count` latencies of one duration."""
    return _histogram({ns: count})


def _histogram(counts: Mapping[int, int]) -> Record:
    values = {ns: n for ns, n in sorted(counts.items()) if n}
    return {
        "count": sum(values.values()),
        "min": min(values),
        "max": max(values),
        "sum": sum(ns * n for ns, n in values.items()),
        "buckets": [[lower_edge(ns), n] for ns, n in values.items()],
    }


def lower_edge(value_ns: int) -> int:
    """Return that of the harness's bucket: 128 to each power of two."""
    shift = max(value_ns.bit_length() - 8, 0)
    return value_ns >> shift << shift
