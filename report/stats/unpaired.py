"""Two independent samples: repetitions of two runs at different times.

This is weaker than the aligned ranks of an A/B run, because changes of the machine
between the two runs are part of the difference.

Sources: M. Hollander and D. A. Wolfe, Nonparametric Statistical Methods, 4.1-4.3
(Mann-Whitney test, Hodges-Lehmann estimate and its interval).  benchstat's p is the
same: benchmath/anone.go of golang.org/x/perf.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from report.stats.aligned_ranks import Floats

CONFIDENCE = 0.95
_EXACT_VALUES = 40  # on each side; with more, the normal approximation
_DECIMALS = 11  # logs that differ less than their rounding errors are ties


@dataclass(frozen=True)
class Unpaired:
    """The change from the first sample to the second, and the evidence for it.

    Shifts are logs of the ratio of times per operation, above 0 is slower.
    `confidence` is the actual level of `log_low` to `log_high`: the smallest that
    reaches the requested one, or the highest that so few values allow.
    """

    log_shift: float
    log_low: float
    log_high: float
    confidence: float
    p_slower: float
    p_faster: float


def unpaired(
    base: Sequence[float], new: Sequence[float], confidence: float = CONFIDENCE
) -> Unpaired:
    """Compare times per operation; ValueError unless all are positive and finite."""
    base_logs, new_logs = _logs(base), _logs(new)
    differences = np.sort((new_logs[:, None] - base_logs[None, :]).ravel())
    excluded, level = _left_out(len(base_logs), len(new_logs), confidence)
    return Unpaired(
        log_shift=float(np.median(differences)),
        log_low=float(differences[excluded]),
        log_high=float(differences[-1 - excluded]),
        confidence=level,
        p_slower=_p_greater(new_logs, base_logs),
        p_faster=_p_greater(base_logs, new_logs),
    )


def highest_confidence(base: int, new: int) -> float:
    """Return the level of the widest interval: 0.9 for 3 and 3 values."""
    return 1 - 2 / math.comb(base + new, base)


def _logs(times: Sequence[float]) -> Floats:
    values = np.asarray(times, float)
    if values.ndim != 1 or not len(values):
        raise ValueError("a sample must have values")
    if not (np.isfinite(values).all() and (values > 0).all()):
        raise ValueError("a time per operation must be positive and finite")
    return np.asarray(np.log(values))


def _p_greater(greater: Floats, lesser: Floats) -> float:
    """Return the one-sided p of the Mann-Whitney test that `greater` is above `lesser`.

    It is exact even with ties: the share of all assignments of the pooled mean ranks.
    """
    from scipy.stats import mannwhitneyu, rankdata  # slow to import

    if max(len(greater), len(lesser)) > _EXACT_VALUES:
        tested = mannwhitneyu(
            greater, lesser, alternative="greater", method="asymptotic"
        )
        return float(tested.pvalue)
    pooled = np.round(np.concatenate([greater, lesser]), _DECIMALS)
    doubled = np.rint(2 * rankdata(pooled)).astype(int)
    shares = _sum_shares(tuple(sorted(doubled.tolist())), len(greater))
    return min(1.0, float(shares[doubled[: len(greater)].sum() :].sum()))


@functools.lru_cache(maxsize=256)
def _sum_shares(ranks: tuple[int, ...], drawn: int) -> Floats:
    """Return, by sum, the share of all draws of `drawn` ranks with that sum."""
    ways = np.zeros((drawn + 1, sum(ranks) + 1))
    ways[0, 0] = 1
    for rank in ranks:
        ways[1:, rank:] += ways[:-1, :-rank].copy()
    return np.asarray(ways[drawn] / ways[drawn].sum())


def _left_out(base: int, new: int, confidence: float) -> tuple[int, float]:
    """Return the differences to exclude at each end, and the resulting level."""
    tails = _tails_of_u(base, new)
    most = (base * new - 1) // 2
    fitting = [k for k in range(1, most + 1) if 1 - 2 * tails[k] >= confidence]
    excluded = max(fitting, default=0)
    return excluded, float(1 - 2 * tails[excluded])


def _tails_of_u(base: int, new: int) -> Floats:
    """Return P(U <= u) under the null hypothesis, for u from 0 to base * new."""
    if max(base, new) > _EXACT_VALUES:
        from scipy.special import ndtr  # slow to import

        deviation = math.sqrt(base * new * (base + new + 1) / 12)
        u = np.arange(base * new + 1)
        return np.asarray(ndtr((u + 0.5 - base * new / 2) / deviation))
    least = base * (base + 1) // 2
    shares = _sum_shares(tuple(range(1, base + new + 1)), base)
    return np.asarray(np.cumsum(shares[least : least + base * new + 1]))
