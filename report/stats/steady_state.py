"""Whether the writes of a repetition reached a steady state, and how it got there.

The loop is divided into windows in which a quarter of the data set is rewritten.  It is
steady once, over five consecutive windows, both the rate and the write amplification
range over at most 20 % of their mean and their fitted line moves by at most 10 % of it
(SNIA Solid State Storage Performance Test Specification 2.0.2, 2020), after at least
three data sets were rewritten (Didona et al., PVLDB 14(3), 2020).

Independently, the rates of the windows are divided at their change points, as Barrett
et al. do ("Virtual machine warmup blows hot and cold", OOPSLA 2017): flat, warming up,
slowing down, or without a steady state.
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
from report.terms.rulebook import WRITING_TYPES

Columns = Mapping[str, NDArray[np.float64]]
_WRITTEN = "device_written_bytes"
WINDOW = 0.25  # of the data set, rewritten
LEAST_WINDOWS = 5  # consecutive
LEAST_REWRITES = 3  # of the data set
MOST_WINDOWS = 10_000  # far more than a course has samples: nothing is known of more
MOST_RANGE = 0.20  # of the mean
MOST_DRIFT = 0.10  # of the mean, of the fitted line over the windows


class Shape(StrEnum):
    """The course of the rate."""

    FLAT = "flat"
    WARMING_UP = "warming up"
    SLOWING_DOWN = "slowing down"
    UNSETTLED = "no steady state"
    UNKNOWN = "too short"


@dataclass(frozen=True)
class Window:
    """A part of the loop in which WINDOW of the data was rewritten."""

    start_ns: int
    end_ns: int
    ops_per_sec: float
    write_amplification: float


@dataclass(frozen=True)
class SteadyState:
    """The windows of a loop; `steady_from` is the first of the steady five, or None."""

    windows: tuple[Window, ...]
    rewrites: float  # of the data set, in the whole loop
    steady_from: int | None

    @property
    def is_steady(self) -> bool:
        """True if five consecutive windows were steady."""
        return self.steady_from is not None

    @property
    def shape(self) -> Shape:
        """The shape of the rate over the windows."""
        return shape_of(self.windows)

    @property
    def steady(self) -> tuple[Window, ...]:
        """The first five steady windows; () without."""
        if self.steady_from is None:
            return ()
        return self.windows[self.steady_from : self.steady_from + LEAST_WINDOWS]


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
    windows = windows_of(course, WINDOW * num * ops / writes, accepted / ops)
    return steady_state(windows, writes / num)


def steady_state(windows: Sequence[Window], rewrites: float) -> SteadyState:
    """Judge the windows of a loop that rewrote the data set so often."""
    first = None
    for end in range(LEAST_WINDOWS, len(windows) + 1):
        last = windows[end - LEAST_WINDOWS : end]
        rates = [w.ops_per_sec for w in last]
        amplifications = [w.write_amplification for w in last]
        if end * WINDOW < LEAST_REWRITES:
            continue
        if is_level(rates) and is_level(amplifications):
            first = end - LEAST_WINDOWS
            break
    return SteadyState(tuple(windows), rewrites, first)


def is_level(values: Sequence[float]) -> bool:
    """Return True if values range and drift little, relative to their mean."""
    mean = float(np.mean(values))
    if mean <= 0:
        return False
    slope = float(np.polyfit(np.arange(len(values)), values, 1)[0])
    drift = abs(slope) * (len(values) - 1)
    spread = max(values) - min(values)
    return spread <= MOST_RANGE * mean and drift <= MOST_DRIFT * mean


def shape_of(windows: Sequence[Window]) -> Shape:
    """Return the shape of the rate over the windows."""
    if len(windows) < 2 * LEAST_WINDOWS:
        return Shape.UNKNOWN
    rates = [window.ops_per_sec for window in windows]
    if min(rates) <= 0:
        return Shape.UNSETTLED
    cuts = [step.index for step in change_points(rates)]
    if not cuts:
        return Shape.FLAT
    if len(rates) - cuts[-1] < LEAST_WINDOWS:
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
    evenly.
    """
    loop = loop_of(course)
    if loop["ops"][-1] / ops_per_window > MOST_WINDOWS:
        return ()
    edges = np.arange(0, loop["ops"][-1] + 1, ops_per_window)
    if len(edges) < 2:
        return ()
    keep = np.concatenate(([True], np.diff(loop["ops"]) > 0))
    ops = loop["ops"][keep]
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
