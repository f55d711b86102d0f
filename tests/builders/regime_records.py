"""Honest lines of scenarios with a regime."""

from dataclasses import replace
from typing import Any

from report.terms.regime import Regime
from tests.builders.honest_records import Work

_COUNTERS = (
    *("reads", "read_bytes", "read_ms", "writes", "written_bytes", "write_ms"),
    *("flushes", "flush_ms", "busy_ms"),
)

REGIME = {  # in the plan
    **{"cache": "cold", "memory_limit_bytes": 0, "device": "loop"},
    **{"device_bytes": 1 << 30, "file_system": "ext4", "read_ahead_bytes": 4096},
    "steady": False,
}
_STEPS = range(51)  # ten per second


def counters(**known: int) -> dict[str, int]:
    """Return the counters of a disk; those not given are 0."""
    return dict.fromkeys(_COUNTERS, 0) | known


def with_regime(base: Work, regime: Regime, **changes: Any) -> Work:
    """Return work of a scenario with a regime.

    `changes` are counters of its loop, or `settle`: those until it was settled, or
    `device`: all of them, or `memory` or `course`.
    """
    settle = changes.pop("settle", counters() if base.context.writes else None)
    line = {name: changes.pop(name, None) for name in ("memory", "course")}
    device = changes.pop("device", {"loop": counters(**changes), "settle": settle})
    if device:
        line["device"] = device
    work = base.changed(line)
    return replace(work, context=replace(work.context, regime=regime))


def figures_of(ops: int, entry_bytes: int) -> dict[str, Any]:
    """Return what a regime adds to a line: half of `ops` read, and half wrote."""
    loop = counters(
        **{"reads": ops // 2, "read_bytes": 4096 * ops // 2, "read_ms": 1000},
        **{"writes": ops, "written_bytes": 3 * entry_bytes * ops // 2},
        **{"write_ms": 3000, "flushes": 9, "busy_ms": 4000},
    )
    settle = counters(written_bytes=entry_bytes * ops // 2)
    peaks = {"peak_anonymous_bytes": 1 << 20, "peak_page_cache_bytes": 3 << 20}
    return {
        "device": {"loop": loop, "settle": settle},
        "memory": {"peak_bytes": 5 << 20, **peaks},
        "course": _level_course(ops, entry_bytes),
    }


def _level_course(ops: int, entry_bytes: int) -> dict[str, list[int]]:
    """Return a course in which each operation writes its entry twice."""
    done = [i * ops // (len(_STEPS) - 1) for i in _STEPS]
    return {
        "elapsed_ns": [i * 10**8 for i in _STEPS],
        "ops": done,
        "device_read_bytes": [0 for _ in _STEPS],
        "device_written_bytes": [n * entry_bytes * 2 for n in done],
        "disk_bytes": [400_000 for _ in _STEPS],
        "anonymous_bytes": [1 << 20 for _ in _STEPS],
        "page_cache_bytes": [3 << 20 for _ in _STEPS],
    }
