"""The plan of a fleet: the blocks of a run, each of which is a shard."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from report.model.plan import Plan
from scripts.fleet.fleet_folder import FleetBlock
from scripts.fleet.shard_request import ShardRequest
from scripts.fleet.sharded_plan import sharded_plan
from scripts.fleet.shards import units_of_shards
from scripts.forecast.prediction import Forecast, load_history
from scripts.planning.blocks import Block, blocks_of
from scripts.planning.order import ScheduledRepetition


def whole_plan(plan: Plan, results: Path) -> Plan:
    """Return the plan that all machines must have.  Raises CannotStart."""
    whole = sharded_plan(plan, ShardRequest(1, 1), "fleet", results)
    return replace(whole, shard=None)


def planned_blocks(plan: Plan, results: Path) -> list[FleetBlock]:
    """Return the blocks as the shards of which each has one, in the shards' order.

    The cells that cannot run are in the shard of one of the blocks.  Times are those of
    this machine's earlier runs, or guesses.
    """
    blocks = {unit: block for block in blocks_of(plan) for unit in block.units}
    count = len({block for block in blocks.values() if block.charts})
    forecast = Forecast(plan, load_history(results, plan))
    return [
        _fleet_block(plan, [blocks[unit] for unit in units], units, forecast)
        for units in units_of_shards(plan, count, {})
    ]


def _fleet_block(
    plan: Plan, blocks: list[Block], units: tuple[int, ...], forecast: Forecast
) -> FleetBlock:
    cells = [
        ScheduledRepetition(index, 0, plan.order[unit].repetition)
        for unit in units
        for index in plan.order[unit].cells
    ]
    return FleetBlock(
        name=next(block.name for block in blocks if block.charts),
        repetitions=len(cells),
        predicted_s=round(sum(map(forecast.seconds, cells)), 3),
    )
