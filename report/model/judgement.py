"""What can be said of a change: a verdict, its size, and how sure that is.

Sizes are logarithms of the ratio of times per operation, new over base: above 0 is
slower.  People are shown the change of the rate, where below 0 is slower.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum

# Verdicts on a count of work, which is exact.
MORE, LESS, SAME, NOT_GATED = "more", "less", "same", "not gated"


class Verdict(StrEnum):
    """What a comparison says of one cell; "inconclusive" is not "unchanged"."""

    REGRESSED = "regressed"
    IMPROVED = "improved"
    UNCHANGED = "unchanged"
    INCONCLUSIVE = "inconclusive"


@dataclass(frozen=True)
class Judgement:
    """One change and the evidence for it.

    `log_low` to `log_high` is the interval at `confidence` (a share, 0.95), None if
    there is too little for any.  `p_slower` and `p_faster` are one-sided.
    `sigma_log` is a robust standard deviation of one pair's log ratio;
    `smallest_effect` is the slowdown, as a share, that as many pairs of such noise
    would have shown, `pairs_needed` the pairs that would show 5 %.
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
    reason: str = ""  # in words, where the figures do not say it all

    @property
    def rate_change(self) -> float:
        """Change of ops/s as a share: -0.05 is 5 % slower."""
        return _share(-self.log_shift)

    @property
    def time_change(self) -> float:
        """Change of the time per operation as a share: 0.05 is 5 % slower."""
        return _share(self.log_shift)

    @property
    def rate_interval(self) -> tuple[float, float] | None:
        """The interval of rate_change, low to high."""
        if self.log_low is None or self.log_high is None:
            return None
        return _share(-self.log_high), _share(-self.log_low)


def _share(log_ratio: float) -> float:
    """Return a log of a ratio as a share; what no float can hold is infinite."""
    return math.expm1(log_ratio) if log_ratio < _MOST else math.inf


_MOST = 700.0  # e^700 is a float
