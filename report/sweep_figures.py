"""The figures of a sweep: what is drawn of a row, with its interval."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from report import sweeps, titles
from report.comparison import Row
from report.sweep_published import column
from report.sweeps import MB, Sweep

Interval = tuple[float, float, float]  # median, least, largest
# Columns of published sweeps that are of the database.
DATABASE_BYTES, OVERHEAD = "database_bytes", "overhead_bytes_per_record"


@dataclass(frozen=True)
class Metric:
    """A figure of a benchmark; `column` is that of published rows, or ""."""

    title: str
    unit: str
    column: str
    benchmark: str
    of: Callable[[Row], Interval | None]


def metrics(sweep: Sweep, roles: dict[str, str]) -> list[Metric]:
    """What is drawn, in the order of the page."""
    found = [
        Metric(titles.title(b), "thousands a second", column(roles, b, "kops"), b, kops)
        for b in sweep.benchmarks
    ]
    found += [
        Metric(
            f"{titles.title(b)}, data",
            "MB/s of keys and values, 2^20 bytes",
            column(roles, b, "mb_per_s"),
            b,
            mb_per_s,
        )
        for b in sweep.benchmarks
    ]
    if wrote := sweep.writing:
        told = "bytes on disk beyond the data, for each entry"
        found += [
            Metric("Overhead", told, OVERHEAD, wrote, _one(sweeps.overhead_bytes)),
            Metric("Database", "bytes on disk", DATABASE_BYTES, wrote, _one(_on_disk)),
        ]
    return found


def kops(row: Row) -> Interval | None:
    """Thousands of operations or entries a second."""
    s = row.summary
    return (s.median / 1e3, s.low / 1e3, s.high / 1e3) if s else None


def mb_per_s(row: Row) -> Interval | None:
    """Keys and values in 2^20 bytes a second."""
    moved, s = sweeps.bytes_per_op(row), row.summary
    if not moved or not s:
        return None
    return s.median * moved / MB, s.low * moved / MB, s.high * moved / MB


def _on_disk(row: Row) -> float | None:
    return row.used.disk_bytes


def _one(of: Callable[[Row], float | None]) -> Callable[[Row], Interval | None]:
    """A figure without an interval, of a row with a rate."""

    def found(row: Row) -> Interval | None:
        number = of(row) if row.summary else None
        return None if number is None else (number, number, number)

    return found
