"""From cold to warm: how long reads of an evicted database take to reach their rate.

A repetition is warm from the first moment at which its rate is at least WARM_SHARE of
that of the last third of its loop.  If that third is not level itself, it never was.
"""

from __future__ import annotations

from dataclasses import dataclass

from report.model.record import Record
from report.stats.steady_state import MOST_RANGE
from report.stats.timeline import timeline

WARM_SHARE = 0.9
_PARTS = 60  # equal parts of the loop, in which rates are compared
_LAST = _PARTS // 3


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
