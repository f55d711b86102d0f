"""How far one engine leads another in a chart, and how surely.

Rounds are blocks: an engine's log time per operation is only compared with those of
the same round, since the machine drifts between rounds.  A lead is the median of the
ratios of all rounds.  It is significant if it passes three tests:

- It exceeds what the spread of the cells explains.  Three repetitions of a cell cannot
  tell how far its repetitions differ, so its spread is learnt from the whole run: a
  mean of its own, of its chart's and of the run's, weighted by how much each is based
  on (variances moderated as by G. K. Smyth, Linear models and empirical Bayes methods
  for assessing differential expression, Stat. Appl. Genet. Mol. Biol. 3 (2004) 1, with
  fixed weights), but at least its chart's: a chart can be noisier than its run.
- The engine is ahead in nearly every round.  This is a sign test: it needs no spread,
  so it favours neither the noisier engine nor the quieter one.  In fewer than nine
  rounds it says little, so the worst rounds must also exceed a multiple of what the
  spread explains, which limits the error for one noisy engine in a quiet chart.
- It exceeds what the position of the machine code moves, by a standard error.

Where the first test fails, a sign test at the level EXACT can take its place: a small
run cannot learn a spread.

The error rates are measured by simulation: ERROR_RATES.md, "Engines of one run".

Arrays of times have the shape (..., engines, rounds): logs of the time per operation,
of at least two engines and two rounds.  Leading axes are charts, or replicates of a
simulation.
"""

from __future__ import annotations

import functools
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
# One-sided levels: of the test of the spread, of intervals, and of the sign tests.
ALPHA, INTERVAL_ALPHA = 0.05, 0.025
SIGNS, EXACT = 0.02, 0.005
POWER = 0.8  # of the smallest lead
_NORMAL_POWER = _NORMAL.inv_cdf(POWER)
# The least lead, a log: 3 %.  Where a linker puts the functions of one engine moves its
# rates by up to that much (ERROR_RATES.md, "The least lead").
LEAST_LEAD = math.log(1.03)
# Of fewer rounds than nine: in how many the engine may be behind, and how many times
# `least` the mean of so many of the worst others must exceed.  By simulation: where one
# of two equal engines has five times the noise of its chart, 4 % of charts have a
# winner.
_FEW_ROUNDS = {
    3: (0, 1, 1.7),
    4: (0, 1, 1.0),
    5: (0, 2, 0.6),
    6: (0, 1, 0.0),
    7: (1, 1, 0.85),
    8: (1, 1, 0.35),
}
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
    """Return the spreads of a chart's cells, from spreads() and the run's spread.

    None is below the mean of its chart.
    """
    engines = own.shape[-1]
    chart = own.mean(axis=-1, keepdims=True)
    weights = _RUN, _CHART * engines * (rounds - 1), _OWN * (rounds - 1)
    squares = np.asarray(run)[..., None] ** 2, chart**2, own**2
    total = sum(w * s for w, s in zip(weights, squares, strict=True))
    return np.asarray(np.maximum(np.sqrt(total / sum(weights)), chart))


def freedom(engines: int, rounds: int) -> float:
    """Return the degrees of freedom that a chart adds to the run's spread."""
    return _FREEDOM * (engines - 1) * (rounds - 1)


@dataclass(frozen=True)
class Leads:
    """The leads of each engine (second last axis) over each other one (last axis).

    `logs` are the medians of the ratios: logs of the ratio of times per operation,
    above 0 if the first engine is faster.  `errors` are their standard errors.  A lead
    must exceed `least` (a log).  `margins` are half the width of its interval at 95 %.
    `in_rounds` is true where the first engine is ahead in nearly every round, and
    `surely` where that alone proves a lead.  `smallest` is the lead (a log) that is
    significant with the probability POWER.
    """

    logs: Floats
    errors: Floats
    least: Floats
    margins: Floats
    in_rounds: Flags
    surely: Flags
    smallest: Floats

    @property
    def significant(self) -> Flags:
        """True where the first engine is faster than the second."""
        exceeds = (self.logs > self.least) | self.surely
        above_layout = self.logs > LEAST_LEAD + self.errors
        return np.asarray(exceeds & self.in_rounds & above_layout)

    def level(self, limit: float) -> Flags:
        """Return True where the two differ by less than `limit` (a log)."""
        return np.asarray(np.abs(self.logs) + self.margins < limit)


def leads(times: Any, spread: Floats, run_freedom: float) -> Leads:
    """Return the leads in a chart, from moderated spreads (..., engines).

    `run_freedom` is the sum of freedom() over the charts of the run.
    """
    from scipy.special import stdtrit  # slow to import

    logs = np.asarray(times, float)
    rounds = logs.shape[-1]
    ratios = np.sort(logs[..., None, :, :] - logs[..., :, None, :], axis=-1)
    medians = np.median(ratios, axis=-1)
    both = np.sqrt(spread[..., :, None] ** 2 + spread[..., None, :] ** 2)
    errors = both * math.sqrt(_of_median(rounds))
    least = -stdtrit(run_freedom, ALPHA) * errors
    lost = _most_lost(rounds, EXACT)
    surely = ratios[..., lost] > 0 if lost is not None else np.zeros_like(errors, bool)
    return Leads(
        logs=medians,
        errors=errors,
        least=least,
        margins=-stdtrit(run_freedom, INTERVAL_ALPHA) * errors,
        in_rounds=_ahead_in_rounds(ratios, least),
        surely=surely,
        smallest=_smallest(errors, least, rounds),
    )


def rounds_to_show(lead: float, error: float, rounds: int, most: int) -> int | None:
    """Return about how many rounds show a lead (a log) with the probability POWER.

    `error` is its standard error in these rounds.  None: more than `most`.
    """
    spread = error / math.sqrt(_of_median(rounds))
    for count in range(rounds + 1, most + 1):
        errors = np.asarray(spread * math.sqrt(_of_median(count)))
        if _smallest(errors, -_NORMAL.inv_cdf(ALPHA) * errors, count) <= lead:
            return count
    return None


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


def _smallest(errors: Floats, least: Floats, rounds: int) -> Floats:
    """Return the lead that passes all tests with the probability POWER."""
    by_spread = np.maximum(least, LEAST_LEAD + errors) + _NORMAL_POWER * errors
    *_, times = _rule_of_rounds(rounds)
    worst, mean = _below_zero(rounds)
    of_ratios = errors / math.sqrt(_of_median(rounds))
    by_rounds = np.maximum(worst * of_ratios, times * least + mean * of_ratios)
    return np.maximum(by_spread, by_rounds)


def _ahead_in_rounds(ratios: Floats, least: Floats) -> Flags:
    """Return True where sorted ratios (..., rounds) are nearly all leads."""
    allowed, worst, times = _rule_of_rounds(ratios.shape[-1])
    mean = ratios[..., allowed : allowed + worst].mean(axis=-1)
    return np.asarray((ratios[..., allowed] > 0) & (mean >= times * least))


def _rule_of_rounds(rounds: int) -> tuple[int, int, float]:
    """Return the rounds that may be lost, and the rule for the worst of the others."""
    if rounds in _FEW_ROUNDS:
        return _FEW_ROUNDS[rounds]
    return _most_lost(rounds, SIGNS) or 0, 1, 0.0


def _most_lost(rounds: int, level: float) -> int | None:
    """Return in how many rounds an engine may be behind by the sign test at a level.

    None if not even a lead in every round would be significant.
    """
    lost, cases = None, 0
    for behind in range(rounds):
        cases += math.comb(rounds, behind)
        if cases > level * 2**rounds:
            break
        lost = behind
    return lost


@functools.cache
def _below_zero(rounds: int) -> tuple[float, float]:
    """Return how far the worst counted ratio, and the mean of the worst, are below 0.

    In standard deviations, where there is no lead.  Another test must be passed as
    well: hence the root of POWER.
    """
    allowed, worst, _ = _rule_of_rounds(rounds)
    ratios = np.sort(np.random.default_rng(1).standard_normal((4000, rounds)), axis=-1)
    counted = ratios[:, allowed : allowed + worst]
    low = np.quantile([counted[:, 0], counted.mean(axis=-1)], 1 - math.sqrt(POWER), 1)
    return float(-low[0]), float(-low[1])
