"""A run turned into what the reports say: charts, rows, standings.

A chart is one benchmark of one scenario over all engines.  Only engines
without a role are ranked; the reference and the floor are shown beside them.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from report import stats, titles
from report.published import BASELINE
from report.results import Cell, Engine, Measurement, Run, Scenario
from report.soundness import DISPUTED

NOT_PLANNED = "not planned"
FAILURES = ("wrong", "error", "timeout")
ALARMS = (*FAILURES, DISPUTED)
# Nearer to the floor than this, a cell says more of the harness than of its
# engine.
HARNESS_BOUND_RATIO = 3.0
WIDE_SPREAD = 0.05
# Deferred work under this share of the timed work, or shorter than a
# millisecond, is not worth a word.
_NOTABLE_SETTLE = 0.01
_NOTABLE_SETTLE_NS = 1e6


@dataclass(frozen=True)
class Row:
    """One engine in one chart; every figure is None unless the cell is ok."""

    engine: Engine
    status: str
    reason: str
    repetitions: tuple[Measurement, ...]
    summary: stats.Summary | None
    off_best: float | None
    off_baseline: float | None
    settle_ns: float | None
    harness_bound: bool
    leads: bool

    @property
    def ns_per_op(self) -> float | None:
        """Time of one operation at the median rate."""
        return 1e9 / self.summary.median if self.summary else None

    @property
    def truncated(self) -> Measurement | None:
        """A repetition that the time limit ended before its planned end."""
        return next((m for m in self.repetitions if m.truncated), None)

    @property
    def assertions_live(self) -> bool:
        """Whether a repetition ran engine code with assertions in it."""
        return any(m.assertions_live for m in self.repetitions)

    @property
    def wide(self) -> bool:
        """Whether the repetitions lie too far apart to be trusted."""
        return self.summary is not None and self.summary.spread > WIDE_SPREAD

    @property
    def notable_settle_ns(self) -> float | None:
        """Deferred work worth telling: 1 % of the timed work and 1 ms, or more."""
        elapsed = [m.elapsed_ns for m in self.repetitions if m.elapsed_ns]
        if not self.settle_ns or not elapsed:
            return None
        least = max(_NOTABLE_SETTLE_NS, _NOTABLE_SETTLE * statistics.median(elapsed))
        return self.settle_ns if self.settle_ns >= least else None


@dataclass(frozen=True)
class Chart:
    """`rows` are the ranked engines in the order of the run."""

    scenario: Scenario
    benchmark: str
    verdict: stats.Verdict
    rows: tuple[Row, ...]
    references: tuple[Row, ...]
    floors: tuple[Row, ...]
    controls: tuple[Row, ...]

    @property
    def anchor(self) -> str:
        """The chart's id in the HTML report; unique in a run."""
        return f"c-{self.scenario.name}-{self.benchmark}"

    @property
    def title(self) -> str:
        """The benchmark in words."""
        return titles.title(self.benchmark)

    @property
    def unit(self) -> str:
        """What the chart's rates count."""
        return titles.unit(self.benchmark)

    @property
    def disputed(self) -> bool:
        """Whether its digests disagree, so that nobody can be ranked."""
        return any(row.status == DISPUTED for row in self.rows)

    @property
    def fastest_repetition(self) -> float:
        """ops/s at the right end of the bars."""
        return max((r.summary.high for r in self.rows if r.summary), default=0.0)


@dataclass(frozen=True)
class Standing:
    """One ranked engine over all charts."""

    engine: Engine
    won: int
    tied: int
    fastest: int
    rated: int
    mean_off_best: float | None
    worst: Row | None
    worst_chart: Chart | None


@dataclass(frozen=True)
class Comparison:
    """`shared` counts the charts that the geometric means are over."""

    charts: tuple[Chart, ...]
    standings: tuple[Standing, ...]
    shared: int

    @property
    def ranked_rows(self) -> list[tuple[Chart, Row]]:
        """Every chart with every ranked engine in it."""
        return [(chart, row) for chart in self.charts for row in chart.rows]


def compare(run: Run) -> Comparison:
    """Every chart that has at least one planned cell, and the standings."""
    charts = tuple(
        _chart(run, scenario, benchmark)
        for scenario, benchmark in run.charts
        if any(run.cell(e.name, scenario.name, benchmark) for e in run.engines)
    )
    ranked = [engine for engine in run.engines if engine.ranked]
    rated = {
        e.name: frozenset(c.anchor for c in charts if _row(c, e).summary)
        for e in ranked
    }
    shared = stats.shared_charts(rated)
    standings = tuple(_standing(engine, charts, shared) for engine in ranked)
    return Comparison(charts, standings, len(shared))


def by_scenario(charts: Sequence[Chart]) -> list[tuple[Scenario, list[Chart]]]:
    """The charts grouped by scenario, order kept."""
    groups: dict[str, tuple[Scenario, list[Chart]]] = {}
    for chart in charts:
        groups.setdefault(chart.scenario.name, (chart.scenario, []))[1].append(chart)
    return list(groups.values())


def _chart(run: Run, scenario: Scenario, benchmark: str) -> Chart:
    cells = {e.name: run.cell(e.name, scenario.name, benchmark) for e in run.engines}
    summaries = {name: _summary(cell) for name, cell in cells.items()}
    contest = {e.name: s for e in run.engines if e.ranked and (s := summaries[e.name])}
    verdict = stats.verdict(contest)
    best = max((s.median for s in contest.values()), default=0.0)
    floor = max(
        (
            s.median
            for e in run.engines
            if e.role == "floor" and (s := summaries[e.name])
        ),
        default=0.0,
    )
    rows: dict[str, list[Row]]
    rows = {"": [], "reference": [], "floor": [], "control": []}
    for engine in run.engines:
        cell, summary = cells[engine.name], summaries[engine.name]
        rows[engine.role].append(
            Row(
                engine=engine,
                status=cell.status if cell else NOT_PLANNED,
                reason=cell.reason if cell else "left out by the selection of this run",
                repetitions=cell.repetitions if cell else (),
                summary=summary,
                off_best=best / summary.median if summary and engine.ranked else None,
                off_baseline=_off_baseline(run, engine, benchmark, summary),
                settle_ns=_median_settle_ns(cell) if summary else None,
                harness_bound=bool(summary)
                and summary is not None
                and engine.role != "floor"
                and floor > 0
                and summary.median * HARNESS_BOUND_RATIO >= floor,
                leads=engine.name in verdict.leaders,
            )
        )
    return Chart(
        scenario,
        benchmark,
        verdict,
        tuple(rows[""]),
        tuple(rows["reference"]),
        tuple(rows["floor"]),
        tuple(rows["control"]),
    )


def _summary(cell: Cell | None) -> stats.Summary | None:
    return stats.summarize(cell.rates) if cell else None


def _off_baseline(
    run: Run, engine: Engine, benchmark: str, summary: stats.Summary | None
) -> float | None:
    twin = titles.baseline_twin(benchmark)
    if summary is None or twin is None:
        return None
    base = _summary(run.cell(engine.name, BASELINE, twin))
    return summary.median / base.median if base else None


def _median_settle_ns(cell: Cell | None) -> float | None:
    settles = [m.settle_ns for m in cell.repetitions if m.settle_ns] if cell else []
    return statistics.median(settles) if settles else None


def _row(chart: Chart, engine: Engine) -> Row:
    return next(row for row in chart.rows if row.engine is engine)


def _standing(
    engine: Engine, charts: Sequence[Chart], shared: frozenset[str]
) -> Standing:
    own = [(chart, _row(chart, engine)) for chart in charts]
    leading = [c.verdict.outcome for c, row in own if row.leads]
    first = [c for c, _ in own if c.verdict.leaders[:1] == (engine.name,)]
    rated = [(c, row) for c, row in own if row.off_best is not None]
    worst = max(rated, key=lambda pair: pair[1].off_best or 0.0, default=None)
    return Standing(
        engine=engine,
        won=leading.count(stats.Outcome.WIN),
        tied=leading.count(stats.Outcome.TIE),
        fastest=len(first),
        rated=len(rated),
        mean_off_best=stats.geometric_mean(
            [row.off_best for c, row in rated if row.off_best and c.anchor in shared]
        ),
        worst=worst[1] if worst else None,
        worst_chart=worst[0] if worst else None,
    )
