"""Verdicts on counts: the work that a build does, judged without a clock.

A count says "work", never "time": fewer instructions are not always faster.  A
difference is believed if it is large compared with the differences between identical
runs of one side.  ERROR_RATES.md, "Counts", has the limits and the false alarms.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from report.model.ab_run import AbCell, AbRun, Round
from report.model.count_lines import CountLine, cell_of_count
from report.model.judgement import LESS, MORE, NOT_GATED, SAME
from report.model.plan import CellName
from report.model.record import Record, passes_of
from report.terms import numbers
from report.terms.text_table import one_line

# Counts of a and of b in a round.
_Pairs = tuple[tuple[float, float], tuple[float, float]]

# Counting repetitions of each side: at first, and in total where something differs.
# The second number is large enough to recognise a count that alternates by chance
# between two values.
SCREENED_COUNTS, CONFIRMED_COUNTS = 3, 9
# Counting repetitions: the threshold is ten times the largest difference between
# identical runs.
_FEW_FLOOR, _FEW_FACTOR, _FEW_CEILING = 0.002, 10, 0.05
# Timed rounds: the fence Q3 + 3 IQR (rustc-perf, docs/comparison-analysis.md).
LEAST_CHANGE, _FENCE, _MANY_CEILING = 0.005, 3, 0.10
_LEAST_ROUNDS = 4


@dataclass(frozen=True)
class CountResult:
    """One count of one cell on both sides.

    `a` and `b` are medians.  `change` and `threshold` are shares: 0.02 is 2 % more.
    `change` is None if the count of a is 0 and that of b is not, or if a side has no
    count.  A result with `trouble` is not gated, but must be reported.  `spread` is
    the largest difference between identical runs, as a share.
    """

    cell: CellName
    name: str
    unit: str
    a: float | None
    b: float | None
    change: float | None
    threshold: float | None
    verdict: str
    reason: str = ""
    spread: float | None = None
    trouble: bool = False  # a process failed, or did other work than the others


@dataclass(frozen=True)
class _Kind:
    name: str
    unit: str
    keys: tuple[str, ...] = ()
    floor: float = LEAST_CHANGE
    per_pass: bool = True  # whether each pass of a repetition adds to it


INSTRUCTIONS = "instructions"
# Counts of the counting repetitions.
COUNTED = (
    _Kind(INSTRUCTIONS, "instructions"),
    _Kind("write_calls", "calls"),
    _Kind("sync_calls", "calls"),
)
# Counts of the timed lines in one pass, deferred work included.  Resident memory has a
# higher floor because it contains the pages of the executable itself: a larger
# executable alone must not raise an alarm.
TIMED = (
    _Kind("written_bytes", "bytes", ("written_bytes", "deferred.written_bytes")),
    _Kind(
        "storage_written_bytes",
        "bytes",
        ("storage_written_bytes", "deferred.storage_written_bytes"),
    ),
    _Kind("read_bytes", "bytes", ("read_bytes", "deferred.read_bytes"), 0.01),
    _Kind("barriers", "barriers", ("barriers", "deferred.barriers"), 0.01),
    _Kind("disk_bytes", "bytes", ("disk_bytes",), per_pass=False),
    _Kind("peak_rss_bytes", "bytes", ("peak_rss_bytes",), 0.02, per_pass=False),
)


def count_results(run: AbRun) -> tuple[CountResult, ...]:
    """Return all counts of the run, cell by cell in the order of the run."""
    lines: dict[CellName, list[CountLine]] = {}
    for line in run.counts:
        lines.setdefault(cell_of_count(line), []).append(line)
    return tuple(
        result
        for cell in run.cells
        for result in cell_results(cell, lines.get(cell.name, ()))
    )


def cell_results(cell: AbCell, lines: Sequence[CountLine]) -> tuple[CountResult, ...]:
    """Return the counts of one cell, from counting repetitions and timed rounds."""
    return (*counted(cell.name, lines), *_timed(cell))


def suspicious(lines: Sequence[CountLine]) -> bool:
    """Return True if counts differ, so that the cell must be counted more often."""
    results = counted(cell_of_count(lines[0]), lines) if lines else ()
    return any(result.reason == _UNCONFIRMED for result in results)


_UNCONFIRMED = f"differs, but was not counted {CONFIRMED_COUNTS} times"
_NONE: Mapping[str, float] = {}
_NOW_AND_THEN = "zero in some identical runs, not in others"


@dataclass(frozen=True)
class _Sides:
    """One count of both sides, from which results are made."""

    cell: CellName
    kind: _Kind
    a: Sequence[float]
    b: Sequence[float]

    def result(
        self, verdict: str, reason: str = "", figures: Mapping[str, float] = _NONE
    ) -> CountResult:
        """Return a result; a change in `figures` replaces that of the medians."""
        a, b = (statistics.median(side) if side else None for side in (self.a, self.b))
        change = figures.get("change")
        if change is None and a is not None and b is not None:
            change = b / a - 1 if a else (None if b else 0.0)
        return CountResult(
            cell=self.cell,
            name=self.kind.name,
            unit=self.kind.unit,
            a=a,
            b=b,
            change=change,
            threshold=figures.get("threshold"),
            verdict=verdict,
            reason=reason,
            spread=figures.get("spread"),
        )

    def not_gated(
        self, reason: str, figures: Mapping[str, float] = _NONE
    ) -> CountResult:
        """Return a result that is shown but does not affect the verdict."""
        return self.result(NOT_GATED, reason, figures)

    def with_nothing(self) -> CountResult | None:
        """Return the result if a run has a count of 0, None if all have more."""
        if all([*self.a, *self.b]):
            return None
        both = any(self.a) and any(self.b)
        if both or not (_agree(self.a) and _agree(self.b)):
            return self.not_gated(_NOW_AND_THEN)
        if any(self.a):
            return self.result(LESS, "now zero")
        return self.result(MORE, "was zero") if any(self.b) else self.result(SAME)


def _agree(values: Sequence[float]) -> bool:
    """Return True if all values are 0 or all are not."""
    return all(values) or not any(values)


def counted(cell: CellName, lines: Sequence[CountLine]) -> tuple[CountResult, ...]:
    """Return the results of one cell's counting repetitions, () without a line."""
    return tuple(_counted(cell, kind, lines) for kind in COUNTED) if lines else ()


def _counted(cell: CellName, kind: _Kind, lines: Sequence[CountLine]) -> CountResult:
    a, b = (_values(lines, side, kind.name) for side in "ab")
    sides = _Sides(cell, kind, a, b)
    for line in lines:
        if line["status"] != "ok":
            failure = f"side {line['side']}: {one_line(line['reason'])}"
            return replace(sides.not_gated(failure), trouble=True)
    times = min(len(a), len(b))
    if times < SCREENED_COUNTS:
        return sides.not_gated(f"not counted {SCREENED_COUNTS} times on both sides")
    if len({(line["ops"], line["num"], line["seed"]) for line in lines}) > 1:
        return replace(sides.not_gated(_OTHER_WORK), trouble=True)
    result = _few(sides)
    if kind.name == INSTRUCTIONS and (why := _threads(lines)):
        return replace(result, verdict=NOT_GATED, reason=why)
    if result.verdict in (MORE, LESS) and times < CONFIRMED_COUNTS:
        return replace(result, verdict=NOT_GATED, reason=_UNCONFIRMED)
    return result


def _few(sides: _Sides) -> CountResult:
    """Judge by the largest difference between identical runs.

    If that is large, ten times as much is still a difference, but a smaller
    difference is no evidence that the counts are the same.
    """
    if (result := sides.with_nothing()) is not None:
        return result
    spread = max(max(side) / min(side) - 1 for side in (sides.a, sides.b))
    threshold = max(_FEW_FLOOR, _FEW_FACTOR * spread)
    figures = {"threshold": threshold, "spread": spread}
    change = statistics.median(sides.b) / statistics.median(sides.a) - 1
    if abs(change) > threshold:
        return sides.result(MORE if change > 0 else LESS, "", figures)
    if threshold > _FEW_CEILING:
        return sides.not_gated(_varies(spread), figures)
    return sides.result(SAME, "", figures)


def _varies(spread: float) -> str:
    return f"varies by {numbers.about(spread)} between identical runs"


_OTHER_WORK = "the processes did not do the same work"


def _values(lines: Iterable[CountLine], side: str, name: str) -> list[int]:
    of_side = (line.get(name) for line in lines if line["side"] == side)
    return [value for value in of_side if isinstance(value, int)]


def _threads(lines: Iterable[CountLine]) -> str:
    """Return why instructions are not gated, or "".

    The scheduling of threads is chance, so instruction counts vary with it.
    """
    started = [line["threads_started"] for line in lines]
    if None in started:
        return "unknown whether it starts threads"
    return "starts threads" if any(started) else ""


def _timed(cell: AbCell) -> Iterator[CountResult]:
    """Yield the results of a cell's screen, where both sides share a seed.

    A count is that of a pass or of the whole repetition, whichever varies less between
    identical runs.

    The processes of a duet have done the work of both sides, so it says nothing.
    """
    if cell.failure is not None or not cell.screen or cell.screen[0].is_duet:
        return
    for kind in TIMED:
        # Passes that only read share one database, of which work may be done once.
        ways = (kind, replace(kind, per_pass=False)) if kind.per_pass else (kind,)
        results = []
        for way in ways:
            rounds = [_pairs_of(screened, way) for screened in cell.screen]
            complete = [pairs for pairs in rounds if pairs is not None]
            results += [_judged_rounds(cell, way, complete)] if complete else []
        if results:
            yield min(results, key=lambda result: result.spread or 0.0)


def _judged_rounds(cell: AbCell, kind: _Kind, rounds: Sequence[_Pairs]) -> CountResult:
    a = [value for of_a, _ in rounds for value in of_a]
    b = [value for _, of_b in rounds for value in of_b]
    sides = _Sides(cell.name, kind, a, b)
    if len(rounds) < _LEAST_ROUNDS:
        return sides.not_gated(
            f"recorded in fewer than {_LEAST_ROUNDS} screening rounds"
        )
    records = [m.record for screened in cell.screen for m in (*screened.a, *screened.b)]
    limited = any(record.get("truncated") for record in records)
    if limited or len({ops_of_pass(record) for record in records}) > 1:
        return replace(sides.not_gated(_OTHER_WORK), trouble=not limited)
    return sides.with_nothing() or _many(sides, rounds)


def _many(sides: _Sides, rounds: Sequence[_Pairs]) -> CountResult:
    """Judge by the fence around the differences between identical runs.

    A fence does not guard against noise in bursts, so a difference must also be in
    every round: both counts of one side beyond both of the other.  For identical
    builds the probability of that is 6^-rounds in each direction.  A count that is not
    gated has the change of its medians, since that within rounds shows nothing.
    """
    within = [abs(math.log(side[0] / side[1])) for pair in rounds for side in pair]
    low, _, high = statistics.quantiles(within, n=4, method="inclusive")
    fence = max(high + _FENCE * (high - low), max(within))
    threshold = max(sides.kind.floor, math.expm1(fence))
    shifts = (_mean_log(of_b) - _mean_log(of_a) for of_a, of_b in rounds)
    change, spread = math.expm1(statistics.median(shifts)), math.expm1(max(within))
    limits = {"threshold": threshold, "spread": spread}
    figures = {"change": change, **limits}
    if abs(change) <= threshold:
        if threshold > _MANY_CEILING:
            return sides.not_gated(_varies(spread), limits)
        return sides.result(SAME, "", figures)
    if all(min(of_b) > max(of_a) for of_a, of_b in rounds):
        return sides.result(MORE, "", figures)
    if all(max(of_b) < min(of_a) for of_a, of_b in rounds):
        return sides.result(LESS, "", figures)
    return sides.not_gated("differs, but not in every round", limits)


def _mean_log(values: Sequence[float]) -> float:
    return statistics.fmean(math.log(value) for value in values)


def _pairs_of(screened: Round, kind: _Kind) -> _Pairs | None:
    """Return the counts of both repetitions of each side, None if one is missing."""
    a0, a1, b0, b1 = (timed_count(m.record, kind) for m in (*screened.a, *screened.b))
    if a0 is None or a1 is None or b0 is None or b1 is None:
        return None
    return (a0, a1), (b0, b1)


def ops_of_pass(record: Record) -> float | None:
    """Return the operations of one pass of a line; None if they are not known."""
    ops = record.get("ops")
    return ops / passes_of(record) if ops else None


def timed_count(record: Record, kind: _Kind) -> float | None:
    """Return a count of a line by its kind in TIMED, None if a key is missing.

    It is that of one pass, or of the whole repetition for what passes do not add to.
    """
    total = 0
    for key in kind.keys:
        value: object = record
        for name in key.split("."):
            value = value.get(name) if isinstance(value, Mapping) else None
        if not isinstance(value, int):
            return None
        total += value
    return total / passes_of(record) if kind.per_pass else total
