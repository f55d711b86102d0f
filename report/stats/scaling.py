"""The cost of a cell at a size that was not measured: an extrapolated power law.

ln v = a + b ln n is fitted to the measured sizes; ERROR_RATES.md shows how well it
predicts.  Larger sizes have more weight, because at small sizes constant costs, such
as starting a process, hide those that grow.  The exponent b has a prior, and the
interval is Student's for one more measurement (Bayesian linear regression with a
conjugate prior: Gelman et al., Bayesian Data Analysis, 3rd edition, 14.8).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

LEAST_SIZES = 3
LEVEL = 0.9  # of an interval: a true value is above it in 5 % of cases, below in 5 %
_NOISE = 0.15  # prior standard deviation of a measurement from the law
_NOISE_WEIGHT = 4.0  # weight of that prior, in measurements
_MOST_CONSTANT = 0.9  # largest constant part, as a share of the smallest value
_LEAST_S = 1e-3  # shorter times are noise and do not matter for a prediction
_LEAST_BYTES = 1 << 20


_T = TypeVar("_T", float, "Prediction")


@dataclass(frozen=True)
class ExponentPrior:
    """The prior of an exponent; with `constant`, a part of the value may not grow."""

    exponent: float
    sd: float
    constant: bool = False


# The parts of a repetition's wall time.  Work grows about as n log n: between a million
# and a billion entries its exponent is 1 + 1 / ln n.  Starting processes hardly grows.
_WORK = ExponentPrior(1.05, 0.1)
PARTS: Mapping[str, ExponentPrior] = {
    "prepare": _WORK,
    "loop": _WORK,
    "settle": ExponentPrior(1.05, 0.15),
    "audit": _WORK,
    "rest": ExponentPrior(0.7, 0.4),
}
_REPEATED = ("loop", "settle", "rest")  # in each pass
DISK = ExponentPrior(1.0, 0.05, constant=True)  # constant: preallocated files and logs
MEMORY = ExponentPrior(0.5, 1.0)  # a fixed cache, or an index of all keys


@dataclass(frozen=True)
class SizePoint:
    """One measured value at one size."""

    num: int
    value: float  # above 0


@dataclass(frozen=True)
class Prediction:
    """The predicted median and the interval of LEVEL around it."""

    middle: float
    low: float
    high: float

    def __add__(self, other: Prediction) -> Prediction:
        """Add all bounds: errors in the parts of one run are correlated."""
        return Prediction(
            self.middle + other.middle, self.low + other.low, self.high + other.high
        )

    def __mul__(self, factor: float) -> Prediction:
        """Scale the median and the bounds."""
        return Prediction(self.middle * factor, self.low * factor, self.high * factor)


def exactly(value: float) -> Prediction:
    """Return a prediction without uncertainty."""
    return Prediction(value, value, value)


NOTHING = exactly(0.0)


@dataclass(frozen=True)
class SizeSample:
    """One repetition of a cell, measured.

    The time of the loop is proportional to `work`: its operations, or its entries if
    the loop is one operation.  `seconds` are by PARTS, with "prepare" only for the
    repetition that filled the database.  `memory_bytes` is the engine's share.  The
    work was done in `passes`, which only the times include.
    """

    num: int
    work: int
    seconds: Mapping[str, float]
    memory_bytes: float | None
    disk_bytes: float | None
    passes: int = 1

    @property
    def single(self) -> SizeSample:
        """The same with one pass."""
        seconds = {
            part: _of_passes(part, each, 1 / self.passes)
            for part, each in self.seconds.items()
        }
        return replace(self, seconds=seconds, passes=1)


@dataclass(frozen=True)
class RepetitionEstimate:
    """The predicted cost of one repetition of a cell; `seconds` are by PARTS."""

    seconds: Mapping[str, Prediction]
    memory_bytes: Prediction | None
    disk_bytes: Prediction | None
    sizes: tuple[int, ...]  # measured sizes, in entries

    @property
    def wall_s(self) -> Prediction:
        """The wall time of one repetition without the fill of its database."""
        parts = (p for part, p in self.seconds.items() if part != "prepare")
        return sum(parts, NOTHING)

    @property
    def fill_s(self) -> Prediction:
        """The time to fill its database; NOTHING if it starts without one."""
        return self.seconds.get("prepare", NOTHING)


class TooFew(Exception):
    """Too few sizes were measured; str() lists them."""

    def __init__(self, sizes: Sequence[int]) -> None:
        measured = ", ".join(f"{size:,}" for size in sizes) or "none"
        super().__init__(
            f"at least {LEAST_SIZES} sizes are needed; measured on this machine:"
            f" {measured}"
        )


def estimate_repetition(
    samples: Sequence[SizeSample],
    prepared: Sequence[SizePoint],
    num: int,
    work: int,
    least_s: float = 0.0,
) -> RepetitionEstimate:
    """Return the predicted cost of `work` operations on `num` entries.

    `prepared` has the seconds of fills.  The work is repeated in passes for at least
    `least_s`.  Only samples of at most `num` entries are used.  Raises TooFew.
    """
    below = [sample.single for sample in samples if sample.num <= num]
    sizes = tuple(sorted({sample.num for sample in below}))
    if len(sizes) < LEAST_SIZES:
        raise TooFew(sizes)

    def known(figure: Callable[[SizeSample], float | None]) -> list[SizePoint]:
        figures = ((sample.num, figure(sample)) for sample in below)
        return [SizePoint(n, value) for n, value in figures if value is not None]

    seconds = {
        part: predicted
        for part, growth in PARTS.items()
        if (predicted := _seconds(below, prepared, part, growth, num, work))
    }
    loop_s = seconds["loop"].middle if "loop" in seconds else least_s
    passes = max(1, math.ceil(least_s / loop_s)) if least_s else 1
    return RepetitionEstimate(
        {part: _of_passes(part, one, passes) for part, one in seconds.items()},
        _extrapolated(known(lambda s: s.memory_bytes), num, MEMORY, _LEAST_BYTES),
        _extrapolated(known(lambda s: s.disk_bytes), num, DISK, _LEAST_BYTES),
        sizes,
    )


def _of_passes(part: str, one: _T, passes: float) -> _T:
    """Return the time of a part, of which each pass adds one."""
    return one * passes if part in _REPEATED else one


def predict(points: Sequence[SizePoint], num: int, growth: ExponentPrior) -> Prediction:
    """Return the predicted value at `num` entries.

    Raises ValueError for fewer than LEAST_SIZES sizes or a value that is not positive.
    """
    from scipy.special import stdtrit  # slow to import

    sizes = {point.num for point in points}
    if len(sizes) < LEAST_SIZES:
        raise ValueError(f"{len(sizes)} sizes measured, at least {LEAST_SIZES} needed")
    if min(point.value for point in points) <= 0:
        raise ValueError("a value that grows must be positive")
    constant = _constant(points) if growth.constant else 0.0
    weights = [point.num / max(sizes) for point in points]
    total = sum(weights)

    def mean(values: Sequence[float]) -> float:
        return sum(w * v for w, v in zip(weights, values, strict=True)) / total

    x = [math.log(point.num) for point in points]
    y = [math.log(point.value - constant) for point in points]
    x_mean, y_mean = mean(x), mean(y)
    prior = (_NOISE / growth.sd) ** 2
    precision = prior + total * mean([(a - x_mean) ** 2 for a in x])
    products = [(a - x_mean) * (b - y_mean) for a, b in zip(x, y, strict=True)]
    exponent = (prior * growth.exponent + total * mean(products)) / precision
    gaps = [b - y_mean - exponent * (a - x_mean) for a, b in zip(x, y, strict=True)]
    freedom = _NOISE_WEIGHT + total - 1
    variance = (
        _NOISE_WEIGHT * _NOISE**2
        + total * mean([gap**2 for gap in gaps])
        + prior * (exponent - growth.exponent) ** 2
    ) / freedom
    away = math.log(num) - x_mean
    middle = y_mean + exponent * away
    reach = stdtrit(freedom, (1 + LEVEL) / 2) * math.sqrt(
        variance * (1 + 1 / total + away**2 / precision)
    )
    ends = (middle, middle - reach, middle + reach)
    return Prediction(*(constant + math.exp(end) for end in ends))


def _constant(points: Sequence[SizePoint]) -> float:
    """Return c of the line c + k n with the least squares of relative errors."""
    ones = sum(1 / p.value**2 for p in points)
    cross = sum(p.num / p.value**2 for p in points)
    squares = sum((p.num / p.value) ** 2 for p in points)
    right = sum(1 / p.value for p in points), sum(p.num / p.value for p in points)
    constant = (right[0] * squares - right[1] * cross) / (ones * squares - cross**2)
    return min(max(constant, 0.0), _MOST_CONSTANT * min(p.value for p in points))


def _seconds(
    samples: Sequence[SizeSample],
    prepared: Sequence[SizePoint],
    part: str,
    growth: ExponentPrior,
    num: int,
    work: int,
) -> Prediction | None:
    """Return one part of the wall time; None if the cell does not have it.

    The time of a loop is extrapolated per operation.
    """
    if part == "prepare":
        points = [point for point in prepared if point.num <= num]
        return _extrapolated(points, num, growth, _LEAST_S)
    timed = [sample for sample in samples if part in sample.seconds]
    if part != "loop":
        points = [SizePoint(s.num, s.seconds[part]) for s in timed]
        return _extrapolated(points, num, growth, _LEAST_S)
    points = [
        SizePoint(s.num, max(s.seconds[part], _LEAST_S) * (s.num / s.work))
        for s in timed
    ]
    predicted = _extrapolated(points, num, growth, 0.0)
    return predicted * (work / num) if predicted else None


def _extrapolated(
    points: Sequence[SizePoint], num: int, growth: ExponentPrior, least: float
) -> Prediction | None:
    """Return the prediction; None for too few sizes."""
    if len({point.num for point in points}) < LEAST_SIZES:
        return None
    raised = [SizePoint(point.num, max(point.value, least)) for point in points]
    return predict(raised, num, growth)
