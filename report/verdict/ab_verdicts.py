"""What an A/B run says: of every cell, of every engine, and as a whole.

A cell is screened in a few rounds.  Suspects are measured again, and judged on those
fresh rounds alone: what made a cell suspect may have been chance, and is no evidence
twice.  ERROR_RATES.md gives the error rates of the whole.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from report.model.ab_plan import Failure
from report.model.ab_rule import PAIRS_PER_ROUND, SEEN_EFFECT, AbRule
from report.model.ab_run import CONFIRM, SCREEN, AbCell, AbRun, Round
from report.model.judgement import MORE, Judgement, Verdict
from report.model.plan import CellName
from report.stats import ab_decision, repetition_stats, shifts
from report.stats.aligned_ranks import Floats, p_slower
from report.terms import numbers
from report.verdict.count_verdicts import CountResult, count_results

_WANTED_EFFECT = 0.05  # what pairs_needed would show
# Of fewer cells a single one moves the median of all.
LEAST_CELLS_OF_AN_ENGINE = 4


@dataclass(frozen=True)
class Suspects:
    """The cells that the second stage measures again."""

    slower: tuple[CellName, ...]
    faster: tuple[CellName, ...]

    @property
    def all(self) -> tuple[CellName, ...]:
        """Both directions; no cell is in both."""
        return (*self.slower, *self.faster)


@dataclass(frozen=True)
class CellResult:
    """One cell: a judgement, or the failure that is in its place.

    `stage` is that of the rounds it was judged on, "" if there are none.  The
    medians are of that stage, `b_rates` all that were measured in complete rounds, in
    the order of measuring.
    """

    name: CellName
    judgement: Judgement | None
    failure: Failure | None
    stage: str
    a_median_ops_per_sec: float | None
    b_median_ops_per_sec: float | None
    b_rates: tuple[float, ...]
    disturbed: int


@dataclass(frozen=True)
class EngineResult:
    """All cells of an engine together, by their screen rounds."""

    engine: str
    judgement: Judgement
    cells: int


@dataclass(frozen=True)
class AbResult:
    """Everything that is said of a run."""

    run: AbRun
    cells: tuple[CellResult, ...]
    engines: tuple[EngineResult, ...]
    counts: tuple[CountResult, ...] = ()

    @property
    def regressed(self) -> tuple[CellResult, ...]:
        """The cells that got slower."""
        return self._cells(Verdict.REGRESSED)

    @property
    def improved(self) -> tuple[CellResult, ...]:
        """The cells that got faster."""
        return self._cells(Verdict.IMPROVED)

    @property
    def unchanged(self) -> tuple[CellResult, ...]:
        """The cells whose whole interval is near zero."""
        return self._cells(Verdict.UNCHANGED)

    @property
    def inconclusive(self) -> tuple[CellResult, ...]:
        """The cells of which nothing can be said."""
        return self._cells(Verdict.INCONCLUSIVE)

    @property
    def failed(self) -> tuple[CellResult, ...]:
        """The cells without a time, of which either side is to blame."""
        return tuple(cell for cell in self.cells if cell.failure)

    @property
    def regressed_engines(self) -> tuple[EngineResult, ...]:
        """The engines that got slower as a whole."""
        return tuple(
            engine
            for engine in self.engines
            if engine.judgement.verdict is Verdict.REGRESSED
        )

    @property
    def regressed_counts(self) -> tuple[CountResult, ...]:
        """The gated counts of which there are more."""
        return tuple(count for count in self.counts if count.verdict == MORE)

    @property
    def nothing_judged(self) -> str:
        """Why no cell and no engine could be judged; "" if any could."""
        every = [cell.judgement for cell in self.cells if cell.judgement]
        every += [engine.judgement for engine in self.engines]
        if not any(judgement.pairs for judgement in every):
            return "nothing was measured on both sides: this says nothing"
        if any(_is_judged(judgement) for judgement in every):
            return ""
        seen = numbers.limit(SEEN_EFFECT)
        told = f"in no cell a slowdown of {seen} would have been seen"
        return f"{told}: this says nothing"

    @property
    def exit_code(self) -> int:
        """1 regressed, 3 failed or unfinished, 5 nothing was judged, else 0."""
        if self.nothing_judged and not self.regressed_counts:
            return 5
        if self.regressed or self.regressed_engines or self.regressed_counts:
            return 1
        return 3 if self.failed or self.run.unfinished else 0

    def _cells(self, verdict: Verdict) -> tuple[CellResult, ...]:
        return tuple(
            cell
            for cell in self.cells
            if cell.judgement and cell.judgement.verdict is verdict
        )


def _is_judged(judgement: Judgement) -> bool:
    """Whether there is a verdict, or none because there is nothing large to see."""
    if judgement.verdict is not Verdict.INCONCLUSIVE:
        return True
    effect = judgement.smallest_effect
    return bool(judgement.pairs) and effect is not None and effect <= SEEN_EFFECT


def suspects(run: AbRun) -> Suspects:
    """What the screen nominates, of the cells that it has measured completely."""
    cells = _screened(run)
    if not cells:
        return Suspects((), ())
    a, b = _stacked([cell.screen for cell in cells])
    slower, faster = ab_decision.suspects(a, b, run.plan.rule)
    return Suspects(
        tuple(c.name for c, flag in zip(cells, slower, strict=True) if flag),
        tuple(c.name for c, flag in zip(cells, faster, strict=True) if flag),
    )


def judge(run: AbRun) -> AbResult:
    """Judge a run; an unfinished one as far as it goes.

    ValueError if a time is not positive and finite: load_ab_run() lets none through.
    """
    nominated = suspects(run)
    return AbResult(
        run,
        tuple(_judge_cell(cell, run.plan.rule, nominated) for cell in run.cells),
        _judge_engines(run),
        count_results(run),
    )


def _judge_cell(cell: AbCell, rule: AbRule, nominated: Suspects) -> CellResult:
    if cell.failure:
        return _result(cell, None, ())
    suspected = cell.name in nominated.all
    rounds = cell.confirm if suspected and cell.confirm else cell.screen
    if not rounds:
        return _result(cell, _nothing(rule), ())
    a, b = (side[0] for side in _stacked([rounds]))
    slower = len(nominated.slower) if cell.name in nominated.slower else 0
    faster = len(nominated.faster) if cell.name in nominated.faster else 0
    verdict, reason = _undecided(cell, rule, slower or faster)
    if suspected and not reason:
        verdict = _direction(a, b, rule, slower, faster)
    gate = rule.alpha / max(slower, faster, 1), rule.least_shift
    if rounds is cell.screen:
        gate = rule.suspect_p, rule.suspect_shift
    return _result(cell, _judgement(a, b, rule, gate, verdict, reason), rounds)


def _undecided(
    cell: AbCell, rule: AbRule, suspected: int
) -> tuple[Verdict | None, str]:
    """INCONCLUSIVE with the reason where the rule's rounds are not all there.

    Stopping when it looks decided would be no fixed stage: a part is not judged.
    Nor can they tell anything if they are too few for so many suspects.
    """
    done, wanted, stage = len(cell.screen), rule.screen_rounds, SCREEN
    if suspected:
        done, wanted, stage = len(cell.confirm), rule.confirm_rounds, CONFIRM
    needed = rule.rounds_to_confirm(suspected) if suspected else 0
    if done >= max(wanted, 1) and done < needed:
        told = f"{done} rounds cannot confirm one of {suspected} suspects"
        return Verdict.INCONCLUSIVE, f"{told}; --confirm-rounds {needed}"
    if done >= max(wanted, 1):
        return None, ""
    suspicion = "a suspect; " if suspected else ""
    rounds = f"{done} of {wanted} rounds of the {stage} stage are there"
    return Verdict.INCONCLUSIVE, f"{suspicion}{rounds}"


def _direction(
    a: Floats, b: Floats, rule: AbRule, slower: int, faster: int
) -> Verdict | None:
    """What so many tests of each direction say; 0 if it is not tested."""
    if slower and ab_decision.is_slower(a, b, rule, slower):
        return Verdict.REGRESSED
    if faster and ab_decision.is_slower(b, a, rule, faster):
        return Verdict.IMPROVED
    return None


def _engine_direction(a: Floats, b: Floats, rule: AbRule, tests: int) -> Verdict | None:
    if ab_decision.is_slower_engine(a, b, rule, tests):
        return Verdict.REGRESSED
    if ab_decision.is_slower_engine(b, a, rule, tests):
        return Verdict.IMPROVED
    return None


def _judgement(
    a: Floats,
    b: Floats,
    rule: AbRule,
    gate: tuple[float, float],
    verdict: Verdict | None,
    reason: str,
) -> Judgement:
    """The figures of one cell; without a verdict they give one of the other two.

    `gate` is what a slowdown had to pass here: the limit of p and the least shift.
    """
    bounds = [float(bound) for bound in shifts.interval(a, b, rule.confidence)]
    low, high = (None, None) if math.isnan(bounds[0]) else bounds
    pairs = a.shape[-2] * PAIRS_PER_ROUND
    sigma = float(shifts.sigma_log(a, b))
    known = not math.isnan(sigma)
    if verdict is None:
        within = shifts.as_log(rule.unchanged_within)
        inside = low is not None and high is not None and max(-low, high) <= within
        verdict = Verdict.UNCHANGED if inside else Verdict.INCONCLUSIVE
        reason = "" if inside else _why_inconclusive(low, rule)
    return Judgement(
        verdict=verdict,
        log_shift=float(shifts.shift(a, b)),
        log_low=low,
        log_high=high,
        confidence=rule.confidence,
        p_slower=float(p_slower(a, b)),
        p_faster=float(p_slower(b, a)),
        pairs=pairs,
        sigma_log=sigma if known else None,
        smallest_effect=shifts.smallest_effect(sigma, pairs, *gate) if known else None,
        pairs_needed=(
            shifts.pairs_for(sigma, _WANTED_EFFECT, rule.alpha) if known else None
        ),
        reason=reason,
    )


def _why_inconclusive(low: float | None, rule: AbRule) -> str:
    if low is None:
        return "too few rounds for an interval"
    return f"the interval reaches beyond ±{100 * rule.unchanged_within:g} %"


def _nothing(rule: AbRule) -> Judgement:
    return Judgement(
        verdict=Verdict.INCONCLUSIVE,
        log_shift=0.0,
        log_low=None,
        log_high=None,
        confidence=rule.confidence,
        p_slower=1.0,
        p_faster=1.0,
        pairs=0,
        reason="no complete round was measured",
    )


def _judge_engines(run: AbRun) -> tuple[EngineResult, ...]:
    """Engines with several screened cells, in the order of the cells."""
    by_engine: dict[str, list[AbCell]] = {}
    for cell in _screened(run):
        by_engine.setdefault(cell.name.engine, []).append(cell)
    tested = {
        engine: cells
        for engine, cells in by_engine.items()
        if len(cells) >= LEAST_CELLS_OF_AN_ENGINE
    }
    return tuple(
        _judge_engine(run, engine, cells, len(tested))
        for engine, cells in tested.items()
    )


def _judge_engine(
    run: AbRun, engine: str, cells: Sequence[AbCell], tests: int
) -> EngineResult:
    """One test with the rounds of all its cells as blocks.

    A single cell does not move it, a change of most of them does: a mean over the
    cells, of as many rounds as one, would find half of the same changes.
    """
    rounds = [one for cell in cells for one in cell.screen]
    a, b = (side[0] for side in _stacked([rounds]))
    of_engine = [c for c in run.cells if c.name.engine == engine and not c.failure]
    if len(cells) < len(of_engine):
        verdict: Verdict | None = Verdict.INCONCLUSIVE
        reason = f"{len(cells)} of {len(of_engine)} cells are screened"
    else:
        verdict, reason = _engine_direction(a, b, run.plan.rule, tests), ""
    gate = run.plan.rule.engine_alpha / tests, run.plan.rule.least_shift
    judged = _judgement(a, b, run.plan.rule, gate, verdict, reason)
    return EngineResult(engine, judged, len(cells))


def _screened(run: AbRun) -> list[AbCell]:
    wanted = max(run.plan.rule.screen_rounds, 1)
    return [c for c in run.cells if not c.failure and len(c.screen) >= wanted]


def _stacked(cells: Sequence[Sequence[Round]]) -> tuple[Floats, Floats]:
    """Logs of the times, (cells, rounds, 2); all cells have as many rounds.

    ValueError unless every time is positive and finite.
    """
    sides = [
        [
            [[r.ns_per_op for r in one] for one in pair]
            for pair in zip(*rounds, strict=True)
        ]
        for rounds in ([(r.a, r.b) for r in cell] for cell in cells)
    ]
    times = np.asarray(sides, float)  # (cells, sides, rounds, 2)
    if not ((times > 0) & np.isfinite(times)).all():
        raise ValueError("a time per operation is not positive and finite")
    logs = np.log(times)
    return logs[:, 0], logs[:, 1]


def _result(
    cell: AbCell, judgement: Judgement | None, judged: Sequence[Round]
) -> CellResult:
    every = (*cell.screen, *cell.confirm)
    stage = CONFIRM if judged and judged is cell.confirm else SCREEN
    return CellResult(
        name=cell.name,
        judgement=judgement,
        failure=cell.failure,
        stage=stage if judged else "",
        a_median_ops_per_sec=repetition_stats.median(_rates(judged, "a")),
        b_median_ops_per_sec=repetition_stats.median(_rates(judged, "b")),
        b_rates=_rates(every, "b"),
        disturbed=sum(bool(r.disturbed) for one in every for r in (*one.a, *one.b)),
    )


def _rates(rounds: Iterable[Round], side: str) -> tuple[float, ...]:
    found = [r for one in rounds for r in (one.a if side == "a" else one.b)]
    return tuple(1e9 / r.ns_per_op for r in sorted(found, key=lambda r: r.order))
