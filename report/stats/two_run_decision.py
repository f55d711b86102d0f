"""The verdict on one cell of two runs: the rule of `kvmatrix compare`.

Shifts are logs of the ratio of times per operation, new over base.  Shares are of the
time per operation: 5 % slower means 4.8 % fewer operations per second.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, replace

from report.model.judgement import Judgement, Verdict
from report.stats.shifts import as_log, as_share, pairs_for, smallest_effect
from report.stats.unpaired import Unpaired, highest_confidence, unpaired
from report.terms.numbers import limit, percent

_ROUNDING = 1e-9
_MANY = 100  # repetitions; if more are needed, a quieter machine is better advice
# Fewer cells of unchanged executables are not evidence about the machine.
_LEAST_UNCHANGED = 3


@dataclass(frozen=True)
class Limits:
    """The limits of a verdict, as shares.

    A change is at least `threshold`, with an interval entirely beyond `beyond` (or the
    threshold, if that is less) on the same side.  Intervals have `confidence`, or less
    if there are few repetitions; below `least_confidence` there is no verdict.
    """

    threshold: float = 0.05
    beyond: float = 0.02
    confidence: float = 0.95
    least_confidence: float = 0.9

    @property
    def margin(self) -> float:
        """The size of change that the interval must exclude."""
        return min(self.beyond, self.threshold)

    def suffices(self, confidence: float) -> bool:
        """Return True if an interval of this level allows a verdict."""
        return confidence >= self.least_confidence - _ROUNDING


def judge(
    base: Sequence[float],
    new: Sequence[float],
    noise: float | None = None,
    limits: Limits | None = None,
) -> Judgement:
    """Judge rates (operations per second, above 0; at least one of each run).

    `noise` is the difference between an engine and itself in these runs (a share),
    None if it was not measured.
    """
    limits = limits or Limits()
    change = unpaired(_times(base), _times(new), limits.confidence)
    sigma = _sigma(base, new)
    fewest = min(len(base), len(new))
    needed = None
    if sigma is not None:
        enough = repetitions_for(limits.confidence)
        needed = max(enough, pairs_for(sigma, limits.threshold))
    verdict, reason = _verdict(change, (len(base), len(new)), noise, limits)
    if verdict is Verdict.INCONCLUSIVE and not reason:
        reason = f"the interval extends beyond ±{limit(limits.threshold)}"
        if needed is not None and needed > fewest:
            number = f"about {needed}" if needed <= _MANY else f"more than {_MANY}"
            reason += f": {number} repetitions per run are needed"
    return Judgement(
        verdict=verdict,
        log_shift=change.log_shift,
        log_low=change.log_low,
        log_high=change.log_high,
        confidence=change.confidence,
        p_slower=change.p_slower,
        p_faster=change.p_faster,
        pairs=fewest,
        sigma_log=sigma,
        smallest_effect=None if sigma is None else smallest_effect(sigma, fewest),
        pairs_needed=needed,
        reason=reason,
    )


def beyond_unchanged(judgement: Judgement, moved: Sequence[float]) -> Judgement:
    """Return the judgement, but inconclusive if unchanged cells moved as much.

    `moved` has the differences of other cells between the two runs, whose executables
    are the same (0.03 is 3 %, in either direction).  A change must exceed nine tenths
    of them; of few, the largest is ignored as chance.
    """
    changed = judgement.verdict in (Verdict.REGRESSED, Verdict.IMPROVED)
    if len(moved) < _LEAST_UNCHANGED or not changed:
        return judgement
    rank = min(-(-len(moved) * 9 // 10), len(moved) - 1)
    noise = sorted(moved)[rank - 1]
    if as_share(abs(judgement.log_shift)) > noise:
        return judgement
    reason = f"unchanged executables moved by {percent(noise)} or more as well"
    return replace(judgement, verdict=Verdict.INCONCLUSIVE, reason=reason)


def repetitions_for(confidence: float) -> int:
    """Return the least repetitions per run that allow this level: 4 for 95 %."""
    count = 1
    while highest_confidence(count, count) < confidence - _ROUNDING:
        count += 1
    return count


def _verdict(
    change: Unpaired, counts: tuple[int, int], noise: float | None, limits: Limits
) -> tuple[Verdict, str]:
    """Return the verdict and why it is inconclusive, "" if the interval is too wide."""
    if not limits.suffices(change.confidence):
        enough = repetitions_for(limits.least_confidence)
        level = limit(limits.least_confidence)
        reason = f"too few repetitions for an interval of {level}: {counts[0]} and"
        reason += f" {counts[1]}, but {enough} and {enough} are needed"
        return Verdict.INCONCLUSIVE, reason
    threshold, margin = as_log(limits.threshold), as_log(limits.margin)
    slower = change.log_shift > 0
    nearest = change.log_low if slower else -change.log_high
    large = abs(change.log_shift) >= threshold - _ROUNDING
    if large and nearest > margin:
        if noise is not None and as_share(abs(change.log_shift)) <= noise:
            reason = f"within the noise of these runs: {percent(noise)}"
            return Verdict.INCONCLUSIVE, f"{reason} between one engine and itself"
        return Verdict.REGRESSED if slower else Verdict.IMPROVED, ""
    if max(abs(change.log_low), abs(change.log_high)) <= threshold:
        return Verdict.UNCHANGED, ""
    if nearest > margin:
        side = "slower" if slower else "faster"
        return Verdict.INCONCLUSIVE, f"{side}, but not by {limit(limits.threshold)}"
    return Verdict.INCONCLUSIVE, ""


def _times(rates: Sequence[float]) -> list[float]:
    return [1e9 / rate for rate in rates]


def _sigma(base: Sequence[float], new: Sequence[float]) -> float | None:
    """Return the standard deviation of one pair's log ratio; None if it is unknown."""
    samples = [sample for sample in (base, new) if len(sample) > 1]
    if not samples:
        return None
    squares = sum(
        statistics.variance([math.log(rate) for rate in sample]) * (len(sample) - 1)
        for sample in samples
    )
    freedom = sum(len(sample) - 1 for sample in samples)
    return math.sqrt(2 * squares / freedom)
