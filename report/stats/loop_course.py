"""The course of a repetition: what it did, wrote and occupied in each part of its loop.

It is drawn; whether it is steady is judged by steady_state.py.

A repetition that begins cold is warm from the first moment at which its rate is at
least WARM_SHARE of that of the last third of its loop.  If that third is not level
itself, it never was.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from report.model.record import Record
from report.stats.device_use import user_bytes
from report.stats.steady_state import MOST_RANGE, loop_of
from report.stats.timeline import timeline

WARM_SHARE = 0.9
_PARTS = 60  # equal parts of the loop, in which rates are compared
_LAST = _PARTS // 3


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
    at: dict[str, NDArray[np.float64]]
    at = defaultdict(lambda: np.full(len(edges), np.nan))  # unknown columns
    at |= {name: np.interp(edges, times, values) for name, values in loop.items()}
    accepted, _ = user_bytes(record)
    per_op = accepted / record["ops"] if record["ops"] else 0.0
    memory = at["anonymous_bytes"] + at["page_cache_bytes"]
    live_bytes = record["live_bytes"] or np.nan
    return [
        Part(
            float(edges[i]),
            float(at["ops"][i] - at["ops"][i - 1]) * 1e9 / width_ns,
            _ratio(at["device_written_bytes"], at["ops"], i, per_op),
            _known(at["disk_bytes"][i] / live_bytes) or None,
            _known(memory[i]) or None,
        )
        for i in range(1, len(edges))
    ]


def _ratio(
    written: NDArray[np.float64], ops: NDArray[np.float64], i: int, per_op: float
) -> float | None:
    """Return the bytes written per byte accepted in a part; None if it did nothing."""
    accepted = float(ops[i] - ops[i - 1]) * per_op
    return _known((written[i] - written[i - 1]) / accepted) if accepted else None


def _known(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


@dataclass(frozen=True)
class Warming:
    """The cold start of one repetition; None: it did not get warm."""

    open_ns: float
    first_call_ns: float | None
    warm_ns: float | None  # from the start of the loop
    warm_ops: float | None  # operations until then
    device_bytes: float | None  # read from the disk in the whole loop


def warming(record: Record) -> Warming | None:
    """Return the cold start of a line; None without a timeline."""
    line = timeline(record)
    if line is None:
        return None
    rates = line.resampled(_PARTS)
    last = rates[-_LAST:]
    level = sum(last) / len(last)
    warm_ns = warm_ops = None
    if max(last) - min(last) <= MOST_RANGE * level:
        part = next(i for i, rate in enumerate(rates) if rate >= WARM_SHARE * level)
        part_ns = line.loop_ns / _PARTS
        warm_ns, warm_ops = part * part_ns, sum(rates[:part]) * part_ns / 1e9
    device = record.get("device")
    return Warming(
        record["open_ns"],
        record.get("first_call_ns"),
        warm_ns,
        warm_ops,
        device["loop"]["read_bytes"] if device else None,
    )
