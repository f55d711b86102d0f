"""The labelled places of an axis, and from which width on each label is shown.

Widths are in ch, the width of a "0" in the reader's font: a wide font shows fewer
labels, and in no font does one meet another.  templates/style.css has a container
query for each of STEPS.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

STEPS = (12, 16, 20, 26, 34, 46, 60, 80, 110)  # in ch
_CH = 1.15  # of a letter: the mean of a label is less, in nearly every font
_GAP_CH = 1.5
_EDGE = 4.0  # percent: labels so near an end of the axis stay within it


@dataclass(frozen=True)
class Tick:
    """A place of an axis: percent of the width, or pixels from the top."""

    at: float
    label: str


def shown(ticks: Iterable[Tick]) -> list[tuple[Tick, str]]:
    """The labels along a width, each with its classes; `at` is in percent.

    What has no room on any width is left out.
    """
    found = [tick for tick in ticks if tick.label]
    least: dict[int, int] = {}  # the width from which on each one is shown
    for step in STEPS:
        for i in _coarse_first(len(found)):
            if i in least:
                continue
            left, right = _reach(found[i], step)
            if left < -_GAP_CH or right > step + _GAP_CH:
                continue
            there = [_reach(found[k], step) for k in least]
            if all(right < begin or left > end for begin, end in there):
                least[i] = step
    return [(found[i], _classes(found[i], least[i])) for i in sorted(least)]


def _coarse_first(count: int) -> list[int]:
    """The first and the last place, the middle, the middles of the halves, ..."""
    order = [0, count - 1] if count > 1 else list(range(count))
    spans: list[tuple[int, int]] = [(0, count - 1)]
    for first, last in spans:
        middle = (first + last) // 2
        if first < middle < last:
            order.append(middle)
            spans += [(first, middle), (middle, last)]
    return order


def _reach(tick: Tick, width_ch: float) -> tuple[float, float]:
    """Where a label begins and ends, with half of the gap at each side, in ch."""
    at, wide = tick.at / 100 * width_ch, len(tick.label) * _CH + _GAP_CH
    if tick.at < _EDGE:
        return at, at + wide
    if tick.at > 100 - _EDGE:
        return at - wide, at
    return at - wide / 2, at + wide / 2


def _classes(tick: Tick, least: int) -> str:
    side = "first" if tick.at < _EDGE else "last" if tick.at > 100 - _EDGE else ""
    is_always = least == STEPS[0]
    return " ".join(filter(None, ("tk", side, "" if is_always else f"from{least}")))
