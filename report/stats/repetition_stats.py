"""Statistics of repetitions: medians, extremes and differences.

Rates are in operations per second: more is better.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Summary:
    """The rates of one cell's repetitions: median, extremes and count."""

    median: float
    low: float
    high: float
    count: int

    @property
    def spread(self) -> float:
        """The spread (high - low) / median: 0.05 is 5 %."""
        return (self.high - self.low) / self.median


@dataclass(frozen=True)
class Noise:
    """The difference between an engine and itself, measured twice in one run.

    Nine tenths of the charts do not exceed `share`; `largest` is that of the worst
    chart; 0.03 is 3 %.  `charts` is the number of charts.
    """

    share: float
    largest: float
    charts: int
    engine: str


def median(numbers: Iterable[float | None]) -> float | None:
    """Return the median of the known numbers; None if all are unknown."""
    values = [number for number in numbers if number is not None]
    return statistics.median(values) if values else None


def summarize(rates: Sequence[float]) -> Summary | None:
    """Return the summary of a cell's repetitions; None if `rates` is empty."""
    if not rates:
        return None
    return Summary(statistics.median(rates), min(rates), max(rates), len(rates))


def difference(a: Summary, b: Summary) -> float:
    """Return how much faster the faster median is: 0.03 is 3 %.  It is symmetric."""
    return max(a.median, b.median) / min(a.median, b.median) - 1


def noise(differences: Sequence[float], engine: str) -> Noise | None:
    """Return the noise from an engine's differences from itself, one per chart.

    The 90th percentile is by nearest rank: with up to nine charts it is the largest.
    """
    if not differences:
        return None
    ranked = sorted(differences)
    rank = -(-len(ranked) * 9 // 10)
    return Noise(ranked[rank - 1], ranked[-1], len(ranked), engine)
