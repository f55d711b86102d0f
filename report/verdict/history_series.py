"""The history of each cell: which entries make one series.

A series is what may be compared over time: one cell, on one machine, with the same
settings, method and kind of figure.  A change of any of them starts a new series;
a change of the seed does not: it is another sample of the same work.

An A/B run against a pinned reference gives the ratio to it.  Where the reference
is another one each time, as when each commit is measured against the one before,
no two ratios could be compared: there it gives its absolute rate.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from report.model.history_entry import AB, EntryCell, HistoryEntry, MedianInterval
from report.model.history_folder import load
from report.model.plan import CellName

__all__ = ["PINNED", "Series", "SeriesKey", "SeriesPoint", "load", "series"]

PINNED = 4  # entries with one reference, from which its ratios are a series


@dataclass(frozen=True, order=True)
class SeriesKey:
    """What all points of a series have in common.

    `reference` is the checksum of the executable that the ratios are to; "" says
    that the figures are rates.
    """

    machine: str
    cell: CellName
    settings_sha256: str
    method: int
    kind: str
    reference: str


@dataclass(frozen=True, slots=True)
class SeriesPoint:
    """One entry's figure of a cell: `band` is a ratio or a rate, as the key says."""

    entry: HistoryEntry
    cell: EntryCell
    band: MedianInterval


@dataclass(frozen=True)
class Series:
    """The figures of one cell over time, oldest first; more is faster."""

    key: SeriesKey
    points: tuple[SeriesPoint, ...]

    @property
    def cell(self) -> CellName:
        """The cell that all points are of."""
        return self.key.cell

    @property
    def is_ratio(self) -> bool:
        """Whether the figures are ratios to a reference, not rates."""
        return bool(self.key.reference)

    @property
    def entries(self) -> tuple[HistoryEntry, ...]:
        """The entries of the points."""
        return tuple(point.entry for point in self.points)

    @property
    def values(self) -> tuple[float, ...]:
        """The medians: rates in operations per second, or ratios of rates."""
        return tuple(point.band.median for point in self.points)


def series(entries: Iterable[HistoryEntry]) -> tuple[Series, ...]:
    """All series, by machine and cell; entries must be in order, oldest first."""
    entries = tuple(entries)
    pinned = _pinned(entries)
    found: dict[SeriesKey, list[SeriesPoint]] = {}
    for entry in entries:
        for cell in entry.cells:
            if cell.rate is None:
                continue
            reference, band = _figure(entry, cell, pinned)
            key = SeriesKey(
                entry.machine_key,
                cell.name,
                cell.settings_sha256,
                entry.method,
                entry.kind,
                reference,
            )
            found.setdefault(key, []).append(SeriesPoint(entry, cell, band))
    return tuple(Series(key, tuple(found[key])) for key in sorted(found))


def _pinned(entries: Iterable[HistoryEntry]) -> set[tuple[str, str, str]]:
    """Machine, engine and reference of those that were measured often enough."""
    counts = Counter(
        (entry.machine_key, engine, sha256)
        for entry in entries
        if entry.reference
        for engine, sha256 in entry.reference.engines.items()
        if sha256
    )
    return {key for key, count in counts.items() if count >= PINNED}


def _figure(
    entry: HistoryEntry, cell: EntryCell, pinned: set[tuple[str, str, str]]
) -> tuple[str, MedianInterval]:
    """The reference's checksum and the ratio to it, or "" and the rate."""
    assert cell.rate is not None
    if entry.kind == AB and entry.reference and cell.ratio:
        engine = cell.name.engine
        reference = entry.reference.engines.get(engine, "")
        if (entry.machine_key, engine, reference) in pinned:
            return reference, cell.ratio
    return "", cell.rate
