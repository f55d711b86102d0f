"""The axes of every drawing: scales, round numbers, marks, and labels that fit.

Geometry only: templates draw the SVG.  Horizontal positions are percentages of the
drawing's width, so that one drawing suits every screen and no text is stretched.
Widths of labels are in ch, the width of a "0" in the reader's font: a wide font shows
fewer labels, and labels do not overlap in any font.  templates/style.css has a
container query for each of STEPS.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

STEPS = (12, 16, 20, 26, 34, 46, 60, 80, 110)  # in ch
_CH = 1.15  # width of a letter: more than the mean of a label in nearly every font
_GAP_CH = 1.5
_EDGE = 4.0  # percent: labels this close to an end of the axis are set inside it


@dataclass(frozen=True)
class Scale:
    """Maps first..last, of which either may be the larger, to 0..1 or percent.

    Numbers beyond an end are clamped to it.
    """

    first: float
    last: float

    def share(self, number: float) -> float:
        """Return the place of a number, from 0 to 1."""
        return _kept((number - self.first) / (self.last - self.first))

    def percent(self, number: float) -> float:
        """Return the place of a number in percent."""
        return round(self.share(number) * 100, 2)


@dataclass(frozen=True)
class LogScale(Scale):
    """A logarithmic scale, for numbers above zero."""

    def share(self, number: float) -> float:
        """Return the place of a number, from 0 to 1."""
        return _kept(math.log(number / self.first) / math.log(self.last / self.first))


@dataclass(frozen=True)
class Tick:
    """A place of an axis: percent of the width, or pixels from the top."""

    at: float
    label: str


@dataclass(frozen=True)
class Dot:
    """One point: percent from the left, and down as the drawing has it.

    `whisker` is the upper and the lower end of its interval.
    """

    x: float
    y: float
    label: str
    side: str = ""  # of an A/B run
    disturbed: bool = False
    whisker: tuple[float, float] | None = None


@dataclass(frozen=True)
class LevelLine:
    """A line across a part of a drawing."""

    x1: float
    x2: float
    y: float
    side: str = ""


def log_steps(low: float, high: float, digits: Sequence[int] = (1,)) -> list[float]:
    """Return the powers of ten in low..high, times each of the digits."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    steps = (d * 10.0**power for power in range(first, last + 1) for d in digits)
    return [step for step in steps if low <= step <= high]


def even_steps(low: float, high: float) -> list[float]:
    """Return round numbers in low..high, usually three."""
    half = (high - low) / 2
    power = 10.0 ** math.floor(math.log10(half))
    step = next(power * n for n in (5, 2, 1) if power * n <= half)
    first = math.ceil(low / step)
    return [n * step for n in range(first, first + 6) if low <= n * step <= high]


def free_level(taken: Collection[int]) -> int:
    """Return the lowest level that is not taken by a mark nearby."""
    return next(level for level in itertools.count() if level not in taken)


def edge(at_percent: float, within: float) -> str:
    """Return "first" or "last" if a position is near that end of a drawing, or ""."""
    if at_percent < within:
        return "first"
    return "last" if at_percent > 100 - within else ""


def _kept(share: float) -> float:
    return min(max(share, 0.0), 1.0)


def shown(ticks: Iterable[Tick]) -> list[tuple[Tick, str]]:
    """Return the labels along an axis, each with its classes; `at` is in percent.

    A label that does not fit at any width is left out.
    """
    labelled = [tick for tick in ticks if tick.label]
    least: dict[int, int] = {}  # the width from which on each one is shown
    for step in STEPS:
        for i in _coarse_first(len(labelled)):
            if i in least:
                continue
            left, right = _reach(labelled[i], step)
            if left < -_GAP_CH or right > step + _GAP_CH:
                continue
            there = [_reach(labelled[k], step) for k in least]
            if all(right < begin or left > end for begin, end in there):
                least[i] = step
    return [(labelled[i], _classes(labelled[i], least[i])) for i in sorted(least)]


def _coarse_first(count: int) -> list[int]:
    """Return the first and last index, the middle, the middles of the halves, ..."""
    order = [0, count - 1] if count > 1 else list(range(count))
    spans: list[tuple[int, int]] = [(0, count - 1)]
    for first, last in spans:
        middle = (first + last) // 2
        if first < middle < last:
            order.append(middle)
            spans += [(first, middle), (middle, last)]
    return order


def _reach(tick: Tick, width_ch: float) -> tuple[float, float]:
    """Return the start and end of a label in ch, with half of the gap at each side."""
    at, wide = tick.at / 100 * width_ch, len(tick.label) * _CH + _GAP_CH
    if tick.at < _EDGE:
        return at, at + wide
    if tick.at > 100 - _EDGE:
        return at - wide, at
    return at - wide / 2, at + wide / 2


def _classes(tick: Tick, least: int) -> str:
    side = edge(tick.at, _EDGE)
    is_always = least == STEPS[0]
    return " ".join(filter(None, ("tk", side, "" if is_always else f"from{least}")))
