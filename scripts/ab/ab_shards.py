"""The shards of an A/B run: which rounds of which cells each machine measures.

A block is two consecutive rounds of a cell, of which each side leads one, so that both
the machine and the position in a round cancel.  The screen is dealt first.  When its
shards are merged, the suspects are known, and their confirmation is dealt.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from report.model.ab_plan import AbPlan, AbShard
from report.model.plan import CellName
from report.terms import numbers
from scripts.fleet.shard_request import ShardRequest
from scripts.fleet.shards import dealt
from scripts.store.known_passports import without_passports
from scripts.store.run_places import CannotStart


@dataclass(frozen=True)
class AbBlock:
    """Two consecutive rounds of a cell; one at the end of an odd number."""

    cell: CellName
    rounds: tuple[int, ...]


def screen_blocks(plan: AbPlan) -> list[AbBlock]:
    """Return the blocks of the screen."""
    return _blocks(plan.able, range(1, plan.rule.screen_rounds + 1))


def confirm_blocks(plan: AbPlan, suspects: Sequence[CellName]) -> list[AbBlock]:
    """Return the blocks of the confirmation of these cells."""
    cells = [cell for cell in plan.able if cell in suspects]
    return _blocks(cells, range(plan.rule.screen_rounds + 1, plan.rounds + 1))


def blocks_of_shards(blocks: Sequence[AbBlock], count: int) -> list[list[AbBlock]]:
    """Return the blocks of each of `count` shards."""
    works = [block.cell for block in blocks]
    own = dealt(works, [float(len(block.rounds)) for block in blocks], count)
    return [[blocks[number] for number in numbers_of] for numbers_of in own]


def screen_shard(plan: AbPlan, request: ShardRequest, machine: str) -> AbPlan:
    """Return the plan of a shard of the screen.  Raises CannotStart."""
    shard = _shard(screen_blocks(plan), request, machine)
    shard = replace(shard, counts=plan.counted and shard.index == 1)
    return replace(common_plan(plan), shard=shard)


def confirm_shard(
    plan: AbPlan, suspects: Sequence[CellName], request: ShardRequest, machine: str
) -> AbPlan:
    """Return the plan of a shard of the confirmation.  Raises CannotStart."""
    shard = _shard(confirm_blocks(plan, suspects), request, machine)
    return replace(common_plan(plan), shard=shard, machines={})


def common_plan(plan: AbPlan) -> AbPlan:
    """Return a plan without what only one results directory knows."""
    return replace(plan, a=without_passports(plan.a), b=without_passports(plan.b))


def _shard(blocks: Sequence[AbBlock], request: ShardRequest, machine: str) -> AbShard:
    if request.count > len(blocks):
        blocks_there = numbers.count(len(blocks), "block")
        problem = f"--shard {request.index}/{request.count}: there are {blocks_there}"
        raise CannotStart(f"{problem}; use fewer shards, or more rounds")
    mine: dict[CellName, tuple[int, ...]] = {}
    for block in blocks_of_shards(blocks, request.count)[request.index - 1]:
        rounds = (*mine.get(block.cell, ()), *block.rounds)
        mine[block.cell] = tuple(sorted(rounds))
    return AbShard(request.index, request.count, machine, mine, counts=False)


def _blocks(cells: Iterable[CellName], rounds: range) -> list[AbBlock]:
    """Return cells in pairs of rounds, in which the sides take turns to lead."""
    pairs = [tuple(pair) for _, pair in groupby(rounds, lambda n: (n - 1) // 2)]
    return [AbBlock(cell, pair) for cell in cells for pair in pairs]
