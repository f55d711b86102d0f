"""What is exported of a run or an A/B run, from which every format here is written.

Cells without a rate are left out because none of the formats can hold them;
left_out() names them.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from report.model.ab_rule import CONFIRM, SCREEN
from report.model.ab_run import AbCell, AbRun, Repetition, Side
from report.model.count_lines import CountLine, cell_of_count
from report.model.plan import CellName
from report.model.record import passes_of
from report.model.run import Cell, Measurement, Run
from report.stats import latency
from report.verdict.count_verdicts import COUNTED, TIMED, timed_count

CPU = "cpu"  # the name of processor time
_PERCENTILES = ("p50", "p99")
Source = Run | AbRun


@dataclass(frozen=True)
class MedianRange:
    """The median and the extremes of some repetitions."""

    median: float
    low: float
    high: float

    @property
    def reach(self) -> float:
        """The larger distance of an extreme from the median."""
        return max(self.median - self.low, self.high - self.median)


@dataclass(frozen=True)
class Amount:
    """One kind of amount of a cell, of which less is better.

    `unit` is "ns", "B", "calls" or the like.  `values` are of the repetitions in their
    order, per operation if `per_op`; those of `counted` processes are not of them.
    """

    name: str
    unit: str
    per_op: bool
    values: tuple[float, ...]
    counted: bool = False

    @property
    def stem(self) -> str:
        """The name without its unit and with dashes: peak-rss."""
        return self.name.removesuffix("_bytes").replace("_", "-")

    @property
    def of_each(self) -> str:
        """The unit with what it is counted for: B/op."""
        return f"{self.unit}/op" if self.per_op else self.unit


@dataclass(frozen=True)
class ExportedCell:
    """The repetitions of one ok cell, in order, and its latencies if it has any.

    `labels` distinguish the stages and sides of an A/B run; they are empty otherwise.
    `rates` are operations per second, `times_ns` nanoseconds per operation.
    `latencies_ns` holds (percentile, nanoseconds), medians of the repetitions that
    read the clock for each call, without percentiles that too few calls lie above.
    `counts` are of the processes that were counted instead of timed.

    In a duet, times and rates are of the processor: its processes have done the work of
    both sides.
    """

    cell: CellName
    engine_version: str
    repetitions: tuple[Measurement, ...]
    rates: tuple[float, ...]
    times_ns: tuple[float, ...]
    latencies_ns: tuple[tuple[str, float], ...] = ()
    labels: Mapping[str, str] = field(default_factory=dict)
    counts: tuple[Amount, ...] = ()

    @property
    def name(self) -> str:
        """The name of the cell with its labels."""
        return "/".join((str(self.cell), *self.labels.values()))

    @property
    def rate(self) -> MedianRange:
        """The median and the extremes of the rates, in ops/s."""
        return band(self.rates)

    @property
    def time_ns(self) -> MedianRange:
        """The median and the extremes of the times per operation, in ns."""
        return band(self.times_ns)

    @property
    def threads(self) -> int:
        """The number of threads of the workload."""
        options = self.repetitions[0].record.get("options") or {}
        return int(options.get("threads") or 1)

    @property
    def is_duet(self) -> bool:
        """True if each process measured both sides of an A/B run."""
        return "duet" in self.repetitions[0].record.get("ab", {})

    @property
    def operations(self) -> tuple[int | None, ...]:
        """The operations of each repetition; in a duet, those of one side."""
        if not self.is_duet:
            return tuple(m.ops for m in self.repetitions)
        return tuple(m.record["ab"]["duet"]["ops"] for m in self.repetitions)

    @cached_property
    def amounts(self) -> tuple[Amount, ...]:
        """Processor time and counts that every repetition has, then `counts`."""
        if self.is_duet:
            return (Amount(CPU, "ns", True, self.times_ns), *self.counts)
        return (*_recorded(self.repetitions), *self.counts)


def band(values: Sequence[float]) -> MedianRange:
    """Return the median and the extremes of one value or more."""
    return MedianRange(statistics.median(values), min(values), max(values))


def samples(source: Source) -> tuple[ExportedCell, ...]:
    """Return each cell that has a rate, in the order of the run.

    A cell of an A/B run is several, one for each stage and side.
    """
    if isinstance(source, AbRun):
        return tuple(_sides(source))
    versions = {engine.name: engine.version for engine in source.plan.engines}
    found = []
    for cell in source.cells.values():
        measured = tuple(m for m in cell.repetitions if m.ops_per_sec)
        if rates := cell.rates:
            times_ns = tuple(1e9 / rate for rate in rates)
            version, latencies_ns = versions[cell.name.engine], _latencies(cell)
            found.append(
                ExportedCell(
                    cell.name, version, measured, rates, times_ns, latencies_ns
                )
            )
    return tuple(found)


def tracked(source: Source) -> tuple[ExportedCell, ...]:
    """Return the samples that every run has: of an A/B run, those of the screen.

    For tools that follow a benchmark from run to run.
    """
    return tuple(s for s in samples(source) if s.labels.get("stage") != CONFIRM)


def left_out(source: Source) -> tuple[str, ...]:
    """Return each cell that has no rate, with its status and reason."""
    if isinstance(source, AbRun):
        return tuple(_without_round(source.cells))
    return tuple(
        f"{cell.name}: {cell.status}{': ' if cell.reason else ''}{cell.reason}"
        for cell in source.cells.values()
        if not cell.rates
    )


def _latencies(cell: Cell) -> tuple[tuple[str, float], ...]:
    summary = latency.percentiles(*(m.record.get("latency_ns") for m in cell.timed))
    if summary is None:
        return ()
    pairs = ((name, summary.at[name]) for name in _PERCENTILES)
    return tuple((name, value) for name, value in pairs if value is not None)


def _sides(run: AbRun) -> Iterator[ExportedCell]:
    """Yield the complete rounds of every cell that has not failed."""
    lines: dict[tuple[CellName, str], list[CountLine]] = {}
    for line in run.counts:
        lines.setdefault((cell_of_count(line), line["side"]), []).append(line)
    for cell in run.cells:
        for stage, rounds in ((SCREEN, cell.screen), (CONFIRM, cell.confirm)):
            for side, built in (("a", run.a), ("b", run.b)):
                repetitions = [m for r in rounds for m in (r.a if side == "a" else r.b)]
                if repetitions and not cell.failure:
                    counted = lines.get((cell.name, side), ())
                    counts = _counted(counted) if stage == SCREEN else ()
                    labels = {"stage": stage, "side": side}
                    yield _side(cell, built, repetitions, labels, counts)


def _side(
    cell: AbCell,
    built: Side,
    repetitions: Sequence[Repetition],
    labels: Mapping[str, str],
    counts: tuple[Amount, ...],
) -> ExportedCell:
    times_ns = tuple(repetition.ns_per_op for repetition in repetitions)
    versions = {engine.name: engine.version for engine in built.engines}
    return ExportedCell(
        cell=cell.name,
        engine_version=versions.get(cell.name.engine, ""),
        repetitions=tuple(Measurement.of(r.record) for r in repetitions),
        rates=tuple(1e9 / ns for ns in times_ns),
        times_ns=times_ns,
        labels=labels,
        counts=counts,
    )


def _recorded(repetitions: Sequence[Measurement]) -> Iterator[Amount]:
    """Yield processor time and the counts of timed lines.

    A count that each pass adds to is divided by the operations of a pass.
    """
    times = [m.cpu_ns_per_op for m in repetitions]
    yield from _complete(CPU, "ns", True, times)
    for kind in TIMED:
        is_flow = kind.per_pass
        counts = [timed_count(m.record, kind) for m in repetitions]
        values = [
            None
            if n is None or not m.ops
            else n * passes_of(m.record) / m.ops
            if is_flow
            else n
            for n, m in zip(counts, repetitions, strict=True)
        ]
        unit = "B" if kind.unit == "bytes" else kind.unit
        yield from _complete(kind.name, unit, is_flow, values)


def _complete(
    name: str, unit: str, per_op: bool, values: Sequence[float | None]
) -> Iterator[Amount]:
    """Yield an amount if every repetition has a value."""
    known = tuple(value for value in values if value is not None)
    if known and len(known) == len(values):
        yield Amount(name, unit, per_op, known)


def _counted(lines: Iterable[CountLine]) -> tuple[Amount, ...]:
    """Return the counts of one side, those of whole processes, if all are ok."""
    if any(line["status"] != "ok" for line in lines):
        return ()
    amounts = []
    for kind in COUNTED:
        found = [n for line in lines if isinstance(n := line.get(kind.name), int)]
        if found:
            values = tuple(map(float, found))
            amounts.append(Amount(kind.name, kind.unit, False, values, counted=True))
    return tuple(amounts)


def _without_round(cells: Iterable[AbCell]) -> Iterator[str]:
    for cell in cells:
        if failure := cell.failure:
            why = f"side {failure.side}: {failure.status}: {failure.reason}"
            yield f"{cell.name}: {why}"
        elif not cell.screen and not cell.confirm:
            yield f"{cell.name}: no round was finished"
