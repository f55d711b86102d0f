"""Which machines of a run of many are pooled: those whose control is in line.

A machine that is not pooled is shown, but its repetitions count in no rate and no
verdict.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

from report.model.plan import CellName, Plan
from report.model.run import Cell, Measurement
from report.stats.machine_effects import ControlDeviation, control_deviations

Cells = Mapping[CellName, Cell]


def deviations_of(plan: Plan, cells: Cells) -> dict[str, ControlDeviation]:
    """Return the deviation of the control of each machine of a run; {} of one."""
    logs: dict[str, dict[str, list[float]]] = {name: {} for name in plan.machines}
    twins = {e.name: e.twin_of for e in plan.engines if e.twin_of and plan.machines}
    for name in (cell for cell in plan.cells if cell.engine in twins):
        twin = cells.get(replace(name, engine=twins[name.engine]))
        first = {m.repetition: m for m in all_of(twin)} if twin else {}
        for m in all_of(cells[name]):
            other = first.get(m.repetition)
            if other and m.ops_per_sec and other.ops_per_sec:
                chart = f"{name.scenario}/{name.benchmark}"
                ratio = other.ops_per_sec / m.ops_per_sec
                logs[m.machine].setdefault(chart, []).append(math.log(ratio))
    return control_deviations(logs)


def all_of(cell: Cell) -> tuple[Measurement, ...]:
    """Return the repetitions of a cell, pooled or not."""
    return (*cell.repetitions, *cell.unpooled)


def pooled(cells: Cells, deviations: Mapping[str, ControlDeviation]) -> Cells:
    """Return the cells without the repetitions of machines that are out of line."""
    out = {name for name, deviation in deviations.items() if deviation.is_out}
    return {name: _without(cell, out) for name, cell in cells.items()} if out else cells


def _without(cell: Cell, machines: set[str]) -> Cell:
    kept = tuple(m for m in cell.repetitions if m.machine not in machines)
    apart = tuple(m for m in cell.repetitions if m.machine in machines)
    latencies = tuple(m for m in cell.latencies if m.machine not in machines)
    return replace(cell, repetitions=kept, latencies=latencies, unpooled=apart)
