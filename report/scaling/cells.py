"""One cell at a size that nobody has measured: its time, memory and disk."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add

from report.scaling.growth import (
    LEAST_SIZES,
    NOTHING,
    Point,
    Prediction,
    Slope,
    predict,
)

# What a repetition's wall time is made of, with how each part is expected to grow:
# as n log n does (1 / ln n more than n, between a million and a billion), more or
# less; the start of processes hardly at all.
_WORK = Slope(0.05, 0.1)
PARTS: Mapping[str, Slope] = {
    "prepare": _WORK,
    "loop": _WORK,
    "settle": Slope(0.05, 0.15),
    "audit": _WORK,
    "rest": Slope(-0.3, 0.4),
}
_DISK = Slope(0.0, 0.05)
# An engine's memory may be a fixed cache, or an index of all keys.
_MEMORY = Slope(-0.5, 0.5)
_LEAST_S = 1e-3  # what is faster is noise, and nothing to a prediction
_LEAST_BYTES = 1 << 20


@dataclass(frozen=True)
class Sample:
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
class Outlook:
    """What a cell will take; seconds of one repetition, by PARTS."""

    seconds: Mapping[str, Prediction]
    memory_bytes: Prediction | None
    disk_bytes: Prediction | None
    sizes: tuple[int, ...]  # that were measured

    @property
    def wall_s(self) -> Prediction:
        """All of one repetition but the filling of its database."""
        return reduce(
            add, (p for part, p in self.seconds.items() if part != "prepare"), NOTHING
        )


class TooFew(Exception):
    """Too few sizes were measured; says which there are."""

    def __init__(self, sizes: Sequence[int]) -> None:
        told = ", ".join(f"{size:,}" for size in sizes) or "none"
        super().__init__(f"needs at least {LEAST_SIZES} sizes, measured: {told}")


def outlook(
    samples: Sequence[Sample], prepared: Sequence[Point], num: int, work: int
) -> Outlook:
    """What `work` operations on `num` entries take; prepared: the fills' seconds.

    Only smaller sizes count: this is no interpolation.  Raises TooFew.
    """
    below = [sample for sample in samples if sample.num <= num]
    sizes = tuple(sorted({sample.num for sample in below}))
    if len(sizes) < LEAST_SIZES:
        raise TooFew(sizes)
    seconds = {
        part: found
        for part, slope in PARTS.items()
        if part != "prepare" and (found := _part(below, part, slope, num, work))
    }
    if fills := _enough([point for point in prepared if point.num <= num]):
        seconds["prepare"] = predict(fills, num, PARTS["prepare"])
    return Outlook(
        seconds,
        _bytes([(s.num, s.memory_bytes) for s in below], num, _MEMORY),
        _bytes([(s.num, s.disk_bytes) for s in below], num, _DISK),
        sizes,
    )


def _part(
    samples: Sequence[Sample], part: str, slope: Slope, num: int, work: int
) -> Prediction | None:
    """One part of the wall time; None if the cell has no such part."""
    in_loop = part == "loop"
    points = [
        Point(
            s.num, max(s.seconds[part], _LEAST_S) * (s.num / s.work if in_loop else 1)
        )
        for s in samples
        if part in s.seconds
    ]
    if not _enough(points):
        return None
    return predict(points, num, slope) * (work / num if in_loop else 1)


def _bytes(
    figures: Sequence[tuple[int, float | None]], num: int, slope: Slope
) -> Prediction | None:
    points = [Point(n, max(b, _LEAST_BYTES)) for n, b in figures if b is not None]
    return predict(points, num, slope) if _enough(points) else None


def _enough(points: Sequence[Point]) -> Sequence[Point]:
    """The points, or none if they are of too few sizes."""
    return points if len({p.num for p in points}) >= LEAST_SIZES else ()
