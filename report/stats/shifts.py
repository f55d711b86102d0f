"""How large a change is, how sure that is, and how many pairs a size needs.

A shift is the log of the ratio of times per operation, b over a: above 0 is slower.
Arrays are those of aligned_ranks: (..., rounds, 2).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.stats import norm

from report.stats.aligned_ranks import Floats, logs_of_rounds, p_slower

# Found with this probability is what the figures of planning call found.
POWER = 0.95
# Pairs that a rank test among drift and outliers needs beyond the ideal ones: a
# share of them, and some that make up for outliers, more for a stricter test.
# Source: simulation, ERROR_RATES.md, "Pairs needed".
_MORE = 1.2
_LOST, _LOST_PER_LOG = 1.5, 1.5
_STEPS = 40  # of a bisection: to the precision of the ranks' rounding
_MAD = 1.4826  # a median absolute deviation as a standard deviation, if normal


def as_log(share: float) -> float:
    """A change of the time per operation, as a share, as a shift; 0.05 is slower."""
    return math.log1p(share)


def as_share(log: float) -> float:
    """A shift as a share of the time per operation: the inverse of as_log."""
    return math.expm1(log)


def shift(a: Any, b: Any) -> Floats:
    """The median of all differences b - a within the rounds, four of each round.

    Hodges and Lehmann's estimate, kept inside the blocks.
    """
    return np.asarray(np.median(_differences(a, b), axis=-1))


def interval(a: Any, b: Any, confidence: float) -> tuple[Floats, Floats]:
    """The shifts that the test does not reject, two-sided: low and high.

    Both are nan where there are too few rounds for the test to reject anything at
    this confidence (a share: 0.95 needs 3).
    """
    one, other = logs_of_rounds(a, b)
    limit = (1 - confidence) / 2
    bounds = _boundary(np.stack([one, other]), np.stack([other, one]), limit)
    low, high = bounds[0], -bounds[1]
    if one.shape[-2] < _least_rounds(limit):
        low, high = np.full_like(low, np.nan), np.full_like(high, np.nan)
    return low, high


def sigma_log(a: Any, b: Any) -> Floats:
    """A robust standard deviation of one pair's log ratio; nan of fewer than 3 pairs.

    1.4826 times the median absolute deviation about the median.  A pair is the
    first process of each side in a round, and the second of each.
    """
    one, other = logs_of_rounds(a, b)
    pairs = (other - one).reshape(*one.shape[:-2], -1)
    if pairs.shape[-1] < 3:
        return np.full(pairs.shape[:-1], np.nan)
    centre = np.median(pairs, axis=-1, keepdims=True)
    return np.asarray(_MAD * np.median(np.abs(pairs - centre), axis=-1))


def pairs_for(sigma: float, effect: float, alpha: float = 0.01) -> int:
    """The pairs that find a slowdown of `effect` (a share) with probability POWER.

    By a one-sided test at `alpha`.  The ideal number is that of a normal test:
    (deviations * sigma / ln(1 + effect))^2.
    """
    ideal = (_deviations(alpha) * sigma / as_log(effect)) ** 2
    return math.ceil(_MORE * ideal + _lost(alpha))


def smallest_effect(
    sigma: float, pairs: int, alpha: float = 0.01, least: float = 0.0
) -> float | None:
    """The slowdown, as a share, that so many pairs find with probability POWER.

    The inverse of pairs_for(), where the estimate must also reach `least` (a
    share); None where outliers alone can hide any.
    """
    left = pairs - _lost(alpha)
    if left < 1:
        return None
    error = sigma * math.sqrt(_MORE / left)
    significant = _deviations(alpha) * error
    return as_share(max(significant, as_log(least) + float(norm.ppf(POWER)) * error))


def _deviations(alpha: float) -> float:
    """How many standard errors away an effect is found; 3.97 at 1 %."""
    return max(0.0, float(norm.isf(alpha) + norm.ppf(POWER)))


def _lost(alpha: float) -> float:
    return _LOST - _LOST_PER_LOG * math.log(alpha)


def _differences(a: Any, b: Any) -> Floats:
    one, other = logs_of_rounds(a, b)
    differences = other[..., None, :] - one[..., :, None]
    return differences.reshape(*one.shape[:-2], -1)


def _least_rounds(limit: float) -> int:
    """One labelling of 6**rounds is the most extreme of all."""
    return math.ceil(-math.log(limit) / math.log(6) - 1e-9)


def _boundary(a: Floats, b: Floats, limit: float) -> Floats:
    """The shift above which the test stops saying that b is slower than that.

    Taking a shift from b lowers its aligned ranks, so that the statistic falls as
    the shift grows: below the least difference all b are the slower ones, above
    the largest none is.
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
