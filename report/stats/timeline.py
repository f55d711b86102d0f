"""Throughput over the time of one repetition, from its result line.

A line's timeline is cumulative: [elapsed_ns, ops] at the end of each interval.
Nothing here fails on a line of schema 1, which has no timeline.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from report.model.record import Record


@dataclass(frozen=True)
class Interval:
    """A piece of the loop and the rate in it."""

    start_ns: int
    end_ns: int
    ops: int

    @property
    def ops_per_sec(self) -> float:
        """The rate of this piece."""
        return self.ops * 1e9 / (self.end_ns - self.start_ns)


@dataclass(frozen=True)
class Stall:
    """A gap in which no operation finished; `at_ns` is from the loop's start."""

    at_ns: int
    lasted_ns: int


@dataclass(frozen=True)
class Stalls:
    """`longest` is of the first hundred that are listed, longest first."""

    count: int
    stalled_ns: int
    longest: tuple[Stall, ...]


@dataclass(frozen=True)
class Timeline:
    """The intervals of one loop, without a gap between them."""

    intervals: tuple[Interval, ...]

    @property
    def loop_ns(self) -> int:
        """The length of the loop."""
        return self.intervals[-1].end_ns

    @property
    def median_ops_per_sec(self) -> float:
        """The rate of the interval in the middle."""
        return statistics.median(i.ops_per_sec for i in self.intervals)

    @property
    def fastest(self) -> Interval:
        """The interval of the highest rate, the first of equals."""
        return max(self.intervals, key=lambda i: i.ops_per_sec)

    @property
    def slowest(self) -> Interval:
        """The interval of the lowest rate, the first of equals."""
        return min(self.intervals, key=lambda i: i.ops_per_sec)

    @property
    def slowest_share(self) -> float:
        """The slowest interval as a share of the median: 1 is steady."""
        return self.slowest.ops_per_sec / self.median_ops_per_sec

    def resampled(self, columns: int) -> list[float]:
        """ops/s in `columns` equal parts of the loop's time.

        Operations are spread evenly over their interval, so none is lost.
        """
        width_ns = self.loop_ns / columns
        ops = [0.0] * columns
        for piece in self.intervals:
            first = min(int(piece.start_ns / width_ns), columns - 1)
            for column in range(first, columns):
                start = max(piece.start_ns, column * width_ns)
                end = min(piece.end_ns, (column + 1) * width_ns)
                ops[column] += piece.ops_per_sec * max(0.0, end - start) / 1e9
                if piece.end_ns <= (column + 1) * width_ns:
                    break
        return [done * 1e9 / width_ns for done in ops]


def timeline(record: Record) -> Timeline | None:
    """None of a line without a timeline."""
    points: Sequence[Sequence[int]] = record.get("timeline") or ()
    if not points:
        return None
    starts = [(0, 0), *points[:-1]]
    return Timeline(
        tuple(
            Interval(start_ns, end_ns, ops - before)
            for (start_ns, before), (end_ns, ops) in zip(starts, points, strict=True)
        )
    )


def stalls(record: Record) -> Stalls | None:
    """None of a line that does not tell."""
    count = record.get("stall_count")
    if count is None:
        return None
    found = [Stall(s["at_ns"], s["lasted_ns"]) for s in record.get("stalls") or ()]
    longest = sorted(found, key=lambda s: (-s.lasted_ns, s.at_ns))
    return Stalls(count, record.get("stalled_ns") or 0, tuple(longest))
