"""The charts, rows and standings of a run, as reports present them.

A chart is one benchmark of one scenario over all engines.  Only engines without a
role are ranked.  The reference, the floor and the control are shown next to them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from report.model.plan import Engine, Scenario
from report.model.run import DISPUTED, FAILURES, Run
from report.stats import repetition_stats
from report.terms import titles
from report.trust import control
from report.verdict import chart_row, eligibility
from report.verdict.chart_row import HARNESS_BOUND_RATIO, Row
from report.verdict.contest import Contests
from report.verdict.engine_groups import EngineGroup
from report.verdict.metric import ACCEPTED, FINISHED, TAIL, Outcome, Ranking

__all__ = [
    "ALARMS",
    "HARNESS_BOUND_RATIO",
    "Chart",
    "Comparison",
    "Row",
    "Standing",
    "by_family",
    "by_scenario",
    "compare",
]

ALARMS = (*FAILURES, DISPUTED)


@dataclass(frozen=True)
class Chart:
    """One benchmark of one scenario; `rows` has the ranked engines in run order.

    `accepted` and `finished` have a ranking for each group of engines that may be
    compared, and for each level of durability; the widest first.  `finished` is () if
    the benchmark leaves no work to finish.
    """

    scenario: Scenario
    benchmark: str
    accepted: tuple[Ranking, ...]
    finished: tuple[Ranking, ...]
    rows: tuple[Row, ...]
    references: tuple[Row, ...]
    floors: tuple[Row, ...]
    controls: tuple[Row, ...]

    @property
    def anchor(self) -> str:
        """The chart's id in the HTML report; unique in a run."""
        return f"c-{self.scenario.name}-{self.benchmark}"

    @property
    def link(self) -> str:
        """The id under which the page shows it: its own, or that of its sweep."""
        return f"w-{self.scenario.family}" if self.scenario.family else self.anchor

    @property
    def title(self) -> str:
        """What is measured, in words."""
        return self.scenario.title_of(self.benchmark)

    @property
    def label(self) -> str:
        """The title that distinguishes it within its scenario or family."""
        values = [titles.value(v, flag) for flag, v in self.scenario.swept.items()]
        return ", ".join([self.title, *values])

    @property
    def unit(self) -> str:
        """The unit of the chart's rates."""
        return titles.unit(self.benchmark)

    @property
    def disagreements(self) -> tuple[Ranking, ...]:
        """The accepted rankings whose winner is another one when it has finished."""
        finished = {r.group: r.winner for r in self.finished}
        pairs = [(r, finished.get(r.group, "")) for r in self.accepted]
        return tuple(
            r for r, other in pairs if r.winner and other not in ("", r.winner)
        )

    @property
    def disputed(self) -> bool:
        """True if digests disagree, so that no engine can be ranked."""
        return any(row.status == DISPUTED for row in self.rows)

    @property
    def usual_reason(self) -> str:
        """Why most of the rows without a rank have none; "" if all have one."""
        reasons = Counter(row.unranked for row in self.rows if row.unranked)
        return next((reason for reason, _ in reasons.most_common(1)), "")

    @property
    def unranked(self) -> tuple[Row, ...]:
        """The rows of engines with a role, the floor last."""
        return (*self.controls, *self.references, *self.floors)

    def row_of(self, engine: Engine) -> Row:
        """Return the row of an engine of the run."""
        return next(row for row in self.all_rows if row.engine is engine)

    @property
    def fastest(self) -> Row | None:
        """The row of all competing engines with the greatest rate, ranked or not."""
        rated = (row for row in self.rows if row.summary)
        return max(
            rated, key=lambda r: r.summary.median if r.summary else 0, default=None
        )

    def fastest_of(self, group: EngineGroup) -> Row | None:
        """Return the best ranked row of a group, or the fastest if none is ranked.

        None if no row has a rate.
        """
        rows = [self.row_of(engine) for engine in group.engines]
        rated = [(not r.unranked, r.summary.median, r) for r in rows if r.summary]
        return max(rated, key=lambda place: place[:2], default=(0, 0, None))[2]

    @property
    def all_rows(self) -> tuple[Row, ...]:
        """All rows, the unranked ones last."""
        return (*self.rows, *self.unranked)

    @property
    def rated_rows(self) -> tuple[Row, ...]:
        """The rows that have a rate, the unranked ones last."""
        return tuple(row for row in self.all_rows if row.summary)

    @property
    def fastest_repetition(self) -> float:
        """The rate in ops/s at the right end of the bars, the control's included."""
        drawn = (*self.rows, *self.controls)
        return max((r.summary.high for r in drawn if r.summary), default=0.0)


@dataclass(frozen=True)
class Standing:
    """One ranked engine over all charts: where it leads.

    `won` has the charts in which it is the first in its ranking, by both figures if
    there are two; `accepts` and `finishes` those in which it is by one of two; `level`
    those in which it is level with others, and `unranked` those in which it is the
    fastest of all but not ranked.  There is no sum or mean over charts: they have other
    weights for every user.
    """

    engine: Engine
    rated: int
    won: tuple[Chart, ...]
    accepts: tuple[Chart, ...]
    finishes: tuple[Chart, ...]
    level: tuple[Chart, ...]
    unranked: tuple[Chart, ...]
    worst: Row | None
    worst_chart: Chart | None

    @property
    def leads(self) -> bool:
        """True if it is first or level in some chart."""
        ranked = self.won or self.accepts or self.finishes or self.level
        return bool(ranked or self.unranked)


@dataclass(frozen=True)
class Comparison:
    """All charts of a run; `noise` is None if it measured no engine twice."""

    charts: tuple[Chart, ...]
    standings: tuple[Standing, ...]
    noise: repetition_stats.Noise | None

    @property
    def alone(self) -> Standing | None:
        """The only engine that has a rate, None unless it is exactly one."""
        rated = [standing for standing in self.standings if standing.rated]
        return rated[0] if len(rated) == 1 else None

    @property
    def ranked_rows(self) -> list[tuple[Chart, Row]]:
        """All pairs of a chart and one of its ranked rows."""
        return [(chart, row) for chart in self.charts for row in chart.rows]


def compare(run: Run) -> Comparison:
    """Return the charts with at least one planned cell, and the standings."""
    metrics = [Contests(run, metric) for metric in (ACCEPTED, FINISHED, TAIL)]
    charts = tuple(
        _chart(
            run,
            scenario,
            benchmark,
            *(contests.of(scenario.name, benchmark) for contests in metrics),
        )
        for scenario, benchmark in run.plan.charts
        if any(run.cell(e.name, scenario.name, benchmark) for e in run.plan.engines)
    )
    ranked = [engine for engine in run.plan.engines if engine.ranked]
    standings = tuple(_standing(engine, charts) for engine in ranked)
    return Comparison(charts, standings, control.measured_twice(run).noise)


def by_scenario(charts: Sequence[Chart]) -> list[tuple[Scenario, list[Chart]]]:
    """Group charts by scenario, keeping their order."""
    groups: dict[str, tuple[Scenario, list[Chart]]] = {}
    for chart in charts:
        groups.setdefault(chart.scenario.name, (chart.scenario, []))[1].append(chart)
    return list(groups.values())


def by_family(charts: Sequence[Chart]) -> list[tuple[str, list[Chart]]]:
    """Group charts under titles; the scenarios of a family share a group."""
    groups: dict[tuple[str, str], list[Chart]] = {}
    for chart in charts:
        family = chart.scenario.family
        key = (family, "" if family else chart.scenario.name)
        groups.setdefault(key, []).append(chart)
    return [
        (_group_title(key[0], [c.scenario for c in members]), _by_benchmark(members))
        for key, members in groups.items()
    ]


def _group_title(family: str, scenarios: Sequence[Scenario]) -> str:
    if not family:
        return scenarios[0].title
    (flag,) = scenarios[0].swept
    return titles.family([scenario.title for scenario in scenarios], flag) or family


def _by_benchmark(charts: list[Chart]) -> list[Chart]:
    order = list(dict.fromkeys(chart.benchmark for chart in charts))
    return sorted(charts, key=lambda chart: order.index(chart.benchmark))


def _chart(
    run: Run,
    scenario: Scenario,
    benchmark: str,
    accepted: tuple[Ranking, ...],
    finished: tuple[Ranking, ...],
    tail: tuple[Ranking, ...],
) -> Chart:
    field = chart_row.Field(
        *(scenario, benchmark, accepted, finished, tail),
        unranked=eligibility.unranked(run, scenario.name, benchmark),
    )
    by_role: dict[str, list[Row]]
    by_role = {"": [], "reference": [], "floor": [], "control": []}
    for engine in run.plan.engines:
        by_role[engine.role].append(chart_row.row(run, engine, field))
    return Chart(
        scenario,
        benchmark,
        accepted,
        finished,
        tuple(by_role[""]),
        tuple(by_role["reference"]),
        tuple(by_role["floor"]),
        tuple(by_role["control"]),
    )


def _standing(engine: Engine, charts: Sequence[Chart]) -> Standing:
    pairs = [(chart, chart.row_of(engine)) for chart in charts]

    def _is_first(ranking: Ranking | None) -> bool:
        return ranking is not None and ranking.winner == engine.name

    def _is_level(row: Row) -> bool:
        return row.lead(row.accepted) == Outcome.LEVEL.value

    compared = [(c, row) for c, row in pairs if row.off_best is not None]
    worst = max(compared, key=lambda pair: pair[1].off_best or 0.0, default=None)
    first = [(c, _is_first(row.accepted), _is_first(row.finished)) for c, row in pairs]
    return Standing(
        engine=engine,
        rated=sum(row.summary is not None for _, row in pairs),
        won=tuple(c for c, a, f in first if a and (f or not c.finished)),
        accepts=tuple(c for c, a, f in first if a and not f and c.finished),
        finishes=tuple(c for c, a, f in first if f and not a),
        level=tuple(c for c, row in pairs if _is_level(row)),
        unranked=tuple(c for c, row in pairs if row.unranked and c.fastest is row),
        worst=worst[1] if worst else None,
        worst_chart=worst[0] if worst else None,
    )
