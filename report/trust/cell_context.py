"""What a plan and an engine's description say of the work of a cell."""

from __future__ import annotations

from collections.abc import Sequence

from report.model.description import Description
from report.model.plan import CellName, Plan
from report.terms.rulebook import UNKNOWN, Flags
from report.trust.rule import Context


def context_of(
    description: Description | None,
    benchmark: str,
    flags: Flags,
    fill: Sequence[str] = (),
    latency: bool = False,
) -> Context:
    """Return what an engine's description and the flags of a plan say of a cell."""
    if description is None:
        return Context(UNKNOWN, flags, fill, latency=latency)
    known = description.benchmarks.get(benchmark, UNKNOWN)
    return Context(known, flags, fill, description.stores, latency)


def context_of_cell(plan: Plan, cell: CellName, latency: bool) -> Context:
    """Return what a plan says of the work of a cell."""
    return context_of(
        plan.engine(cell.engine).description,
        cell.benchmark,
        plan.flags(cell),
        plan.scenario(cell.scenario).fill,
        latency,
    )
