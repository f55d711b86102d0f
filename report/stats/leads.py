"""How far one engine leads another in a chart, and how surely.

Rounds are blocks: an engine's log time per operation is only compared with those of
the same round, since the machine drifts between rounds.  A lead is estimated twice,
from the median of the ratios of all rounds and from the faster half of each engine's
rounds, and must be significant in both: other activity makes repetitions slower, never
faster, so a lead that only a rival's slow repetitions make is no lead.  (The other
engines of a round show whether the round was slow; with two or three engines, these
cannot be told from a rival's slow repetitions.)

Three repetitions of a cell cannot tell how far its repetitions differ.  The spread of
a cell is therefore learnt from the whole run: a mean of its own spread, of its chart's
and of the run's, weighted by how much each is based on (variances moderated as by
G. K. Smyth, Linear models and empirical Bayes methods for assessing differential
expression, Stat. Appl. Genet. Mol. Biol. 3 (2004) 1, with fixed weights).

The error rates are measured by simulation: ERROR_RATES.md, "Engines of one run".

Arrays of times have the shape (..., engines, rounds): logs of the time per operation,
of at least two engines and two rounds.  Leading axes are charts, or replicates of a
simulation.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from report.stats.aligned_ranks import Floats

Flags = NDArray[np.bool_]

_NORMAL = NormalDist()
# One-sided levels of the two tests.  Both must reject, so the second can be weaker.
ALPHA, MEDIAN_ALPHA = 0.01, 0.025
POWER = 0.8  # of the smallest difference
# Weights of spreads, in degrees of freedom: of the run's, and for each repetition
# but the first of a cell, of the chart's and of its own.
_RUN, _CHART, _OWN = 20.0, 0.25, 1.0
# Degrees of freedom of the run's spread, per repetition but the first of a cell.
_FREEDOM = 0.4


def spreads(times: Any) -> Floats:
    """Return each cell's own spread (..., engines): the deviation of one log time.

    It is the distance from the median to the faster quartile of the engine's ratios
    to the median of the other engines of the round, as a standard deviation.  A slow
    outlier does not change it.
    """
    logs = np.asarray(times, float)
    engines, rounds = logs.shape[-2:]
    ratios = np.sort(logs - _medians_of_others(logs), axis=-1)
    quartile = _faster_quartile(rounds)
    distance = np.median(ratios, axis=-1) - ratios[..., quartile - 1]
    # Blom's approximation of a normal order statistic.
    expected = -_NORMAL.inv_cdf((quartile - 0.375) / (rounds + 0.25))
    return np.asarray(distance / (expected * math.sqrt(1 + _of_median(engines - 1))))


def moderated(own: Floats, run: Any, rounds: int) -> Floats:
    """Return the spreads of a chart's cells, from spreads() and the run's spread."""
    engines = own.shape[-1]
    chart = own.mean(axis=-1, keepdims=True)
    weights = _RUN, _CHART * engines * (rounds - 1), _OWN * (rounds - 1)
    squares = np.asarray(run)[..., None] ** 2, chart**2, own**2
    total = sum(w * s for w, s in zip(weights, squares, strict=True))
    return np.asarray(np.sqrt(total / sum(weights)))


def freedom(engines: int, rounds: int) -> float:
    """Return the degrees of freedom that a chart adds to the run's spread."""
    return _FREEDOM * (engines - 1) * (rounds - 1)


@dataclass(frozen=True)
class Leads:
    """The leads of each engine (second last axis) over each other one (last axis).

    `logs` are the medians of the ratios, `half_logs` the ratios of the faster halves:
    logs of the ratio of times per operation, above 0 if the first engine is faster.
    `margins` and `half_margins` are how far a lead must be from 0 to be significant.
    `errors` are the standard errors of `logs`.
    """

    logs: Floats
    half_logs: Floats
    margins: Floats
    half_margins: Floats
    errors: Floats

    @property
    def significant(self) -> Flags:
        """True where the first engine is faster than the second."""
        by_median = self.logs > self.margins
        return np.asarray(by_median & (self.half_logs > self.half_margins))

    def level(self, limit: float) -> Flags:
        """Return True where the two differ by less than `limit` (a log)."""
        by_median = np.abs(self.logs) + self.margins
        by_half = np.abs(self.half_logs) + self.half_margins
        return np.asarray(np.maximum(by_median, by_half) < limit)

    @property
    def smallest(self) -> Floats:
        """The lead (a log) that is significant with probability POWER."""
        least = np.maximum(self.margins, self.half_margins)
        return np.asarray(least + _NORMAL.inv_cdf(POWER) * self.errors)


def leads(times: Any, spread: Floats, run_freedom: float) -> Leads:
    """Return the leads in a chart, from moderated spreads (..., engines).

    `run_freedom` is the sum of freedom() over the charts of the run.
    """
    from scipy.special import stdtrit  # slow to import

    logs = np.asarray(times, float)
    rounds = logs.shape[-1]
    ratios = logs[..., None, :, :] - logs[..., :, None, :]
    aligned = logs - np.median(logs, axis=-2, keepdims=True)
    fast = np.sort(aligned, axis=-1)[..., : rounds // 2 + 1].mean(axis=-1)
    both = np.sqrt(spread[..., :, None] ** 2 + spread[..., None, :] ** 2)
    errors = both * math.sqrt(_of_median(rounds))
    half_errors = both * math.sqrt(_of_faster_half(rounds))
    return Leads(
        logs=np.median(ratios, axis=-1),
        half_logs=fast[..., None, :] - fast[..., :, None],
        margins=-stdtrit(run_freedom, MEDIAN_ALPHA) * errors,
        half_margins=-stdtrit(run_freedom, ALPHA) * half_errors,
        errors=errors,
    )


def by_machine(times: Any, machines: Sequence[str]) -> dict[str, Leads]:
    """Return the leads on each machine, with the spread within machines.

    `machines` has the machine of each round of `times` (engines, rounds).  {} of one
    machine, and without a spread: no machine has two rounds.
    """
    logs, owners = np.asarray(times, float), np.asarray(machines)
    names, rounds = sorted({*machines}), len(machines)
    run_freedom = rounds - len(names)
    if run_freedom < 1 or len(names) < 2:
        return {}
    means = [logs[:, owners == m].mean(axis=1) for m in machines]
    within = logs - np.stack(means, axis=1)
    spread = spreads(within) * math.sqrt(rounds / run_freedom)
    return {m: leads(logs[:, owners == m], spread, run_freedom) for m in names}


def _medians_of_others(logs: Floats) -> Floats:
    engines = logs.shape[-2]
    others = [np.delete(logs, engine, axis=-2) for engine in range(engines)]
    return np.stack([np.median(o, axis=-2) for o in others], axis=-2)


def _faster_quartile(rounds: int) -> int:
    """Return the rank of the faster quartile, by nearest rank."""
    return -(-rounds // 4)


def _of_median(count: int) -> float:
    """Return the variance of the median of standard normal numbers, nearly."""
    return math.pi / (2 * count + math.pi - 2)


def _of_faster_half(count: int) -> float:
    """Return the variance of the mean of the least half of them, nearly."""
    return (2 - 2 / math.pi) / (count + 0.5)
