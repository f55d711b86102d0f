"""The verdict of a chart: one engine wins, engines are level, or neither is shown.

Leads are tested in pairs (stats/leads.py), with the spread of the whole run.  The
engine with the best median wins if it is significantly faster than every other ranked
engine.  Engines are level if they are shown to differ by less than LEVEL.

Ranks follow the need: for each level of durability in a chart, those engines are ranked
together that keep at least that much of their writes.  The widest ranking has all.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
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
from report.terms.class_stamp import KnownClass, by_need
from report.verdict import eligibility
from report.verdict.eligibility import Entrant
from report.verdict.metric import (
    FINISHED,
    LEVEL,
    ChartVerdict,
    Metric,
    Outcome,
    Ranking,
)

LEAST_REPETITIONS = 3  # of each engine, for any verdict
_MANY = 100  # repetitions; if more are needed, a quieter machine is better advice


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

    def times_ns(self, names: Iterable[str]) -> dict[str, Mapping[int, float]]:
        """Return the values of engines, by name."""
        return {name: self.values[self.places([name])[0]] for name in names}

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
        """Return the rankings, those of a place together, the widest first."""
        chart = scenario, benchmark
        rated = self._fields[chart].engines
        entrants = eligibility.entrants(self._run, chart, rated, self._metric.place)
        places: dict[tuple[str, bool], dict[str, KnownClass | None]] = {}
        for one in entrants:
            if not one.unranked:
                places.setdefault(one.place, {})[one.engine.name] = one.known
        ranked = [name for classes in places.values() for name in classes]
        off_best = self._off_best(chart, ranked)
        rankings = []
        for place, all_classes in places.items():
            for need, classes in by_need(all_classes):
                group = (need, place[0] if len(places) > 1 else "")
                text = ", ".join(filter(None, group))
                ranking = self._ranking(chart, text, classes)
                least = [of.kept for of in classes.values() if of and need]
                rivals = [e for e in entrants if e.is_rival(place, least)]
                faster = self._faster(chart, ranking, rivals)
                rankings.append(replace(ranking, off_best=off_best, faster=faster))
        return tuple(rankings)

    def lead(self, chart: tuple[str, str], one: str, other: str) -> float | None:
        """Return how many times as fast an engine is shown to be as another, or None.

        It is shown if it would win a ranking of the two.  Both must have values.
        """
        behind = self._off_best(chart, (one, other))
        if behind[one] > 1:
            return None
        verdict = self._verdict(chart, (one, other))
        return behind[other] if verdict.outcome is Outcome.WIN else None

    def _ranking(
        self,
        chart: tuple[str, str],
        group: str,
        classes: Mapping[str, KnownClass | None],
    ) -> Ranking:
        times_ns = self._fields[chart].times_ns(classes)
        aligned = self._aligned(times_ns)
        verdict = self._verdict(chart, sorted(aligned, key=lambda name: aligned[name]))
        known = {name: of for name, of in classes.items() if of}
        return Ranking(self._metric, group, _medians(times_ns), verdict, aligned, known)

    def _off_best(
        self, chart: tuple[str, str], names: Collection[str]
    ) -> dict[str, float]:
        """Return how many times the least median of these engines each of them needs.

        {} of fewer than two.
        """
        if len(names) < 2:
            return {}
        medians = self._aligned(self._fields[chart].times_ns(names))
        best = min(medians.values())
        return {name: median / best for name, median in medians.items()}

    def _faster(
        self, chart: tuple[str, str], ranking: Ranking, rivals: Sequence[Entrant]
    ) -> dict[str, tuple[str, ...]]:
        """Return which unranked engines are shown to be faster, for each leader."""
        verb = "finishes" if self._metric is FINISHED else "is"
        faster = {}
        for leader in ranking.verdict.leaders:
            leads = [(e, self.lead(chart, e.engine.name, leader)) for e in rivals]
            texts = (
                f"{rival.engine.title} {verb} {numbers.slower(lead)} as fast but not"
                f" ranked: {rival.unranked.partition(':')[0]}"
                for rival, lead in leads
                if lead
            )
            faster[leader] = tuple(texts)
        return faster

    def _aligned(self, times_ns: Mapping[str, Mapping[int, float]]) -> dict[str, float]:
        """Return the time of each engine by which a run compares them."""
        return (_aligned if self._run.plan.machines else _medians)(times_ns)

    def _verdict(self, chart: tuple[str, str], order: Sequence[str]) -> ChartVerdict:
        if len(order) == 1:
            return ChartVerdict(Outcome.UNCONTESTED, tuple(order))
        field = self._fields[chart].only(order)
        if field.rounds < LEAST_REPETITIONS:
            doubt = f"only {numbers.count(field.rounds, 'repetition')}"
            return ChartVerdict(Outcome.UNDECIDED, (order[0],), doubt)
        paired = self._leads(field, self._fields[chart])
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
        doubt = doubt or self._overtaken(chart, order)
        return (
            replace(verdict, outcome=Outcome.UNDECIDED, doubt=doubt)
            if doubt
            else verdict
        )

    def _overtaken(self, chart: tuple[str, str], order: Sequence[str]) -> str:
        """Return who is faster than the first where its loops end, or "".

        In a longer loop the order would be another one.
        """
        first, *others = (self._endings_ns(name, chart) for name in order)
        for name, endings_ns in zip(order[1:], others, strict=True):
            common = first.keys() & endings_ns.keys()
            logs = [math.log(endings_ns[n] / first[n]) for n in common]
            if logs and statistics.median(logs) < 0:
                title = self._run.plan.engine(name).title
                return f"{title} is faster in the last fifth of the loops"
        return ""

    def _endings_ns(self, engine: str, chart: tuple[str, str]) -> dict[int, float]:
        """Return the time per operation where each loop ends, by repetition."""
        cell = self._run.cell(engine, *chart)
        lines = cell.repetitions if cell else ()
        values = {m.repetition: self._metric.ending_ns(m) for m in lines}
        return {number: ns for number, ns in values.items() if ns}

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

    def _leads(self, field: _Field, chart: _Field) -> Leads:
        """Return the leads in a part of a chart, with the spreads of the whole."""
        whole = chart if chart.is_paired else field
        own = leads.spreads(whole.times)
        spread = leads.moderated(own, self._spread, whole.rounds)
        places = whole.places(engine.name for engine in field.engines)
        return leads.leads(field.times, spread[places], self._freedom)


def _medians(times_ns: Mapping[str, Mapping[int, float]]) -> dict[str, float]:
    return {name: statistics.median(of.values()) for name, of in times_ns.items()}


def _aligned(times_ns: Mapping[str, Mapping[int, float]]) -> dict[str, float]:
    """Return the median time of engines, made of ratios within their common rounds.

    They are ratios to the middle engine of each round, times the usual time of it.
    """
    common = sorted(set.intersection(*map(set, times_ns.values())))
    if not common:
        return _medians(times_ns)
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
    return "all its repetitions disturbed" if is_disturbed else ""


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
    open_ = [place for _, place in rivals if not level[place]]
    smallest = max(float(paired.smallest[best, place]) for place in open_ or others[:1])
    needed = [_needed(paired, best, place, field.rounds) for place in open_]
    known = [count for count in needed if count is not None]
    outcome = Outcome.UNDECIDED if open_ else Outcome.LEVEL if rivals else Outcome.WIN
    return ChartVerdict(
        outcome,
        (order[0], *(name for name, _ in rivals)),
        smallest=as_share(smallest),
        needed=max(known) if known and len(known) == len(needed) else None,
    )


def _needed(paired: Leads, best: int, rival: int, rounds: int) -> int | None:
    """Return about how many repetitions would show a lead, or that there is none."""
    lead = abs(float(paired.logs[best, rival]))
    error = float(paired.errors[best, rival])
    to_show = leads.rounds_to_show(lead, error, rounds, _MANY)
    room = as_log(LEVEL) - lead
    times = float(paired.margins[best, rival]) / room if room > 0 else math.inf
    to_level = rounds * min(times, _MANY) ** 2
    counts = [
        to_show,
        max(rounds + 1, math.ceil(to_level)) if to_level <= _MANY else None,
    ]
    return min((count for count in counts if count is not None), default=None)
