"""The machines of a run of many: each one's control, and its ratios in every chart.

Ratios are of times per operation within blocks, medians over the blocks of a machine.
They are how many times as long an engine needs as the first of its ranking.  Of an A/B
run they are the changes of the verdicts, from the rounds of one machine each.
"""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from report.model.ab_rule import CONFIRM
from report.model.ab_run import AbRun, Round
from report.model.plan import Engine
from report.model.run import Measurement, Run
from report.stats import leads, shifts
from report.stats.ab_decision import stacked
from report.stats.machine_effects import (
    DEVIATIONS,
    LEAST_BIAS,
    LEAST_BLOCKS,
    LEAST_FACTOR,
    ControlDeviation,
    machines_against,
)
from report.terms import numbers
from report.trust.pooling import all_of, deviations_of
from report.verdict.ab_verdicts import AbResult, CellResult
from report.verdict.comparison import Chart, Comparison
from report.verdict.metric import Ranking

RULE = (
    "Engines are compared within blocks: one repetition of all engines of a chart, on"
    " one machine. Every block has the control: one engine measured twice. A machine is"
    f" not pooled if its control is out of line: by more than {DEVIATIONS:g} robust"
    " standard deviations from that of the other machines, and by more than"
    f" {numbers.limit(LEAST_BIAS)} or with more than {LEAST_FACTOR:g} times their"
    " spread. Figures are how many times as long an engine needs as the first, medians"
    " over blocks; under 1, it is faster on that machine."
)

# Rounds of a machine, for the test whether machines of an A/B run disagree: one block,
# in which drift cancels.
LEAST_ROUNDS = 2


@dataclass(frozen=True)
class MachineSummary:
    """One machine: what it measured, and whether it is pooled."""

    name: str
    facts: Mapping[str, object]
    repetitions: int
    control: ControlDeviation
    has_canary: bool

    @property
    def is_pooled(self) -> bool:
        """True if its repetitions count in rates and verdicts."""
        return not self.control.is_out

    @property
    def standing(self) -> str:
        """Whether it is pooled, and why not, in words."""
        if self.control.is_out:
            return "not pooled: its control is out of line"
        if self.control.blocks < LEAST_BLOCKS:
            return "pooled; too few blocks with a control to judge it"
        return "pooled"


@dataclass(frozen=True)
class MachineRatios:
    """An engine in a ranking: its ratio on each machine, and over all that are pooled.

    None is unknown; `interval` is of the pooled ratio.
    """

    engine: Engine
    by_machine: Mapping[str, float | None]
    pooled: float | None
    interval: tuple[float, float] | None


@dataclass(frozen=True)
class MachineChart:
    """A ranking of a chart on every machine; the first row is its first engine.

    `split` has the machines on which another engine is faster than the first, by its
    title, where they are shown to disagree.
    """

    chart: Chart
    group: str
    rows: tuple[MachineRatios, ...]
    split: Mapping[str, tuple[str, ...]]

    @property
    def title(self) -> str:
        """The chart, and what its engines have in common."""
        name = f"{self.chart.scenario.title}, {self.chart.label}"
        return f"{name} ({self.group})" if self.group else name


def machines_of(run: Run) -> list[MachineSummary]:
    """Return the machines of a run; [] of a run that names none."""
    deviations = deviations_of(run.plan, run.cells)
    measured = [m for m in run.measurements if m.machine]
    return [
        MachineSummary(
            name,
            facts,
            sum(m.machine == name for m in measured),
            deviations[name],
            any(m.machine == name and m.pass_ == "canary" for m in measured),
        )
        for name, facts in run.plan.machines.items()
    ]


def machine_charts(run: Run, compared: Comparison) -> list[MachineChart]:
    """Return the rankings of several engines, of a run of many machines."""
    return [
        _machine_chart(run, chart, ranking)
        for chart in compared.charts
        for ranking in chart.accepted
        if run.plan.machines and len(ranking.aligned_ns) > 1
    ]


def _machine_chart(run: Run, chart: Chart, ranking: Ranking) -> MachineChart:
    order = sorted(ranking.aligned_ns, key=lambda name: ranking.aligned_ns[name])
    titles = {engine.name: engine.title for engine in run.plan.engines}
    return MachineChart(
        chart,
        ranking.group,
        tuple(_ratios(run, chart, ranking, order[0], name) for name in order),
        {titles[name]: of for name, of in ranking.verdict.split.items()},
    )


def _ratios(
    run: Run, chart: Chart, ranking: Ranking, first: str, name: str
) -> MachineRatios:
    firsts, own = (_lines(run, chart, engine) for engine in (first, name))
    by_machine: dict[str, list[float]] = {machine: [] for machine in run.plan.machines}
    for number in sorted(firsts.keys() & own.keys()):
        a, b = firsts[number].ops_per_sec, own[number].ops_per_sec
        if a and b:
            by_machine[own[number].machine].append(a / b)
    return MachineRatios(
        run.plan.engine(name),
        {m: statistics.median(of) if of else None for m, of in by_machine.items()},
        ranking.aligned_ns[name] / ranking.aligned_ns[first],
        ranking.verdict.behind.get(name),
    )


def _lines(run: Run, chart: Chart, engine: str) -> dict[int, Measurement]:
    cell = run.cell(engine, chart.scenario.name, chart.benchmark)
    return {m.repetition: m for m in all_of(cell)} if cell else {}


def split_sentences(charts: Sequence[MachineChart]) -> list[str]:
    """Return which machines disagree about an order, one sentence for each."""
    return [
        f"{of.title}: {of.rows[0].engine.title} is first over all machines, but"
        f" {title} is faster on {', '.join(machines)}"
        for of in charts
        for title, machines in of.split.items()
    ]


@dataclass(frozen=True)
class AbMachine:
    """One machine of an A/B run, with the whole rounds that it measured, by stage."""

    name: str
    facts: Mapping[str, object]
    screen: int
    confirm: int


@dataclass(frozen=True)
class MachineShifts:
    """The change of a cell on each machine that has rounds of the judged stage.

    `by_machine` has shifts (report/stats/shifts.py).  `against` are the machines on
    which it has the other direction than over all, where a cell that was confirmed
    shows that machines disagree.
    """

    cell: CellResult
    by_machine: Mapping[str, float]
    against: tuple[str, ...]


def ab_machines_of(run: AbRun) -> list[AbMachine]:
    """Return the machines of an A/B run; [] of a run that names none."""
    screen = Counter(r.machine for cell in run.cells for r in cell.screen)
    confirm = Counter(r.machine for cell in run.cells for r in cell.confirm)
    return [
        AbMachine(name, facts, screen[name], confirm[name])
        for name, facts in run.plan.machines.items()
    ]


def shifts_by_machine(result: AbResult) -> list[MachineShifts]:
    """Return the changes on each machine of the cells that were confirmed.

    If none was, of all that have rounds; [] of a run that names no machines.
    """
    judged = [c for c in result.cells if c.stage and result.run.plan.machines]
    confirmed = [cell for cell in judged if cell.stage == CONFIRM]
    return [_shifts(result.run, cell) for cell in confirmed or judged]


def _shifts(run: AbRun, cell: CellResult) -> MachineShifts:
    of_cell = run.cell(cell.name)
    is_confirmed = cell.stage == CONFIRM
    by_machine: dict[str, list[Round]] = {name: [] for name in run.plan.machines}
    for one in of_cell.confirm if is_confirmed else of_cell.screen:
        by_machine[one.machine].append(one)
    having = {name: rounds for name, rounds in by_machine.items() if rounds}
    own = {name: float(shifts.shift(*stacked([of]))[0]) for name, of in having.items()}
    return MachineShifts(cell, own, _against(cell, having, own) if is_confirmed else ())


def _against(
    cell: CellResult, rounds: Mapping[str, Sequence[Round]], own: Mapping[str, float]
) -> tuple[str, ...]:
    """Return the machines whose change has the other direction, if they disagree."""
    tested = {name: of for name, of in rounds.items() if len(of) >= LEAST_ROUNDS}
    if cell.judgement is None or not tested:
        return ()
    whole = [one for of in tested.values() for one in of]
    # The first repetition of a in a round is paired with the first of b.
    sides = stacked([whole])
    times = np.stack([side.ravel() for side in sides])
    owners = [one.machine for one in whole for _ in range(sides[0].shape[-1])]
    paired = leads.by_machine(times, owners)
    errors = {name: float(of.errors[0, 1]) for name, of in paired.items()}
    direction = math.copysign(1, cell.judgement.log_shift)
    return machines_against({name: direction * own[name] for name in errors}, errors)
