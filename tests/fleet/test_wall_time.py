"""The wall time of many machines, from the real times of a published run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import pytest

from report.model.plan import Plan
from report.model.run_folder import RecordedRun, load
from scripts.fleet.shards import block_seconds, dealt
from scripts.forecast.prediction import run_seconds
from scripts.planning.blocks import Block, blocks_of
from scripts.planning.order import shuffled_order
from tests.places import ROOT

pytestmark = pytest.mark.slow

PUBLISHED = ROOT / "results/20261129-151246-leveldb-2011"
REPETITIONS = 30  # so that 64 machines have eight blocks each


@cache
def measured() -> RecordedRun:
    return load(PUBLISHED)


@cache
def matrix() -> tuple[Plan, tuple[Block, ...]]:
    """Return the plan of the run with more repetitions, and its blocks."""
    plan = replace(measured().plan, repetitions=REPETITIONS)
    plan = replace(plan, order=shuffled_order(plan))
    return plan, tuple(block for block in blocks_of(plan) if block.charts)


@cache
def real_seconds() -> Sequence[float]:
    """Return the time of each block: those that were measured, in turn."""
    plan, blocks = matrix()
    walls: dict[tuple[object, bool], list[float]] = {}
    for m in measured().lines.measurements:
        if wall_ns := m.figure("wall_ns"):
            is_latency = measured().plan.is_latency(m.repetition)
            walls.setdefault((m.cell, is_latency), []).append(wall_ns / 1e9)
    seconds = []
    for block in blocks:
        is_latency = plan.is_latency(block.repetition)
        of = [
            walls.get((plan.cells[i], is_latency), [0.0])
            for unit in block.units
            for i in plan.order[unit].cells
        ]
        seconds.append(sum(times[block.repetition % len(times)] for times in of))
    return seconds


@pytest.mark.parametrize("machines", [2, 3, 4, 8, 16, 32, 64])
def test_machines_share_the_time_of_one(machines: int) -> None:
    """N machines take at most 1.15/N of the time of one, with a canary on each."""
    plan, blocks = matrix()
    predicted = block_seconds(plan, blocks, run_seconds(measured().plan, PUBLISHED))
    real = real_seconds()
    loads = [
        sum(real[b] for b in shard) for shard in dealt(blocks, predicted, machines)
    ]
    slowest = max(loads) + min(real)
    assert slowest <= 1.15 * sum(real) / machines
