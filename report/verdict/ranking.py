"""The rankings of a chart: who is compared with whom, and with what verdict."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from report.terms.class_stamp import KnownClass
from report.verdict.metric import Metric


class Outcome(Enum):
    """What a chart shows about its ranked engines."""

    WIN = "wins"
    LEVEL = "level"
    UNDECIDED = "undecided"
    UNCONTESTED = "uncontested"  # only one engine has a value


@dataclass(frozen=True)
class ChartVerdict:
    """The verdict of a chart; `leaders` has the engine with the best median first.

    The other leaders are those that it is not shown to be ahead of.  Leads below
    `smallest` (a share) can be missed.  If undecided, `doubt` is the reason, or "" if
    the leads are too small: then about `needed` repetitions would decide, None if more
    than a hundred.

    In a run of many machines, `behind` has the interval of how many times as long each
    other engine needs as the first.  `split` has each engine that is faster than the
    first on some machines, with those, where machines are shown to disagree.
    """

    outcome: Outcome
    leaders: tuple[str, ...]
    doubt: str = ""
    smallest: float = 0.0
    needed: int | None = None
    behind: Mapping[str, tuple[float, float]] = dataclasses.field(default_factory=dict)
    split: Mapping[str, tuple[str, ...]] = dataclasses.field(default_factory=dict)


@dataclass(frozen=True)
class Ranking:
    """The engines of a chart that may be compared, by one metric.

    `group` is what they have in common, "" if all engines of the chart have it.
    `classes` has what the writes of each keep; {} of reads.

    Engines are compared by `aligned_ns`: on several machines, medians of ratios within
    blocks times a constant, since a median of times depends on who measured what; on
    one, the medians.
    """

    metric: Metric
    group: str
    medians_ns: Mapping[str, float]  # by engine, in run order
    verdict: ChartVerdict
    aligned_ns: Mapping[str, float]  # the same, from ratios within blocks
    classes: Mapping[str, KnownClass] = dataclasses.field(default_factory=dict)

    @property
    def best_ns(self) -> float | None:
        """The least aligned median, None unless at least two engines have one."""
        return min(self.aligned_ns.values()) if len(self.aligned_ns) > 1 else None

    @property
    def winner(self) -> str:
        """The engine that wins, or ""."""
        won = self.verdict.outcome is Outcome.WIN
        return self.verdict.leaders[0] if won else ""

    def off_best(self, engine: str) -> float | None:
        """Return how many times the best median an engine needs, None if unranked."""
        own, best = self.aligned_ns.get(engine), self.best_ns
        return own / best if own and best else None

    def is_led_by(self, engine: str) -> bool:
        """Return True if an engine wins or is level with the best."""
        is_shown = self.verdict.outcome in (Outcome.WIN, Outcome.LEVEL)
        return is_shown and engine in self.verdict.leaders


def shown_by(
    engine: str, accepted: Sequence[Ranking], finished: Sequence[Ranking] = ()
) -> tuple[Ranking | None, Ranking | None]:
    """Return the accepted and the finished ranking that an engine is shown by.

    Rankings are the widest first.  It is the widest in which the engine leads by one of
    the two, else the narrowest that has a rival.  None: the engine is in none.
    """
    own = [ranking for ranking in accepted if engine in ranking.medians_ns]
    also = {r.group: r for r in finished if engine in r.medians_ns}
    for ranking in own:
        other = also.get(ranking.group)
        if ranking.is_led_by(engine) or (other and other.is_led_by(engine)):
            return ranking, other
    contested = [ranking for ranking in own if len(ranking.medians_ns) > 1]
    shown = next(reversed(contested or own), None)
    if shown is None:
        return None, shown_by(engine, finished)[0] if finished else None
    return shown, also.get(shown.group)
