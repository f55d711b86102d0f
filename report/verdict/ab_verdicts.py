"""The verdicts of an A/B run: for each cell, for each engine, and for the run.

A cell is screened in a few rounds.  Suspects are measured again and judged only on
those fresh rounds: a cell may be a suspect by chance, so the rounds that nominated it
are not used as evidence a second time.  Wall time and processor time are judged by one
rule, and share its limits of p: noise of the one does not hide a change of the other.
ERROR_RATES.md has the error rates.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from report.model.ab_plan import Failure
from report.model.ab_rule import CONFIRM, CPU, SCREEN, SEEN_EFFECT, WALL, AbRule
from report.model.ab_run import AbCell, AbRun, Repetition, Round
from report.model.build_facts import is_same_engine
from report.model.judgement import MORE, Judgement, Verdict
from report.model.plan import CellName
from report.stats import ab_decision, repetition_stats
from report.stats.ab_decision import Tests, stacked
from report.terms import numbers
from report.verdict.agreement import Circumstances, believed
from report.verdict.count_verdicts import INSTRUCTIONS, CountResult, count_results

# With fewer cells, a single one can move the result of the engine.
LEAST_CELLS_OF_AN_ENGINE = 4


@dataclass(frozen=True)
class Suspects:
    """The cells that the second stage measures again.

    `by` has those that each measure nominates, slower and faster ones.  A cell can be a
    suspect of both directions, by different measures.
    """

    by: Mapping[str, tuple[frozenset[CellName], frozenset[CellName]]]
    cells: tuple[CellName, ...]  # of the run, in order

    @property
    def slower(self) -> tuple[CellName, ...]:
        """The cells that look slower by any measure."""
        return tuple(
            n for n in self.cells if any(n in of[0] for of in self.by.values())
        )

    @property
    def faster(self) -> tuple[CellName, ...]:
        """The cells that look faster by any measure."""
        return tuple(
            n for n in self.cells if any(n in of[1] for of in self.by.values())
        )

    @property
    def all(self) -> tuple[CellName, ...]:
        """The suspects of both directions, each once."""
        return tuple(dict.fromkeys((*self.slower, *self.faster)))

    def among(self, cell: CellName, measure: str) -> tuple[int, int]:
        """Return how many look slower, if the cell does, and how many faster."""
        slower, faster = (
            len(names) if cell in names else 0
            for names in self.by.get(measure, (frozenset(), frozenset()))
        )
        return slower, faster


@dataclass(frozen=True)
class CellResult:
    """The result of one cell: a judgement or a failure.

    `judgement` is that of wall time, `cpu` that of processor time, None if not all
    lines have it.  `stage` is the stage of the rounds that were judged, "" if there are
    none.  The medians are over that stage.  `b_rates` are all rates of side b in
    complete rounds, in ops/s and in the order of measuring.  `disturbed` counts
    disturbed processes among all `processes` in complete rounds.
    """

    name: CellName
    judgement: Judgement | None
    failure: Failure | None
    stage: str
    a_median_ops_per_sec: float | None
    b_median_ops_per_sec: float | None
    b_rates: tuple[float, ...]
    disturbed: int
    processes: int = 0
    cpu: Judgement | None = None
    a_median_cpu_ns: float | None = None
    b_median_cpu_ns: float | None = None


@dataclass(frozen=True)
class EngineResult:
    """The result of an engine over the screen rounds of all its cells."""

    engine: str
    cells: int
    judgement: Judgement
    cpu: Judgement | None = None


@dataclass(frozen=True)
class AbResult:
    """All results of an A/B run.

    `same` has the engines whose library is the same on both sides, by all that is
    recorded about it.
    """

    run: AbRun
    cells: tuple[CellResult, ...]
    engines: tuple[EngineResult, ...]
    counts: tuple[CountResult, ...] = ()
    same: frozenset[str] = frozenset()

    @property
    def regressed(self) -> tuple[CellResult, ...]:
        """The cells that got slower."""
        return self.of(Verdict.REGRESSED)

    @property
    def improved(self) -> tuple[CellResult, ...]:
        """The cells that got faster."""
        return self.of(Verdict.IMPROVED)

    @property
    def failed(self) -> tuple[CellResult, ...]:
        """The cells in which one of the sides failed, other than as declared."""
        return tuple(c for c in self.cells if c.failure and not c.failure.known)

    @property
    def regressed_engines(self) -> tuple[EngineResult, ...]:
        """The engines that got slower as a whole, by either measure."""
        slower = Verdict.REGRESSED
        return tuple(
            e for e in self.engines if any(j.verdict is slower for j in _times(e))
        )

    @property
    def regressed_cpu(self) -> tuple[CellResult, ...]:
        """The cells whose operations need more processor time."""
        return tuple(
            c for c in self.cells if c.cpu and c.cpu.verdict is Verdict.REGRESSED
        )

    @property
    def regressed_counts(self) -> tuple[CountResult, ...]:
        """The gated counts that increased."""
        return tuple(count for count in self.counts if count.verdict == MORE)

    @property
    def nothing_judged(self) -> str:
        """Why no cell and no engine could be judged; "" if any could."""
        judgements = [j for c in self.cells for j in _times(c)]
        judgements += [j for e in self.engines for j in _times(e)]
        if not any(judgement.pairs for judgement in judgements):
            return "nothing was measured on both sides, so there is no verdict"
        if any(_is_judged(judgement) for judgement in judgements):
            return ""
        if self.run.unfinished:
            return "the run is unfinished, so there is no verdict yet"
        slowdown = numbers.limit(SEEN_EFFECT)
        return (
            f"no cell was measured precisely enough to detect a slowdown of {slowdown},"
            " so there is no verdict"
        )

    @property
    def exit_code(self) -> int:
        """1 if regressed, 3 if failed or unfinished, 5 if nothing judged, else 0."""
        if self.nothing_judged and not self.regressed_counts:
            return 5
        slower = (self.regressed, self.regressed_cpu, self.regressed_engines)
        if any(slower) or self.regressed_counts:
            return 1
        return 3 if self.failed or self.run.unfinished else 0

    def of(self, verdict: Verdict) -> tuple[CellResult, ...]:
        """Return the cells with a verdict on wall time."""
        return tuple(
            cell
            for cell in self.cells
            if cell.judgement and cell.judgement.verdict is verdict
        )


def _is_judged(judgement: Judgement) -> bool:
    """Return True if there is a verdict, or a slowdown of SEEN_EFFECT would show."""
    if judgement.verdict is not Verdict.INCONCLUSIVE:
        return True
    effect = judgement.smallest_effect
    return bool(judgement.pairs) and effect is not None and effect <= SEEN_EFFECT


def _times(of: CellResult | EngineResult) -> list[Judgement]:
    """Return the judgements of wall and of processor time, as far as there are any."""
    return [judgement for judgement in (of.judgement, of.cpu) if judgement]


def suspects(run: AbRun) -> Suspects:
    """Return the cells that the screen nominates; incomplete screens are skipped."""
    by = {}
    for measure in run.plan.rule.measures:
        cells = [c for c in _screened(run) if all(r.has(measure) for r in c.screen)]
        if not cells:
            continue
        a, b = stacked([cell.screen for cell in cells], measure)
        slower, faster = (
            frozenset(c.name for c, flag in zip(cells, flags, strict=True) if flag)
            for flags in ab_decision.suspects(a, b, run.plan.rule, measure)
        )
        by[measure] = slower, faster
    return Suspects(by, tuple(cell.name for cell in run.cells))


def judge(run: AbRun) -> AbResult:
    """Judge a run; of an unfinished run, the part that was measured.

    Raises ValueError if a time is not positive and finite, which cannot happen with
    a run that load_ab_run() returned.
    """
    nominated, counts = suspects(run), count_results(run)
    pairs = ((a, b) for a in run.a.engines for b in run.b.engines if a.name == b.name)
    same = frozenset(a.name for a, b in pairs if is_same_engine(a, b))
    cells = []
    for cell in run.cells:
        result = _judge_cell(cell, run.plan.rule, nominated)
        if result.judgement:
            own = [count for count in counts if count.cell == cell.name]
            disturbed = result.disturbed, result.processes
            known = _known(run, disturbed, cell.name.engine in same, own)
            wall, cpu = believed(result.judgement, result.cpu, known)
            result = replace(result, judgement=wall, cpu=cpu)
        cells.append(result)
    engines = _judge_engines(run, counts, same)
    return AbResult(run, tuple(cells), engines, counts, same)


def _judge_cell(cell: AbCell, rule: AbRule, nominated: Suspects) -> CellResult:
    if cell.failure:
        return _result(cell, None, None, ())
    suspected = cell.name in nominated.all
    rounds = cell.confirm if suspected and cell.confirm else cell.screen
    if not rounds:
        return _result(cell, ab_decision.unmeasured(rule), None, ())

    def tests(measure: str) -> Tests:
        slower, faster = nominated.among(cell.name, measure)
        most = max(slower, faster)
        gate = rule.suspicious(measure)
        if rounds is not cell.screen:
            gate = rule.alpha / max(rule.tests(most), 1), rule.least_shift
        reason = _undecided(cell, rule, most, suspected=suspected)
        return Tests(rule.tests(slower), rule.tests(faster), gate, reason)

    return _result(cell, *_both(rounds, rule, tests), rounds)


def _both(
    rounds: Sequence[Round], rule: AbRule, tests: Callable[[str], Tests]
) -> tuple[Judgement, Judgement | None]:
    """Return the judgements by wall and processor time; None if not all have it.

    A duet has processor time only, and it is the first.
    """

    def judged(measure: str) -> Judgement:
        a, b = (side[0] for side in stacked([rounds], measure))
        return ab_decision.judged(a, b, rule, tests(measure))

    first, *second = rule.measures
    has_cpu = second == [CPU] and all(r.has(CPU) for r in rounds)
    return judged(first), judged(CPU) if has_cpu else None


def _undecided(cell: AbCell, rule: AbRule, suspects: int, *, suspected: bool) -> str:
    """Return why rounds are missing or too few, or "".

    A stage has a fixed number of rounds: judging a part of it would be optional
    stopping, which raises the rate of false alarms.  A complete stage is also
    inconclusive if its rounds cannot reach the p that so many suspects require.
    """
    done, planned, stage = len(cell.screen), rule.screen_rounds, SCREEN
    if suspected:
        done, planned, stage = len(cell.confirm), rule.confirm_rounds, CONFIRM
    needed = rule.rounds_to_confirm(suspects) if suspects else 0
    if done >= max(planned, 1) and done < needed:
        shortfall = (
            f"{numbers.count(done, 'round')} cannot confirm any of {suspects} suspects"
        )
        return f"{shortfall}; use --confirm-rounds {needed}"
    if done >= max(planned, 1):
        return ""
    suspicion = "suspect; " if suspected else ""
    return f"{suspicion}{done} of {planned} {stage} rounds complete"


def _known(
    run: AbRun, disturbed: tuple[int, int], same: bool, counts: Sequence[CountResult]
) -> Circumstances:
    """Return what is known beside times, with the disturbed of all processes."""
    executed = frozenset(c.verdict for c in counts if c.name == INSTRUCTIONS)
    by_clock, verdicts = WALL in run.plan.rule.measures, (c.verdict for c in counts)
    return Circumstances(*disturbed, same, by_clock, frozenset(verdicts), executed)


def _judge_engines(
    run: AbRun, counts: Sequence[CountResult], same: frozenset[str]
) -> tuple[EngineResult, ...]:
    """Judge the engines with enough screened cells, in the order of the cells."""
    by_engine: dict[str, list[AbCell]] = {}
    for cell in _screened(run):
        by_engine.setdefault(cell.name.engine, []).append(cell)
    tested = {
        engine: cells
        for engine, cells in by_engine.items()
        if len(cells) >= LEAST_CELLS_OF_AN_ENGINE
    }
    results = []
    for engine, cells in tested.items():
        wall, cpu = _judge_engine(run, engine, cells, len(tested))
        own = [count for count in counts if count.cell.engine == engine]
        screens = [r for cell in cells for r in cell.screen]
        known = _known(run, _disturbed(screens), engine in same, own)
        results.append(EngineResult(engine, len(cells), *believed(wall, cpu, known)))
    return tuple(results)


def _judge_engine(
    run: AbRun, engine: str, cells: Sequence[AbCell], engines: int
) -> tuple[Judgement, Judgement | None]:
    """Judge an engine in one test with the rounds of all its cells as blocks.

    A change of a single cell does not decide it, a change of most of them does.  A
    test of the means over the cells would have only as many blocks as a cell has
    rounds, and would find half as many of the changes.
    """
    rule, rounds = run.plan.rule, [r for cell in cells for r in cell.screen]
    of_engine = [c for c in run.cells if c.name.engine == engine and not c.failure]
    missing = len(cells) < len(of_engine)
    reason = f"{len(cells)} of {len(of_engine)} cells screened" if missing else ""
    count = rule.tests(engines)
    gate = rule.engine_alpha / count, rule.least_shift
    tests = Tests(count, count, gate, reason, of_engine=True)
    return _both(rounds, rule, lambda _: tests)


def _screened(run: AbRun) -> list[AbCell]:
    planned = max(run.plan.rule.screen_rounds, 1)
    return [c for c in run.cells if not c.failure and len(c.screen) >= planned]


def _result(
    cell: AbCell,
    judgement: Judgement | None,
    cpu: Judgement | None,
    judged: Sequence[Round],
) -> CellResult:
    rounds = (*cell.screen, *cell.confirm)
    stage = CONFIRM if judged and judged is cell.confirm else SCREEN
    disturbed, processes = _disturbed(rounds)
    return CellResult(
        name=cell.name,
        judgement=judgement,
        failure=cell.failure,
        stage=stage if judged else "",
        a_median_ops_per_sec=repetition_stats.median(_rates(judged, "a")),
        b_median_ops_per_sec=repetition_stats.median(_rates(judged, "b")),
        b_rates=_rates(rounds, "b"),
        disturbed=disturbed,
        processes=processes,
        cpu=cpu,
        a_median_cpu_ns=_cpu_ns(judged, "a"),
        b_median_cpu_ns=_cpu_ns(judged, "b"),
    )


def _disturbed(rounds: Sequence[Round]) -> tuple[int, int]:
    """Return how many processes were disturbed, and how many there are."""
    # A process of a duet has a line of each side.
    processes = [m for r in rounds for m in (r.a if r.is_duet else (*r.a, *r.b))]
    return sum(bool(m.disturbed) for m in processes), len(processes)


def _of_side(rounds: Iterable[Round], side: str) -> list[Repetition]:
    repetitions = [m for r in rounds for m in (r.a if side == "a" else r.b)]
    return sorted(repetitions, key=lambda m: m.order)


def _rates(rounds: Iterable[Round], side: str) -> tuple[float, ...]:
    return tuple(1e9 / m.ns_per_op for m in _of_side(rounds, side))


def _cpu_ns(rounds: Iterable[Round], side: str) -> float | None:
    times = (m.cpu_ns_per_op for m in _of_side(rounds, side))
    return repetition_stats.median(tuple(ns for ns in times if ns))
