"""What the engines of a chart are compared by, and their rankings.

A writing benchmark has two rates of equal rank.  Both are of the same operations: the
accepted rate covers the loop and the flush, after which everything is handed to the
operating system, and the finished rate also the time until the engine has no deferred
work left, such as compactions and checkpoints.  Latencies are compared by their 99th
percentile.

In a scenario that demands a steady state there is one rate, that of the steady windows:
the work that they defer is done in them for the windows before.
"""

from __future__ import annotations

import dataclasses
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from report.model.record import passes_of
from report.model.run import Cell, Measurement
from report.stats import latency, timeline
from report.terms import numbers
from report.terms.class_stamp import KnownClass
from report.terms.rulebook import Benchmark, Flags

LEVEL = 0.05  # a share: engines that differ by less are level


@dataclass(frozen=True)
class Metric:
    """A quantity that each repetition has: less is better.

    `time_ns` returns it for an ok repetition, or None.  `applies` says whether a
    benchmark has it under the flags of its cell, and `of_calls` whether it is measured
    in the repetitions that time every call.  `ending_ns` returns it for operations in
    the last fifth of a loop, or None.
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
    return _ending_ns(m, m.flush_ns or 0)


def _ending_ns(m: Measurement, after_ns: int) -> float | None:
    """Return the time of an operation in the last fifth of a loop.

    Each operation of the loop has an equal part of the time after it.  The line of a
    large run had its timeline when it was read.
    """
    known_ns = timeline.ending_ns(m.record) if m.ending_ns is None else m.ending_ns
    if not known_ns or not m.ops:
        return None
    return known_ns + after_ns / m.ops


def _finished_ns(m: Measurement) -> float | None:
    if m.settle_ns is None or not m.ops_per_sec or not m.ops or m.elapsed_ns is None:
        return None
    if m.last_rate:
        return None
    return (m.elapsed_ns + m.settle_ns) / m.ops


def _finished_ending_ns(m: Measurement) -> float | None:
    return _ending_ns(m, (m.flush_ns or 0) + (m.settle_ns or 0))


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
FINISHED = Metric("finished", _finished_ns, _leaves_work, ending_ns=_finished_ending_ns)
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


class Outcome(Enum):
    """What a chart shows about its ranked engines."""

    WIN = "wins"
    LEVEL = "level"
    UNDECIDED = "undecided"
    UNCONTESTED = "uncontested"  # only one engine has a value


@dataclass(frozen=True)
class ChartVerdict:
    """The verdict of a chart; `leaders` has the engine with the best median first.

    The other leaders are those that it is not shown to be ahead of.  Leads below
    `smallest` (a share) can be missed.  If undecided, `doubt` is the reason, or "" if
    the leads are too small: then about `needed` repetitions would decide, None if more
    than a hundred.

    In a run of many machines, `behind` has the interval of how many times as long each
    other engine needs as the first.  `split` has each engine that is faster than the
    first on some machines, with those, where machines are shown to disagree.
    """

    outcome: Outcome
    leaders: tuple[str, ...]
    doubt: str = ""
    smallest: float = 0.0
    needed: int | None = None
    behind: Mapping[str, tuple[float, float]] = dataclasses.field(default_factory=dict)
    split: Mapping[str, tuple[str, ...]] = dataclasses.field(default_factory=dict)


@dataclass(frozen=True)
class Ranking:
    """The engines of a chart that may be compared, by one metric.

    `group` is what they have in common, "" if all engines of the chart have it.
    `classes` has what the writes of each keep; {} of reads.

    `off_best` has how many times the best median each engine needs, of all that are
    ranked in the chart, in this ranking or in another; {} of one alone.  `faster` has
    texts by leader: who is shown to be faster, but not ranked.

    Engines are compared by `aligned_ns`: on several machines, medians of ratios within
    blocks times a constant, since a median of times depends on who measured what; on
    one, the medians.
    """

    metric: Metric
    group: str
    medians_ns: Mapping[str, float]  # by engine, in run order
    verdict: ChartVerdict
    aligned_ns: Mapping[str, float]  # the same, from ratios within blocks
    classes: Mapping[str, KnownClass] = dataclasses.field(default_factory=dict)
    off_best: Mapping[str, float] = dataclasses.field(default_factory=dict)
    faster: Mapping[str, tuple[str, ...]] = dataclasses.field(default_factory=dict)

    @property
    def winner(self) -> str:
        """The engine that wins, or ""."""
        won = self.verdict.outcome is Outcome.WIN
        return self.verdict.leaders[0] if won else ""

    def beside(self, engine: str) -> tuple[str, ...]:
        """Return what is shown next to a leader, and who is faster but not ranked.

        It is what a crash leaves of its writes; of reads, the group.
        """
        known = self.classes.get(engine)
        text = known.kept.text if known else self.group
        return (*filter(None, [text]), *self.faster.get(engine, ()))

    def is_led_by(self, engine: str) -> bool:
        """Return True if an engine wins or is level with the best."""
        is_shown = self.verdict.outcome in (Outcome.WIN, Outcome.LEVEL)
        return is_shown and engine in self.verdict.leaders


def shown_by(
    engine: str, accepted: Sequence[Ranking], finished: Sequence[Ranking] = ()
) -> tuple[Ranking | None, Ranking | None]:
    """Return the accepted and the finished ranking that an engine is shown by.

    Rankings are the widest first.  It is the widest in which the engine leads by one of
    the two, else the narrowest that has a rival.  None: the engine is in none.
    """
    own = [ranking for ranking in accepted if engine in ranking.medians_ns]
    also = {r.group: r for r in finished if engine in r.medians_ns}
    for ranking in own:
        other = also.get(ranking.group)
        if ranking.is_led_by(engine) or (other and other.is_led_by(engine)):
            return ranking, other
    contested = [ranking for ranking in own if len(ranking.medians_ns) > 1]
    shown = next(reversed(contested or own), None)
    if shown is None:
        return None, shown_by(engine, finished)[0] if finished else None
    return shown, also.get(shown.group)
