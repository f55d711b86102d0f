"""Whether the writes of a repetition reached a steady state, and how it got there.

The loop is divided into nine windows or a few more, in each of which the data set is
rewritten equally often, at least once.  Its last five must be level: both the rate and
the write amplification range over at most 20 % of their mean, and their fitted line
moves by at most 10 % of it (SNIA Solid State Storage Performance Test Specification
2.0.2, 2020).

Five windows cannot show that a rate falls slowly.  So the rate must have been flat for
six: their fitted line moves by no more either, and there is no change point in them, at
which the rates of all windows are divided, as Barrett et al. do ("Virtual machine
warmup blows hot and cold", OOPSLA 2017).  Didona et al. demand three rewrites of the
data (PVLDB 14(3), 2020).  A window must be several cycles of an engine's compactions:
a longer loop has longer windows, not more of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from report.model.record import Course, Record
from report.stats.change_points import change_points
from report.stats.device_use import user_bytes
from report.terms.regime import STEADY_WINDOWS
from report.terms.rulebook import WRITING_TYPES

Columns = Mapping[str, NDArray[np.float64]]
_WRITTEN = "device_written_bytes"
WINDOWS = 9  # of a loop that is long enough
LEAST_WINDOWS = 6  # for which the rate must have been flat
MOST_WINDOWS = 10_000  # far more than a course has samples: nothing is known of more
MOST_RANGE = 0.20  # of the mean
MOST_DRIFT = 0.10  # of the mean, of the fitted line over the windows


class Shape(StrEnum):
    """The course of the rate."""

    FLAT = "flat"
    FLAT_AT_LAST = "flat after a change"
    WARMING_UP = "warming up"
    SLOWING_DOWN = "slowing down"
    UNSETTLED = "no steady state"
    UNKNOWN = "too short"


@dataclass(frozen=True)
class Window:
    """A part of the loop in which the data set was rewritten once or several times."""

    start_ns: int
    end_ns: int
    ops_per_sec: float
    write_amplification: float


@dataclass(frozen=True)
class SteadyState:
    """The windows of a loop; `steady` are the last five, () if they are not steady."""

    windows: tuple[Window, ...]
    rewrites: float  # of the data set, in the whole loop
    window_rewrites: int  # the same, in a window
    shape: Shape
    steady: tuple[Window, ...]

    @property
    def is_steady(self) -> bool:
        """True if the loop ended in a steady state."""
        return bool(self.steady)

    @property
    def ops_per_sec(self) -> float | None:
        """The rate over the last five windows, steady or not; None of fewer."""
        last = self.windows[-STEADY_WINDOWS:]
        if len(last) < STEADY_WINDOWS:
            return None
        ops = sum(w.ops_per_sec * (w.end_ns - w.start_ns) for w in last)
        return ops / (last[-1].end_ns - last[0].start_ns)

    @property
    def steady_after(self) -> float | None:
        """How often the data set was rewritten before the steady windows, if any."""
        if not self.steady:
            return None
        return self.rewrites - len(self.steady) * self.window_rewrites

    @property
    def write_amplification(self) -> float | None:
        """The mean over the steady windows, which accept equally much; None without."""
        if not self.steady:
            return None
        return float(np.mean([w.write_amplification for w in self.steady]))


def of_record(record: Record) -> SteadyState | None:
    """Return the steady state of a line.

    None if it has no course, wrote nothing, or nobody knows what it wrote.
    All operations of a mix count, a window by those that write.
    """
    course, ops = record.get("course"), record.get("ops")
    accepted, _ = user_bytes(record)
    num = int((record.get("options") or {}).get("num") or 0)
    if not course or not course[_WRITTEN] or not ops or not accepted or not num:
        return None
    by_type = record.get("ops_by_type") or {}
    writes = sum(n for t, n in by_type.items() if t in WRITING_TYPES) or ops
    rewrites = writes / num
    each = max(1, int(rewrites / WINDOWS))
    windows = windows_of(course, each * num * ops / writes, accepted / ops)
    return steady_state(windows, rewrites, each)


def steady_state(
    windows: Sequence[Window], rewrites: float, window_rewrites: int = 1
) -> SteadyState:
    """Judge the windows of a loop that rewrote the data set so often."""
    shape, last = shape_of(windows), tuple(windows[-STEADY_WINDOWS:])
    is_steady = (
        shape in (Shape.FLAT, Shape.FLAT_AT_LAST)
        and is_level([w.ops_per_sec for w in last])
        and is_level([w.write_amplification for w in last])
    )
    steady = last if is_steady else ()
    return SteadyState(tuple(windows), rewrites, window_rewrites, shape, steady)


def is_level(values: Sequence[float]) -> bool:
    """Return True if values range and drift little, relative to their mean."""
    mean = float(np.mean(values))
    if mean <= 0:
        return False
    spread = max(values) - min(values)
    return spread <= MOST_RANGE * mean and abs(drift(values)) <= MOST_DRIFT


def drift(values: Sequence[float]) -> float:
    """Return how far the fitted line moves over values, as a share of their mean."""
    slope = float(np.polyfit(np.arange(len(values)), values, 1)[0])
    return slope * (len(values) - 1) / float(np.mean(values))


def shape_of(windows: Sequence[Window]) -> Shape:
    """Return the shape of the rate over the windows.

    A rate that moves a little in each window has no change point: the last six windows
    must not drift either.
    """
    if len(windows) < LEAST_WINDOWS:
        return Shape.UNKNOWN
    rates = [window.ops_per_sec for window in windows]
    if min(rates) <= 0:
        return Shape.UNSETTLED
    cuts = [step.index for step in change_points(rates)]
    if len(rates) - max(cuts, default=0) >= LEAST_WINDOWS:
        moved = drift(rates[-LEAST_WINDOWS:])
        if abs(moved) <= MOST_DRIFT:
            return Shape.FLAT_AT_LAST if cuts else Shape.FLAT
        return Shape.WARMING_UP if moved > 0 else Shape.SLOWING_DOWN
    if len(rates) - cuts[-1] < STEADY_WINDOWS:
        return Shape.UNSETTLED
    edges = [0, *cuts, len(rates)]
    levels = [float(np.median(rates[left:right])) for left, right in pairwise(edges)]
    if all(level < levels[-1] for level in levels[:-1]):
        return Shape.WARMING_UP
    if all(level > levels[-1] for level in levels[:-1]):
        return Shape.SLOWING_DOWN
    return Shape.UNSETTLED


def windows_of(
    course: Course, ops_per_window: float, bytes_per_op: float
) -> tuple[Window, ...]:
    """Return the whole windows of a course.

    A window has `ops_per_window` operations, each of which writes `bytes_per_op` of
    keys and values on average.  Between two samples, operations and bytes are spread
    evenly; a course with fewer samples than windows would only seem level, and has
    none.
    """
    loop = loop_of(course)
    if loop["ops"][-1] / ops_per_window > MOST_WINDOWS:
        return ()
    edges = np.arange(0, loop["ops"][-1] + 1, ops_per_window)
    keep = np.concatenate(([True], np.diff(loop["ops"]) > 0))
    ops = loop["ops"][keep]
    if len(edges) < 2 or len(ops) < len(edges):
        return ()
    at_ns = np.interp(edges, ops, loop["elapsed_ns"][keep])
    at_bytes = np.interp(edges, ops, loop[_WRITTEN][keep])
    user_bytes = ops_per_window * bytes_per_op
    return tuple(
        Window(
            int(start),
            int(end),
            ops_per_window * 1e9 / max(1.0, float(end - start)),
            float(after - before) / user_bytes,
        )
        for (start, end), (before, after) in zip(
            pairwise(at_ns), pairwise(at_bytes), strict=True
        )
    )


def loop_of(course: Course) -> Columns:
    """Return the samples of the loop in a course, which is of the whole process.

    Columns that are unknown are left out.

    The loop begins with the last sample that has no operation, and ends with the first
    one that has all of them.  Times remain those of the process.
    """
    columns = {k: np.asarray(v, dtype=np.float64) for k, v in course.items() if v}
    ops = columns["ops"]
    began = max(0, int(np.argmax(ops > 0)) - 1)
    ended = int(np.argmax(ops)) + 1
    return {name: values[began:ended] for name, values in columns.items()}
