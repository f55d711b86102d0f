"""The decision rule of an A/B run on arrays: suspects and their confirmation.

Verdicts and simulations share this code, so that the measured error rates are those of
the rule in use.  Arrays have the shape of aligned_ranks: (..., rounds, 2).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from report.model.ab_rule import AbRule
from report.stats.aligned_ranks import p_slower
from report.stats.shifts import as_log, shift

Flags = NDArray[np.bool_]


def suspects(a: Any, b: Any, rule: AbRule) -> tuple[Flags, Flags]:
    """Return which cells the screen nominates as slower, and which as faster."""
    change = shift(a, b)
    slower = (p_slower(a, b) < rule.suspect_p) & (change > as_log(rule.suspect_shift))
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
