"""The history of each cell, divided into series of comparable points.

A series is one cell on one machine with the same settings, method and kind of value.
A change of any of them starts a new series.  A change of the seed does not, because
it only takes another sample of the same work.

An A/B run against a pinned reference contributes the ratio to that reference.  If the
reference differs from run to run, as when each commit is measured against the one
before, the ratios cannot be compared, and the run contributes the rate of side b.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from report.model.history_entry import AB, EntryCell, HistoryEntry, MedianInterval
from report.model.history_folder import load
from report.model.plan import CellName

__all__ = ["PINNED", "Series", "SeriesKey", "SeriesPoint", "load", "series"]

PINNED = 4  # entries with one reference that make its ratios a series


@dataclass(frozen=True, order=True)
class SeriesKey:
    """What all points of a series have in common.

    `reference` is the checksum of the reference's executable, "" if the values are
    rates, not ratios.
    """

    machine: str
    cell: CellName
    settings_sha256: str
    method: int
    kind: str
    reference: str


@dataclass(frozen=True, slots=True)
class SeriesPoint:
    """One entry's value for a cell: `band` is a ratio or a rate, by the key."""

    entry: HistoryEntry
    cell: EntryCell
    band: MedianInterval


@dataclass(frozen=True)
class Series:
    """The values of one cell over time, oldest first; higher is faster."""

    key: SeriesKey
    points: tuple[SeriesPoint, ...]

    @property
    def cell(self) -> CellName:
        """The cell of all points."""
        return self.key.cell

    @property
    def is_ratio(self) -> bool:
        """True if the values are ratios to a reference, not rates."""
        return bool(self.key.reference)

    @property
    def entries(self) -> tuple[HistoryEntry, ...]:
        """The entries of the points."""
        return tuple(point.entry for point in self.points)

    @property
    def values(self) -> tuple[float, ...]:
        """The medians: rates in ops/s, or ratios of rates."""
        return tuple(point.band.median for point in self.points)


def series(entries: Iterable[HistoryEntry]) -> tuple[Series, ...]:
    """Return all series by machine and cell; `entries` must be oldest first."""
    entries = tuple(entries)
    pinned = _pinned(entries)
    points: dict[SeriesKey, list[SeriesPoint]] = {}
    for entry in entries:
        for cell in entry.cells:
            if cell.rate is None:
                continue
            reference, band = _value(entry, cell, pinned)
            key = SeriesKey(
                entry.machine_key,
                cell.name,
                cell.settings_sha256,
                entry.method,
                entry.kind,
                reference,
            )
            points.setdefault(key, []).append(SeriesPoint(entry, cell, band))
    return tuple(Series(key, tuple(points[key])) for key in sorted(points))


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


def _value(
    entry: HistoryEntry, cell: EntryCell, pinned: set[tuple[str, str, str]]
) -> tuple[str, MedianInterval]:
    """Return the reference's checksum and the ratio to it, or "" and the rate."""
    assert cell.rate is not None
    if entry.kind == AB and entry.reference and cell.ratio:
        engine = cell.name.engine
        reference = entry.reference.engines.get(engine, "")
        if (entry.machine_key, engine, reference) in pinned:
            return reference, cell.ratio
    return "", cell.rate
