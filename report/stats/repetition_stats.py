"""Statistics of repetitions: medians, intervals, verdicts and ratios.

Rates are in operations per second: more is better.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum


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

    def overlaps(self, other: Summary) -> bool:
        """Return True if the two intervals have a point in common."""
        return self.low <= other.high and other.low <= self.high


class ChartOutcome(Enum):
    """The outcome of a chart: whether one engine is the fastest."""

    WIN = "win"
    TIE = "tie"
    SINGLE = "single"  # one repetition: too few for a win
    UNPROVEN = "unproven"  # a win by the rates, but not a reliable one
    UNCONTESTED = "uncontested"  # only one engine has a rate
    NONE = "none"


@dataclass(frozen=True)
class ChartVerdict:
    """The verdict of a chart; `leaders` are the best engine and its ties, best first.

    `within_noise` is true if engines tie only because of the noise of the run, without
    overlapping intervals.  `doubt` is the reason why a win is unproven, or "".
    """

    outcome: ChartOutcome
    leaders: tuple[str, ...]
    within_noise: bool = False
    doubt: str = ""


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


def verdict(summaries: Mapping[str, Summary], noise_share: float = 0.0) -> ChartVerdict:
    """Return the winner: the engine with the best median, unless others tie with it.

    A rival ties if its interval overlaps that of the best, or if its median differs by
    at most `noise_share`, the difference between an engine and itself in this run.
    The medians of three repetitions of one binary always differ by chance.  By chance
    alone, three repetitions are rarely all faster than three of another engine; the
    machine may have been slower for one of the two.
    """
    if not summaries:
        return ChartVerdict(ChartOutcome.NONE, ())
    ranking = sorted(summaries, key=lambda name: -summaries[name].median)
    best = summaries[ranking[0]]
    if len(ranking) == 1:
        return ChartVerdict(ChartOutcome.UNCONTESTED, (ranking[0],))
    if min(s.count for s in summaries.values()) < 2:
        return ChartVerdict(ChartOutcome.SINGLE, (ranking[0],))
    reaching = [name for name in ranking[1:] if summaries[name].overlaps(best)]
    rivals = [
        name
        for name in ranking[1:]
        if name in reaching or difference(best, summaries[name]) <= noise_share
    ]
    outcome = ChartOutcome.TIE if rivals else ChartOutcome.WIN
    return ChartVerdict(outcome, (ranking[0], *rivals), bool(rivals) and not reaching)


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


def geometric_mean(ratios: Sequence[float]) -> float | None:
    """Return the geometric mean; None if `ratios` is empty."""
    if not ratios:
        return None
    return math.exp(math.fsum(math.log(r) for r in ratios) / len(ratios))


def shared_charts(rated: Mapping[str, frozenset[str]]) -> frozenset[str]:
    """Return the charts in which every engine with any rate has a rate.

    `rated` has the charts of each engine.  A mean over different charts for different
    engines would reward an engine for missing the charts where it is slow.
    """
    sets = [charts for charts in rated.values() if charts]
    return frozenset.intersection(*sets) if sets else frozenset()
