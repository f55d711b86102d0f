"""One new run against the last runs of the same cells: is it out of the ordinary?

Each cell's earlier figures predict the next one.  The interval of that prediction
is wide, because a few runs tell little of how runs differ: REGRESSIONS.md says what
it finds and what it cannot.  An A/B run is the sharper instrument.
"""

from __future__ import annotations

import functools
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr

from report.cells import CellName
from report.regressions.judgement import Judgement, Verdict

LEAST_REFERENCE = 5  # points; of fewer nothing is predicted
FEW_REPETITIONS = 8  # below it the median of a point may be made of outliers
ALPHA = 0.01  # false alarms of a whole run, of one direction
CONFIDENCE = 0.95
_LEAST_SCALE = 1e-4  # equal figures are no proof that the next is equal too
_FALSE_RUNS = 1  # outliers that a cell's window may have
_DRAWS = 20_000
_SEED = 20261121

Array = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Point:
    """One run's figure of a cell, more is faster: low <= median <= high, above 0.

    `repetitions` of which low and high are the extremes; 0 says that they are the
    ends of an interval.
    """

    run: str
    median: float
    low: float
    high: float
    repetitions: int = 0

    @property
    def ends(self) -> tuple[float, float]:
        """The figures between which its repetitions disagree about a change."""
        if 0 < self.repetitions < FEW_REPETITIONS:
            return self.low, self.high
        return self.median, self.median


@dataclass(frozen=True, slots=True)
class Watched:
    """A cell's new point and those before it, oldest first."""

    reference: tuple[Point, ...]
    new: Point


def judge(
    cells: Mapping[CellName, Watched], threshold: float
) -> dict[CellName, Judgement]:
    """The verdict of every cell with enough reference points.

    `threshold` is the least slowdown that is called one, as a share of the time.
    The limit is divided by the number of cells, so that of normal noise one run of
    a hundred is an alarm at most.  Points that this rule calls slower are no
    reference: a regression that lasts stays one.  If more than one run of a cell's
    window was slower and the next not, its figures have more outliers than the rule
    allows for, and it is not called a regression; runs in which most cells were
    slower count for every cell.
    """
    judged = {
        name: cell
        for name, cell in cells.items()
        if len(cell.reference) >= LEAST_REFERENCE
    }
    if not judged:
        return {}
    share = ALPHA / len(judged)
    least = math.log1p(threshold)
    slow = {name: _slow(cell, share, least) for name, cell in judged.items()}
    cleaned = {name: _without(cell, slow[name]) for name, cell in judged.items()}
    slower = {n for n, c in cleaned.items() if _beyond(c, share, least)}
    passed = {n: _passed(judged[n], slow[n]) for n in judged} if slower else {}
    shared = _of_most(passed)
    return {
        name: _judgement(
            cell,
            share,
            least,
            name in slower,
            len(passed.get(name, frozenset()) | shared),
        )
        for name, cell in cleaned.items()
    }


def tail(count: int, times: float) -> float:
    """How often a point of noise is more than `times` scales above its center.

    Center and scale are those of `count` other points, all of one normal
    distribution.  The mean over simulated references of the exact tail, with a
    fixed seed: without trimming it is Student's prediction, which a test holds
    against it.
    """
    centers, scales = _simulated(count)
    return float(ndtr(-(centers + times * scales)).mean())


@functools.cache
def limit(count: int, share: float) -> float:
    """The scales above the center that `share` of the points of noise exceed."""
    low, high = 0.0, 1.0
    while tail(count, high) > share:
        high *= 2
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if tail(count, middle) > share else (low, middle)
    return high


def _p_slower(count: int, times: float) -> float:
    """tail() from a table; what is beyond it is not told apart."""
    grid, logs = _tails(count)
    p = math.exp(np.interp(abs(times), grid, logs))
    return p if times > 0 else 1 - p


@functools.cache
def _tails(count: int) -> tuple[Array, Array]:
    grid = np.concatenate([np.linspace(0, 6, 49), np.geomspace(6.25, 100, 40)])
    return grid, np.log([max(tail(count, times), 1e-12) for times in grid])


def center_and_scale(logs: Array) -> tuple[Array, Array]:
    """Median and winsorized standard deviation of the last axis.

    One value at either end is pulled in from 10 values on, two from 20: an outlier
    in the window must neither hide a regression nor make one.
    """
    count = logs.shape[-1]
    ordered = np.sort(logs, axis=-1)
    trimmed = 0 if count < 10 else 1 if count < 20 else 2
    if trimmed:
        ordered = np.clip(
            ordered,
            ordered[..., trimmed : trimmed + 1],
            ordered[..., count - trimmed - 1 : count - trimmed],
        )
    return np.median(logs, axis=-1), ordered.std(axis=-1, ddof=1)


@functools.cache
def _simulated(count: int) -> tuple[Array, Array]:
    draws = np.random.default_rng(_SEED).standard_normal((_DRAWS, count))
    return center_and_scale(draws)


def _reference(points: Sequence[Point]) -> tuple[float, float]:
    """Center and scale of the logs of time: above 0 is slower."""
    logs = -np.log(np.array([point.median for point in points]))
    center, scale = center_and_scale(logs)
    return float(center), max(float(scale), _LEAST_SCALE)


def _beyond(cell: Watched, share: float, least: float) -> bool:
    """Whether the new point is slower than predicted, by its fastest repetition."""
    center, scale = _reference(cell.reference)
    shift = -math.log(cell.new.median) - center
    surely = -math.log(cell.new.ends[1]) - center
    # The logarithm first: it decides nearly always, and the limit is dear.
    return shift >= least and surely > limit(len(cell.reference), share) * scale


def _slow(cell: Watched, share: float, least: float) -> frozenset[str]:
    """The runs of the window that the rule calls slower.

    Each is held against all others that are not, which finds outliers; then against
    those before it that are not, which finds the beginning of what lasts.
    """
    points, slow = cell.reference, set[str]()
    if _range(points) < least:
        return frozenset()
    for seen in (points, ()):
        for index, point in enumerate(points):
            others = tuple(
                p
                for p in seen or points[:index]
                if p is not point and p.run not in slow
            )
            enough = point.run not in slow and len(others) >= LEAST_REFERENCE
            if enough and _beyond(Watched(others, point), share, least):
                slow.add(point.run)
    return frozenset(slow)


def _range(points: Sequence[Point]) -> float:
    rates = [point.median for point in points]
    return math.log(max(rates)) - math.log(min(rates))


def _without(cell: Watched, slow: frozenset[str]) -> Watched:
    """The same without these points, where enough are left."""
    left = tuple(point for point in cell.reference if point.run not in slow)
    return Watched(left, cell.new) if len(left) >= LEAST_REFERENCE else cell


def _passed(cell: Watched, slow: frozenset[str]) -> frozenset[str]:
    """The slow runs of the window after which one was not: they were outliers.

    Those at its end may be the regression that the new point shows too.
    """
    runs = [point.run for point in cell.reference]
    while runs and runs[-1] in slow:
        runs.pop()
    return slow & frozenset(runs)


def _of_most(passed: Mapping[CellName, frozenset[str]]) -> frozenset[str]:
    """The runs that were outliers of more than half of the cells."""
    counts = Counter(run for runs in passed.values() for run in runs)
    return frozenset(run for run, n in counts.items() if 2 * n > len(passed))


def _judgement(
    cell: Watched, share: float, least: float, slower: bool, alarms: int
) -> Judgement:
    count = len(cell.reference)
    center, scale = _reference(cell.reference)
    shift = -math.log(cell.new.median) - center
    half = limit(count, (1 - CONFIDENCE) / 2) * scale
    slow_end = -math.log(cell.new.ends[0]) - center
    reach = limit(count, share) * scale
    verdict, reason = Verdict.INCONCLUSIVE, ""
    if slower and alarms <= _FALSE_RUNS:
        verdict = Verdict.REGRESSED
    elif slower:
        reason = (
            f"slower than predicted, but so were {alarms} of its runs before, and"
            " the next was not: too many outliers to tell; confirm with an A/B run"
        )
    elif -shift >= least and -slow_end > reach:
        verdict = Verdict.IMPROVED
    elif abs(shift) >= least and abs(shift) > reach:
        reason = "its repetitions do not agree"
    elif max(abs(shift - half), abs(shift + half)) <= least:
        verdict = Verdict.UNCHANGED
    else:
        reason = f"within what {count} earlier runs predict, which is not narrow"
    return Judgement(
        verdict,
        shift,
        shift - half,
        shift + half,
        CONFIDENCE,
        p_slower=_p_slower(count, shift / scale),
        p_faster=_p_slower(count, -shift / scale),
        pairs=count,
        sigma_log=scale,
        smallest_effect=math.expm1(max(reach, least)),
        reason=reason,
    )
