"""What every format is written from: the ok cells of a run, one sample each.

Cells without a rate are left out of all formats, since none has a place for them;
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

_TOLD_LATENCIES = ("p50", "p99")


@dataclass(frozen=True)
class MedianRange:
    """The median of some repetitions, and their extremes."""

    median: float
    low: float
    high: float

    @property
    def reach(self) -> float:
        """How far the extremes lie from the median, at most."""
        return max(self.median - self.low, self.high - self.median)


@dataclass(frozen=True)
class ExportedCell:
    """The repetitions of one ok cell, in order, and its latencies if it has any.

    `latencies_ns` is percentile to nanoseconds, of the one repetition that reads a
    clock for each call; percentiles that too few calls lie above are not in it.
    """

    name: CellName
    engine_version: str
    repetitions: tuple[Measurement, ...]
    latencies_ns: tuple[tuple[str, int], ...]

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
        """Of the rates."""
        return band(self.rates)

    @property
    def time_ns(self) -> MedianRange:
        """Of the times per operation."""
        return band(self.times_ns)

    @property
    def threads(self) -> int:
        """How many threads the workload had."""
        options = self.repetitions[0].record.get("options") or {}
        return int(options.get("threads") or 1)


def band(values: Sequence[float]) -> MedianRange:
    """The band of at least one value."""
    return MedianRange(statistics.median(values), min(values), max(values))


def samples(run: Run) -> tuple[ExportedCell, ...]:
    """One for each cell that has rates, in the order of the run."""
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
    """Each cell that has no rate, with its status and reason."""
    return tuple(
        f"{cell.name}: {cell.status}{': ' if cell.reason else ''}{cell.reason}"
        for cell in run.cells.values()
        if not cell.rates
    )


def _latencies(cell: Cell) -> tuple[tuple[str, int], ...]:
    found = cell.latency
    if found is None or found.status != "ok":
        return ()
    figures = latency.percentiles(found.record.get("latency_ns"))
    if figures is None:
        return ()
    told = ((name, figures.at[name]) for name in _TOLD_LATENCIES)
    return tuple((name, value) for name, value in told if value is not None)
