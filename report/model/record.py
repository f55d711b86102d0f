"""One line of measurements.jsonl, as schema/measurement.schema.json describes it.

The types are those of an ok line, which has every key of its schema: `record["ops"]`
is an int.  In any other line a value can be None or absent, so use get().
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NotRequired, TypedDict

from report.terms.rulebook import Flag

Pairs = Sequence[Sequence[int]]
Course = Mapping[str, Sequence[int] | None]  # equally long columns; None: unknown

LINES = "measurements.jsonl"  # the file with the records of a run
KILLED = "killed"  # `ending` of a process that ended as by kill -9


class Histogram(TypedDict):
    """Times of calls in nanoseconds; `buckets` are [lower edge, count]."""

    count: int
    min: int
    max: int
    sum: int
    buckets: Pairs


class StallFigures(TypedDict):
    """A pause of the loop, from its start."""

    at_ns: int
    lasted_ns: int


class DeferredFigures(TypedDict):
    """Resources used from the end of the flush until the database was settled."""

    cpu_ns: int
    read_bytes: int
    written_bytes: int
    storage_written_bytes: int
    barriers: NotRequired[int]


class OpenLoopFigures(TypedDict):
    """How well an open loop kept the requested rate."""

    rate_ops_per_sec: float
    max_ops_per_sec: NotRequired[float | None]  # of the warm-up, if it was a share
    offered_ops_per_sec: float
    achieved_ops_per_sec: float
    late_starts: int
    max_lag_ns: int
    saturated: bool


class DeviceCounters(TypedDict):
    """Completed requests of a block device."""

    reads: int
    read_bytes: int
    read_ms: int
    writes: int
    written_bytes: int
    write_ms: int
    flushes: int
    flush_ms: int
    busy_ms: int


class DeviceFigures(TypedDict):
    """Counters of a disk of one's own: loop with flush, and settling."""

    loop: DeviceCounters
    settle: DeviceCounters | None


class MemoryFigures(TypedDict):
    """What was charged to the memory group of the process at most."""

    peak_bytes: int | None
    peak_anonymous_bytes: int | None
    peak_page_cache_bytes: int | None


class JitWarmup(TypedDict):
    """The warm-up of an engine that is compiled while it runs."""

    elapsed_ns: int
    steady: bool


class PassFigures(TypedDict):
    """The times of one pass; those of the record are their sums."""

    open_ns: int
    loop_ns: int
    flush_ns: int
    settle_ns: int
    close_ns: int


class WriterFigures(TypedDict):
    """The single writer alongside the readers; the readers are the operations."""

    ops: int
    loop_ns: int
    bytes: int
    rate_ops_per_sec: float | None
    latency_ns: Histogram | None


class ShareFigures(TypedDict):
    """A share of random draws, and its value by theory."""

    what: str
    share: float
    theory: float
    draws: NotRequired[int]  # absent for amounts, and in old lines


class LostFigures(TypedDict):
    """What the machine took from the process in the loop and the flush.

    A counter that the kernel does not keep is None.
    """

    threads: int  # of the benchmark
    processors: int  # on which the process may run
    run_queue_ns: int | None  # summed over all threads of the process
    time_slices: int | None
    stolen_ns: int | None
    throttled_ns: int | None
    processors_user_ns: int | None  # in user mode, for any process


class DisturbanceFigures(TypedDict, total=False):
    """What the process lost, and the machine meanwhile.

    The shares of steal, foreign and unseen CPU and the foreign bytes are in old lines.
    """

    wall_ns: int | None
    competed_share: float | None
    stolen_share: float | None
    throttled_share: float | None
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
    """The process as sampled by the runner."""

    samples: int
    peak_disk_bytes: int | None
    peak_anonymous_rss_bytes: int | None
    peak_file_rss_bytes: int | None
    runner_cpu_ns: int | None


class DuetTime(TypedDict):
    """What one side of a process did that measured both: see drivers/plugins/duet.h."""

    cpu_ns: int
    ops: int


class AbPlace(TypedDict):
    """The position of a line of an A/B run: its side, stage, round and slot."""

    side: str
    stage: str
    round: int
    slot: int
    padding_bytes: int
    passes: NotRequired[int]  # that the process had to make, whatever they took
    duet: NotRequired[DuetTime]


class AuditFigures(TypedDict, total=False):
    """The result of the audit by a fresh process."""

    status: str
    reason: str
    entries: int | None
    digest: str | None  # of the bytes that the audit received
    audit_ns: int | None
    open_ns: int | None


# The answer of the executable, with the keys that the runner adds.
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
        "digest": str,  # if `verified`
        "options": Mapping[str, Flag],
        "promise": str | None,  # of the engine, for a crash of the machine
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
        "barriers": int,  # absent in old lines, as claim_wait_ns is
        "sync_floor_ns": int | None,  # of the disk; absent unless durable
        "claim_wait_ns": int,  # of all threads, for each other's keys
        "anonymous_rss_bytes": int,
        "file_rss_bytes": int,
        "peak_disk_bytes": int,
        "storage_read_bytes": int,
        "storage_written_bytes": int,
        "deferred": DeferredFigures,
        "idle_cpu_ns": int,
        "idle_ns": int,  # absent unless the watch was long
        "lost": LostFigures,  # absent in old lines
        "latency_ns": Histogram | None,
        "service_ns": Histogram | None,
        "open_loop": OpenLoopFigures | None,
        "ops_by_thread": Sequence[int] | None,
        "warmup_ops_by_thread": Sequence[int] | None,  # absent in old lines
        "jit_warmup": JitWarmup | None,  # absent without one
        "passes": Sequence[PassFigures],  # absent without min_time
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
        "first_call_ns": int,  # absent in old lines
        "device": DeviceFigures | None,  # absent without a regime, as these two
        "memory": MemoryFigures | None,
        "course": Course | None,
        "machine": str,  # in a run of many machines
        "ab": AbPlace,
        "plan": str,  # the checksum of the plan that the line belongs to
        "checksum": str,  # see report.terms.checksum
    },
    total=False,
)


def count_of(record: Record, key: str) -> int | None:
    """Return a count by its key; None if it is unknown."""
    number = record.get(key)
    return number if isinstance(number, int) else None


def passes_of(record: Record) -> int:
    """Return how often the work was done; what a record counts is of all passes."""
    return len(record.get("passes") or ()) or 1


def histogram_of(record: Record, key: str) -> Histogram | None:
    """Return the histogram "latency_ns" or "service_ns", or None."""
    return record.get("service_ns") if key == "service_ns" else record.get("latency_ns")
