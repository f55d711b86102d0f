"""The history of each cell, divided into series of comparable points.

A series is one measure of one cell on one machine with the same settings, method and
kind of value.  A change of any of them starts a new series.  A change of the seed does
not, because it only takes another sample of the same work.  Another kernel or processor
does not either: it is a boundary within the series.

An A/B run against a pinned reference contributes the ratio to that reference.  If the
reference differs from run to run, as when each commit is measured against the one
before, the ratios cannot be compared, and the run contributes the rate of side b.
"""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from report.model.history_entry import (
    CPU_NS_PER_OP,
    RATE,
    EntryCell,
    HistoryEntry,
    MedianInterval,
)
from report.model.history_folder import load
from report.model.plan import CellName
from report.stats.change_points import LEAST_SHIFT
from report.terms.machine_facts import PROCESSOR, boundary_facts
from report.verdict.count_verdicts import LEAST_CHANGE, TIMED

__all__ = ["PINNED", "Boundary", "Series", "SeriesKey", "SeriesPoint", "load", "series"]

PINNED = 4  # entries with one reference that make its ratios a series
_ALIGNED = 20  # points from which the level of another processor is estimated
_FLOORS = {kind.name: kind.floor for kind in TIMED}


@dataclass(frozen=True, order=True)
class SeriesKey:
    """What all points of a series have in common.

    `reference` is the checksum of the reference's executable, "" if the values are
    no ratios.  `measure` is RATE, CPU_NS_PER_OP or the name of a count.
    """

    machine: str
    cell: CellName
    settings_sha256: str
    method: int
    kind: str
    reference: str
    measure: str = RATE


@dataclass(frozen=True, slots=True)
class SeriesPoint:
    """One entry's value for a cell: `band` is what the key says."""

    entry: HistoryEntry
    cell: EntryCell
    band: MedianInterval


@dataclass(frozen=True)
class Boundary:
    """A change of the machine between two points; `index` is that of the second.

    `changes` has the name of each fact with its values before and after.
    """

    index: int
    changes: tuple[tuple[str, object, object], ...]

    def __str__(self) -> str:
        return ", ".join(f"{name} {was} → {now}" for name, was, now in self.changes)


@dataclass(frozen=True)
class Series:
    """The values of one measure of one cell over time, oldest first."""

    key: SeriesKey
    points: tuple[SeriesPoint, ...]

    @property
    def cell(self) -> CellName:
        """The cell of all points."""
        return self.key.cell

    @property
    def is_ratio(self) -> bool:
        """True if the values are ratios to a reference."""
        return bool(self.key.reference)

    @property
    def is_rate(self) -> bool:
        """True for rates and their ratios: higher is faster.  Others are costs."""
        return self.key.measure == RATE

    @property
    def is_count(self) -> bool:
        """True if the values are counts of work or of bytes, not times."""
        return self.key.measure not in (RATE, CPU_NS_PER_OP)

    @property
    def name(self) -> str:
        """The cell, with the measure unless that is the rate."""
        return str(self.cell) if self.is_rate else f"{self.cell} {self.key.measure}"

    @property
    def least_shift(self) -> float:
        """The smallest change that is a step, as a share."""
        if self.is_count:
            return _FLOORS.get(self.key.measure, LEAST_CHANGE)
        return LEAST_SHIFT

    @property
    def entries(self) -> tuple[HistoryEntry, ...]:
        """The entries of the points."""
        return tuple(point.entry for point in self.points)

    @property
    def values(self) -> tuple[float, ...]:
        """The medians: rates in ops/s, ratios of rates, ns or counts."""
        return tuple(point.band.median for point in self.points)

    @cached_property
    def boundaries(self) -> tuple[Boundary, ...]:
        """The changes of the machine between two points."""
        return boundaries(self.entries)

    @property
    def speeds(self) -> tuple[float, ...]:
        """The values as a detector reads them: above 0, and higher is better.

        One is added to a count, which may be 0.
        """
        if self.is_rate:
            return self.values
        return tuple(1 / (value + self.is_count) for value in self.values)

    @cached_property
    def offsets(self) -> dict[str, float]:
        """The logarithm of the speed on each processor, compared with the first one.

        The points of a processor are compared with those that others have around
        them.  Ratios and counts are not affected by a processor.
        """
        models = self.processors
        offsets = dict.fromkeys(models[:1], 0.0)
        if self.is_ratio or self.is_count:
            return dict.fromkeys(models, 0.0)
        logs = [math.log(speed) for speed in self.speeds]
        for first, model in enumerate(models):
            if model in offsets:
                continue
            own = [i for i in range(first, len(models)) if models[i] == model][
                :_ALIGNED
            ]
            near = range(max(0, first - _ALIGNED), own[-1])
            known = [logs[i] - offsets[models[i]] for i in near if models[i] in offsets]
            level = statistics.median(logs[i] for i in own)
            offsets[model] = level - statistics.median(known)
        return offsets

    @cached_property
    def processors(self) -> tuple[str, ...]:
        """The processor model of each point; if unknown, that of the one before."""
        models: list[str] = []
        for entry in self.entries:
            known = entry.machine.get(PROCESSOR) or (models[-1] if models else "")
            models.append(str(known))
        return tuple(models)

    @cached_property
    def aligned(self) -> tuple[float, ...]:
        """The speeds without the differences between processors."""
        return tuple(
            speed / math.exp(self.offsets[model])
            for speed, model in zip(self.speeds, self.processors, strict=True)
        )

    def unaligned(self, first: int, end: int | None) -> tuple[float, ...]:
        """Return the speeds on the processor of a point, as that before it has them.

        They are those from this point on, until `end`.
        """
        scale = math.exp(self.offsets[self.processors[first - 1]])
        pairs = zip(self.speeds[first:end], self.processors[first:end], strict=True)
        own = [speed / scale for speed, of in pairs if of == self.processors[first]]
        return tuple(own[:_ALIGNED])

    @property
    def crossings(self) -> tuple[int, ...]:
        """The first point on each processor but the first, whose speed is a guess."""
        if self.is_ratio or self.is_count:
            return ()
        first = (self.processors.index(model) for model in set(self.processors))
        return tuple(sorted(first)[1:])


def boundaries(entries: Sequence[HistoryEntry]) -> tuple[Boundary, ...]:
    """Return the changes of the machine in entries of one machine, oldest first.

    What an entry does not record has not changed.
    """
    known: dict[str, object] = {}
    found = []
    for index, entry in enumerate(entries):
        facts = boundary_facts(entry.machine)
        changes = tuple(
            (name, known[name], fact)
            for name, fact in facts.items()
            if known.get(name, fact) != fact
        )
        if changes:
            found.append(Boundary(index, changes))
        known |= facts
    return tuple(found)


def series(entries: Iterable[HistoryEntry]) -> tuple[Series, ...]:
    """Return all series, those of rates first; `entries` must be oldest first."""
    entries = tuple(entries)
    pinned = _pinned(entries)
    points: dict[SeriesKey, list[SeriesPoint]] = {}
    for entry in entries:
        for cell in entry.cells:
            for measure, reference, band in _values(entry, cell, pinned):
                key = SeriesKey(
                    entry.machine_key,
                    cell.name,
                    cell.settings_sha256,
                    entry.method,
                    entry.kind,
                    reference,
                    measure,
                )
                points.setdefault(key, []).append(SeriesPoint(entry, cell, band))
    keys = sorted(points, key=lambda key: (key.measure != RATE, key))
    return tuple(Series(key, tuple(points[key])) for key in keys)


def _pinned(entries: Iterable[HistoryEntry]) -> set[tuple[str, str, str]]:
    """Return (machine, engine, reference) for references of PINNED entries or more."""
    counts = Counter(
        (entry.machine_key, engine, sha256)
        for entry in entries
        if entry.reference
        for engine, sha256 in entry.reference.engines.items()
        if sha256
    )
    return {key for key, count in counts.items() if count >= PINNED}


def _values(
    entry: HistoryEntry, cell: EntryCell, pinned: set[tuple[str, str, str]]
) -> Iterator[tuple[str, str, MedianInterval]]:
    """Yield each measure of a cell, the checksum of the reference or "", and the value.

    A processor time of 0 is below what the kernel counts, and left out.
    """
    if cell.rate is None:
        return
    engine = cell.name.engine
    reference = entry.reference.engines.get(engine, "") if entry.reference else ""
    if cell.ratio and (entry.machine_key, engine, reference) in pinned:
        yield RATE, reference, cell.ratio
    else:
        yield RATE, "", cell.rate
    for name, band in cell.measures.items():
        if name != CPU_NS_PER_OP or band.median > 0:
            yield name, "", band
