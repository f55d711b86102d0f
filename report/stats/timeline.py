"""Throughput over the time of one repetition, from its result line.

A line's timeline is cumulative: [elapsed_ns, ops] at the end of each interval, over all
passes.  Lines of schema 1 have no timeline, which is not an error.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np

from report.model.record import Record

_LEAST_INTERVALS = 5  # of a pass, for the time of its last fifth


@dataclass(frozen=True)
class Interval:
    """A part of the loop, with its operations."""

    start_ns: int
    end_ns: int
    ops: int

    @property
    def ops_per_sec(self) -> float:
        """The rate in this interval."""
        return self.ops * 1e9 / (self.end_ns - self.start_ns)


@dataclass(frozen=True)
class Stall:
    """A period without finished operations; `at_ns` is from the loop's start."""

    at_ns: int
    lasted_ns: int


@dataclass(frozen=True)
class Stalls:
    """All stalls of a loop; `longest` has the first 100 of them, longest first."""

    count: int
    stalled_ns: int
    longest: tuple[Stall, ...]


@dataclass(frozen=True)
class Timeline:
    """The intervals of one loop, without gaps."""

    intervals: tuple[Interval, ...]

    @property
    def loop_ns(self) -> int:
        """The duration of the loop."""
        return self.intervals[-1].end_ns

    @property
    def median_ops_per_sec(self) -> float:
        """The median of the intervals' rates."""
        return statistics.median(i.ops_per_sec for i in self.intervals)

    @property
    def fastest(self) -> Interval:
        """The interval with the highest rate, the first of equals."""
        return max(self.intervals, key=lambda i: i.ops_per_sec)

    @property
    def slowest(self) -> Interval:
        """The interval with the lowest rate, the first of equals."""
        return min(self.intervals, key=lambda i: i.ops_per_sec)

    @property
    def slowest_share(self) -> float:
        """The rate of the slowest interval over the median rate: 1 is steady."""
        return self.slowest.ops_per_sec / self.median_ops_per_sec

    def resampled(self, columns: int) -> list[float]:
        """Return the ops/s in `columns` equal parts of the loop's time.

        Operations are spread evenly over their interval, so the total is unchanged.
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
    """Return the timeline of a line; None if it does not have one."""
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


def ending_ns(record: Record) -> float | None:
    """Return the time of an operation in the last fifth of those of each pass.

    None unless each pass has five intervals at least: in fewer, its last fifth cannot
    be told from the rest.  All passes have equally many operations.
    """
    points: Sequence[Sequence[int]] = record.get("timeline") or ()
    loops_ns = [one["loop_ns"] for one in record.get("passes") or ()]
    if not points or not points[-1][1]:
        return None
    end_ns, ops = points[-1]
    ends_ns = list(accumulate(loops_ns)) or [end_ns]
    each, spent_ns = ops / len(ends_ns), 0.0
    began: tuple[float, float] = (0.0, 0.0)
    for number, pass_end_ns in enumerate(ends_ns, 1):
        ended = (pass_end_ns, number * each)
        within = [(ns, done) for ns, done in points if began[1] < done < ended[1]]
        if len(within) + 1 < _LEAST_INTERVALS:
            return None
        times_ns, counts = zip(began, *within, ended, strict=True)
        spent_ns += pass_end_ns - float(
            np.interp(ended[1] - each / 5, counts, times_ns)
        )
        began = ended
    return spent_ns / (ops / 5)


def stalls(record: Record) -> Stalls | None:
    """Return the stalls of a line; None if it does not record them."""
    count = record.get("stall_count")
    if count is None:
        return None
    listed = [Stall(s["at_ns"], s["lasted_ns"]) for s in record.get("stalls") or ()]
    longest = sorted(listed, key=lambda s: (-s.lasted_ns, s.at_ns))
    return Stalls(count, record.get("stalled_ns") or 0, tuple(longest))
