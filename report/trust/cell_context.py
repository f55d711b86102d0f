"""The context of a cell's records, from the plan and the engine's description."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

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
    """Return the context of a benchmark, UNKNOWN without a description."""
    if description is None:
        return Context(UNKNOWN, flags, fill, latency=latency)
    entry = description.benchmarks.get(benchmark, UNKNOWN)
    return Context(entry, flags, fill, description.stores, latency)


def context_of_cell(plan: Plan, cell: CellName, latency: bool) -> Context:
    """Return the context of a cell's records; `latency` selects its latency pass."""
    scenario = plan.scenario(cell.scenario)
    context = context_of(
        plan.engine(cell.engine).description,
        cell.benchmark,
        plan.flags(cell),
        scenario.fill,
        latency,
    )
    return replace(context, regime=scenario.regime) if scenario.regime else context
