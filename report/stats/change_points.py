"""Where a series of figures changes its level: a despiked scan with t statistics.

On logarithms, in windows of at most 100 points: points far from the running median
of 7 are drawn in, and T is the largest two-sample t over all places where the
window could be split in two parts of two points or more.  A split counts if T is
beyond what one window in a thousand of plain Gaussian noise reaches, and if the
levels are 2 % apart; then both parts are looked at in the same way.

The search over all places is part of that null, unlike the p-values of E-divisive
as Apache Otava 0.8 computes them (otava/significance_test.py).  What this finds and
what it raises falsely is measured in REGRESSIONS.md.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from report.stats.critical_values import CRITICAL

Array = NDArray[np.float64]

WINDOW, STRIDE = 100, 50
LEAST_POINTS = 2  # on each side of a step
LEAST_SHIFT = 0.02  # of the time per operation, as a share
MEDIAN_OF = 7
CLIP = 3 * 1.4826  # median absolute deviations: 3 standard deviations of a Gaussian
# Shorter series are left as they are: in them one wild point is too few for a T
# beyond the limit, and the deviation is too unsure to draw points in by it.
DESPIKED_FROM = 25
_LIMITS = np.array(sorted(CRITICAL))
_NOTHING = 1e-300  # variances below are none


@dataclass(frozen=True)
class Step:
    """A change of level between points `index` - 1 and `index`.

    `log_shift` is the logarithm of the ratio of times, after over before: above 0
    is slower.  `strength` is t over its limit, 1 or more.
    """

    index: int
    log_shift: float
    strength: float

    @property
    def is_slower(self) -> bool:
        """Whether it is a nomination for a regression."""
        return self.log_shift > 0

    @property
    def rate_change(self) -> float:
        """Change of the rate as a share: -0.05 is 5 % slower."""
        return math.expm1(-self.log_shift)


def change_points(values: Sequence[float]) -> tuple[Step, ...]:
    """The steps of a series of rates or ratios (above 0), in order of place."""
    logs = -np.log(np.asarray(values, dtype=np.float64))  # of times: up is slower
    if not np.all(np.isfinite(logs)):
        raise ValueError("a series holds figures above 0 alone")
    cuts: set[int] = set()
    last = max(0, len(logs) - WINDOW)
    for start in [*range(0, last, STRIDE), last]:
        window = despiked(logs[start : start + WINDOW])
        end = start + len(window)
        inside = sorted(cut - start for cut in cuts if start < cut < end)
        for left, right in pairwise([0, *inside, len(window)]):
            cuts |= {start + left + cut for cut in _splits(window[left:right])}
    return _upheld(logs, cuts)


def critical(length: int) -> float:
    """What T of `length` points of noise exceeds once in a thousand windows."""
    if length < 2 * LEAST_POINTS:
        return math.inf
    known = np.log([CRITICAL[int(n)] for n in _LIMITS])
    return math.exp(np.interp(math.log(length), np.log(_LIMITS), known))


def despiked(logs: Array) -> Array:
    """Points far from the running median, drawn in; axes before the last are kept."""
    count = logs.shape[-1]
    if count < DESPIKED_FROM:
        return logs
    reach = MEDIAN_OF // 2
    medians = np.empty_like(logs)
    windows = sliding_window_view(logs, MEDIAN_OF, axis=-1)
    medians[..., reach : count - reach] = np.sort(windows, axis=-1)[..., reach]
    for place in range(reach):  # towards the ends the window is cut off
        near = reach + place + 1
        medians[..., place] = np.median(logs[..., :near], axis=-1)
        medians[..., count - 1 - place] = np.median(logs[..., count - near :], axis=-1)
    rest = np.abs(logs - medians)
    limit = CLIP * np.median(rest, axis=-1, keepdims=True)
    return np.clip(logs, medians - limit, medians + limit)


def largest_t(points: Array) -> tuple[Array, NDArray[np.int64]]:
    """T over the last axis, and the place of its split."""
    count = points.shape[-1]
    centred = points - points.mean(axis=-1, keepdims=True)
    sums = np.cumsum(centred, axis=-1)
    total = np.sum(centred**2, axis=-1)
    places = np.arange(LEAST_POINTS, count - LEAST_POINTS + 1)
    between = sums[..., places - 1] ** 2 * count / (places * (count - places))
    best = between.argmax(axis=-1)
    largest = between.max(axis=-1)
    within = np.maximum(total - largest, _NOTHING + 1e-12 * total)
    return np.sqrt((count - 2) * largest / within), places[best]


def _splits(points: Array) -> list[int]:
    """Where a part of a window is split, and its parts in turn."""
    if len(points) < 2 * LEAST_POINTS:
        return []
    found, place = largest_t(points)
    cut = int(place)
    shift = abs(float(points[cut:].mean() - points[:cut].mean()))
    if found < critical(len(points)) or shift < math.log1p(LEAST_SHIFT):
        return []
    after = [cut + further for further in _splits(points[cut:])]
    return [*_splits(points[:cut]), cut, *after]


def _upheld(logs: Array, cuts: Iterable[int]) -> tuple[Step, ...]:
    """The cuts that count between their neighbours as well.

    Overlapping windows can place one step twice, and what is split first can be
    split in the wrong place; the weakest goes until all that are left count.
    """
    kept = sorted(cuts)
    while True:
        edges = [0, *kept, len(logs)]
        steps = [_step(logs, *edges[i : i + 3]) for i in range(len(kept))]
        weak = [s for s in steps if s.strength < 1 or not _is_large(s)]
        if not weak:
            return tuple(steps)
        kept.remove(min(weak, key=lambda step: step.strength).index)


def _is_large(step: Step) -> bool:
    return abs(step.log_shift) >= math.log1p(LEAST_SHIFT)


def _step(logs: Array, left: int, cut: int, right: int) -> Step:
    """The step at a cut, by the points up to its neighbours, at most a window."""
    right = min(right, cut + WINDOW // 2)
    left = max(left, right - WINDOW)
    right = min(right, left + WINDOW)
    points, place = despiked(logs[left:right]), cut - left
    shift = float(np.median(logs[cut:right]) - np.median(logs[left:cut]))
    return Step(cut, shift, _t(points, place) / critical(len(points)))


def _t(points: Array, place: int) -> float:
    """The two-sample t of the parts before and after a place; 0 of too few."""
    count = len(points)
    if min(place, count - place) < LEAST_POINTS:
        return 0.0
    before, after = points[:place], points[place:]
    between = (after.mean() - before.mean()) ** 2 * place * (count - place) / count
    total = float(np.sum((points - points.mean()) ** 2))
    within = max(total - between, _NOTHING + 1e-12 * total)
    return math.sqrt((count - 2) * between / within)
