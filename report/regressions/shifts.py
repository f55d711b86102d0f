"""How large a change is, how sure that is, and how many pairs a size needs.

A shift is the log of the ratio of times per operation, b over a: above 0 is slower.
Arrays are those of aligned_ranks: (..., rounds, 2).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from report.regressions.aligned_ranks import Floats, logs_of_rounds, p_slower

# A one-sided test at 1 % finds with 95 % probability what is as many standard
# deviations away: 2.326 + 1.645, the normal quantiles of 0.99 and 0.95.
_DEVIATIONS = 3.971
# What a rank test among drift and outliers needs more than the ideal one.  Source:
# simulation, REGRESSIONS.md "Pairs needed".
SPARE = 1.5
_STEPS = 46  # of a bisection: beyond the precision of the ranks' rounding
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
    low = _boundary(one, other, limit)
    high = np.maximum(low, -_boundary(other, one, limit))
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


def pairs_for(sigma: float, effect: float) -> int:
    """The pairs that find a slowdown of `effect` (a share) with 95 % probability.

    For a test at 1 %; at least 1.
    """
    return max(1, math.ceil(SPARE * (_DEVIATIONS * sigma / as_log(effect)) ** 2))


def smallest_effect(sigma: float, pairs: int) -> float:
    """The slowdown, as a share, that so many pairs find with 95 % probability."""
    return as_share(_DEVIATIONS * sigma * math.sqrt(SPARE / pairs))


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
