"""The size of a change, its interval, and the pairs needed to detect it.

A shift is the log of the ratio of times per operation, b over a: above 0 is slower.
Arrays have the shape of aligned_ranks: (..., rounds, 2), or (..., rounds, 1).
"""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Any

import numpy as np

from report.stats.aligned_ranks import (
    Floats,
    labellings,
    logs_of_rounds,
    p_slower,
)

_NORMAL = NormalDist()
# The probability with which an effect must be detected, for planning.
POWER = 0.95
# With drift and outliers a rank test needs more pairs than ideal: a multiple of them,
# and some that make up for outliers, which are more for a stricter test.
# Source: simulation, ERROR_RATES.md, "Pairs needed".
_MORE = 1.2
_LOST, _LOST_PER_LOG = 1.5, 1.5
_STEPS = 40  # of a bisection, down to the rounding of the ranks
_MAD = 1.4826  # median absolute deviation to standard deviation, if normal


def as_log(share: float) -> float:
    """Return a change of the time per operation (a share) as a shift."""
    return math.log1p(share)


def as_share(log: float) -> float:
    """Return a shift as a share of the time per operation: the inverse of as_log."""
    return math.expm1(log)


def shift(a: Any, b: Any) -> Floats:
    """Return the median of all differences b - a within rounds, four per round.

    This is Hodges and Lehmann's estimate, within blocks.  Of rounds of 1 + 1, it is the
    median of the means of any two differences.
    """
    return np.asarray(np.median(_differences(a, b), axis=-1))


def interval(a: Any, b: Any, confidence: float) -> tuple[Floats, Floats]:
    """Return the two-sided interval of shifts that the test does not reject.

    Both ends are nan with too few rounds for the test to reject anything at this
    confidence (a share: 0.95 needs 3 rounds of 2 + 2, or 6 of 1 + 1).
    """
    a_logs, b_logs = logs_of_rounds(a, b)
    limit = (1 - confidence) / 2
    bounds = _boundary(np.stack([a_logs, b_logs]), np.stack([b_logs, a_logs]), limit)
    low, high = bounds[0], -bounds[1]
    if a_logs.shape[-2] < _least_rounds(limit, a_logs.shape[-1]):
        low, high = np.full_like(low, np.nan), np.full_like(high, np.nan)
    return low, high


def sigma_log(a: Any, b: Any) -> Floats:
    """Return a robust standard deviation of one pair's log ratio.

    It is 1.4826 times the median absolute deviation about the median; nan for fewer
    than 3 pairs.  The first process of each side in a round form a pair, and so do the
    second ones.
    """
    a_logs, b_logs = logs_of_rounds(a, b)
    pairs = (b_logs - a_logs).reshape(*a_logs.shape[:-2], -1)
    if pairs.shape[-1] < 3:
        return np.full(pairs.shape[:-1], np.nan)
    centre = np.median(pairs, axis=-1, keepdims=True)
    return np.asarray(_MAD * np.median(np.abs(pairs - centre), axis=-1))


def pairs_for(sigma: float, effect: float, alpha: float = 0.01) -> int:
    """Return the pairs needed to detect a slowdown of `effect` with probability POWER.

    `effect` is a share; the test is one-sided at `alpha`.  The ideal number is that of
    a normal test: (deviations * sigma / ln(1 + effect))^2.
    """
    ideal = (_deviations(alpha) * sigma / as_log(effect)) ** 2
    return math.ceil(_MORE * ideal + _lost(alpha))


def smallest_effect(
    sigma: float, pairs: int, alpha: float = 0.01, least: float = 0.0
) -> float | None:
    """Return the slowdown (a share) that `pairs` pairs detect with probability POWER.

    This is the inverse of pairs_for(), except that the estimate must also reach
    `least` (a share).  None if outliers alone can hide any slowdown.
    """
    usable = pairs - _lost(alpha)
    if usable < 1:
        return None
    error = sigma * math.sqrt(_MORE / usable)
    significant = _deviations(alpha) * error
    return as_share(max(significant, as_log(least) + _NORMAL.inv_cdf(POWER) * error))


def _deviations(alpha: float) -> float:
    """Return the standard errors from 0 to a detectable effect; 3.97 at 1 %."""
    return max(0.0, _NORMAL.inv_cdf(POWER) - _NORMAL.inv_cdf(alpha))


def _lost(alpha: float) -> float:
    return _LOST - _LOST_PER_LOG * math.log(alpha)


def _differences(a: Any, b: Any) -> Floats:
    a_logs, b_logs = logs_of_rounds(a, b)
    if a_logs.shape[-1] == 1:
        each = (b_logs - a_logs)[..., 0]
        first, second = np.triu_indices(each.shape[-1])
        return np.asarray((each[..., first] + each[..., second]) / 2)
    differences = b_logs[..., None, :] - a_logs[..., :, None]
    return differences.reshape(*a_logs.shape[:-2], -1)


def _least_rounds(limit: float, each: int) -> int:
    """Return the rounds needed to reject: the smallest p is that of one labelling."""
    return math.ceil(-math.log(limit) / math.log(labellings(each)) - 1e-9)


def _boundary(a: Floats, b: Floats, limit: float) -> Floats:
    """Return the largest shift by which the test still finds b slower.

    Bisection works because subtracting a shift from b lowers its aligned ranks, so
    the statistic falls as the shift grows.  Below the smallest difference every b is
    slower than every a, and above the largest difference none is.
    """
    differences = _differences(a, b)
    low, high = differences.min(axis=-1), differences.max(axis=-1)
    margin = 1e-9 * (1 + np.abs(low) + np.abs(high))
    low, high = low - margin, high + margin
    for _ in range(_STEPS):
        middle = (low + high) / 2
        rejected = p_slower(a, b - middle[..., None, None]) <= limit
        low, high = np.where(rejected, middle, low), np.where(rejected, high, middle)
    return np.asarray((low + high) / 2)
