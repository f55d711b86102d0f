"""The shards of an A/B run: which rounds of which cells each machine measures.

A block is two consecutive rounds of a cell, of which each side leads one, so that both
the machine and the position in a round cancel.  The screen is dealt first.  When its
shards are merged, the suspects are known, and their confirmation is dealt.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import groupby

from report.model.ab_plan import AbPlan, AbShard
from report.model.plan import CellName
from report.terms import numbers
from scripts.fleet.sharded_plan import ShardRequest
from scripts.fleet.shards import dealt
from scripts.store.run_places import CannotStart


def screen_shard(plan: AbPlan, request: ShardRequest, machine: str) -> AbPlan:
    """Return the plan of a shard of the screen.  Raises CannotStart."""
    rounds = range(1, plan.rule.screen_rounds + 1)
    shard = _shard(plan.able, rounds, request, machine)
    return replace(plan, shard=replace(shard, counts=plan.counted and shard.index == 1))


def confirm_shard(
    plan: AbPlan, suspects: Sequence[CellName], request: ShardRequest, machine: str
) -> AbPlan:
    """Return the plan of a shard of the confirmation.  Raises CannotStart."""
    cells = [cell for cell in plan.able if cell in suspects]
    rounds = range(plan.rule.screen_rounds + 1, plan.rounds + 1)
    shard = _shard(cells, rounds, request, machine)
    return replace(plan, shard=shard, machines={})


def _shard(
    cells: Iterable[CellName], rounds: range, request: ShardRequest, machine: str
) -> AbShard:
    blocks = [(cell, of) for cell in cells for of in _pairs(rounds)]
    if request.count > len(blocks):
        blocks_there = numbers.count(len(blocks), "block")
        problem = f"--shard {request.index}/{request.count}: there are {blocks_there}"
        raise CannotStart(f"{problem}; use fewer shards, or more rounds")
    works = [cell for cell, _ in blocks]
    own = dealt(works, [float(len(of)) for _, of in blocks], request.count)
    mine: dict[CellName, tuple[int, ...]] = {}
    for number in own[request.index - 1]:
        cell, of = blocks[number]
        mine[cell] = tuple(sorted((*mine.get(cell, ()), *of)))
    return AbShard(request.index, request.count, machine, mine, counts=False)


def _pairs(rounds: range) -> list[tuple[int, ...]]:
    """Return rounds in the pairs in which the sides take turns to lead."""
    return [tuple(pair) for _, pair in groupby(rounds, lambda n: (n - 1) // 2)]
