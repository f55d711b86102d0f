"""Steps in the level of a series: a despiked scan with t statistics.

The scan works on logarithms, in windows of at most 100 points.  Points far from the
running median of 7 are clipped, and T is the largest two-sample t over all splits of
the window into two parts of at least two points.  A split is a step if T exceeds what
one window in a thousand of Gaussian noise reaches and if the levels differ by 2 %;
then both parts are split in the same way.

The null distribution includes the search over all positions, unlike the p-values of
E-divisive in Apache Otava 0.8 (otava/significance_test.py).  ERROR_RATES.md has the
measured rates of detection and of false alarms.
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
# Shorter series are not despiked: one outlier in them does not push T beyond the limit,
# and the estimated deviation is too uncertain to clip by.
DESPIKED_FROM = 25
_LIMITS = np.array(sorted(CRITICAL))
_NOTHING = 1e-300  # smallest variance: avoids division by 0


@dataclass(frozen=True)
class Step:
    """A change of level between points `index` - 1 and `index`.

    `log_shift` is the log of the ratio of times, after over before: above 0 is slower.
    `strength` is t divided by its limit, at least 1.
    """

    index: int
    log_shift: float
    strength: float

    @property
    def is_slower(self) -> bool:
        """True if it may be a regression."""
        return self.log_shift > 0

    @property
    def rate_change(self) -> float:
        """The change of the rate as a share: -0.05 is 5 % slower."""
        return math.expm1(-self.log_shift)


def change_points(values: Sequence[float]) -> tuple[Step, ...]:
    """Return the steps of a series of rates or ratios (above 0), in order."""
    logs = -np.log(np.asarray(values, dtype=np.float64))  # of times: up is slower
    if not np.all(np.isfinite(logs)):
        raise ValueError("a series must have positive values")
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
    """Return the limit that T exceeds in 0.1 % of windows of `length` noise points."""
    if length < 2 * LEAST_POINTS:
        return math.inf
    known = np.log([CRITICAL[int(n)] for n in _LIMITS])
    return math.exp(np.interp(math.log(length), np.log(_LIMITS), known))


def despiked(logs: Array) -> Array:
    """Clip points far from the running median, along the last axis."""
    count = logs.shape[-1]
    if count < DESPIKED_FROM:
        return logs
    reach = MEDIAN_OF // 2
    medians = np.empty_like(logs)
    windows = sliding_window_view(logs, MEDIAN_OF, axis=-1)
    medians[..., reach : count - reach] = np.sort(windows, axis=-1)[..., reach]
    for place in range(reach):  # at the ends the window is truncated
        near = reach + place + 1
        medians[..., place] = np.median(logs[..., :near], axis=-1)
        medians[..., count - 1 - place] = np.median(logs[..., count - near :], axis=-1)
    rest = np.abs(logs - medians)
    limit = CLIP * np.median(rest, axis=-1, keepdims=True)
    return np.clip(logs, medians - limit, medians + limit)


def largest_t(points: Array) -> tuple[Array, NDArray[np.int64]]:
    """Return T over the last axis and the position of its split."""
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
    """Return the positions of the splits of a part of a window, recursively."""
    if len(points) < 2 * LEAST_POINTS:
        return []
    largest, place = largest_t(points)
    cut = int(place)
    shift = abs(float(points[cut:].mean() - points[:cut].mean()))
    if largest < critical(len(points)) or shift < math.log1p(LEAST_SHIFT):
        return []
    after = [cut + further for further in _splits(points[cut:])]
    return [*_splits(points[:cut]), cut, *after]


def _upheld(logs: Array, cuts: Iterable[int]) -> tuple[Step, ...]:
    """Return the steps that remain significant between their neighbours.

    Overlapping windows can find one step at two positions, and a first split can be
    misplaced, so the weakest is removed until all of them are significant.
    """
    remaining = sorted(cuts)
    while True:
        edges = [0, *remaining, len(logs)]
        steps = [_step(logs, *edges[i : i + 3]) for i in range(len(remaining))]
        weak = [s for s in steps if s.strength < 1 or not _is_large(s)]
        if not weak:
            return tuple(steps)
        remaining.remove(min(weak, key=lambda step: step.strength).index)


def _is_large(step: Step) -> bool:
    return abs(step.log_shift) >= math.log1p(LEAST_SHIFT)


def _step(logs: Array, left: int, cut: int, right: int) -> Step:
    """Return the step at a cut, from the points up to its neighbours or a window."""
    right = min(right, cut + WINDOW // 2)
    left = max(left, right - WINDOW)
    right = min(right, left + WINDOW)
    points, place = despiked(logs[left:right]), cut - left
    shift = float(np.median(logs[cut:right]) - np.median(logs[left:cut]))
    return Step(cut, shift, _t(points, place) / critical(len(points)))


def _t(points: Array, place: int) -> float:
    """Return the two-sample t of the parts around a position; 0 if one is too short."""
    count = len(points)
    if min(place, count - place) < LEAST_POINTS:
        return 0.0
    before, after = points[:place], points[place:]
    between = (after.mean() - before.mean()) ** 2 * place * (count - place) / count
    total = float(np.sum((points - points.mean()) ** 2))
    within = max(total - between, _NOTHING + 1e-12 * total)
    return math.sqrt((count - 2) * between / within)
