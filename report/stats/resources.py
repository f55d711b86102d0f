"""The resources of a repetition (processors, memory, bytes, disk), from its line.

CPU, faults, switches and bytes cover the loop and the flush, as the rate does;
`deferred` is what came after.  In schema 1 they also covered closing the database, so
for its lines they are None here: the two are not comparable.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

from report.model.record import Record, count_of
from report.stats import repetition_stats

_FIRST_SCHEMA = 2  # whose counters cover the same period as the rate


@dataclass(frozen=True)
class Resources:
    """The resources of one repetition, or medians of several; None is unknown."""

    cpu_user_ns_per_op: float | None
    cpu_system_ns_per_op: float | None
    processors: float | None  # CPU time / time of loop and flush
    minor_faults_per_op: float | None
    major_faults_per_op: float | None
    switches_per_op: float | None
    peak_rss_bytes: float | None
    anonymous_bytes: float | None
    file_bytes: float | None
    read_per_byte: float | None  # bytes read by calls / bytes of user entries
    storage_read_per_byte: float | None
    written_per_byte: float | None
    storage_written_per_byte: float | None
    disk_bytes: float | None
    peak_disk_bytes: float | None
    space_amplification: float | None  # bytes on disk / bytes of live entries
    peak_space_amplification: float | None
    deferred_cpu_ns: float | None
    deferred_written_bytes: float | None
    deferred_storage_written_bytes: float | None
    barriers: float | None
    deferred_barriers: float | None
    device_written_bytes: float | None  # of the whole machine, while the process ran


def resources(record: Record) -> Resources:
    """Return the resources in one line."""
    ops, user_bytes = record.get("ops"), record.get("bytes")
    watch, around = record.get("watch") or {}, record.get("disturbance") or {}
    disk, live = record.get("disk_bytes"), record.get("live_bytes")
    peak_disk = _largest(record.get("peak_disk_bytes"), watch.get("peak_disk_bytes"))
    deferred = record.get("deferred")
    counted: Record = record if (record.get("schema") or 1) >= _FIRST_SCHEMA else {}

    def per_op(*names: str) -> float | None:
        return _ratio(_sum(counted, *names), ops)

    def per_byte(name: str) -> float | None:
        return _ratio(count_of(counted, name), user_bytes)

    return Resources(
        cpu_user_ns_per_op=per_op("cpu_user_ns"),
        cpu_system_ns_per_op=per_op("cpu_system_ns"),
        processors=_ratio(
            _sum(counted, "cpu_user_ns", "cpu_system_ns"),
            _sum(counted, "loop_ns", "flush_ns"),
        ),
        minor_faults_per_op=per_op("minor_faults"),
        major_faults_per_op=per_op("major_faults"),
        switches_per_op=per_op("voluntary_switches", "involuntary_switches"),
        peak_rss_bytes=record.get("peak_rss_bytes"),
        anonymous_bytes=anonymous_bytes(record),
        file_bytes=_largest(
            record.get("file_rss_bytes"), watch.get("peak_file_rss_bytes")
        ),
        read_per_byte=per_byte("read_bytes"),
        storage_read_per_byte=per_byte("storage_read_bytes"),
        written_per_byte=per_byte("written_bytes"),
        storage_written_per_byte=per_byte("storage_written_bytes"),
        disk_bytes=disk,
        peak_disk_bytes=peak_disk,
        space_amplification=_ratio(disk, live),
        peak_space_amplification=_ratio(peak_disk, live),
        deferred_cpu_ns=deferred["cpu_ns"] if deferred else None,
        deferred_written_bytes=deferred["written_bytes"] if deferred else None,
        deferred_storage_written_bytes=(
            deferred["storage_written_bytes"] if deferred else None
        ),
        barriers=count_of(counted, "barriers"),
        deferred_barriers=deferred.get("barriers") if deferred else None,
        device_written_bytes=around.get("device_written_bytes"),
    )


def anonymous_bytes(record: Record) -> float | None:
    """Return the most anonymous memory that one line has seen."""
    watch = record.get("watch") or {}
    return _largest(
        record.get("anonymous_rss_bytes"), watch.get("peak_anonymous_rss_bytes")
    )


def medians(records: Sequence[Record]) -> Resources:
    """Return the median of each resource over the lines that have it."""
    each = [resources(record) for record in records]
    names = [field.name for field in dataclasses.fields(Resources)]
    return Resources(
        **{n: repetition_stats.median(getattr(r, n) for r in each) for n in names}
    )


def _sum(record: Record, *names: str) -> float | None:
    """Return the sum of several keys; None if one of them is unknown."""
    counts = [count_of(record, name) for name in names]
    numbers = [count for count in counts if count is not None]
    return sum(numbers) if len(numbers) == len(counts) else None


def _largest(*numbers: float | None) -> float | None:
    return max((n for n in numbers if n is not None), default=None)


def _ratio(part: float | None, whole: float | None) -> float | None:
    return part / whole if part is not None and whole else None
