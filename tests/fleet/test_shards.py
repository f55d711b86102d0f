"""Blocks: what they hold, how they are dealt, and which of them is the canary."""

from dataclasses import replace
from typing import Any

import pytest

from report.model.plan import Plan
from scripts.fleet.plan_likeness import matrix
from scripts.fleet.shards import block_seconds, dealt, units_of_shards, with_canary
from scripts.forecast.prediction import cell_key
from scripts.planning.blocks import Block, blocks_of
from tests.builders import simple_plans

COUNTS = (1, 2, 3, 5, 7, 64)


@pytest.fixture
def plan() -> Plan:
    engines = [simple_plans.engine(name) for name in ("one", "two", "three")]
    return simple_plans.plan(engines, repetitions=6)


def charts(plan: Plan, units: tuple[int, ...]) -> set[tuple[str, str]]:
    cells = [plan.cells[i] for unit in units for i in plan.order[unit].cells]
    return {(cell.scenario, cell.benchmark) for cell in cells}


def test_a_block_has_all_engines_of_its_charts_in_one_repetition(plan: Plan) -> None:
    for block in blocks_of(plan):
        cells = [plan.cells[i] for unit in block.units for i in plan.order[unit].cells]
        of_charts = [
            cell
            for cell in plan.cells
            if (cell.scenario, cell.benchmark) in block.charts
        ]
        assert sorted(cells) == sorted(of_charts)
        assert {plan.order[unit].repetition for unit in block.units} == {
            block.repetition
        }


def test_the_blocks_are_the_plan_each_unit_once(plan: Plan) -> None:
    units = [unit for block in blocks_of(plan) for unit in block.units]
    assert sorted(units) == list(range(len(plan.order)))


@pytest.mark.parametrize("count", COUNTS)
def test_every_unit_is_in_one_shard(plan: Plan, count: int) -> None:
    units = [unit for shard in units_of_shards(plan, count, {}) for unit in shard]
    assert sorted(units) == list(range(len(plan.order)))


def test_no_block_is_divided(plan: Plan) -> None:
    whole = [set(block.units) for block in blocks_of(plan)]
    for shard in map(set, units_of_shards(plan, 3, {})):
        assert all(block <= shard or not block & shard for block in whole)


def test_shards_do_not_depend_on_the_machine(plan: Plan) -> None:
    other = replace(plan, machine={"logical_cpus": 128}, run="another")
    for index in (1, 2, 3):
        assert (
            units_of_shards(plan, 3, {})[index - 1]
            == units_of_shards(other, 3, {})[index - 1]
        )


def block(name: str, repetition: int) -> Block:
    return Block(repetition, (), (("s", name),))


def test_every_shard_has_as_many_repetitions_of_each_chart() -> None:
    """Even if the guess is wrong, the shards then take equally long."""
    blocks = [block(name, n) for n in range(1, 10) for name in "abc"]
    seconds = [{"a": 1.0, "b": 100.0, "c": 5.0}[b.charts[0][1]] for b in blocks]
    for shard in dealt([b.charts for b in blocks], seconds, 3):
        names = [blocks[number].charts[0][1] for number in shard]
        assert sorted(names) == [*"aaabbbccc"]


def test_the_rest_is_dealt_longest_first() -> None:
    blocks = [block(name, 1) for name in "abcdef"]
    seconds = [6.0, 5.0, 4.0, 3.0, 2.0, 1.0]
    loads = [
        sum(seconds[b] for b in shard)
        for shard in dealt([b.charts for b in blocks], seconds, 3)
    ]
    assert loads == [7.0, 7.0, 7.0]


def test_more_shards_than_blocks_leave_some_without(plan: Plan) -> None:
    count = len(blocks_of(plan)) + 1
    empty = [
        i for i in range(1, count + 1) if not units_of_shards(plan, count, {})[i - 1]
    ]
    assert len(empty) == 1


def test_known_times_replace_guesses(plan: Plan) -> None:
    """The reads of each engine are known to be long."""
    reads = [cell for cell in plan.cells if cell.benchmark == "readseq"]
    known = {cell_key(plan, cell, latency=False): 1000.0 for cell in reads}
    blocks = [block for block in blocks_of(plan) if block.charts]
    seconds = block_seconds(plan, blocks, known)
    are_long = [("base", "readseq") in block.charts for block in blocks]
    assert [s >= 3000 for s in seconds] == are_long


def test_the_canary_is_the_shortest_block_with_the_control(plan: Plan) -> None:
    blocks = [b for b in blocks_of(plan) if b.repetition == 1]
    seconds = block_seconds(plan, blocks, {})
    shortest = blocks[seconds.index(min(seconds))]
    assert charts(plan, with_canary(plan, {}).canary) == charts(plan, shortest.units)


def test_a_plug_in_may_lie_elsewhere_but_is_the_same_file() -> None:
    """Its checksum is compared; another name is another plug-in."""

    def run_with(plugin: str) -> dict[str, Any]:
        return matrix({"engines": [{"name": "x", "plugin": plugin}], "suite": {}})

    assert run_with("/a/x.so") == run_with("/b/x.so")
    assert run_with("/a/x.so") != run_with("/a/y.so")
