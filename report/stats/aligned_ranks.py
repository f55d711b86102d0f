"""The test of an A/B run: aligned ranks, in blocks of one round.

The times of a round are compared with each other alone, since the machine drifts
between rounds.  From the four logs of a round their median is taken away (they are
aligned); all aligned values of all rounds are ranked together, ties sharing their
mean rank; the statistic is the sum of the ranks of b.  If it did not matter which
build a process ran, any two of the four could have been b's: that is the null
distribution, 6 equally likely labellings a round, independent between rounds.  An
A/B run makes but two of them, A B B A and B A A B, and each of two rounds in turn:
drift and whatever the place in a round does then cancel, so that the true p is
smaller if anything (REGRESSIONS.md, "Places").

Source: J. L. Hodges and E. L. Lehmann, Rank methods for combination of independent
experiments in analysis of variance, Ann. Math. Statist. 33 (1962) 482-497.  The
moments are those of a sum drawn without replacement: of a round with ranks of
sample variance s2, two of four have the variance s2.

Arrays have the shape (..., rounds, 2), logs of the time per operation; the leading
axes are cells, or replicates of a simulation.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm, rankdata

Floats = NDArray[np.float64]

EXACT_ROUNDS = 5  # with more, the normal approximation
_PAIRS = tuple(itertools.combinations(range(4), 2))  # which two of a round are b's
_DECIMALS = 11  # aligned logs nearer to each other than the sums' own error are ties
_CONTINUITY = 0.5  # sums of ranks are whole numbers, apart from ties
_ROWS = 4096  # of 6**5 sums each: what is enumerated at once, to bound the memory


def logs_of_rounds(a: Any, b: Any) -> tuple[Floats, Floats]:
    """Both sides as arrays; ValueError unless they are finite rounds of two each."""
    one, other = np.asarray(a, float), np.asarray(b, float)
    if one.ndim < 2 or one.shape != other.shape or one.shape[-1] != 2:
        raise ValueError(f"not rounds of two and two: {one.shape}, {other.shape}")
    if not one.shape[-2]:
        raise ValueError("no rounds")
    if not (np.isfinite(one).all() and np.isfinite(other).all()):
        raise ValueError("a log of a time is not finite")
    return one, other


def p_slower(a: Any, b: Any) -> Floats:
    """One-sided p of "b is slower than a"; small if the times of b are long.

    Exact for at most EXACT_ROUNDS rounds, else by the normal approximation.
    p_slower(b, a) is that of "b is faster".
    """
    one, other = logs_of_rounds(a, b)
    ranks = _aligned_ranks(one, other)
    if ranks.shape[-2] <= EXACT_ROUNDS:
        return _exact(ranks)
    return _approximate(ranks)


def _aligned_ranks(a: Floats, b: Floats) -> Floats:
    """Ranks (..., rounds, 4), a's two first."""
    values = np.concatenate([a, b], axis=-1)
    aligned = values - np.median(values, axis=-1, keepdims=True)
    flat = np.round(aligned, _DECIMALS).reshape(*values.shape[:-2], -1)
    return np.asarray(rankdata(flat, axis=-1)).reshape(values.shape)


def _approximate(ranks: Floats) -> Floats:
    observed = ranks[..., 2:].sum(axis=(-2, -1))
    mean = ranks.sum(axis=(-2, -1)) / 2
    variance = ranks.var(axis=-1, ddof=1).sum(axis=-1)
    # Without variance every labelling gives the same sum.
    deviation = np.sqrt(np.where(variance > 0, variance, np.inf))
    z = (observed - mean - _CONTINUITY) / deviation
    p = np.asarray(norm.sf(z))
    return np.where(variance > 0, p, 1.0)


def _exact(ranks: Floats) -> Floats:
    """The share of all labellings whose sum reaches the observed one."""
    rounds = ranks.shape[-2]
    # Mean ranks are halves, so that doubled they are whole and sums are exact.
    doubled = np.rint(2 * ranks).astype(np.int16).reshape(-1, rounds, 4)
    shares = np.empty(len(doubled))
    for start in range(0, len(doubled), _ROWS):
        rows = doubled[start : start + _ROWS]
        sums = np.zeros((len(rows), 1), np.int16)
        for number in range(rounds):
            chosen = np.stack(
                [rows[:, number, i] + rows[:, number, j] for i, j in _PAIRS]
            )
            sums = (sums[:, :, None] + chosen.T[:, None, :]).reshape(len(rows), -1)
        observed = rows[:, :, 2:].sum(axis=(1, 2), dtype=np.int16)
        shares[start : start + _ROWS] = (sums >= observed[:, None]).mean(axis=1)
    return shares.reshape(ranks.shape[:-2])
