"""What a cell takes at a size that nobody has measured: a power law, extrapolated.

ln v = a + b ln n, fitted to the sizes that were measured; SCALING.md says how well
it predicts.  The largest sizes weigh most: in the small ones a part that does not
grow, such as the start of a process, hides what does.  The exponent b is drawn to
what is known of such figures, and the interval is Student's for one more measurement
(Bayesian linear regression with a conjugate prior: Gelman et al., Bayesian Data
Analysis, 3rd edition, 14.8).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

LEAST_SIZES = 3
LEVEL = 0.9  # of an interval: a true value lies above it, or below, once in twenty
_NOISE = 0.15  # of a measurement about the law, until the data tell
_NOISE_WEIGHT = 4.0  # measurements that this is worth
_MOST_CONSTANT = 0.9  # of the least figure
_LEAST_S = 1e-3  # what is faster is noise, and nothing to a prediction
_LEAST_BYTES = 1 << 20


@dataclass(frozen=True)
class ExponentPrior:
    """What is known of an exponent before anything is measured.

    With `constant`, a part of the figure may not grow at all.
    """

    exponent: float
    sd: float
    constant: bool = False


# What a repetition's wall time is made of.  Work grows as n log n does (1 / ln n more
# than n, between a million and a billion), more or less; starting processes hardly.
_WORK = ExponentPrior(1.05, 0.1)
PARTS: Mapping[str, ExponentPrior] = {
    "prepare": _WORK,
    "loop": _WORK,
    "settle": ExponentPrior(1.05, 0.15),
    "audit": _WORK,
    "rest": ExponentPrior(0.7, 0.4),
}
DISK = ExponentPrior(
    1.0, 0.05, constant=True
)  # logs and files that are made beforehand
MEMORY = ExponentPrior(0.5, 1.0)  # a fixed cache, or an index of all keys


@dataclass(frozen=True)
class SizePoint:
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


def exactly(value: float) -> Prediction:
    """Return a prediction without any doubt."""
    return Prediction(value, value, value)


NOTHING = exactly(0.0)


@dataclass(frozen=True)
class SizeSample:
    """One repetition of a cell, measured.

    `work` is what its loop's time is in proportion to: its operations, or entries
    where all of it is one operation.  `seconds` are by PARTS; "prepare" only of the
    repetition that filled the database.  `memory_bytes` is the engine's share.
    """

    num: int
    work: int
    seconds: Mapping[str, float]
    memory_bytes: float | None
    disk_bytes: float | None


@dataclass(frozen=True)
class RepetitionEstimate:
    """What one repetition of a cell will take; seconds by PARTS."""

    seconds: Mapping[str, Prediction]
    memory_bytes: Prediction | None
    disk_bytes: Prediction | None
    sizes: tuple[int, ...]  # that were measured

    @property
    def wall_s(self) -> Prediction:
        """All of one repetition but the filling of its database."""
        parts = (p for part, p in self.seconds.items() if part != "prepare")
        return sum(parts, NOTHING)

    @property
    def fill_s(self) -> Prediction:
        """The filling of its database; NOTHING if it starts from none."""
        return self.seconds.get("prepare", NOTHING)


class TooFew(Exception):
    """Too few sizes were measured; says which there are."""

    def __init__(self, sizes: Sequence[int]) -> None:
        told = ", ".join(f"{size:,}" for size in sizes) or "none"
        super().__init__(f"needs at least {LEAST_SIZES} sizes, measured: {told}")


def estimate_repetition(
    samples: Sequence[SizeSample], prepared: Sequence[SizePoint], num: int, work: int
) -> RepetitionEstimate:
    """Return what `work` operations on `num` entries take; prepared: fills' seconds.

    Only smaller sizes count: this is no interpolation.  Raises TooFew.
    """
    below = [sample for sample in samples if sample.num <= num]
    sizes = tuple(sorted({sample.num for sample in below}))
    if len(sizes) < LEAST_SIZES:
        raise TooFew(sizes)

    def known(figure: Callable[[SizeSample], float | None]) -> list[SizePoint]:
        figures = ((sample.num, figure(sample)) for sample in below)
        return [SizePoint(n, value) for n, value in figures if value is not None]

    seconds = {
        part: found
        for part, growth in PARTS.items()
        if (found := _seconds(below, prepared, part, growth, num, work))
    }
    return RepetitionEstimate(
        seconds,
        _extrapolated(known(lambda s: s.memory_bytes), num, MEMORY, _LEAST_BYTES),
        _extrapolated(known(lambda s: s.disk_bytes), num, DISK, _LEAST_BYTES),
        sizes,
    )


def predict(points: Sequence[SizePoint], num: int, growth: ExponentPrior) -> Prediction:
    """Return the figure at `num` entries.

    Raises ValueError for fewer than LEAST_SIZES sizes or a value that is not
    above 0: nothing can be said then.
    """
    from scipy.special import stdtrit  # takes a while to load

    sizes = {point.num for point in points}
    if len(sizes) < LEAST_SIZES:
        raise ValueError(f"{len(sizes)} sizes are measured, {LEAST_SIZES} are needed")
    if min(point.value for point in points) <= 0:
        raise ValueError("a figure that grows is above 0")
    constant = _constant(points) if growth.constant else 0.0
    weights = [point.num / max(sizes) for point in points]
    total = sum(weights)

    def mean(values: Sequence[float]) -> float:
        return sum(w * v for w, v in zip(weights, values, strict=True)) / total

    x = [math.log(point.num) for point in points]
    y = [math.log(point.value - constant) for point in points]
    x_mean, y_mean = mean(x), mean(y)
    prior = (_NOISE / growth.sd) ** 2
    known = prior + total * mean([(a - x_mean) ** 2 for a in x])
    products = [(a - x_mean) * (b - y_mean) for a, b in zip(x, y, strict=True)]
    exponent = (prior * growth.exponent + total * mean(products)) / known
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
        variance * (1 + 1 / total + away**2 / known)
    )
    ends = (middle, middle - reach, middle + reach)
    return Prediction(*(constant + math.exp(end) for end in ends))


def _constant(points: Sequence[SizePoint]) -> float:
    """Return c of the line c + k n that fits best, in shares of each figure."""
    ones = sum(1 / p.value**2 for p in points)
    cross = sum(p.num / p.value**2 for p in points)
    squares = sum((p.num / p.value) ** 2 for p in points)
    right = sum(1 / p.value for p in points), sum(p.num / p.value for p in points)
    found = (right[0] * squares - right[1] * cross) / (ones * squares - cross**2)
    return min(max(found, 0.0), _MOST_CONSTANT * min(p.value for p in points))


def _seconds(
    samples: Sequence[SizeSample],
    prepared: Sequence[SizePoint],
    part: str,
    growth: ExponentPrior,
    num: int,
    work: int,
) -> Prediction | None:
    """One part of the wall time; None if the cell has no such part.

    A loop's time is per operation.
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
    found = _extrapolated(points, num, growth, 0.0)
    return found * (work / num) if found else None


def _extrapolated(
    points: Sequence[SizePoint], num: int, growth: ExponentPrior, least: float
) -> Prediction | None:
    """The prediction; None of too few sizes."""
    if len({point.num for point in points}) < LEAST_SIZES:
        return None
    raised = [SizePoint(point.num, max(point.value, least)) for point in points]
    return predict(raised, num, growth)
