"""The attempts at a repetition, and which of them is its result.

A disturbed repetition is retried, and every attempt is a line: the last is the
result, the earlier ones stay visible.  A repetition that failed or was not disturbed
is not retried.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from report.model.plan import CANARY, LATENCY, THROUGHPUT, CellName, Plan
from report.model.run import Cell, Measurement
from report.terms.documents import ResultsError

Attempts = dict[int, list[Measurement]]  # by repetition, in order


def check(measurements: Iterable[Measurement], plan: Plan, file: str) -> None:
    """Raise ResultsError for a line that the runner could not have written."""
    by_cell: dict[CellName, Attempts] = {name: {} for name in plan.cells}
    due = _due_of_shard(plan)
    for m in measurements:
        place = f"{file}:{m.line}"
        if m.cell not in by_cell:
            raise ResultsError(f"{place}: cell {m.cell} is not in the plan")
        if not _is_planned(m, plan, due):
            problem = f"{m.pass_} repetition {m.repetition} was not planned"
            raise ResultsError(f"{place}: {problem}")
        earlier = by_cell[m.cell].setdefault(m.repetition, [])
        _check_attempt(m, earlier, place)
        earlier.append(m)


def group(measurements: Iterable[Measurement], plan: Plan) -> dict[CellName, Cell]:
    """Return every cell of the plan with its lines."""
    by_cell: dict[CellName, Attempts] = {name: {} for name in plan.cells}
    for m in measurements:
        by_cell[m.cell].setdefault(m.repetition, []).append(m)
    return {name: cell_of(name, attempts) for name, attempts in by_cell.items()}


def cell_of(name: CellName, attempts: Mapping[int, Sequence[Measurement]]) -> Cell:
    """Return a cell made of the attempts at each of its repetitions, in order."""
    in_order = [lines for _, lines in sorted(attempts.items())]
    last = [lines[-1] for lines in in_order]
    return Cell(
        name,
        repetitions=tuple(m for m in last if m.pass_ == THROUGHPUT),
        latencies=tuple(m for m in last if m.pass_ == LATENCY),
        superseded=tuple(m for lines in in_order for m in lines[:-1]),
        canaries=tuple(m for m in last if m.pass_ == CANARY),
    )


def _due_of_shard(plan: Plan) -> set[tuple[CellName, int]] | None:
    """Return the repetitions that a shard measures; None if the plan has no shard."""
    if plan.shard is None:
        return None
    return {(plan.cells[i], unit.repetition) for unit in plan.due for i in unit.cells}


def _is_planned(
    m: Measurement, plan: Plan, due: set[tuple[CellName, int]] | None
) -> bool:
    """Return True if the plan has the line's repetition in the line's pass.

    Only a run of several machines has canaries that are not those of a shard.
    """
    if m.pass_ != plan.pass_of(m.repetition):
        return False
    if due is not None:
        return (m.cell, m.repetition) in due
    return m.pass_ != CANARY or bool(plan.canary)


def _check_attempt(m: Measurement, earlier: Sequence[Measurement], place: str) -> None:
    before = earlier[-1] if earlier else None
    if before and m.attempt == before.attempt:
        raise ResultsError(
            f"{place}: is the same repetition as line {before.line}; delete one of them"
        )
    if m.attempt != len(earlier) + 1:
        raise ResultsError(f"{place}: attempt {m.attempt} after {len(earlier)}")
    if before and not (before.disturbed and before.status == "ok"):
        problem = f"attempt {m.attempt} after one that was not disturbed"
        raise ResultsError(f"{place}: {problem}, line {before.line}")
