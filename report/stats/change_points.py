"""Steps in the level of a series: a despiked scan with t statistics.

The scan works on logarithms, in windows of at most 100 points.  Points far from the
running median of 7 are clipped, and T is the largest two-sample t over all splits of
the window into two parts of at least two points.  A split is a step if T exceeds what
one window in a thousand of Gaussian noise reaches and if the levels differ by 2 %;
then both parts are split in the same way.

The newest level is what a gate waits for.  If at least 20 points precede it, it is not
decided by T but tested against the established level alone, whose deviation is known
from all its points: the mean distance of the newest points, each cut to 3.5 standard
deviations, so that it needs two of them and one outlier is not enough.

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
# The newest level.  A level is established with this many points.
ESTABLISHED = 20
TRIM = 3.5 * 1.4826  # median absolute deviations: points beyond are not of the level
REACH = 3.5  # standard deviations to which a distance is cut
# What the mean distance exceeds, in standard errors, and how much more it must be if
# the deviation is that of few points, divided by their number.  Set by simulation, so
# that there are no more false steps than with T (ERROR_RATES.md, "A history").
NEWEST_LIMIT, OF_FEW = 4.4, 6.0
_LIMITS = np.array(sorted(CRITICAL))
_LEAST_SPREAD = 1e-9  # of logarithms: counts may have no spread
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


def change_points(
    values: Sequence[float], least_shift: float = LEAST_SHIFT
) -> tuple[Step, ...]:
    """Return the steps of a series of rates or ratios (above 0), in order.

    `least_shift` is the smallest step, as a share of the time per operation.
    """
    logs, least = _logs(values), math.log1p(least_shift)
    cuts: set[int] = set()
    last = max(0, len(logs) - WINDOW)
    for start in [*range(0, last, STRIDE), last]:
        window = despiked(logs[start : start + WINDOW])
        end = start + len(window)
        inside = sorted(cut - start for cut in cuts if start < cut < end)
        for left, right in pairwise([0, *inside, len(window)]):
            cuts |= {start + left + cut for cut in _splits(window[left:right], least)}
    steps = _upheld(logs, cuts, least)
    *_, start, last = (0, 0, *(step.index for step in steps))
    if last - start >= ESTABLISHED and len(logs) - last <= WINDOW // 2:
        steps = steps[:-1]  # its level is the newest
    newest = _newest(logs, steps[-1].index if steps else 0, least)
    return (*steps, newest) if newest else steps


def step_at(
    before: Sequence[float], after: Sequence[float], least_shift: float = LEAST_SHIFT
) -> Step | None:
    """Return the step between two parts of a series, at a place that is given."""
    left, right = _logs(before[-WINDOW // 2 :]), _logs(after[: WINDOW // 2])
    step = _step(np.concatenate([left, right]), 0, len(left), len(left) + len(right))
    is_step = step.strength >= 1 and abs(step.log_shift) >= math.log1p(least_shift)
    return step if is_step else None


def _logs(values: Sequence[float]) -> Array:
    """Return the logarithms of times: up is slower."""
    logs = -np.log(np.asarray(values, dtype=np.float64))
    if not np.all(np.isfinite(logs)):
        raise ValueError("a series must have positive values")
    return logs


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


def _splits(points: Array, least: float) -> list[int]:
    """Return the positions of the splits of a part of a window, recursively."""
    if len(points) < 2 * LEAST_POINTS:
        return []
    largest, place = largest_t(points)
    cut = int(place)
    shift = abs(float(points[cut:].mean() - points[:cut].mean()))
    if largest < critical(len(points)) or shift < least:
        return []
    after = [cut + further for further in _splits(points[cut:], least)]
    return [*_splits(points[:cut], least), cut, *after]


def _upheld(logs: Array, cuts: Iterable[int], least: float) -> tuple[Step, ...]:
    """Return the steps that remain significant between their neighbours.

    Overlapping windows can find one step at two positions, and a first split can be
    misplaced, so the weakest is removed until all of them are significant.
    """
    remaining = sorted(cuts)
    while True:
        edges = [0, *remaining, len(logs)]
        steps = [_step(logs, *edges[i : i + 3]) for i in range(len(remaining))]
        weak = [s for s in steps if s.strength < 1 or abs(s.log_shift) < least]
        if not weak:
            return tuple(steps)
        remaining.remove(min(weak, key=lambda step: step.strength).index)


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


def _newest(logs: Array, start: int, least: float) -> Step | None:
    """Return the step to the newest level, if the points since `start` have one.

    Each way to divide them is tested: how far are the points of the newest level from
    those of the established level before it, in standard deviations of that level?
    """
    level = logs[start:][-WINDOW - WINDOW // 2 :]
    first = max(ESTABLISHED, len(level) - WINDOW // 2)
    cuts = np.arange(first, len(level) - LEAST_POINTS + 1)
    if not len(cuts):
        return None
    middles, spreads, counts = _levels(level, cuts)
    after = np.arange(len(level)) >= cuts[:, None]
    far = np.clip((level - middles[:, None]) / spreads[:, None], -REACH, REACH)
    points = len(level) - cuts
    means = np.sum(far, axis=1, where=after) / points
    z = np.abs(means) / np.sqrt(1 / points + 1 / counts)
    strength = float(np.max(z / (NEWEST_LIMIT + OF_FEW / counts)))
    if strength < 1:
        return None
    place = int(largest_t(despiked(level[-WINDOW:]))[1])
    place += max(0, len(level) - WINDOW)
    shift = float(np.median(level[place:]) - np.median(level[:place]))
    step = Step(len(logs) - len(level) + place, shift, strength)
    return step if abs(step.log_shift) >= least else None


def _levels(
    level: Array, cuts: NDArray[np.int64]
) -> tuple[Array, Array, NDArray[np.int64]]:
    """Return mean, standard deviation and number of the points before each cut.

    At most WINDOW points, without those far from their median.
    """
    places = cuts[:, None] - np.arange(WINDOW, 0, -1)
    before = np.where(places >= 0, level[np.maximum(places, 0)], np.nan)
    rest = np.abs(before - np.nanmedian(before, axis=1, keepdims=True))
    limit = TRIM * np.nanmedian(rest, axis=1, keepdims=True)
    kept = rest <= limit
    counts = kept.sum(axis=1)
    middles = np.sum(before, axis=1, where=kept) / counts
    squares = np.sum((before - middles[:, None]) ** 2, axis=1, where=kept)
    spreads = np.maximum(np.sqrt(squares / (counts - 1)), _LEAST_SPREAD)
    return middles, spreads, counts
