"""Which line of a repetition counts, when it was made more than once.

A disturbed repetition is made again, and every attempt is a line: the last one
counts, the earlier ones stay visible.  A repetition that was not disturbed, or
that failed, is never made again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from report.model.plan import CellName, Plan
from report.model.run import LATENCY, THROUGHPUT, Cell, Measurement
from report.terms.documents import ResultsError

Attempts = dict[int, list[Measurement]]  # by repetition, in order


def check(measurements: Iterable[Measurement], plan: Plan, file: str) -> None:
    """Raise ResultsError for a line that the runner cannot have written."""
    by_cell: dict[CellName, Attempts] = {name: {} for name in plan.cells}
    for m in measurements:
        place = f"{file}:{m.line}"
        if m.cell not in by_cell:
            raise ResultsError(f"{place}: cell {m.cell} is not in the plan")
        if not _is_planned(m, plan):
            told = f"repetition {m.repetition} was not planned"
            raise ResultsError(f"{place}: {m.pass_} {told}")
        made = by_cell[m.cell].setdefault(m.repetition, [])
        _check_attempt(m, made, place)
        made.append(m)


def group(measurements: Iterable[Measurement], plan: Plan) -> dict[CellName, Cell]:
    """Return every cell of the plan with its lines."""
    by_cell: dict[CellName, Attempts] = {name: {} for name in plan.cells}
    for m in measurements:
        by_cell[m.cell].setdefault(m.repetition, []).append(m)
    return {name: cell_of(name, made) for name, made in by_cell.items()}


def cell_of(name: CellName, attempts: Mapping[int, Sequence[Measurement]]) -> Cell:
    """Return a cell, given the attempts at each of its repetitions, in order."""
    in_order = [made for _, made in sorted(attempts.items())]
    last = [made[-1] for made in in_order]
    return Cell(
        name,
        repetitions=tuple(m for m in last if m.pass_ == THROUGHPUT),
        latency=next((m for m in last if m.pass_ == LATENCY), None),
        superseded=tuple(m for made in in_order for m in made[:-1]),
    )


def _is_planned(m: Measurement, plan: Plan) -> bool:
    """Return whether a line is of a repetition of the plan, in its pass."""
    if m.pass_ == LATENCY:
        return plan.has_latency and m.repetition == plan.repetitions + 1
    return m.pass_ == THROUGHPUT and m.repetition <= plan.repetitions


def _check_attempt(m: Measurement, made: Sequence[Measurement], place: str) -> None:
    before = made[-1] if made else None
    if before and m.attempt == before.attempt:
        raise ResultsError(f"{place}: repeats line {before.line}")
    if m.attempt != len(made) + 1:
        raise ResultsError(f"{place}: attempt {m.attempt} after {len(made)}")
    if before and not (before.disturbed and before.status == "ok"):
        told = f"attempt {m.attempt} after one that was not disturbed"
        raise ResultsError(f"{place}: {told}, line {before.line}")
