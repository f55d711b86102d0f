"""One line of measurements.jsonl, as schema/measurement.schema.json describes it.

The types are those of an ok line, which has each figure of its schema: `record["ops"]`
is a number.  In any other line a figure is None or absent: ask for it with get().
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypedDict

from report.terms.rulebook import Flag

Pairs = Sequence[Sequence[int]]

LINES = "measurements.jsonl"  # the file of a run that holds its records
KILLED = "killed"  # the ending of a process that ended as by kill -9


class Histogram(TypedDict):
    """Times of calls in nanoseconds; `buckets` are [lower limit, count]."""

    count: int
    min: int
    max: int
    sum: int
    buckets: Pairs


class StallFigures(TypedDict):
    """A pause of the loop."""

    at_ns: int
    lasted_ns: int


class DeferredFigures(TypedDict):
    """What the process used between the end of its loop and being settled."""

    cpu_ns: int
    read_bytes: int
    written_bytes: int
    storage_written_bytes: int


class OpenLoopFigures(TypedDict):
    """How an open loop kept the rate that was asked for."""

    rate_ops_per_sec: float
    offered_ops_per_sec: float
    achieved_ops_per_sec: float
    late_starts: int
    max_lag_ns: int
    saturated: bool


class WriterFigures(TypedDict):
    """The one writer alongside the readers, which are the operations."""

    ops: int
    loop_ns: int
    bytes: int
    rate_ops_per_sec: float | None
    latency_ns: Histogram | None


class ShareFigures(TypedDict):
    """The share of something that was drawn, and what its distribution predicts."""

    what: str
    share: float
    theory: float


class DisturbanceFigures(TypedDict, total=False):
    """What else the machine did during the repetition."""

    wall_ns: int | None
    steal_share: float | None
    foreign_cpu_share: float | None
    unseen_cpu_share: float | None
    pressure_cpu_share: float | None
    pressure_io_share: float | None
    pressure_memory_share: float | None
    foreign_read_bytes: int | None
    foreign_written_bytes: int | None
    device_read_bytes: int | None
    device_written_bytes: int | None
    marks: Sequence[str]


class WatchFigures(TypedDict, total=False):
    """The process as it was seen from outside."""

    samples: int
    peak_disk_bytes: int | None
    peak_anonymous_rss_bytes: int | None
    peak_file_rss_bytes: int | None
    runner_cpu_ns: int | None


class AbPlace(TypedDict):
    """Of a line of an A/B run: which build, and its place in the rounds."""

    side: str
    stage: str
    round: int
    slot: int
    padding_bytes: int


class AuditFigures(TypedDict, total=False):
    """What a fresh process found in the database afterwards."""

    status: str
    reason: str
    entries: int | None
    audit_ns: int | None
    open_ns: int | None


# What the executable answers, and what the runner adds to it.
Record = TypedDict(
    "Record",
    {
        "schema": int,
        "method": int,
        "run": str,
        "engine": str,
        "engine_version": str,
        "scenario": str,
        "benchmark": str,
        "repetition": int,
        "pass": str,
        "attempt": int,
        "order": int,
        "seed": int,
        "status": str,
        "reason": str,
        "verified": bool,
        "planned_ops": int,
        "ops": int,
        "found": int,
        "bytes": int,
        "truncated": bool,
        "open_ns": int,
        "loop_ns": int,
        "flush_ns": int,
        "settle_ns": int,
        "close_ns": int,
        "digest": str,  # where it is verified
        "options": Mapping[str, Flag],
        "settings": Mapping[str, str],
        "build": Mapping[str, str],
        "cpu_user_ns": int,
        "cpu_system_ns": int,
        "peak_rss_bytes": int,
        "minor_faults": int,
        "major_faults": int,
        "voluntary_switches": int,
        "involuntary_switches": int,
        "read_bytes": int,
        "written_bytes": int,
        "disk_bytes": int,
        "ending": str,
        "live_bytes": int,
        "timeline": Pairs,
        "stalls": Sequence[StallFigures],
        "stall_count": int,
        "stalled_ns": int,
        "anonymous_rss_bytes": int,
        "file_rss_bytes": int,
        "peak_disk_bytes": int,
        "storage_read_bytes": int,
        "storage_written_bytes": int,
        "deferred": DeferredFigures,
        "idle_cpu_ns": int,
        "latency_ns": Histogram | None,
        "service_ns": Histogram | None,
        "open_loop": OpenLoopFigures | None,
        "ops_by_thread": Sequence[int] | None,
        "ops_by_type": Mapping[str, int] | None,
        "latency_by_type_ns": Mapping[str, Histogram | None] | None,
        "writer": WriterFigures | None,
        "counters": Mapping[str, int],
        "shares": Sequence[ShareFigures] | None,
        "prepare_ns": int | None,
        "wall_ns": int,
        "exit": str,
        "disturbance": DisturbanceFigures | None,
        "watch": WatchFigures | None,
        "audit": AuditFigures | None,
        "ab": AbPlace,
    },
    total=False,
)


def count_of(record: Record, key: str) -> int | None:
    """Return a count by its key; None where it is not known."""
    number = record.get(key)
    return number if isinstance(number, int) else None


def histogram_of(record: Record, key: str) -> Histogram | None:
    """Return the histogram "latency_ns" or "service_ns"; None where there is none."""
    return record.get("service_ns") if key == "service_ns" else record.get("latency_ns")
