"""The blocks of a plan: what moves to another machine as a whole.

A block is one repetition of all engines of its charts.  Engines are compared only
within a block, so a machine affects both sides of every ratio alike.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from report.model.plan import CellGroup, Plan

_Chart = tuple[str, str]


@dataclass(frozen=True)
class Block:
    """Units of one repetition that stay together, as indexes into Plan.order."""

    repetition: int
    units: tuple[int, ...]
    charts: tuple[_Chart, ...]  # (scenario, benchmark); () for cells that cannot run

    @property
    def name(self) -> str:
        """The charts and the repetition, for people."""
        if not self.charts:
            return "the cells that cannot run"
        scenario, benchmark = self.charts[0]
        more = f" and {len(self.charts) - 1} more" if self.charts[1:] else ""
        return f"{scenario}/{benchmark}{more}, repetition {self.repetition}"


def blocks_of(plan: Plan) -> tuple[Block, ...]:
    """Return the blocks of a plan in its order.

    They are the smallest that divide neither a chart nor a unit, whose cells share a
    database.  The cells that cannot run are a block of their own.
    """
    able = [plan.obstacle(cell) is None for cell in plan.cells]
    together = _together(plan, (u for u in plan.order if able[u.cells[0]]))
    blocks: list[Block] = []
    units: list[int] = []
    for number, unit in enumerate(plan.order):
        charts = together[_chart(plan, unit.cells[0])] if able[unit.cells[0]] else ()
        if not blocks or (blocks[-1].repetition, blocks[-1].charts) != (
            unit.repetition,
            charts,
        ):
            units = []
            blocks.append(Block(unit.repetition, (), charts))
        units.append(number)
        blocks[-1] = Block(unit.repetition, tuple(units), charts)
    return tuple(blocks)


def _together(
    plan: Plan, units: Iterable[CellGroup]
) -> dict[_Chart, tuple[_Chart, ...]]:
    """Return for each chart all charts of its blocks."""
    groups: dict[_Chart, tuple[_Chart, ...]] = {}
    for unit in units:
        charts = dict.fromkeys(_chart(plan, index) for index in unit.cells)
        joined = {c: None for chart in charts for c in groups.get(chart, (chart,))}
        group = tuple(sorted(joined))
        groups |= dict.fromkeys(group, group)
    return groups


def _chart(plan: Plan, index: int) -> _Chart:
    return plan.cells[index].scenario, plan.cells[index].benchmark
