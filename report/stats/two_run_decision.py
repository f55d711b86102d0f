"""The verdict on one cell of two runs: the rule of `kvmatrix compare`.

Shifts are logs of the ratio of times per operation, new over base; shares are of the
time per operation: 5 % slower is 4.8 % fewer operations a second.
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
_MANY = 100  # repetitions; beyond it another machine is the better advice
# Fewer cells of unchanged executables say nothing of the machine.
_LEAST_UNCHANGED = 3


@dataclass(frozen=True)
class Limits:
    """What makes a verdict; shares.

    A change is one of at least `threshold` whose interval lies beyond `beyond` (or
    the threshold, if that is less) on the same side.  Intervals are of `confidence`,
    or of what the repetitions allow; below `least_confidence` there is no verdict.
    """

    threshold: float = 0.05
    beyond: float = 0.02
    confidence: float = 0.95
    least_confidence: float = 0.9

    @property
    def margin(self) -> float:
        """What the interval must exclude."""
        return min(self.beyond, self.threshold)

    def suffices(self, confidence: float) -> bool:
        """Whether a verdict may rest on an interval of this level."""
        return confidence >= self.least_confidence - _ROUNDING


def judge(
    base: Sequence[float],
    new: Sequence[float],
    noise: float | None = None,
    limits: Limits | None = None,
) -> Judgement:
    """Judges rates (operations per second, at least one of each, above 0).

    `noise` is by how much one engine differs from itself in these runs, None if
    that was not measured.
    """
    limits = limits or Limits()
    found = unpaired(_times(base), _times(new), limits.confidence)
    sigma = _sigma(base, new)
    fewest = min(len(base), len(new))
    needed = None
    if sigma is not None:
        enough = repetitions_for(limits.confidence)
        needed = max(enough, pairs_for(sigma, limits.threshold))
    verdict, reason = _verdict(found, (len(base), len(new)), noise, limits)
    if verdict is Verdict.INCONCLUSIVE and not reason:
        reason = f"interval wider than ±{limit(limits.threshold)}"
        if needed is not None and needed > fewest:
            number = f"about {needed}" if needed <= _MANY else f"more than {_MANY}"
            reason += f": {number} repetitions of each would tell"
    return Judgement(
        verdict=verdict,
        log_shift=found.log_shift,
        log_low=found.log_low,
        log_high=found.log_high,
        confidence=found.confidence,
        p_slower=found.p_slower,
        p_faster=found.p_faster,
        pairs=fewest,
        sigma_log=sigma,
        smallest_effect=None if sigma is None else smallest_effect(sigma, fewest),
        pairs_needed=needed,
        reason=reason,
    )


def beyond_unchanged(judgement: Judgement, moved: Sequence[float]) -> Judgement:
    """The same, unless other cells moved as far for no reason of their own.

    `moved` are by how much other cells of unchanged executables differ between the
    two runs (0.03 is 3 %, whichever is faster).  A change is one only if it exceeds
    that of nine tenths of them; the largest of few is left out too, being chance.
    """
    changed = judgement.verdict in (Verdict.REGRESSED, Verdict.IMPROVED)
    if len(moved) < _LEAST_UNCHANGED or not changed:
        return judgement
    rank = min(-(-len(moved) * 9 // 10), len(moved) - 1)
    noise = sorted(moved)[rank - 1]
    if as_share(abs(judgement.log_shift)) > noise:
        return judgement
    told = f"unchanged executables moved by {percent(noise)} and more as well"
    return replace(judgement, verdict=Verdict.INCONCLUSIVE, reason=told)


def repetitions_for(confidence: float) -> int:
    """The fewest repetitions in each of two runs that allow this level: 4 for 95 %."""
    count = 1
    while highest_confidence(count, count) < confidence - _ROUNDING:
        count += 1
    return count


def _verdict(
    found: Unpaired, counts: tuple[int, int], noise: float | None, limits: Limits
) -> tuple[Verdict, str]:
    """The verdict, and why it is inconclusive; "" where the interval is too wide."""
    if not limits.suffices(found.confidence):
        enough = repetitions_for(limits.least_confidence)
        allowed = f"{counts[0]} and {counts[1]} repetitions allow no interval of"
        level = limit(limits.least_confidence)
        told = f"{allowed} {level}; {enough} and {enough} do"
        return Verdict.INCONCLUSIVE, told
    threshold, margin = as_log(limits.threshold), as_log(limits.margin)
    slower = found.log_shift > 0
    nearest = found.log_low if slower else -found.log_high
    large = abs(found.log_shift) >= threshold - _ROUNDING
    if large and nearest > margin:
        if noise is not None and as_share(abs(found.log_shift)) <= noise:
            told = f"within the noise of these runs: {percent(noise)}"
            return Verdict.INCONCLUSIVE, f"{told} between one engine and itself"
        return Verdict.REGRESSED if slower else Verdict.IMPROVED, ""
    if max(abs(found.log_low), abs(found.log_high)) <= threshold:
        return Verdict.UNCHANGED, ""
    if nearest > margin:
        told = "slower" if slower else "faster"
        return Verdict.INCONCLUSIVE, f"{told}, and not by {limit(limits.threshold)}"
    return Verdict.INCONCLUSIVE, ""


def _times(rates: Sequence[float]) -> list[float]:
    return [1e9 / rate for rate in rates]


def _sigma(base: Sequence[float], new: Sequence[float]) -> float | None:
    """The standard deviation of one pair's log ratio; None of single repetitions."""
    samples = [sample for sample in (base, new) if len(sample) > 1]
    if not samples:
        return None
    squares = sum(
        statistics.variance([math.log(rate) for rate in sample]) * (len(sample) - 1)
        for sample in samples
    )
    freedom = sum(len(sample) - 1 for sample in samples)
    return math.sqrt(2 * squares / freedom)
