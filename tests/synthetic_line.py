"""Lines of measurements.jsonl made up for tests: every figure is invented.

measurement() gives what an executable and the runner would say of one
repetition of schema 3; the figures of a line agree with one another.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Document = dict[str, Any]

RUN_ID = "20260102-030405-synthetic"
OPS = 1000
ENTRY_BYTES = 116
LIVE_BYTES = ENTRY_BYTES * OPS
OPTIONS: Document = {
    **{"num": OPS, "reads": OPS, "key_size": 16, "value_size": 100},
    **{"batch_size": 1, "compression_ratio": 0.5, "compression": True, "threads": 1},
    **{"stream": "kvmatrix", "key_format": "decimal", "key_distribution": ""},
    **{"zipf_theta": 0.99, "value_size_distribution_type": "fixed"},
    **{"transactions": 0, "writes_per_second": 0, "readwritepercent": 90},
}
BUILD: Document = {
    "origin": "made up",
    "origin_sha256": "0" * 64,
    "compiler": "GNU 12.2.0",
    "flags": "-O2 -DNDEBUG",
    "engine_flags": "-O2 -DNDEBUG",
    "assertions": "none",
    "allocator": "glibc 2.36",
}
QUIET: Document = {
    "wall_ns": 50000000,
    "steal_share": 0.0,
    "foreign_cpu_share": 0.01,
    "unseen_cpu_share": 0.02,
    "pressure_cpu_share": 0.0,
    "pressure_io_share": 0.0,
    "pressure_memory_share": None,
    "foreign_read_bytes": 0,
    "foreign_written_bytes": 4096,
    "device_read_bytes": 0,
    "device_written_bytes": 262144,
    "marks": [],
}
_POINTS = 100
_IDENTITY = (
    *("schema", "method", "run", "engine", "scenario", "benchmark"),
    *("repetition", "order", "seed", "pass", "attempt"),
)


def measurement(
    cell: Mapping[str, str], repetition: int, ops_per_sec: float, order: int
) -> Document:
    """An ok line of the given rate, of a throughput repetition."""
    writes = cell["benchmark"].startswith(("fill", "over", "delete"))
    elapsed_ns = round(OPS * 1e9 / ops_per_sec)
    flush_ns = elapsed_ns // 20 if writes else 0
    loop_ns = elapsed_ns - flush_ns
    return {
        "schema": 3,
        "method": 1,
        "run": RUN_ID,
        **cell,
        "engine_version": "1.0",
        "repetition": repetition,
        "order": order,
        "seed": 301 + repetition,
        "pass": "throughput",
        "attempt": 1,
        "status": "ok",
        "reason": "",
        "verified": True,
        "planned_ops": OPS,
        "ops": OPS,
        "found": 0 if writes else OPS,
        "bytes": LIVE_BYTES,
        "truncated": False,
        "ending": "closed",
        "open_ns": 1000000,
        "loop_ns": loop_ns,
        "flush_ns": flush_ns,
        "settle_ns": elapsed_ns // 4 if writes else 0,
        "close_ns": 500000,
        "digest": "0123456789abcdef",
        "options": OPTIONS,
        "settings": {"cache_size": "4194304", "page_size": "1024"},
        **_resources(elapsed_ns, writes),
        "timeline": timeline(loop_ns, OPS),
        "stalls": [],
        "stall_count": 0,
        "stalled_ns": 0,
        "latency_ns": None,
        "service_ns": None,
        "open_loop": None,
        "ops_by_thread": [OPS] if writes else None,
        **dict.fromkeys(("ops_by_type", "latency_by_type_ns", "writer", "shares")),
        "counters": {},
        "build": BUILD,
        "prepare_ns": None if writes else 20000000,
        "audit": _audit() if writes else None,
        "disturbance": QUIET,
        "watch": _watch(),
        "wall_ns": 2 * elapsed_ns + 40000000,
        "exit": "0",
    }


def latency_of(line: Mapping[str, Any], repetition: int) -> Document:
    """The latency repetition beside a throughput line: a tenth slower."""
    elapsed_ns = (line["loop_ns"] + line["flush_ns"]) * 11 // 10
    flush_ns = line["flush_ns"]
    made = {
        **line,
        "pass": "latency",
        "repetition": repetition,
        "seed": 301 + repetition,
        "loop_ns": elapsed_ns - flush_ns,
        "timeline": timeline(elapsed_ns - flush_ns, OPS),
        "latency_ns": histogram(elapsed_ns - flush_ns, OPS),
    }
    if line["audit"] is not None:
        nothing = dict.fromkeys(line["deferred"], 0)
        made |= {"ending": "killed", "exit": "signal 9", "settle_ns": 0}
        made |= {"close_ns": 0, "idle_cpu_ns": 0, "deferred": nothing}
        made["audit"] = {**line["audit"], "open_ns": 3000000}
    return made


def disturbed(line: Mapping[str, Any], mark: str) -> Document:
    """The same with a mark of what else the machine did."""
    return {**line, "disturbance": {**QUIET, "steal_share": 0.031, "marks": [mark]}}


def retimed(line: Mapping[str, Any], loop_ns: int, ops: int | None = None) -> Document:
    """The same with another loop, and all that follows from it."""
    count = line["ops"] if ops is None else ops
    made = {**line, "ops": count, "loop_ns": loop_ns}
    made["timeline"] = timeline(loop_ns, count)
    made["bytes"] = line["bytes"] * count // line["ops"]
    if made.get("ops_by_thread") == [line["ops"]]:
        made["ops_by_thread"] = [count]
    made["cpu_user_ns"] = (loop_ns + line["flush_ns"]) * 9 // 10
    made["cpu_system_ns"] = (loop_ns + line["flush_ns"]) // 10
    if line["latency_ns"] is not None:
        made["latency_ns"] = histogram(loop_ns, count)
    return made


def with_stall(line: Mapping[str, Any], at_ns: int, lasted_ns: int) -> Document:
    """The same with a pause, during which no operation ended, in the loop."""
    points = timeline(line["loop_ns"] - lasted_ns, line["ops"])
    return {
        **line,
        "timeline": [[t + (lasted_ns if t > at_ns else 0), n] for t, n in points],
        "stalls": [{"at_ns": at_ns, "lasted_ns": lasted_ns}],
        "stall_count": 1,
        "stalled_ns": lasted_ns,
    }


def open_loop(line: Mapping[str, Any], saturated: bool) -> Document:
    """A latency line as an open loop at its own pace would give it."""
    achieved = line["ops"] * 1e9 / line["loop_ns"]
    times = None if saturated else line["latency_ns"]
    return {
        **line,
        "latency_ns": times,
        "service_ns": times,
        "open_loop": {
            "rate_ops_per_sec": achieved * (2 if saturated else 1),
            "offered_ops_per_sec": achieved * (2 if saturated else 1.002),
            "achieved_ops_per_sec": achieved,
            "late_starts": 600 if saturated else 12,
            "max_lag_ns": line["loop_ns"] // 2 if saturated else 40000,
            "saturated": saturated,
        },
    }


def without_rate(cell: Mapping[str, str], status: str, reason: str) -> Document:
    """The line of a repetition that has no figures."""
    line = measurement(cell, 1, 1.0, 0)
    blank = {name: line[name] if name in _IDENTITY else None for name in line}
    return {**blank, "status": status, "reason": reason}


def timeline(loop_ns: int, ops: int) -> list[list[int]]:
    """An even pace from the start of the loop to its end."""
    steps = min(_POINTS, ops)
    return [[loop_ns * i // steps, ops * i // steps] for i in range(1, steps + 1)]


def histogram(loop_ns: int, count: int) -> Document:
    """Nine tenths of the calls at 0.8 of the mean, a tail at 1.5 and at 12."""
    mean_ns = loop_ns // count
    tail, far = count * 9 // 100, count // 100
    every = {mean_ns * 4 // 5: count - tail - far, mean_ns * 3 // 2: tail}
    values = {value: n for value, n in {**every, mean_ns * 12: far}.items() if n}
    return {
        "count": count,
        "min": min(values),
        "max": max(values),
        "sum": sum(value * n for value, n in values.items()),
        "buckets": [[lower_edge(value), n] for value, n in sorted(values.items())],
    }


def lower_edge(value_ns: int) -> int:
    """Of the harness's bucket: 128 to each power of two."""
    shift = max(value_ns.bit_length() - 8, 0)
    return value_ns >> shift << shift


def _resources(elapsed_ns: int, writes: bool) -> Document:
    return {
        "cpu_user_ns": elapsed_ns * 9 // 10,
        "cpu_system_ns": elapsed_ns // 10,
        "deferred": {
            "cpu_ns": elapsed_ns // 5 if writes else 0,
            "read_bytes": 0,
            "written_bytes": LIVE_BYTES if writes else 0,
            "storage_written_bytes": 131072 if writes else 0,
        },
        "idle_cpu_ns": 20000 if writes else 0,
        "peak_rss_bytes": 12582912,
        "anonymous_rss_bytes": 8388608,
        "file_rss_bytes": 4194304,
        "minor_faults": 100,
        "major_faults": 0,
        "voluntary_switches": 1,
        "involuntary_switches": 1,
        "read_bytes": 0,
        "written_bytes": LIVE_BYTES if writes else 0,
        "storage_read_bytes": 0,
        "storage_written_bytes": 131072 if writes else 0,
        "live_bytes": LIVE_BYTES,
        "disk_bytes": 131072,
        "peak_disk_bytes": 196608,
    }


def _audit() -> Document:
    return {
        "status": "ok",
        "reason": "",
        "entries": OPS,
        "audit_ns": 2000000,
        "open_ns": 400000,
    }


def _watch() -> Document:
    return {
        "samples": 4,
        "peak_disk_bytes": 212992,
        "peak_anonymous_rss_bytes": 8388608,
        "peak_file_rss_bytes": 4194304,
        "runner_cpu_ns": 900000,
    }
