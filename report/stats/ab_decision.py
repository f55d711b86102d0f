"""The decision rule of an A/B run on arrays: suspects and their confirmation.

Verdicts and simulations share this code, so that the measured error rates are those of
the rule in use.  Arrays have the shape of aligned_ranks.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from report.model.ab_rule import WALL, AbRule
from report.model.ab_run import Round
from report.model.judgement import Judgement, Verdict
from report.stats import shifts
from report.stats.aligned_ranks import Floats, p_slower
from report.stats.shifts import as_log, shift

Flags = NDArray[np.bool_]
_TARGET_EFFECT = 0.05  # the slowdown that pairs_needed would detect


def suspects(a: Any, b: Any, rule: AbRule, measure: str = WALL) -> tuple[Flags, Flags]:
    """Return which cells the screen nominates as slower, and which as faster."""
    change, (most_p, least) = shift(a, b), rule.suspicious(measure)
    slower = (p_slower(a, b) < most_p) & (change > as_log(least))
    faster = (p_slower(b, a) < rule.bettered_p) & (
        change < -as_log(rule.bettered_shift)
    )
    return slower, faster


def is_slower(a: Any, b: Any, rule: AbRule, tests: Any) -> Flags:
    """Return where b is slower: significantly, given `tests` tests, and large enough.

    `tests` is a number or an array over the leading axes.  is_slower(b, a, ...) tests
    whether b is faster.
    """
    return _beyond(a, b, rule, rule.alpha / np.maximum(tests, 1))


def is_slower_engine(a: Any, b: Any, rule: AbRule, engines: int) -> Flags:
    """Return where b is slower, if a and b are engines and `engines` are tested."""
    return _beyond(a, b, rule, rule.engine_alpha / max(engines, 1))


def _beyond(a: Any, b: Any, rule: AbRule, limit: Any) -> Flags:
    significant = p_slower(a, b) <= limit
    return np.asarray(significant & (shift(a, b) >= as_log(rule.least_shift)))


@dataclass(frozen=True)
class Tests:
    """How one set of rounds is judged.

    `slower` and `faster` are the numbers of tests in each direction, 0 if it is not
    tested in it.  `gate` has the conditions for a slowdown in its stage: the largest p
    and the least shift.  `reason` is why it is not judged at all, or "".
    """

    slower: int
    faster: int
    gate: tuple[float, float]
    reason: str = ""
    of_engine: bool = False  # an engine over all its cells


def judged(a: Floats, b: Floats, rule: AbRule, tests: Tests) -> Judgement:
    """Return the verdict on the rounds of one cell or engine, with its statistics."""
    verdict, reason = Verdict.INCONCLUSIVE, tests.reason
    if not reason:
        verdict = _direction(a, b, rule, tests) or Verdict.INCONCLUSIVE
    bounds = [float(bound) for bound in shifts.interval(a, b, rule.confidence)]
    low, high = (None, None) if math.isnan(bounds[0]) else bounds
    if verdict is Verdict.INCONCLUSIVE and not reason:
        within = as_log(rule.unchanged_within)
        if low is None or high is None:
            reason = "too few rounds for an interval"
        elif max(-low, high) <= within:
            verdict = Verdict.UNCHANGED
        else:
            reason = f"the interval extends beyond ±{100 * rule.unchanged_within:g} %"
    pairs = a.shape[-2] * a.shape[-1]
    sigma = float(shifts.sigma_log(a, b))
    known = not math.isnan(sigma)
    return Judgement(
        verdict=verdict,
        log_shift=float(shift(a, b)),
        log_low=low,
        log_high=high,
        confidence=rule.confidence,
        p_slower=float(p_slower(a, b)),
        p_faster=float(p_slower(b, a)),
        pairs=pairs,
        sigma_log=sigma if known else None,
        smallest_effect=(
            shifts.smallest_effect(sigma, pairs, *tests.gate) if known else None
        ),
        pairs_needed=(
            shifts.pairs_for(sigma, _TARGET_EFFECT, rule.alpha) if known else None
        ),
        reason=reason,
    )


def unmeasured(rule: AbRule) -> Judgement:
    """Return the judgement of a cell without a complete round."""
    return Judgement(
        verdict=Verdict.INCONCLUSIVE,
        log_shift=0.0,
        log_low=None,
        log_high=None,
        confidence=rule.confidence,
        p_slower=1.0,
        p_faster=1.0,
        pairs=0,
        reason="no complete round was measured",
    )


def _direction(a: Floats, b: Floats, rule: AbRule, tests: Tests) -> Verdict | None:
    """Return the confirmed direction, or None."""
    beyond = is_slower_engine if tests.of_engine else is_slower
    if tests.slower and beyond(a, b, rule, tests.slower):
        return Verdict.REGRESSED
    if tests.faster and beyond(b, a, rule, tests.faster):
        return Verdict.IMPROVED
    return None


def stacked(
    cells: Sequence[Sequence[Round]], measure: str = WALL
) -> tuple[Floats, Floats]:
    """Return the logs of the times of a and of b, each of shape (cells, rounds, 2).

    In a duet the shape is (cells, rounds, 1).  All cells must have the same number of
    rounds.  Raises ValueError unless every time is positive and finite.
    """
    sides = [list(zip(*(r.times(measure) for r in of), strict=True)) for of in cells]
    times = np.asarray(sides, float)  # (cells, sides, rounds, 2)
    if not ((times > 0) & np.isfinite(times)).all():
        raise ValueError("a time per operation is not positive and finite")
    logs = np.log(times)
    return logs[:, 0], logs[:, 1]
