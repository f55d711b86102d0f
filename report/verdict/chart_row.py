"""One engine in one chart: its rate and everything reported with it."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from report.model.plan import Engine, Scenario
from report.model.record import KILLED, passes_of
from report.model.run import Cell, Measured, Measurement, Run
from report.published.published_figures import BASELINE
from report.stats import repetition_stats, resources
from report.stats.resources import Resources
from report.terms import titles
from report.terms.class_stamp import class_of_cell, stamps_of
from report.trust.known_failures import evidence_of
from report.verdict import eligibility, metric, rate_findings
from report.verdict.metric import Ranking, shown_by

NOT_PLANNED = "not planned"
_LEFT_OUT = "not selected in this run"
# A cell whose rate is within this factor of the floor measures the harness more
# than the engine.
HARNESS_BOUND_RATIO = 3.0
WIDE_SPREAD = 0.05
# Time outside the timed work is reported from this share of it on, and from a
# millisecond on.
_NOTABLE_SHARE = 0.01
_NOTABLE_NS = 1e6
_NOTABLE_PROCESSORS = 1.05  # more than a single thread can keep busy


@dataclass(frozen=True)
class Binding:
    """What a language's binding costs: the time relative to that of the twin."""

    twin: Engine  # calls the same library without the binding
    cost: float  # 1.2: the engine needs 1.2 times the time of its twin


@dataclass(frozen=True)
class Row:
    """One engine in one chart; every value is None unless the cell is ok.

    `unranked` is the reason why it is in no ranking although it has a rate, or "".
    `accepted`, `finished` and `tail` are the rankings by which it is shown: of those
    that it is part of, the widest in which it leads, else the narrowest.  Times are
    medians over the throughput repetitions.  `timed` are the ok latency repetitions,
    `recover_ns` the time that a fresh process needed to open the database of a killed
    one, and `observer_cost` how much longer an operation took in them (0.1 is 10 %).
    `from_device` says that it read from the device rather than from memory.
    `disturbed` has the repetitions whose last attempt was disturbed, `repeated` counts
    earlier attempts.
    """

    engine: Engine
    status: str
    reason: str
    repetitions: tuple[Measurement, ...]
    summary: repetition_stats.Summary | None
    unranked: str
    accepted: Ranking | None
    finished: Ranking | None
    off_baseline: float | None
    bound_by: Engine | None  # the floor, if the rate is close to it
    binding: Binding | None
    timed: tuple[Measurement, ...]
    tail: Ranking | None
    used: Resources
    open_ns: float | None
    settle_ns: float | None
    close_ns: float | None
    reopen_ns: float | None
    recover_ns: float | None
    observer_cost: float | None
    from_device: bool
    disturbed: tuple[str, ...]
    repeated: int
    findings: tuple[str, ...]
    unfailed: str  # evidence of a known failure that did not occur, or ""

    @property
    def bound_word(self) -> str:
        """What the rate is called if it is close to that of its floor, else ""."""
        if self.bound_by is None:
            return ""
        return "binding-bound" if self.engine.floor else "harness-bound"

    @property
    def off_best(self) -> float | None:
        """How many times the best accepted median of the chart it needs, or None."""
        return self.accepted.off_best.get(self.engine.name) if self.accepted else None

    @property
    def durability_class(self) -> str:
        """The class of durability of its writes, with its proof; "" of reads."""
        records = (m.record for m in self.repetitions)
        return stamps_of(records, self.engine.passports)

    @property
    def steadiness(self) -> str:
        """How many repetitions were steady, if only most of them were; else ""."""
        late, of = sum(m.transient for m in self.repetitions), len(self.repetitions)
        return f"{of - late} of {of} repetitions were steady" if late else ""

    def lead(self, ranking: Ranking | None) -> str:
        """Return the outcome of a ranking if it is one of the leaders, else ""."""
        if ranking is None or self.engine.name not in ranking.verdict.leaders:
            return ""
        return ranking.verdict.outcome.value

    @property
    def beside(self) -> str:
        """What is shown next to its rate: what it keeps; of a leader Ranking.beside."""
        known = class_of_cell(
            (m.record for m in self.repetitions), self.engine.passports
        )
        texts = [known.kept.text] if known and self.engine.ranked else []
        for ranking in (self.accepted, self.finished):
            if ranking and self.lead(ranking):
                texts += ranking.beside(self.engine.name)
        return "; ".join(dict.fromkeys(texts))

    @property
    def finished_rate(self) -> float | None:
        """The median operations per second with the work that they deferred."""
        ranking = self.finished
        return 1e9 / ranking.medians_ns[self.engine.name] if ranking else None

    @property
    def finished_off_best(self) -> float | None:
        """How many times the best finished median of the chart it needs, or None."""
        return self.finished.off_best.get(self.engine.name) if self.finished else None

    @property
    def ns_per_op(self) -> float | None:
        """Time of one operation at the median rate."""
        return 1e9 / self.summary.median if self.summary else None

    @property
    def truncated(self) -> Measurement | None:
        """The first repetition that the time limit ended early, or None."""
        return next((m for m in self.repetitions if m.cut_short), None)

    @property
    def disturbed_rate(self) -> bool:
        """True if it has a rate and the last attempt of a repetition was disturbed."""
        return self.summary is not None and any(m.disturbed for m in self.repetitions)

    @property
    def threads(self) -> int:
        """The number of measured threads; 1 if the records do not say."""
        options = [m.record.get("options") or {} for m in self.repetitions]
        return max((int(o.get("threads") or 1) for o in options), default=1)

    @property
    def wide(self) -> bool:
        """True if the repetitions of one machine differ by more than WIDE_SPREAD."""
        if self.summary is None or len({m.machine for m in self.repetitions}) > 1:
            return False
        return self.summary.spread > WIDE_SPREAD

    @property
    def most_stalled(self) -> Measurement | None:
        """The repetition that stalled longest, or None."""
        stalled = [m for m in self.repetitions if m.figure("stalled_ns")]
        if self.summary is None:
            return None
        return max(stalled, key=lambda m: m.figure("stalled_ns") or 0, default=None)

    @property
    def processors(self) -> float | None:
        """The mean number of busy processors, None unless more than one."""
        used = self.used.processors
        elapsed = [m.elapsed_ns for m in self.repetitions if m.elapsed_ns]
        if used is None or statistics.median(elapsed) < _NOTABLE_NS:
            return None
        return used if used > _NOTABLE_PROCESSORS else None

    @property
    def is_repeated(self) -> bool:
        """True if a repetition made several passes."""
        return any(passes_of(m.record) > 1 for m in self.repetitions)

    def notable(self, span_ns: float | None) -> float | None:
        """Return a time of at least 1 ms and 1 % of the timed work, otherwise None.

        Both are of one pass.
        """
        elapsed = [
            m.elapsed_ns / passes_of(m.record) for m in self.repetitions if m.elapsed_ns
        ]
        if not span_ns or not elapsed:
            return None
        least_ns = max(_NOTABLE_NS, _NOTABLE_SHARE * statistics.median(elapsed))
        return span_ns if span_ns >= least_ns else None


@dataclass(frozen=True)
class Field:
    """The engines of a chart, and their rankings."""

    scenario: Scenario
    benchmark: str
    accepted: tuple[Ranking, ...]
    finished: tuple[Ranking, ...]
    tail: tuple[Ranking, ...]
    unranked: Mapping[str, str]  # reasons, by engine


def row(run: Run, engine: Engine, field: Field) -> Row:
    """Return the row of an engine, whether or not its cell was planned."""
    cell = run.cell(engine.name, field.scenario.name, field.benchmark)
    summary = summary_of(cell)
    repetitions = cell.repetitions if cell else ()
    ok = repetitions if summary else ()
    records = [m.record for m in ok]
    timed = cell.timed if cell and summary else ()
    killed = [m for m in timed if m.ending == KILLED]
    accepted, finished = shown_by(engine.name, field.accepted, field.finished)
    return Row(
        engine=engine,
        status=cell.status if cell else NOT_PLANNED,
        reason=cell.reason if cell else _LEFT_OUT,
        repetitions=repetitions,
        summary=summary,
        unranked=field.unranked.get(engine.name, ""),
        accepted=accepted,
        finished=finished,
        off_baseline=_off_baseline(run, engine, field.benchmark, summary),
        bound_by=_bound_by(run, engine, field, summary),
        binding=_binding(run, engine, field, summary),
        timed=timed,
        tail=shown_by(engine.name, field.tail)[0],
        used=resources.medians(records),
        open_ns=of_one_pass(ok, "open_ns"),
        settle_ns=of_one_pass(ok, "settle_ns") or None,
        close_ns=of_one_pass(ok, "close_ns"),
        reopen_ns=rate_findings.reopen_ns(records),
        recover_ns=repetition_stats.median(map(_audit_open_ns, killed)),
        observer_cost=_observer_cost(summary, timed),
        from_device=cell is not None
        and summary is not None
        and metric.is_from_device(cell, engine.benchmark(field.benchmark)),
        disturbed=_disturbed(cell),
        repeated=len(cell.superseded) if cell else 0,
        findings=findings_of(run, cell),
        unfailed=unfailed(cell, engine),
    )


def floor_of(run: Measured, engine: Engine) -> Engine | None:
    """Return the engine that does nothing behind the same binding, if it was planned.

    For an engine without a binding it is the floor that no binding has.  A floor has
    none.
    """
    if engine.role == "floor":
        return None
    bindings = {e.floor for e in run.plan.engines}
    for floor in run.plan.engines:
        is_own = (
            floor.name == engine.floor if engine.floor else floor.name not in bindings
        )
        if floor.role == "floor" and is_own:
            return floor
    return None


def _median(run: Run, engine: Engine, field: Field) -> float:
    """Return the median rate of another engine in the chart, 0.0 if unknown."""
    cell = run.cell(engine.name, field.scenario.name, field.benchmark)
    summary = summary_of(cell)
    return summary.median if summary else 0.0


def _bound_by(
    run: Run,
    engine: Engine,
    field: Field,
    summary: repetition_stats.Summary | None,
) -> Engine | None:
    """Return the floor of an engine if the rate is close to it, otherwise None."""
    floor = floor_of(run, engine)
    if summary is None or floor is None:
        return None
    rate = _median(run, floor, field)
    return floor if 0 < rate <= summary.median * HARNESS_BOUND_RATIO else None


def _binding(
    run: Run,
    engine: Engine,
    field: Field,
    summary: repetition_stats.Summary | None,
) -> Binding | None:
    """Return what an engine's binding costs, if its twin was measured."""
    twin = next((e for e in run.plan.engines if e.name == engine.binding_of), None)
    if summary is None or twin is None:
        return None
    rate = _median(run, twin, field)
    return Binding(twin, rate / summary.median) if rate else None


def findings_of(run: Measured, cell: Cell | None) -> tuple[str, ...]:
    """Return the reasons why the rate of a cell is suspect; () without a rate."""
    if cell is None or not cell.rates:
        return ()
    engine = run.plan.engine(cell.name.engine)
    records = [m.record for m in cell.repetitions]
    flags, scenario = run.plan.flags(cell.name), run.plan.scenario(cell.name.scenario)
    found = rate_findings.findings(
        records,
        engine.benchmark(cell.name.benchmark),
        [m.record for m in cell.timed],
        engine.stores,
        eligibility.given_bytes(cell, flags),
    )
    memory = memory_of(run, cell)
    declared = engine.benchmark(cell.name.benchmark)
    if memory is None or declared is None or scenario.data_fits:
        return found
    data_bytes = eligibility.data_bytes(cell, declared, flags)
    return found + rate_findings.over_budget(*memory, data_bytes)


def memory_of(run: Measured, cell: Cell) -> tuple[int, int] | None:
    """Return the bytes that an engine used and was given, None if unknown."""
    floor = floor_of(run, run.plan.engine(cell.name.engine))
    if floor is None or not cell.rates:
        return None
    idle = run.cell(floor.name, cell.name.scenario, cell.name.benchmark)
    used_bytes = rate_findings.own_bytes(
        [m.record for m in cell.repetitions],
        [m.record for m in idle.repetitions] if idle and idle.rates else [],
    )
    if used_bytes is None:
        return None
    return used_bytes, eligibility.given_bytes(cell, run.plan.flags(cell.name))


def unfailed(cell: Cell | None, engine: Engine) -> str:
    """Return the evidence of a known failure that did not occur, or ""."""
    if cell is None or not cell.rates:
        return ""
    return evidence_of(engine, cell.name.benchmark)


def summary_of(cell: Cell | None) -> repetition_stats.Summary | None:
    """Return a summary of the rates of a cell; None if it has none."""
    return repetition_stats.summarize(cell.rates) if cell else None


def _off_baseline(
    run: Run, engine: Engine, benchmark: str, summary: repetition_stats.Summary | None
) -> float | None:
    twin = titles.baseline_twin(benchmark)
    if summary is None or twin is None:
        return None
    base = summary_of(run.cell(engine.name, BASELINE, twin))
    return summary.median / base.median if base else None


def of_one_pass(repetitions: Iterable[Measurement], key: str) -> float | None:
    """Return the median of a time, in each repetition the mean of its passes."""
    figures = [(m.figure(key), passes_of(m.record)) for m in repetitions]
    return repetition_stats.median(
        total_ns / passes for total_ns, passes in figures if total_ns is not None
    )


def _audit_open_ns(m: Measurement) -> int | None:
    audit = m.record.get("audit") or {}
    open_ns = audit.get("open_ns")
    return open_ns if isinstance(open_ns, int) else None


def _observer_cost(
    summary: repetition_stats.Summary | None, timed: Iterable[Measurement]
) -> float | None:
    """Return how much longer an operation took while its latency was measured.

    None for an open loop, whose rate is set by its arrivals.
    """
    closed = (m for m in timed if not m.record.get("open_loop"))
    rate = repetition_stats.median(m.ops_per_sec for m in closed)
    return summary.median / rate - 1 if summary and rate else None


def _disturbed(cell: Cell | None) -> tuple[str, ...]:
    if cell is None:
        return ()
    last = [(f"repetition {m.repetition}", m) for m in cell.repetitions]
    for number, m in enumerate(cell.latencies, 1):
        name = "latency repetition"
        last.append((f"{name} {number}" if len(cell.latencies) > 1 else name, m))
    return tuple(
        f"{which}: {', '.join(m.disturbed)}" for which, m in last if m.disturbed
    )
