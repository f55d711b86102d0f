"""The results as CSV: one row for each attempt at a repetition.

The name of a column carries its unit.  Every raw value is included except timelines;
a histogram is represented by its percentiles.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from report.model.record import histogram_of
from report.model.run import Measurement, Run
from report.stats import latency
from report.terms.class_stamp import stamp_of
from report.terms.text_table import csv_text

_COLUMNS = (
    "run",
    "engine",
    "engine_version",
    "scenario",
    "benchmark",
    "repetition",
    "order",
    "seed",
    "status",
    "reason",
    "verified",
    "planned_ops",
    "ops",
    "found",
    "bytes",
    "truncated",
    "open_ns",
    "loop_ns",
    "flush_ns",
    "settle_ns",
    "close_ns",
    "prepare_ns",
    "wall_ns",
    "cpu_user_ns",
    "cpu_system_ns",
    "peak_rss_bytes",
    "disk_bytes",
    "read_bytes",
    "written_bytes",
    "minor_faults",
    "major_faults",
    "voluntary_switches",
    "involuntary_switches",
    "digest",
    "exit",
)
_DERIVED = ("ops_per_sec", "audit_status", "audit_ns", "assertions")
_LATER = (
    *("pass", "attempt", "ending"),
    *("live_bytes", "peak_disk_bytes", "anonymous_rss_bytes", "file_rss_bytes"),
    *("storage_read_bytes", "storage_written_bytes", "idle_cpu_ns"),
    *("stall_count", "stalled_ns", "promise", "barriers", "claim_wait_ns"),
)
# Objects of a line: (key, prefix of its columns, keys inside it).
_OBJECTS = (
    (
        "deferred",
        "deferred_",
        (
            *("cpu_ns", "read_bytes", "written_bytes", "storage_written_bytes"),
            "barriers",
        ),
    ),
    (
        "open_loop",
        "open_loop_",
        (
            *("rate_ops_per_sec", "offered_ops_per_sec", "achieved_ops_per_sec"),
            *("late_starts", "max_lag_ns", "saturated"),
        ),
    ),
    (
        "watch",
        "watch_",
        (
            *("samples", "peak_disk_bytes", "peak_anonymous_rss_bytes"),
            *("peak_file_rss_bytes", "runner_cpu_ns"),
        ),
    ),
    (
        "lost",
        "lost_",
        (
            *("threads", "processors", "run_queue_ns", "time_slices", "stolen_ns"),
            *("throttled_ns", "processors_user_ns"),
        ),
    ),
    (
        "disturbance",
        "disturbance_",
        (
            *("competed_share", "stolen_share", "throttled_share"),
            *("wall_ns", "steal_share", "foreign_cpu_share", "unseen_cpu_share"),
            *("pressure_cpu_share", "pressure_io_share", "pressure_memory_share"),
            *("foreign_read_bytes", "foreign_written_bytes"),
            *("device_read_bytes", "device_written_bytes", "marks"),
        ),
    ),
    ("audit", "audit_", ("open_ns",)),
    (
        "options",
        "option_",
        (
            *("num", "reads", "threads", "stream", "key_format", "key_distribution"),
            *("zipf_theta", "value_size_distribution_type", "value_size_min"),
            *("value_size_max", "transactions", "writes_per_second"),
            "readwritepercent",
        ),
    ),
    ("writer", "writer_", ("ops", "loop_ns", "bytes", "rate_ops_per_sec")),
)
# Objects whose keys vary by line: one column each, such as "read=950; update=50".
_OPEN = ("ops_by_thread", "ops_by_type", "counters", "shares")
_HISTOGRAMS = ("latency", "service")


def render(run: Run) -> str:
    """Return the CSV in the order of the results file; unknown values are empty."""
    return csv_text(_header(), _rows(run))


def _rows(run: Run) -> Iterator[list[Any]]:
    again = {m.line for cell in run.cells.values() for m in cell.superseded}
    for m in run.measurements:
        # The judged status: a line may claim "ok" and still break a rule.
        record = {**m.record, "status": m.status, "reason": m.reason}
        values = [record.get(name) for name in _COLUMNS] + _derived(m)
        values += [record.get(name) for name in _LATER] + [m.line in again]
        values.append(stamp_of(record, run.plan.engine(m.record["engine"]).passports))
        values += _passes(m)
        values += [v for name, _, keys in _OBJECTS for v in _values(m, name, keys)]
        values += [v for name in _HISTOGRAMS for v in _percentiles(m, name)]
        yield values + [_pairs(m.record.get(name)) for name in _OPEN]


def _header() -> list[str]:
    inner = [prefix + key for _, prefix, keys in _OBJECTS for key in keys]
    names = [name.replace(".", "_") for name in latency.NAMES]
    percentiles = [
        *("count", "sum_ns", "min_ns"),
        *(f"{name}_ns" for name in names),
        "max_ns",
    ]
    times = [f"{name}_{key}" for name in _HISTOGRAMS for key in percentiles]
    return [
        *_COLUMNS,
        *_DERIVED,
        *_LATER,
        "superseded",
        "durability_class",
        *("passes", "first_pass_ns"),
        *inner,
        *times,
        *_OPEN,
    ]


def _derived(m: Measurement) -> list[Any]:
    audit, build = m.record.get("audit"), m.record.get("build") or {}
    rate = None if m.ops_per_sec is None else f"{m.ops_per_sec:.3f}"
    audited = [audit.get("status"), audit.get("audit_ns")] if audit else [None, None]
    return [rate, *audited, build.get("assertions")]


def _passes(m: Measurement) -> list[int | None]:
    """Return the number of passes, and the loop and flush of the first."""
    passes = m.record.get("passes")
    if not passes:
        return [None, None]
    return [len(passes), passes[0]["loop_ns"] + passes[0]["flush_ns"]]


def _values(m: Measurement, name: str, keys: tuple[str, ...]) -> list[Any]:
    value = m.record.get(name)
    return [value.get(key) if isinstance(value, dict) else None for key in keys]


def _pairs(value: Any) -> list[str] | None:
    """Return "key=value" texts; a share is followed by the expected share."""
    if not value:
        return None
    if isinstance(value, dict):
        return [f"{key}={item}" for key, item in value.items()]
    return [
        f"{item['what']}={item['share']} ({item['theory']})"
        if isinstance(item, dict)
        else str(item)
        for item in value
    ]


def _percentiles(m: Measurement, name: str) -> list[Any]:
    """Return the percentiles of an ok line; None where too few samples lie above."""
    histogram = histogram_of(m.record, f"{name}_ns") if m.status == "ok" else None
    summary = latency.percentiles(histogram)
    if summary is None or histogram is None:
        return [None] * (len(latency.NAMES) + 4)
    middle = (summary.at[key] for key in latency.NAMES)
    return [summary.count, histogram["sum"], summary.min_ns, *middle, summary.max_ns]
