"""The shards of a plan that several machines measure: which blocks each of them has.

A shard depends only on the plan and on times that all machines know, never on a machine
itself, so that machines that know nothing of each other divide the plan alike.
"""

from __future__ import annotations

import heapq
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace

from report.model.plan import CONTROL, Plan
from scripts.forecast.prediction import Forecast
from scripts.planning.blocks import Block, blocks_of
from scripts.planning.order import ScheduledRepetition

Seconds = Mapping[str, float]  # by cell_key()


def block_seconds(plan: Plan, blocks: Sequence[Block], known: Seconds) -> list[float]:
    """Return the predicted seconds of each block, equal on all machines.

    Those of cells that are not `known` are guessed.
    """
    forecast = Forecast(replace(plan, machine={}), known)
    return [
        sum(
            forecast.seconds(ScheduledRepetition(index, 0, block.repetition))
            for unit in block.units
            for index in plan.order[unit].cells
        )
        for block in blocks
    ]


def dealt(
    works: Sequence[Hashable], seconds: Sequence[float], count: int
) -> list[list[int]]:
    """Return the blocks of each of `count` shards, as indexes in ascending order.

    `works` has what each block does, such as its charts.  Every shard has as many
    repetitions of the same work as can be dealt evenly, however long they take.  Of the
    rest the longest goes first, each to the shard with the least to do: at most 4/3 of
    the shortest possible time (R. L. Graham, Bounds on multiprocessing timing
    anomalies, SIAM J. Appl. Math. 17 (1969) 416-429).
    """
    chosen: list[list[int]] = [[] for _ in range(count)]
    alike: dict[object, list[int]] = {}
    for number, work in enumerate(works):
        alike.setdefault((work, seconds[number]), []).append(number)
    rest: list[int] = []
    for numbers in alike.values():
        even = len(numbers) // count * count
        rest += numbers[even:]
        for place, number in enumerate(numbers[:even]):
            chosen[place % count].append(number)
    loads = [(sum(seconds[b] for b in own), shard) for shard, own in enumerate(chosen)]
    heapq.heapify(loads)
    for number in sorted(rest, key=lambda b: (-seconds[b], b)):
        load, shard = heapq.heappop(loads)
        chosen[shard].append(number)
        heapq.heappush(loads, (load + seconds[number], shard))
    return [sorted(shard) for shard in chosen]


def with_canary(plan: Plan, known: Seconds) -> Plan:
    """Return a plan for several machines, each of which first measures its canary.

    It is the shortest block with the control, or of all blocks if no engine is
    measured twice.
    """
    blocks = [b for b in blocks_of(plan) if b.charts and b.repetition == 1]
    seconds = block_seconds(plan, blocks, known)
    controls = {engine.name for engine in plan.engines if engine.role == CONTROL}

    def has_control(block: Block) -> bool:
        cells = (plan.cells[i] for u in block.units for i in plan.order[u].cells)
        return any(cell.engine in controls for cell in cells)

    by_length = sorted(
        (not has_control(block), block_s, block.units)
        for block, block_s in zip(blocks, seconds, strict=True)
    )
    return replace(plan, canary=by_length[0][2] if by_length else ())


def units_of_shards(plan: Plan, count: int, known: Seconds) -> list[tuple[int, ...]]:
    """Return the units of each of `count` shards of a plan.

    Shards have none if the plan has fewer blocks.
    """
    blocks = blocks_of(plan)
    return [
        tuple(unit for number in own for unit in blocks[number].units)
        for own in dealt(
            [block.charts for block in blocks],
            block_seconds(plan, blocks, known),
            count,
        )
    ]
