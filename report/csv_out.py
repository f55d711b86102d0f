"""The results as CSV: one row for each repetition, every raw figure, units named."""

from __future__ import annotations

import csv
import io
from typing import Any

from report.results import Measurement, Run

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
# A spreadsheet runs a text that begins with one of these as a formula.
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


def render(run: Run) -> str:
    """The CSV text, in the order of the results file; empty where unknown."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow((*_COLUMNS, *_DERIVED))
    for m in run.measurements:
        # A line that cannot be believed has another status than it claims.
        record = {**m.record, "status": m.status, "reason": m.reason}
        values = [record.get(name) for name in _COLUMNS] + _derived(m)
        writer.writerow([_field(value) for value in values])
    return text.getvalue()


def _derived(m: Measurement) -> list[Any]:
    audit, build = m.record.get("audit") or {}, m.record.get("build") or {}
    rate = None if m.ops_per_sec is None else f"{m.ops_per_sec:.3f}"
    return [rate, audit.get("status"), audit.get("audit_ns"), build.get("assertions")]


def _field(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    text = str(value)
    if isinstance(value, str) and text.startswith(_FORMULA_STARTS):
        return "'" + text
    return text
