"""What the engines of a chart are compared by.

A writing benchmark has two rates of equal rank.  Both are of the same operations: the
accepted rate covers the loop and the flush, after which everything is handed to the
operating system, and the finished rate also the time until the engine has no deferred
work left, such as compactions and checkpoints.  Latencies are compared by their 99th
percentile.

In a scenario that demands a steady state there is one rate, that of the steady windows:
the work that they defer is done in them for the windows before.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from report.model.record import passes_of
from report.model.run import Cell, Measurement
from report.stats import latency, timeline
from report.terms import numbers
from report.terms.rulebook import Benchmark, Flags

LEVEL = 0.05  # a share: engines that differ by less are level


@dataclass(frozen=True)
class Metric:
    """A quantity that each repetition has: less is better.

    `time_ns` returns it for an ok repetition, or None.  `applies` says whether a
    benchmark has it under the flags of its cell, and `of_calls` whether it is measured
    in the repetitions that time every call.  `ending_ns` returns it for the last fifth
    of a loop, or None.
    """

    name: str
    time_ns: Callable[[Measurement], float | None]
    applies: Callable[[Benchmark | None, Flags], bool] = lambda _, __: True
    of_calls: bool = False
    ending_ns: Callable[[Measurement], float | None] = lambda _: None

    def times_ns(self, cell: Cell | None) -> Mapping[int, float]:
        """Return the value of each repetition, by its number; {} unless ok."""
        if cell is None or cell.status != "ok":
            return {}
        lines = cell.timed if self.of_calls else cell.repetitions
        values = ((m.repetition, self.time_ns(m)) for m in lines)
        return {number: value for number, value in values if value}

    def place(self, cell: Cell, benchmark: Benchmark | None) -> str:
        """Return what an engine shares with those that it may be compared with.

        "" if there is nothing to say.  What it keeps of its writes is not part of it:
        engines that keep more may be compared with those that keep less.
        """
        parts = [FROM_DEVICE] if is_from_device(cell, benchmark) else []
        loops = [m.record.get("open_loop") for m in cell.timed] if self.of_calls else []
        offered = [loop["rate_ops_per_sec"] for loop in loops if loop]
        if offered:
            parts.append(f"at {numbers.rounded(statistics.median(offered))} ops/s")
        return ", ".join(parts)


def _accepted_ns(m: Measurement) -> float | None:
    rate = m.ops_per_sec
    return 1e9 / rate if rate else None


def _accepted_ending_ns(m: Measurement) -> float | None:
    """Return the time of an operation in the last fifth; each has its part of flushes.

    The line of a large run had its timeline when it was read.
    """
    known_ns = timeline.ending_ns(m.record) if m.ending_ns is None else m.ending_ns
    return known_ns + (m.flush_ns or 0) / m.ops if known_ns and m.ops else None


def _finished_ns(m: Measurement) -> float | None:
    if m.settle_ns is None or not m.ops_per_sec or not m.ops or m.elapsed_ns is None:
        return None
    if m.steady_rate:
        return None
    return (m.elapsed_ns + m.settle_ns) / m.ops


def _leaves_work(benchmark: Benchmark | None, flags: Flags) -> bool:
    """Return True if a cell writes and waits until nothing is left to do.

    Next to readers, what a writer leaves to do is not work of the measured operations.
    """
    if benchmark is None or not flags.get("settle", True):
        return False
    return benchmark.writes and not benchmark.writer


def _tail_ns(m: Measurement) -> float | None:
    """Return the 99th percentile of the calls; None of a saturated open loop."""
    known = latency.percentiles(m.record.get("latency_ns"))
    return known.at["p99"] if known else None


ACCEPTED = Metric("accepted", _accepted_ns, ending_ns=_accepted_ending_ns)
FINISHED = Metric("finished", _finished_ns, _leaves_work)
TAIL = Metric("p99", _tail_ns, of_calls=True)


# The share of the live entries that a reading cell may fetch from storage and still be
# one that read from memory: a few pages of metadata are always fetched.
MOST_FETCHED = 0.01
FROM_DEVICE = "read from the device"


def is_from_device(cell: Cell, benchmark: Benchmark | None) -> bool:
    """Return True if a reading cell fetched more than MOST_FETCHED of its entries."""
    if benchmark is None or benchmark.writes:
        return False
    shares = [_fetched(m) for m in cell.repetitions if m.status == "ok"]
    return bool(shares) and statistics.median(shares) > MOST_FETCHED


def _fetched(m: Measurement) -> float:
    """Return the bytes that a repetition fetched from storage, per byte of entries."""
    live, fetched = m.figure("live_bytes"), m.figure("storage_read_bytes")
    return fetched / live / passes_of(m.record) if live and fetched else 0.0
