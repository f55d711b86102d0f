"""One figure that grows with the number of entries: fitted, then predicted.

A figure v(n) of n entries is c + exp(a + x + g(x)), x = ln n.  Proportional growth
is g = 0.  The slope of g is a mean-reverting (Ornstein-Uhlenbeck) process about a
long-run slope m: what costs a little more with each decade (n log n, one level of a
merge tree more) bends it slowly, a cache that is exceeded bends it sharply, and what
lies far beyond the sizes measured is expected to grow as in the long run again.
c is a part that does not grow, such as the start of a process.

Nothing is chosen: every combination of c, the slope's spread and length, and the
noise of one measurement, on a fixed grid, has the weight that the measurements give
it (marginal likelihood times prior; a is free, m normal).  A prediction is the
mixture of all, so its interval holds the residuals and the doubt about every
parameter; the mixture over noises gives it the tails of Student's t.  Few sizes leave
the prior in charge: the interval is wide.  Rasmussen and Williams, Gaussian Processes
for Machine Learning (2006), 2.7 and 5.4.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

Floats = NDArray[np.float64]

LEAST_SIZES = 3
LEVEL = 0.9  # of an interval: a true value lies above it, or below, once in twenty

# Each grid: value -> prior weight.
_CONSTANTS = {0.0: 0.6, 0.3: 0.1, 0.6: 0.1, 0.8: 0.1, 0.9: 0.1}  # of the least value
_SPREADS = {0.02: 0.3, 0.06: 0.35, 0.18: 0.25, 0.5: 0.1}  # of the slope
_LENGTHS = {0.8: 0.4, 2.3: 0.4, 6.9: 0.2}  # in ln n: a third of a decade to three
_NOISES = {0.01: 0.1, 0.02: 0.2, 0.04: 0.3, 0.08: 0.2, 0.16: 0.15, 0.32: 0.05}
_FREE = 5.0  # standard deviation of a, about the mean of what was measured
_GRIDS = (_SPREADS, _LENGTHS, _NOISES)
_REACH = 12.0  # standard deviations that hold every combination
_PRECISION = 1e-6  # of a quantile, relative
_TINY = 1e-300


@dataclass(frozen=True)
class Slope:
    """The long-run slope of g: 0 is proportional to n, -1 does not grow at all."""

    mean: float
    sd: float


@dataclass(frozen=True)
class Point:
    """One measurement."""

    num: int
    value: float  # above 0


@dataclass(frozen=True)
class Prediction:
    """The median of what is to be expected, and the interval of LEVEL about it."""

    middle: float
    low: float
    high: float

    def __add__(self, other: Prediction) -> Prediction:
        """Bounds add up: parts of one run go wrong together."""
        return Prediction(
            self.middle + other.middle, self.low + other.low, self.high + other.high
        )

    def __mul__(self, factor: float) -> Prediction:
        """So many times the same."""
        return Prediction(self.middle * factor, self.low * factor, self.high * factor)


NOTHING = Prediction(0.0, 0.0, 0.0)


@dataclass(frozen=True)
class _Nodes:
    """Combinations: ln(v - constant) is normal; weights are logarithms."""

    weights: Floats
    constants: Floats
    means: Floats
    sds: Floats


def predict(points: Sequence[Point], num: int, slope: Slope) -> Prediction:
    """The figure at `num` entries.

    Raises ValueError for fewer than LEAST_SIZES sizes or a value that is not
    above 0: nothing can be said then.
    """
    sizes = {point.num for point in points}
    if len(sizes) < LEAST_SIZES:
        raise ValueError(f"{len(sizes)} sizes are measured, {LEAST_SIZES} are needed")
    values = np.array([point.value for point in points], dtype=np.float64)
    if values.min() <= 0:
        raise ValueError("a figure that grows is above 0")
    x = np.log(np.array([point.num for point in points], dtype=np.float64))
    bends = [
        _covariance(np.append(x, math.log(num)), spread, length, slope)
        for spread, length in product(_SPREADS, _LENGTHS)
    ]
    covariances = np.repeat(np.array(bends), len(_NOISES), axis=0)
    noises = np.tile(np.array(list(_NOISES)), len(bends))
    priors = np.log([p * q * r for p, q, r in product(*(g.values() for g in _GRIDS))])
    parts = [
        _nodes(x, values, math.log(num), slope, share, covariances, noises)
        for share in _CONSTANTS
    ]
    logs = [math.log(prior) for prior in _CONSTANTS.values()]
    every = zip(parts, logs, strict=True)
    return _mixture(
        np.concatenate([part.weights + priors + prior for part, prior in every]),
        np.concatenate([part.constants for part in parts]),
        np.concatenate([part.means for part in parts]),
        np.concatenate([part.sds for part in parts]),
    )


def _nodes(
    x: Floats,
    values: Floats,
    target: float,
    slope: Slope,
    share: float,
    covariances: Floats,
    noises: Floats,
) -> _Nodes:
    """The combinations of one constant; weights without the prior."""
    constant = share * float(values.min())
    grown = values - constant
    y = np.log(grown) - x
    level = float(y.mean())
    expected = level + slope.mean * (np.append(x, target) - x.mean())
    stretch = np.diag((values / grown) ** 2)  # noise is of the whole value
    seen = covariances[:, :-1, :-1] + noises[:, None, None] ** 2 * stretch
    roots = np.linalg.cholesky(seen)
    gaps = np.linalg.solve(
        roots, np.broadcast_to(y - expected[:-1], seen.shape[:2])[..., None]
    )[..., 0]
    reaches = np.linalg.solve(roots, covariances[:, :-1, -1:])[..., 0]
    diagonals = np.diagonal(roots, axis1=1, axis2=2)
    return _Nodes(
        weights=-0.5 * (gaps**2).sum(axis=1)
        - np.log(diagonals).sum(axis=1)
        - np.log(grown).sum(),
        constants=np.full(len(noises), constant),
        means=expected[-1] + (reaches * gaps).sum(axis=1) + target,
        sds=np.sqrt(covariances[:, -1, -1] - (reaches**2).sum(axis=1) + noises**2),
    )


def _covariance(x: Floats, spread: float, length: float, slope: Slope) -> Floats:
    """Of a + g(x): an integrated Ornstein-Uhlenbeck process, m and a."""
    a = (x - x.min()) / length
    first, second = a[:, None], a[None, :]
    bends = (
        2 * np.minimum(first, second)
        + (np.exp(-first) + np.exp(-second))
        - (1 + np.exp(-np.abs(first - second)))
    )
    centred = x - x[:-1].mean()
    trend = slope.sd**2 * centred[:, None] * centred[None, :]
    total: Floats = (spread * length) ** 2 * bends + trend + _FREE**2
    return total


def _mixture(logs: Floats, constants: Floats, means: Floats, sds: Floats) -> Prediction:
    """Median and interval of the weighted combinations."""
    weights = np.exp(logs - logs.max())
    weights /= weights.sum()

    def below(value: float) -> float:
        """The share of the mixture below a value."""
        grown = np.maximum(value - constants, _TINY)
        return float(weights @ ndtr((np.log(grown) - means) / sds))

    least = float((means - _REACH * sds).min())
    most = float(np.log(np.exp(means + _REACH * sds) + constants).max())

    def quantile(share: float) -> float:
        low, high = least, most
        while high - low > _PRECISION:
            middle = (low + high) / 2
            if below(math.exp(middle)) < share:
                low = middle
            else:
                high = middle
        return math.exp(high)

    tail = (1 - LEVEL) / 2
    return Prediction(quantile(0.5), quantile(tail), quantile(1 - tail))
