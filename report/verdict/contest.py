"""The verdict of a chart: one engine wins, engines are level, or neither is shown.

Leads are tested in pairs (stats/leads.py), with the spread of the whole run.  The
engine with the best median wins if it is significantly faster than every other ranked
engine.  Engines are level if they are shown to differ by less than LEVEL.
"""

from __future__ import annotations

import dataclasses
import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from functools import cached_property

import numpy as np

from report.model.plan import CellName, Engine
from report.model.run import Cell, Measured
from report.stats import leads
from report.stats.aligned_ranks import Floats
from report.stats.leads import Leads
from report.stats.machine_effects import machines_against
from report.stats.shifts import as_log, as_share
from report.terms import numbers
from report.verdict import eligibility
from report.verdict.metric import LEVEL, Metric

LEAST_REPETITIONS = 3  # of each engine, for any verdict
_MANY = 100  # repetitions; if more are needed, a quieter machine is better advice


class Outcome(Enum):
    """What a chart shows about its ranked engines."""

    WIN = "wins"
    LEVEL = "level"
    UNDECIDED = "undecided"
    UNCONTESTED = "uncontested"  # only one engine has a value


@dataclass(frozen=True)
class ChartVerdict:
    """The verdict of a chart; `leaders` has the engine with the best median first.

    The other leaders are those that it is not shown to be ahead of.  If undecided,
    `doubt` is the reason, or "" if the leads are too small: then leads below
    `smallest` (a share) can be missed, and about `needed` repetitions would decide,
    None if more than a hundred.

    In a run of many machines, `behind` has the interval of how many times as long each
    other engine needs as the first.  `split` has each engine that is faster than the
    first on some machines, with those, where machines are shown to disagree.
    """

    outcome: Outcome
    leaders: tuple[str, ...]
    doubt: str = ""
    smallest: float = 0.0
    needed: int | None = None
    behind: Mapping[str, tuple[float, float]] = dataclasses.field(default_factory=dict)
    split: Mapping[str, tuple[str, ...]] = dataclasses.field(default_factory=dict)


@dataclass(frozen=True)
class Ranking:
    """The engines of a chart that may be compared, by one metric.

    `group` is what they have in common, "" if all engines of the chart have it.
    Engines are compared by `aligned_ns`: on several machines, medians of ratios within
    blocks times a constant, since a median of times depends on who measured what; on
    one, the medians.
    """

    metric: Metric
    group: str
    medians_ns: Mapping[str, float]  # by engine, in run order
    verdict: ChartVerdict
    aligned_ns: Mapping[str, float]  # the same, from ratios within blocks

    @property
    def best_ns(self) -> float | None:
        """The least aligned median, None unless at least two engines have one."""
        return min(self.aligned_ns.values()) if len(self.aligned_ns) > 1 else None

    @property
    def winner(self) -> str:
        """The engine that wins, or ""."""
        won = self.verdict.outcome is Outcome.WIN
        return self.verdict.leaders[0] if won else ""

    def off_best(self, engine: str) -> float | None:
        """Return how many times the best median an engine needs, None if unranked."""
        own, best = self.aligned_ns.get(engine), self.best_ns
        return own / best if own and best else None


@dataclass(frozen=True)
class _Field:
    """Engines of a chart, and the value of each in each round."""

    engines: tuple[Engine, ...]
    values: tuple[Mapping[int, float], ...]
    machines: Mapping[int, str]  # that measured each round; "" in a run of one

    @cached_property
    def _common(self) -> list[int]:
        """The rounds that all engines have."""
        return sorted(set.intersection(*map(set, self.values))) if self.values else []

    @cached_property
    def times(self) -> Floats:
        """The logs of the values (engines, rounds), of the rounds that all have."""
        logs = [
            [math.log(values[number]) for number in self._common]
            for values in self.values
        ]
        return np.asarray(logs, float).reshape(len(self.values), len(self._common))

    @property
    def rounds(self) -> int:
        """The rounds in which all of these engines were measured."""
        return int(self.times.shape[1])

    def only(self, names: Sequence[str]) -> _Field:
        """Return the field of these engines and their controls."""
        kept = [
            (engine, values)
            for engine, values in zip(self.engines, self.values, strict=True)
            if engine.name in names or engine.twin_of in names
        ]
        engines, values = tuple(e for e, _ in kept), tuple(v for _, v in kept)
        return _Field(engines, values, self.machines)

    def leads_by_machine(self) -> dict[str, Leads]:
        """Return the leads on each machine; {} if they are unknown."""
        machines = [self.machines[number] for number in self._common]
        return leads.by_machine(self.times, machines)

    @property
    def is_of_many(self) -> bool:
        """True if the run names the machines of its rounds."""
        return any(self.machines.values())

    @property
    def is_paired(self) -> bool:
        """True if the field has ratios, and more than one of each."""
        return len(self.engines) > 1 and self.rounds > 1

    @property
    def twins(self) -> list[tuple[int, int]]:
        """The indexes of each control and of the engine that it measures again."""
        names = [engine.name for engine in self.engines]
        return [
            (index, names.index(engine.twin_of))
            for index, engine in enumerate(self.engines)
            if engine.twin_of in names
        ]

    def places(self, order: Iterable[str]) -> list[int]:
        """Return the indexes of engines by name."""
        names = [engine.name for engine in self.engines]
        return [names.index(name) for name in order]


class Contests:
    """The contests of a run by one metric; the run may still be in progress.

    The spread of its repetitions is learnt when this is made.
    """

    def __init__(self, run: Measured, metric: Metric) -> None:
        self._run, self._metric = run, metric
        self._fields = {
            (scenario.name, benchmark): self._field(scenario.name, benchmark)
            for scenario, benchmark in run.plan.charts
        }
        paired = [field for field in self._fields.values() if field.is_paired]
        of_charts = [leads.spreads(field.times).mean() for field in paired]
        self._spread = float(np.median(of_charts)) if of_charts else 0.0
        self._freedom = sum(leads.freedom(len(f.engines), f.rounds) for f in paired)

    def of(self, scenario: str, benchmark: str) -> tuple[Ranking, ...]:
        """Return a ranking for each group of engines, in the order of the run."""
        groups: dict[str, dict[str, Mapping[int, float]]] = {}
        unranked = eligibility.unranked(self._run, scenario, benchmark)
        for engine in self._run.plan.engines:
            cell = self._run.cell(engine.name, scenario, benchmark)
            times_ns = self._times_ns(engine, scenario, benchmark)
            if cell and times_ns and engine.ranked and engine.name not in unranked:
                group = self._metric.group(cell, engine.benchmark(benchmark))
                groups.setdefault(group, {})[engine.name] = times_ns
        return tuple(
            self._ranking((scenario, benchmark), group if len(groups) > 1 else "", of)
            for group, of in groups.items()
        )

    def _ranking(
        self,
        chart: tuple[str, str],
        group: str,
        times_ns: Mapping[str, Mapping[int, float]],
    ) -> Ranking:
        medians = {e: statistics.median(of.values()) for e, of in times_ns.items()}
        aligned = _aligned(times_ns) if self._run.plan.machines else medians
        verdict = self._verdict(chart, sorted(aligned, key=lambda name: aligned[name]))
        return Ranking(self._metric, group, medians, verdict, aligned)

    def _verdict(self, chart: tuple[str, str], order: Sequence[str]) -> ChartVerdict:
        if len(order) == 1:
            return ChartVerdict(Outcome.UNCONTESTED, tuple(order))
        field = self._fields[chart].only(order)
        if field.rounds < LEAST_REPETITIONS:
            doubt = f"only {numbers.count(field.rounds, 'repetition')}"
            return ChartVerdict(Outcome.UNDECIDED, (order[0],), doubt)
        paired = self._leads(field)
        verdict = replace(
            _decided(order, field, paired),
            behind=_intervals(order, field, paired) if field.is_of_many else {},
            split=_split(order, field),
        )
        winner = self._run.cell(order[0], *chart)
        if verdict.outcome is not Outcome.WIN or winner is None:
            return verdict
        doubt = _disturbance(winner) or _control(order, field, paired)
        doubt = doubt or ("machines disagree" if verdict.split else "")
        return (
            replace(verdict, outcome=Outcome.UNDECIDED, doubt=doubt)
            if doubt
            else verdict
        )

    def _times_ns(
        self, engine: Engine, scenario: str, benchmark: str
    ) -> Mapping[int, float]:
        """Return the value of each repetition of a cell; {} if it has none."""
        name = CellName(engine.name, scenario, benchmark)
        flags = self._run.plan.flags(name)
        if not self._metric.applies(engine.benchmark(benchmark), flags):
            return {}
        return self._metric.times_ns(self._run.cell(engine.name, scenario, benchmark))

    def _field(self, scenario: str, benchmark: str) -> _Field:
        """Return the ranked engines and the controls of a chart that have values."""
        engines, values = [], []
        machines: dict[int, str] = {}
        for engine in self._run.plan.engines:
            times_ns = self._times_ns(engine, scenario, benchmark)
            cell = self._run.cell(engine.name, scenario, benchmark)
            if cell and times_ns and engine.role in ("", "control"):
                engines.append(engine)
                values.append(times_ns)
                lines = (*cell.repetitions, *cell.latencies)
                machines |= {m.repetition: m.machine for m in lines}
        return _Field(tuple(engines), tuple(values), machines)

    def _leads(self, field: _Field) -> Leads:
        own = leads.spreads(field.times)
        spread = leads.moderated(own, self._spread, field.rounds)
        return leads.leads(field.times, spread, self._freedom)


def _aligned(times_ns: Mapping[str, Mapping[int, float]]) -> dict[str, float]:
    """Return the median time of engines, made of ratios within their common rounds.

    They are ratios to the middle engine of each round, times the usual time of it.
    """
    common = sorted(set.intersection(*map(set, times_ns.values())))
    if not common:
        return {e: statistics.median(of.values()) for e, of in times_ns.items()}
    logs = np.log([[of[number] for number in common] for of in times_ns.values()])
    middles = np.median(logs, axis=0)
    aligned = np.exp(np.median(logs - middles, axis=1) + np.median(middles))
    return dict(zip(times_ns, map(float, aligned), strict=True))


def _intervals(
    order: Sequence[str], field: _Field, paired: Leads
) -> dict[str, tuple[float, float]]:
    """Return the interval of each engine's time over that of the first, at 95 %."""
    best, *others = field.places(order)
    spans = {
        name: (float(paired.logs[best, place]), float(paired.margins[best, place]))
        for name, place in zip(order[1:], others, strict=True)
    }
    return {
        name: (math.exp(log - margin), math.exp(log + margin))
        for name, (log, margin) in spans.items()
    }


def _split(order: Sequence[str], field: _Field) -> dict[str, tuple[str, ...]]:
    """Return who is faster than the first on which machines, if they disagree."""
    best, *others = field.places(order)
    by_machine = field.leads_by_machine()
    split = {}
    for name, place in zip(order[1:], others, strict=True):
        logs = {m: float(of.logs[best, place]) for m, of in by_machine.items()}
        errors = {m: float(of.errors[best, place]) for m, of in by_machine.items()}
        if against := machines_against(logs, errors):
            split[name] = against
    return split


def _disturbance(winner: Cell) -> str:
    """Return why the winner's repetitions prove nothing, or ""."""
    is_disturbed = all(m.disturbed for m in winner.repetitions)
    return "every repetition disturbed" if is_disturbed else ""


def _control(order: Sequence[str], field: _Field, paired: Leads) -> str:
    """Return which engine is as far from itself as the winner from another, or ""."""
    best, *others = field.places(order)
    nearest = min(float(paired.logs[best, place]) for place in others)
    for control, twin in field.twins:
        apart = paired.significant[control, twin] or paired.significant[twin, control]
        if apart and abs(float(paired.logs[control, twin])) >= nearest:
            return f"{field.engines[twin].title}, measured twice, differs as much"
    return ""


def _decided(order: Sequence[str], field: _Field, paired: Leads) -> ChartVerdict:
    """Return the verdict on ranked engines in the order of their medians."""
    best, *others = field.places(order)
    ahead, level = paired.significant[best], paired.level(as_log(LEVEL))[best]
    rivals = [
        (name, place)
        for name, place in zip(order[1:], others, strict=True)
        if not ahead[place]
    ]
    leaders = (order[0], *(name for name, _ in rivals))
    if not rivals:
        return ChartVerdict(Outcome.WIN, leaders)
    open_ = [place for _, place in rivals if not level[place]]
    if not open_:
        return ChartVerdict(Outcome.LEVEL, leaders)
    smallest = max(float(paired.smallest[best, place]) for place in open_)
    needed = [_needed(paired, best, place, field.rounds) for place in open_]
    return ChartVerdict(
        Outcome.UNDECIDED,
        leaders,
        smallest=as_share(smallest),
        needed=_largest(needed),
    )


def _needed(paired: Leads, best: int, rival: int, rounds: int) -> float:
    """Return about how many repetitions would show a lead, or that there is none."""
    lead = abs(float(paired.logs[best, rival]))
    margin = float(max(paired.margins[best, rival], paired.half_margins[best, rival]))
    to_show = float(paired.smallest[best, rival]) / lead if lead else math.inf
    room = as_log(LEVEL) - lead
    to_level = margin / room if room > 0 else math.inf
    return max(rounds + 1, math.ceil(rounds * min(to_show, to_level, _MANY) ** 2))


def _largest(counts: Iterable[float]) -> int | None:
    most = max(counts)
    return int(most) if most <= _MANY else None
