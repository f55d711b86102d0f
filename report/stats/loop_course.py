"""The course of a repetition: what it did, wrote and occupied in each part of its loop.

It is drawn; whether it is steady is judged by steady_state.py.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from report.model.record import Record
from report.stats.device_use import user_bytes
from report.stats.steady_state import loop_of


@dataclass(frozen=True)
class Part:
    """A part of a loop, from its start; None is unknown."""

    end_ns: float
    ops_per_sec: float
    write_amplification: float | None
    space_amplification: float | None  # at its end, of the whole file system
    memory_bytes: float | None  # at its end, page cache included


def duration_ns(record: Record) -> float:
    """Return how long the loop lasted, by its samples; 0 without a course."""
    course = record.get("course")
    if not course:
        return 0.0
    times = loop_of(course)["elapsed_ns"]
    return float(times[-1] - times[0])


def parts_of(record: Record, width_ns: float) -> list[Part]:
    """Return the loop in parts of `width_ns`, without the last incomplete one."""
    course = record.get("course")
    if not course:
        return []
    loop = loop_of(course)
    times = loop["elapsed_ns"] - loop["elapsed_ns"][0]
    edges = np.arange(0, times[-1] + 1, width_ns)
    at = {name: np.interp(edges, times, values) for name, values in loop.items()}
    accepted, _ = user_bytes(record)
    per_op = accepted / record["ops"] if record["ops"] else 0.0
    memory = at["anonymous_bytes"] + at["page_cache_bytes"]
    return [
        Part(
            float(edges[i]),
            float(at["ops"][i] - at["ops"][i - 1]) * 1e9 / width_ns,
            _ratio(at["device_written_bytes"], at["ops"], i, per_op),
            float(at["disk_bytes"][i]) / record["live_bytes"] or None,
            float(memory[i]) or None,
        )
        for i in range(1, len(edges))
    ]


def _ratio(
    written: NDArray[np.float64], ops: NDArray[np.float64], i: int, per_op: float
) -> float | None:
    """Return the bytes written per byte accepted in a part; None if it did nothing."""
    accepted = float(ops[i] - ops[i - 1]) * per_op
    return float(written[i] - written[i - 1]) / accepted if accepted else None
