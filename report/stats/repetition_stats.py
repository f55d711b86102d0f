"""Statistics of repetitions: medians, intervals, verdicts and ratios.

Rates are in operations a second, so that more is better everywhere.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum


@dataclass(frozen=True)
class Summary:
    """The repetitions of one cell: median, extremes and how many there were."""

    median: float
    low: float
    high: float
    count: int

    @property
    def spread(self) -> float:
        """(high - low) / median: 0.05 is a spread of 5 %."""
        return (self.high - self.low) / self.median

    def overlaps(self, other: Summary) -> bool:
        """Whether the two intervals share a point."""
        return self.low <= other.high and other.low <= self.high


class ChartOutcome(Enum):
    """What a chart says about who is fastest."""

    WIN = "win"
    TIE = "tie"
    SINGLE = "single"  # one repetition: fastest is known, a win is not
    UNPROVEN = "unproven"  # a win by the rates, of repetitions that prove none
    UNCONTESTED = "uncontested"  # one engine alone has a rate
    NONE = "none"


@dataclass(frozen=True)
class ChartVerdict:
    """`leaders` are the best engine and all that tie with it, best first.

    `within_noise` says of a tie that it is one by the noise of the run alone:
    no interval reaches that of the best.  `doubt` says why a win is unproven.
    """

    outcome: ChartOutcome
    leaders: tuple[str, ...]
    within_noise: bool = False
    doubt: str = ""


@dataclass(frozen=True)
class Noise:
    """How far apart one engine lies from itself, measured twice in one run.

    `share` is the difference that nine tenths of the charts do not exceed, and
    `largest` that of the worst of them; 0.03 is 3 %.  `charts` were counted.
    """

    share: float
    largest: float
    charts: int
    engine: str


def median(numbers: Iterable[float | None]) -> float | None:
    """The median of those numbers that are known; None if none of them is."""
    known = [number for number in numbers if number is not None]
    return statistics.median(known) if known else None


def summarize(rates: Sequence[float]) -> Summary | None:
    """The summary of a cell's repetitions; None if there are none."""
    if not rates:
        return None
    return Summary(statistics.median(rates), min(rates), max(rates), len(rates))


def verdict(summaries: Mapping[str, Summary], noise_share: float = 0.0) -> ChartVerdict:
    """Who wins: the best median, if nobody else can be told from it.

    A rival ties whose interval reaches the interval of the best, or whose median
    is no further away than `noise_share`, by which one engine differs from itself
    in this run.  Two medians of three repetitions of one binary differ by chance
    alone; three repetitions that all lie beyond all others of another engine
    rarely do, unless the machine was slower for one of them than for the other.
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


def difference(one: Summary, other: Summary) -> float:
    """How much faster the faster median is: 0.03 is 3 %, whoever comes first."""
    return max(one.median, other.median) / min(one.median, other.median) - 1


def noise(differences: Sequence[float], engine: str) -> Noise | None:
    """Of an engine's differences from itself, one for each chart.

    The 90th percentile is the nearest rank: of nine charts and fewer it is the
    largest.
    """
    if not differences:
        return None
    ranked = sorted(differences)
    rank = -(-len(ranked) * 9 // 10)
    return Noise(ranked[rank - 1], ranked[-1], len(ranked), engine)


def geometric_mean(ratios: Sequence[float]) -> float | None:
    """None of no ratios."""
    if not ratios:
        return None
    return math.exp(math.fsum(math.log(r) for r in ratios) / len(ratios))


def shared_charts(rated: Mapping[str, frozenset[str]]) -> frozenset[str]:
    """The charts in which every engine that has any rate has one.

    `rated` gives the charts of each engine.  A mean over different charts for
    different engines would reward leaving out the slow ones.
    """
    sets = [charts for charts in rated.values() if charts]
    return frozenset.intersection(*sets) if sets else frozenset()
