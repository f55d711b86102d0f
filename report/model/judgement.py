"""The judgement of a change: a verdict, the size of the change and its confidence.

Sizes are logarithms of the ratio of times per operation, new over base: above 0 is
slower.  Reports show the change of the rate instead, where below 0 is slower.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum

# Verdicts on a count of work, which is exact.
MORE, LESS, SAME, NOT_GATED = "more", "less", "same", "not gated"


class Verdict(StrEnum):
    """The verdict on one cell; "inconclusive" does not mean "unchanged"."""

    REGRESSED = "regressed"
    IMPROVED = "improved"
    UNCHANGED = "unchanged"
    INCONCLUSIVE = "inconclusive"


@dataclass(frozen=True)
class Judgement:
    """One change and the evidence for it.

    `log_low` to `log_high` is the interval at `confidence` (a share, 0.95), None if
    there is too little data.  `p_slower` and `p_faster` are one-sided.  `sigma_log` is
    a robust standard deviation of one pair's log ratio.  With such noise, this many
    pairs detect a slowdown of `smallest_effect` (a share), and `pairs_needed` pairs
    detect 5 %.
    """

    verdict: Verdict
    log_shift: float
    log_low: float | None
    log_high: float | None
    confidence: float
    p_slower: float
    p_faster: float
    pairs: int
    sigma_log: float | None = None
    smallest_effect: float | None = None
    pairs_needed: int | None = None
    reason: str = ""  # in words, if the numbers alone do not explain the verdict

    @property
    def rate_change(self) -> float:
        """The change of ops/s as a share: -0.05 is 5 % slower."""
        return share_of(-self.log_shift)

    @property
    def time_change(self) -> float:
        """The change of the time per operation as a share: 0.05 is 5 % slower."""
        return share_of(self.log_shift)

    @property
    def rate_interval(self) -> tuple[float, float] | None:
        """The interval of rate_change, low to high."""
        if self.log_low is None or self.log_high is None:
            return None
        return share_of(-self.log_high), share_of(-self.log_low)

    @property
    def time_interval(self) -> tuple[float, float] | None:
        """The interval of time_change, low to high."""
        if self.log_low is None or self.log_high is None:
            return None
        return share_of(self.log_low), share_of(self.log_high)


def share_of(log_ratio: float) -> float:
    """Return the log of a ratio as a share; infinite if it overflows."""
    return math.expm1(log_ratio) if log_ratio < _MOST else math.inf


_MOST = 700.0  # e^700 does not overflow
