"""Which line of a repetition counts, when it was made more than once.

A disturbed repetition is made again, and every attempt is a line: the last one
counts, the earlier ones stay visible.  A repetition that was not disturbed, or
that failed, is never made again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from report.cells import LATENCY, THROUGHPUT, Cell, CellName, Measurement
from report.documents import ResultsError


@dataclass(frozen=True)
class Planned:
    """The cells of a run, and the repetitions that each of them has."""

    names: tuple[CellName, ...]
    repetitions: int
    has_latency: bool

    def has(self, m: Measurement) -> bool:
        """Whether the line is of a repetition of the plan, in its pass."""
        if m.pass_ == LATENCY:
            return self.has_latency and m.repetition == self.repetitions + 1
        return m.pass_ == THROUGHPUT and m.repetition <= self.repetitions


def group(
    measurements: Iterable[Measurement], planned: Planned, file: str
) -> dict[CellName, Cell]:
    """Every cell of the plan with its lines.  Raises ResultsError."""
    by_cell: dict[CellName, dict[int, list[Measurement]]]
    by_cell = {name: {} for name in planned.names}
    for m in measurements:
        place = f"{file}:{m.line}"
        if m.cell not in by_cell:
            raise ResultsError(f"{place}: cell {m.cell} is not in the plan")
        if not planned.has(m):
            told = f"repetition {m.repetition} was not planned"
            raise ResultsError(f"{place}: {m.pass_} {told}")
        made = by_cell[m.cell].setdefault(m.repetition, [])
        _check_attempt(m, made, place)
        made.append(m)
    return {name: cell_of(name, found) for name, found in by_cell.items()}


def _check_attempt(m: Measurement, made: list[Measurement], place: str) -> None:
    before = made[-1] if made else None
    if before and m.attempt == before.attempt:
        raise ResultsError(f"{place}: repeats line {before.line}")
    if m.attempt != len(made) + 1:
        raise ResultsError(f"{place}: attempt {m.attempt} after {len(made)}")
    if before and not (before.disturbed and before.record["status"] == "ok"):
        told = f"attempt {m.attempt} after one that was not disturbed"
        raise ResultsError(f"{place}: {told}, line {before.line}")


def cell_of(name: CellName, found: Mapping[int, Sequence[Measurement]]) -> Cell:
    """Return a cell, given the attempts at each of its repetitions, in order."""
    last = [made[-1] for _, made in sorted(found.items())]
    return Cell(
        name,
        repetitions=tuple(m for m in last if m.pass_ == THROUGHPUT),
        latency=next((m for m in last if m.pass_ == LATENCY), None),
        superseded=tuple(m for _, made in sorted(found.items()) for m in made[:-1]),
    )
