"""The ok cells of a run, from which every format here is written.

Cells without a rate are left out because none of the formats can hold them;
left_out() names them.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from report.model.plan import CellName
from report.model.run import Cell, Measurement, Run
from report.stats import latency

_PERCENTILES = ("p50", "p99")


@dataclass(frozen=True)
class MedianRange:
    """The median and the extremes of some repetitions."""

    median: float
    low: float
    high: float

    @property
    def reach(self) -> float:
        """The larger distance of an extreme from the median."""
        return max(self.median - self.low, self.high - self.median)


@dataclass(frozen=True)
class ExportedCell:
    """The repetitions of one ok cell, in order, and its latencies if it has any.

    `latencies_ns` holds (percentile, nanoseconds), medians of the repetitions that
    read the clock for each call, without percentiles that too few calls lie above.
    """

    name: CellName
    engine_version: str
    repetitions: tuple[Measurement, ...]
    latencies_ns: tuple[tuple[str, float], ...]

    @cached_property
    def rates(self) -> tuple[float, ...]:
        """Operations per second."""
        return tuple(rate for m in self.repetitions if (rate := m.ops_per_sec))

    @cached_property
    def times_ns(self) -> tuple[float, ...]:
        """Nanoseconds per operation."""
        return tuple(1e9 / rate for rate in self.rates)

    @property
    def rate(self) -> MedianRange:
        """The median and the extremes of the rates, in ops/s."""
        return band(self.rates)

    @property
    def time_ns(self) -> MedianRange:
        """The median and the extremes of the times per operation, in ns."""
        return band(self.times_ns)

    @property
    def threads(self) -> int:
        """The number of threads of the workload."""
        options = self.repetitions[0].record.get("options") or {}
        return int(options.get("threads") or 1)


def band(values: Sequence[float]) -> MedianRange:
    """Return the median and the extremes of one value or more."""
    return MedianRange(statistics.median(values), min(values), max(values))


def samples(run: Run) -> tuple[ExportedCell, ...]:
    """Return each cell that has a rate, in the order of the run."""
    versions = {engine.name: engine.version for engine in run.plan.engines}
    return tuple(
        ExportedCell(
            cell.name,
            versions[cell.name.engine],
            tuple(m for m in cell.repetitions if m.ops_per_sec),
            _latencies(cell),
        )
        for cell in run.cells.values()
        if cell.rates
    )


def left_out(run: Run) -> tuple[str, ...]:
    """Return each cell that has no rate, with its status and reason."""
    return tuple(
        f"{cell.name}: {cell.status}{': ' if cell.reason else ''}{cell.reason}"
        for cell in run.cells.values()
        if not cell.rates
    )


def _latencies(cell: Cell) -> tuple[tuple[str, float], ...]:
    summary = latency.percentiles(*(m.record.get("latency_ns") for m in cell.timed))
    if summary is None:
        return ()
    pairs = ((name, summary.at[name]) for name in _PERCENTILES)
    return tuple((name, value) for name, value in pairs if value is not None)
