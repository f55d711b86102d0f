"""The deterministic channel: counts of what a build does, judged without a clock.

A count says "work", never "time": fewer instructions are not always faster.  What
differs is believed by how far identical runs of one side differ from each other.
The limits and their false alarms: REGRESSIONS.md, "Counts".
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from report.model.ab_run import AbCell, AbRun, Repetition, Round
from report.model.count_lines import CountLine, cell_of_count
from report.model.judgement import LESS, MORE, NOT_GATED, SAME
from report.model.plan import CellName
from report.terms import numbers
from report.terms.text_table import one_line

_Pairs = tuple[tuple[int, int], tuple[int, int]]  # of a round: a's, b's

# Counting repetitions of each side: as many at first, and so many where something
# differs.  Two values that come and go like coins are told apart by the second.
SCREENED_COUNTS, CONFIRMED_COUNTS = 3, 9
# Few differences between identical runs: their largest, ten times.
_FEW_FLOOR, _FEW_FACTOR, _FEW_CEILING = 0.002, 10, 0.05
# Many: the fence Q3 + 3 IQR (rustc-perf, docs/comparison-analysis.md).
_MANY_FLOOR, _FENCE, _MANY_CEILING = 0.005, 3, 0.10
_LEAST_ROUNDS = 4


@dataclass(frozen=True)
class CountResult:
    """One count of one cell on both sides.

    `a` and `b` are medians.  `change` and `threshold` are shares: 0.02 is 2 % more.
    `change` is None where nothing became something, or where a side has no count.
    What is `trouble` is not gated either, and not to be overlooked.
    `spread` is the largest difference between identical runs, as a share.
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
    floor: float = _MANY_FLOOR


# Of the counting repetitions.
COUNTED = (
    _Kind("instructions", "instructions"),
    _Kind("write_calls", "calls"),
    _Kind("sync_calls", "calls"),
)
# Of the timed lines, what the engine does after its flush included.  The pages of
# the executable itself are in its memory: a larger build is not a greedier engine.
TIMED = (
    _Kind("written_bytes", "bytes", ("written_bytes", "deferred.written_bytes")),
    _Kind(
        "storage_written_bytes",
        "bytes",
        ("storage_written_bytes", "deferred.storage_written_bytes"),
    ),
    _Kind("disk_bytes", "bytes", ("disk_bytes",)),
    _Kind("peak_rss_bytes", "bytes", ("peak_rss_bytes",), floor=0.02),
)


def count_results(run: AbRun) -> tuple[CountResult, ...]:
    """Every count of the run, cell by cell in its order."""
    lines: dict[CellName, list[CountLine]] = {}
    for line in run.counts:
        lines.setdefault(cell_of_count(line), []).append(line)
    return tuple(
        result
        for cell in run.cells
        for result in cell_results(cell, lines.get(cell.name, ()))
    )


def cell_results(cell: AbCell, lines: Sequence[CountLine]) -> tuple[CountResult, ...]:
    """The counts of one cell: of its counting repetitions, and of its rounds."""
    return (*counted(cell.name, lines), *_timed(cell))


def suspicious(lines: Sequence[CountLine]) -> bool:
    """Whether a cell's counting repetitions differ so that more of them are due."""
    results = counted(cell_of_count(lines[0]), lines) if lines else ()
    return any(result.reason == _UNCONFIRMED for result in results)


_UNCONFIRMED = f"differs, and was not counted {CONFIRMED_COUNTS} times"
_NONE: Mapping[str, float] = {}
_NOW_AND_THEN = "nothing in some identical runs, something in others"


@dataclass(frozen=True)
class _Sides:
    """What was counted of both, and what may be said of it."""

    cell: CellName
    kind: _Kind
    a: Sequence[float]
    b: Sequence[float]

    def result(
        self, verdict: str, reason: str = "", figures: Mapping[str, float] = _NONE
    ) -> CountResult:
        """The result; `figures`: its change, where that of the medians is not it."""
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
        """Shown, and decides nothing."""
        return self.result(NOT_GATED, reason, figures)

    def with_nothing(self) -> CountResult | None:
        """The result where some run has a count of 0; None where all have more."""
        if all([*self.a, *self.b]):
            return None
        both = any(self.a) and any(self.b)
        if both or not (_agree(self.a) and _agree(self.b)):
            return self.not_gated(_NOW_AND_THEN)
        if any(self.a):
            return self.result(LESS, "there were some, and there are none")
        return (
            self.result(MORE, "there were none") if any(self.b) else self.result(SAME)
        )


def _agree(values: Sequence[float]) -> bool:
    """Whether all of them are 0, or none is."""
    return all(values) or not any(values)


def counted(cell: CellName, lines: Sequence[CountLine]) -> tuple[CountResult, ...]:
    """The results of one cell's counting repetitions; none without a line."""
    return tuple(_counted(cell, kind, lines) for kind in COUNTED) if lines else ()


def _counted(cell: CellName, kind: _Kind, lines: Sequence[CountLine]) -> CountResult:
    a, b = (_values(lines, side, kind.name) for side in "ab")
    sides = _Sides(cell, kind, a, b)
    for line in lines:
        if line["status"] != "ok":
            told = f"side {line['side']}: {one_line(line['reason'])}"
            return replace(sides.not_gated(told), trouble=True)
    times = min(len(a), len(b))
    if times < SCREENED_COUNTS:
        return sides.not_gated(f"not counted {SCREENED_COUNTS} times on both sides")
    if len({(line["ops"], line["num"], line["seed"]) for line in lines}) > 1:
        return replace(sides.not_gated(_OTHER_WORK), trouble=True)
    result = _few(sides)
    if kind.name == "instructions" and (why := _threads(lines)):
        return replace(result, verdict=NOT_GATED, reason=why)
    if result.verdict in (MORE, LESS) and times < CONFIRMED_COUNTS:
        return replace(result, verdict=NOT_GATED, reason=_UNCONFIRMED)
    return result


def _few(sides: _Sides) -> CountResult:
    """Judged by the largest difference between identical runs.

    Where that is large, what differs by ten times as much still differs; but that
    nothing does cannot be said.
    """
    if (found := sides.with_nothing()) is not None:
        return found
    spread = max(max(side) / min(side) - 1 for side in (sides.a, sides.b))
    threshold = max(_FEW_FLOOR, _FEW_FACTOR * spread)
    told = {"threshold": threshold, "spread": spread}
    change = statistics.median(sides.b) / statistics.median(sides.a) - 1
    if abs(change) > threshold:
        return sides.result(MORE if change > 0 else LESS, "", told)
    if threshold > _FEW_CEILING:
        return sides.not_gated(_varies(spread), told)
    return sides.result(SAME, "", told)


def _varies(spread: float) -> str:
    return f"varies by {numbers.about(spread)} between identical runs"


_OTHER_WORK = "the processes did not do the same work"


def _values(lines: Iterable[CountLine], side: str, name: str) -> list[int]:
    of_side = (line.get(name) for line in lines if line["side"] == side)
    return [value for value in of_side if isinstance(value, int)]


def _threads(lines: Iterable[CountLine]) -> str:
    """Why instructions are not gated, or "": how threads take turns is chance."""
    started = [line["threads_started"] for line in lines]
    if None in started:
        return "whether it starts threads is not known"
    return "it starts threads" if any(started) else ""


def _timed(cell: AbCell) -> Iterator[CountResult]:
    """The results of a cell's screen, whose rounds have one seed for both sides."""
    if cell.failure is not None or not cell.screen:
        return
    for kind in TIMED:
        rounds = [_round_of(found, kind) for found in cell.screen]
        whole = [found for found in rounds if found is not None]
        if whole:
            yield _judged_rounds(cell, kind, whole)


def _judged_rounds(cell: AbCell, kind: _Kind, rounds: Sequence[_Pairs]) -> CountResult:
    a = [value for of_a, _ in rounds for value in of_a]
    b = [value for _, of_b in rounds for value in of_b]
    sides = _Sides(cell.name, kind, a, b)
    if len(rounds) < _LEAST_ROUNDS:
        return sides.not_gated(f"fewer than {_LEAST_ROUNDS} rounds have it")
    made = [r.record for found in cell.screen for r in (*found.a, *found.b)]
    limited = any(record.get("truncated") for record in made)
    if limited or len({record.get("ops") for record in made}) > 1:
        return replace(sides.not_gated(_OTHER_WORK), trouble=not limited)
    return sides.with_nothing() or _many(sides, rounds)


def _many(sides: _Sides, rounds: Sequence[_Pairs]) -> CountResult:
    """Judged by the fence around the differences of identical runs.

    A fence is no guard against noise in bursts, so a difference must also be in
    every round: each of one side beyond both of the other.  Identical builds do
    that in one of 6^rounds cases for each direction.
    """
    within = [abs(math.log(of[0] / of[1])) for pair in rounds for of in pair]
    low, _, high = statistics.quantiles(within, n=4, method="inclusive")
    threshold = max(sides.kind.floor, math.expm1(high + _FENCE * (high - low)))
    shifts = (_mean_log(of_b) - _mean_log(of_a) for of_a, of_b in rounds)
    change, spread = math.expm1(statistics.median(shifts)), math.expm1(max(within))
    told = {"change": change, "threshold": threshold, "spread": spread}
    if abs(change) <= threshold:
        if threshold > _MANY_CEILING:
            return sides.not_gated(_varies(spread), told)
        return sides.result(SAME, "", told)
    if all(min(of_b) > max(of_a) for of_a, of_b in rounds):
        return sides.result(MORE, "", told)
    if all(max(of_b) < min(of_a) for of_a, of_b in rounds):
        return sides.result(LESS, "", told)
    return sides.not_gated("differs, but not in every round", told)


def _mean_log(values: Sequence[float]) -> float:
    return statistics.fmean(math.log(value) for value in values)


def _round_of(found: Round, kind: _Kind) -> _Pairs | None:
    """The count of each side's two repetitions; None if one of the four has none."""
    a = [value for made in found.a if (value := _figure(made, kind)) is not None]
    b = [value for made in found.b if (value := _figure(made, kind)) is not None]
    return ((a[0], a[1]), (b[0], b[1])) if len(a) == len(b) == 2 else None


def _figure(made: Repetition, kind: _Kind) -> int | None:
    """The sum of the kind's keys in a line, or None."""
    total = 0
    for key in kind.keys:
        found: object = made.record
        for name in key.split("."):
            found = found.get(name) if isinstance(found, Mapping) else None
        if not isinstance(found, int):
            return None
        total += found
    return total
