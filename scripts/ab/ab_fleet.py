"""The blocks of an A/B run for a fleet: those of the screen, then of its suspects."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence

from report.model.ab_lines import SLOTS
from report.model.ab_plan import AbPlan
from report.model.ab_run import AbCell, AbRun
from report.model.plan import CellName
from report.model.record import count_of
from report.verdict.ab_verdicts import suspects
from scripts.ab.ab_forecast import AbForecast
from scripts.ab.ab_shards import (
    AbBlock,
    blocks_of_shards,
    confirm_blocks,
    screen_blocks,
)
from scripts.fleet.fleet_folder import FleetBlock


def screen_fleet_blocks(plan: AbPlan, forecast: AbForecast) -> list[FleetBlock]:
    """Return the blocks of the screen, in the order of their shards.

    The first also counts the work of all cells, if the run does.
    """
    first, *others = _fleet_blocks(screen_blocks(plan), forecast.round_s)
    if plan.counted:
        seconds = first.predicted_s + round(forecast.count_s(), 3)
        first = FleetBlock(f"{first.name}, and all counts", first.repetitions, seconds)
    return [first, *others]


def confirmation_fleet_blocks(run: AbRun) -> list[FleetBlock]:
    """Return the blocks that confirm the suspects of a screen; [] without any.

    Their times are those of the screen.
    """
    seconds = {cell.name: _round_s(cell) for cell in run.cells if cell.screen}
    blocks = confirm_blocks(run.plan, suspects(run).all)
    return _fleet_blocks(blocks, seconds.__getitem__)


def _fleet_blocks(
    blocks: Sequence[AbBlock], round_s: Callable[[CellName], float]
) -> list[FleetBlock]:
    return [
        FleetBlock(
            name=f"{block.cell}, {_rounds(block.rounds)}",
            repetitions=SLOTS * len(block.rounds),
            predicted_s=round(len(block.rounds) * round_s(block.cell), 3),
        )
        for (block,) in blocks_of_shards(blocks, len(blocks))
    ]


def _rounds(rounds: Sequence[int]) -> str:
    return f"round{'s' if rounds[1:] else ''} {' and '.join(map(str, rounds))}"


def _round_s(cell: AbCell) -> float:
    """Return the median time of a round of the screen in seconds."""
    return statistics.median(
        sum(count_of(r.record, "wall_ns") or 0 for r in (*of.a, *of.b)) / 1e9
        for of in cell.screen
    )
