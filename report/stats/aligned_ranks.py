"""The test of an A/B run: aligned ranks, in blocks of one round.

Times are compared only within a round, since the machine drifts between rounds.  The
four logs of a round are aligned by subtracting their median.  The aligned values of
all rounds are ranked together, with mean ranks for ties, and the statistic is the sum
of the ranks of b.  Under the null hypothesis that the build does not matter, any two
of the four could have been b's: 6 equally likely labellings per round, independent
between rounds.  An A/B run uses only two of them, A B B A and B A A B, one for each of
two consecutive rounds.  Drift and the effect of the position in a round then cancel,
so that the true p is smaller if anything (ERROR_RATES.md, "Positions").

A round of a single a and a single b has 2 labellings.  The test is then a signed rank
test, in which the difference with the kth smallest size has the weight 2k - 1.

Source: J. L. Hodges and E. L. Lehmann, Rank methods for combination of independent
experiments in analysis of variance, Ann. Math. Statist. 33 (1962) 482-497.  The
moments are those of a sum drawn without replacement: if the ranks of a round have the
sample variance s2, the sum of two of the four has the variance s2.

Arrays have the shape (..., rounds, 2) or (..., rounds, 1), logs of the time per
operation; the leading axes are cells, or replicates of a simulation.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

MOST_LABELLINGS = 2**14  # of all rounds; with more, the normal approximation
_DECIMALS = 11  # aligned logs that differ less than their rounding errors are ties
_CONTINUITY = 0.5  # sums of ranks are integers, except for ties
_ROWS = 2048  # of as many sums each, enumerated at once: bounds the memory


def logs_of_rounds(a: Any, b: Any) -> tuple[Floats, Floats]:
    """Return both sides as arrays; ValueError unless finite rounds of equal sides."""
    a_logs, b_logs = np.asarray(a, float), np.asarray(b, float)
    is_alike = a_logs.ndim >= 2 and a_logs.shape == b_logs.shape
    if not is_alike or a_logs.shape[-1] not in (1, 2):
        shapes = f"{a_logs.shape}, {b_logs.shape}"
        raise ValueError(f"expected rounds of 2 + 2 or 1 + 1: {shapes}")
    if not a_logs.shape[-2]:
        raise ValueError("no rounds")
    if not (np.isfinite(a_logs).all() and np.isfinite(b_logs).all()):
        raise ValueError("log of a time is not finite")
    return a_logs, b_logs


def p_slower(a: Any, b: Any) -> Floats:
    """Return the one-sided p of "b is slower than a": small if b takes longer.

    It is exact for up to MOST_LABELLINGS, otherwise by normal approximation.
    p_slower(b, a) is the p of "b is faster".
    """
    a_logs, b_logs = logs_of_rounds(a, b)
    ranks = _aligned_ranks(a_logs, b_logs)
    if labellings(ranks.shape[-1] // 2) ** ranks.shape[-2] <= MOST_LABELLINGS:
        return _exact(ranks)
    return _approximate(ranks)


def labellings(each: int) -> int:
    """Return in how many ways half of the lines of a round can be b's."""
    return math.comb(2 * each, each)


def _aligned_ranks(a: Floats, b: Floats) -> Floats:
    """Return the ranks (..., rounds, 4) or (..., rounds, 2), with those of a first."""
    from scipy.stats import rankdata  # slow to import

    values = np.concatenate([a, b], axis=-1)
    aligned = values - np.median(values, axis=-1, keepdims=True)
    flat = np.round(aligned, _DECIMALS).reshape(*values.shape[:-2], -1)
    return np.asarray(rankdata(flat, axis=-1)).reshape(values.shape)


def _approximate(ranks: Floats) -> Floats:
    from scipy.special import ndtr  # slow to import

    each = ranks.shape[-1] // 2
    observed = ranks[..., each:].sum(axis=(-2, -1))
    mean = ranks.sum(axis=(-2, -1)) / 2
    # Of the sum of `each` drawn from twice as many, without replacement.
    variance = ranks.var(axis=-1, ddof=1).sum(axis=-1) * each / 2
    # Without variance all labellings have the same sum, and p is 1.
    deviation = np.sqrt(np.where(variance > 0, variance, np.inf))
    z = (observed - mean - _CONTINUITY) / deviation
    p = np.asarray(ndtr(-z))
    return np.where(variance > 0, p, 1.0)


def _exact(ranks: Floats) -> Floats:
    """Return the share of all labellings with at least the observed sum."""
    rounds, lines = ranks.shape[-2:]
    chosen_of = list(itertools.combinations(range(lines), lines // 2))
    # Mean ranks are multiples of 1/2: doubled, they are integers and sums are exact.
    doubled = np.rint(2 * ranks).astype(np.int16).reshape(-1, rounds, lines)
    shares = np.empty(len(doubled))
    for start in range(0, len(doubled), _ROWS):
        rows = doubled[start : start + _ROWS]
        sums = np.zeros((len(rows), 1), np.int16)
        for number in range(rounds):
            chosen = np.stack(
                [rows[:, number, chosen].sum(-1, np.int16) for chosen in chosen_of]
            )
            sums = (sums[:, :, None] + chosen.T[:, None, :]).reshape(len(rows), -1)
        observed = rows[:, :, lines // 2 :].sum(axis=(1, 2), dtype=np.int16)
        shares[start : start + _ROWS] = (sums >= observed[:, None]).mean(axis=1)
    return shares.reshape(ranks.shape[:-2])
