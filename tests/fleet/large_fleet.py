"""Writes shards of a run of thousands of blocks, made of the lines of a published run.

Each block is one chart of three engines and the control.

As a program: `python -m tests.fleet.large_fleet FOLDER MACHINES BLOCKS`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from report.model.plan import (
    METHOD,
    THROUGHPUT,
    CellName,
    Plan,
    Scenario,
    Shard,
    repetition_seed,
)
from report.model.plan_document import plan_document
from report.model.record import LINES
from report.model.run_folder import RecordedRun, load
from report.terms.checksum import KEY
from scripts.fleet.shards import units_of_shards, with_canary
from scripts.planning.blocks import blocks_of
from scripts.planning.order import scheduled_repetitions, shuffled_order
from scripts.store.run_store import create_folder
from tests.places import ROOT

PUBLISHED = ROOT / "results/20261129-151246-leveldb-2011"
ENGINES = ("leveldb", "sqlite3", "lmdb", "leveldb-control")
COPIES = 6  # of each scenario
Lines = dict[tuple[str, str, str], list[dict[str, Any]]]


def write_large_fleet(folder: Path, machines: int, blocks: int) -> int:
    """Write a shard for each machine of at least `blocks`; return how many they are."""
    measured = load(PUBLISHED)
    plan = _large_plan(measured, blocks)
    lines = _lines(measured)
    for number, units in enumerate(units_of_shards(plan, machines, {}), 1):
        shard = Shard(number, machines, units, canary=True, machine=f"m-{number}")
        own = replace(plan, shard=shard, run=f"20261128-{number:06}-large")
        documents = {"run": plan_document(own), "environment": _environment(measured)}
        texts = {LINES: _texts(own, lines)}
        made = create_folder(folder, own.run, documents, measured=texts)
        made.close()
    return sum(bool(block.charts) for block in blocks_of(plan))


def _large_plan(measured: RecordedRun, blocks: int) -> Plan:
    plan = measured.plan
    engines = tuple(e for e in plan.engines if e.name in ENGINES)
    cells = [cell for cell in plan.cells if cell.engine in ENGINES]
    copies = tuple(
        replace(scenario, name=f"{scenario.name}-{copy}")
        for copy in range(COPIES)
        for scenario in plan.scenarios
    )
    large = tuple(
        replace(cell, scenario=f"{cell.scenario}-{copy}")
        for copy in range(COPIES)
        for cell in cells
    )
    bare = replace(
        plan,
        engines=engines,
        scenarios=_of_engines(copies),
        cells=large,
        repetitions=1,
        suite=replace(plan.suite, latency_repetitions=0),
        method=METHOD,  # its engines are linked: their lines are as in method 2
    )
    of_round = blocks_of(replace(bare, order=shuffled_order(bare)))
    single = {block.charts[0] for block in of_round if len(block.charts) == 1}
    cells_of = tuple(c for c in large if (c.scenario, c.benchmark) in single)
    used = {cell.scenario for cell in cells_of}
    whole = replace(
        bare,
        cells=cells_of,
        scenarios=tuple(s for s in bare.scenarios if s.name in used),
        repetitions=-(-blocks // len(single)),
    )
    return with_canary(replace(whole, order=shuffled_order(whole)), {})


def _of_engines(scenarios: tuple[Scenario, ...]) -> tuple[Scenario, ...]:
    return tuple(
        replace(
            scenario,
            flags={e: f for e, f in scenario.flags.items() if e in ENGINES},
            exclude={e: why for e, why in scenario.exclude.items() if e in ENGINES},
        )
        for scenario in scenarios
    )


def _lines(measured: RecordedRun) -> Lines:
    """Return the lines of each cell, without what says which repetition they are."""
    lines: Lines = {}
    for m in measured.lines.measurements:
        if m.pass_ == THROUGHPUT:
            lines.setdefault((m.cell.engine, m.cell.scenario, m.cell.benchmark), [])
            lines[m.cell.engine, m.cell.scenario, m.cell.benchmark].append(
                {k: v for k, v in m.record.items() if k not in ("plan", KEY)}
            )
    return lines


def _texts(plan: Plan, lines: Lines) -> Iterator[str]:
    for unit, repetitions in scheduled_repetitions(plan):
        for scheduled in repetitions:
            cell = plan.cells[scheduled.index]
            known = lines[_published(cell)]
            yield json.dumps(
                {
                    **known[unit.repetition % len(known)],
                    **asdict(cell),
                    **{"run": plan.run, "method": METHOD},
                    "repetition": unit.repetition,
                    "pass": plan.pass_of(unit.repetition),
                    "attempt": 1,
                    "order": scheduled.order,
                    "seed": repetition_seed(plan.seed, unit.repetition),
                },
                separators=(",", ":"),
            )


def _published(cell: CellName) -> tuple[str, str, str]:
    return cell.engine, cell.scenario.rpartition("-")[0], cell.benchmark


def _environment(measured: RecordedRun) -> dict[str, Any]:
    left = ("plan", KEY)
    return {k: v for k, v in measured.environment.items() if k not in left}


if __name__ == "__main__":
    print(write_large_fleet(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])))
