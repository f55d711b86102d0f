"""The context of a cell's records, from the plan and the engine's description."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from report.model.description import Description
from report.model.plan import FLOOR, CellName, Plan
from report.terms.rulebook import UNKNOWN, Flags
from report.trust.rule import Context


def context_of(
    description: Description | None,
    benchmark: str,
    flags: Flags,
    fill: Sequence[str] = (),
    latency: bool = False,
    role: str = "",
) -> Context:
    """Return the context of a benchmark, UNKNOWN without a description."""
    if description is None:
        return Context(UNKNOWN, flags, fill, latency=latency)
    entry = description.benchmarks.get(benchmark, UNKNOWN)
    stores, is_floor = description.stores, role == FLOOR
    return Context(entry, flags, fill, stores, is_floor, latency)


def context_of_cell(plan: Plan, cell: CellName, latency: bool) -> Context:
    """Return the context of a cell's records; `latency` selects its latency pass."""
    scenario, engine = plan.scenario(cell.scenario), plan.engine(cell.engine)
    context = context_of(
        engine.description,
        cell.benchmark,
        plan.flags(cell),
        scenario.fill,
        latency,
        engine.role,
    )
    return replace(context, regime=scenario.regime) if scenario.regime else context
