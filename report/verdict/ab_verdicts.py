"""The verdicts of an A/B run: for each cell, for each engine, and for the run.

A cell is screened in a few rounds.  Suspects are measured again and judged only on
those fresh rounds: a cell may be a suspect by chance, so the rounds that nominated it
are not used as evidence a second time.  ERROR_RATES.md has the error rates.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from report.model.ab_plan import Failure
from report.model.ab_rule import CONFIRM, PAIRS_PER_ROUND, SCREEN, SEEN_EFFECT, AbRule
from report.model.ab_run import AbCell, AbRun, Round
from report.model.judgement import MORE, Judgement, Verdict
from report.model.plan import CellName
from report.stats import ab_decision, repetition_stats, shifts
from report.stats.aligned_ranks import Floats, p_slower
from report.terms import numbers
from report.verdict.count_verdicts import CountResult, count_results

_TARGET_EFFECT = 0.05  # the slowdown that pairs_needed would detect
# With fewer cells, a single one can move the result of the engine.
LEAST_CELLS_OF_AN_ENGINE = 4


@dataclass(frozen=True)
class Suspects:
    """The cells that the second stage measures again."""

    slower: tuple[CellName, ...]
    faster: tuple[CellName, ...]

    @property
    def all(self) -> tuple[CellName, ...]:
        """The suspects of both directions, which have no cell in common."""
        return (*self.slower, *self.faster)


@dataclass(frozen=True)
class CellResult:
    """The result of one cell: a judgement or a failure.

    `stage` is the stage of the rounds that were judged, "" if there are none.  The
    medians are over that stage.  `b_rates` are all rates of side b in complete rounds,
    in ops/s and in the order of measuring.
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
    """The result of an engine over the screen rounds of all its cells."""

    engine: str
    judgement: Judgement
    cells: int


@dataclass(frozen=True)
class AbResult:
    """All results of an A/B run."""

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
        """The cells whose interval is close to zero throughout."""
        return self._cells(Verdict.UNCHANGED)

    @property
    def inconclusive(self) -> tuple[CellResult, ...]:
        """The cells with a rate but without a clear result."""
        return self._cells(Verdict.INCONCLUSIVE)

    @property
    def failed(self) -> tuple[CellResult, ...]:
        """The cells in which one of the sides failed, other than as declared."""
        return tuple(c for c in self.cells if c.failure and not c.failure.known)

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
        """The gated counts that increased."""
        return tuple(count for count in self.counts if count.verdict == MORE)

    @property
    def nothing_judged(self) -> str:
        """Why no cell and no engine could be judged; "" if any could."""
        judgements = [cell.judgement for cell in self.cells if cell.judgement]
        judgements += [engine.judgement for engine in self.engines]
        if not any(judgement.pairs for judgement in judgements):
            return "nothing was measured on both sides, so there is no verdict"
        if any(_is_judged(judgement) for judgement in judgements):
            return ""
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
    """Return True if there is a verdict, or a slowdown of SEEN_EFFECT would show."""
    if judgement.verdict is not Verdict.INCONCLUSIVE:
        return True
    effect = judgement.smallest_effect
    return bool(judgement.pairs) and effect is not None and effect <= SEEN_EFFECT


def suspects(run: AbRun) -> Suspects:
    """Return the cells that the screen nominates; incomplete screens are skipped."""
    cells = _screened(run)
    if not cells:
        return Suspects((), ())
    a, b = stacked([cell.screen for cell in cells])
    slower, faster = ab_decision.suspects(a, b, run.plan.rule)
    return Suspects(
        tuple(c.name for c, flag in zip(cells, slower, strict=True) if flag),
        tuple(c.name for c, flag in zip(cells, faster, strict=True) if flag),
    )


def judge(run: AbRun) -> AbResult:
    """Judge a run; of an unfinished run, the part that was measured.

    Raises ValueError if a time is not positive and finite, which cannot happen with
    a run that load_ab_run() returned.
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
        return _result(cell, _unmeasured(rule), ())
    a, b = (side[0] for side in stacked([rounds]))
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
    """Return INCONCLUSIVE and the reason if rounds are missing or too few.

    A stage has a fixed number of rounds: judging a part of it would be optional
    stopping, which raises the rate of false alarms.  A complete stage is also
    inconclusive if its rounds cannot reach the p that so many suspects require.
    """
    done, planned, stage = len(cell.screen), rule.screen_rounds, SCREEN
    if suspected:
        done, planned, stage = len(cell.confirm), rule.confirm_rounds, CONFIRM
    needed = rule.rounds_to_confirm(suspected) if suspected else 0
    if done >= max(planned, 1) and done < needed:
        shortfall = (
            f"{numbers.count(done, 'round')} cannot confirm any of {suspected} suspects"
        )
        return Verdict.INCONCLUSIVE, f"{shortfall}; use --confirm-rounds {needed}"
    if done >= max(planned, 1):
        return None, ""
    suspicion = "suspect; " if suspected else ""
    rounds = f"{done} of {planned} {stage} rounds complete"
    return Verdict.INCONCLUSIVE, f"{suspicion}{rounds}"


def _direction(
    a: Floats, b: Floats, rule: AbRule, slower: int, faster: int
) -> Verdict | None:
    """Return the confirmed direction, or None.

    `slower` and `faster` are the numbers of tests in each direction, 0 if the cell
    is not tested in it.
    """
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
    """Return the statistics of one cell with its verdict.

    A `verdict` of None becomes UNCHANGED or INCONCLUSIVE.  `gate` has the conditions
    for a slowdown in this stage: the largest p and the least shift.
    """
    bounds = [float(bound) for bound in shifts.interval(a, b, rule.confidence)]
    low, high = (None, None) if math.isnan(bounds[0]) else bounds
    pairs = a.shape[-2] * PAIRS_PER_ROUND
    sigma = float(shifts.sigma_log(a, b))
    has_sigma = not math.isnan(sigma)
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
        sigma_log=sigma if has_sigma else None,
        smallest_effect=shifts.smallest_effect(sigma, pairs, *gate)
        if has_sigma
        else None,
        pairs_needed=(
            shifts.pairs_for(sigma, _TARGET_EFFECT, rule.alpha) if has_sigma else None
        ),
        reason=reason,
    )


def _why_inconclusive(low: float | None, rule: AbRule) -> str:
    if low is None:
        return "too few rounds for an interval"
    return f"the interval extends beyond ±{100 * rule.unchanged_within:g} %"


def _unmeasured(rule: AbRule) -> Judgement:
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
    """Judge the engines with enough screened cells, in the order of the cells."""
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
    """Judge an engine in one test with the rounds of all its cells as blocks.

    A change of a single cell does not decide it, a change of most of them does.  A
    test of the means over the cells would have only as many blocks as a cell has
    rounds, and would find half as many of the changes.
    """
    rounds = [r for cell in cells for r in cell.screen]
    a, b = (side[0] for side in stacked([rounds]))
    of_engine = [c for c in run.cells if c.name.engine == engine and not c.failure]
    if len(cells) < len(of_engine):
        verdict: Verdict | None = Verdict.INCONCLUSIVE
        reason = f"{len(cells)} of {len(of_engine)} cells screened"
    else:
        verdict, reason = _engine_direction(a, b, run.plan.rule, tests), ""
    gate = run.plan.rule.engine_alpha / tests, run.plan.rule.least_shift
    judged = _judgement(a, b, run.plan.rule, gate, verdict, reason)
    return EngineResult(engine, judged, len(cells))


def _screened(run: AbRun) -> list[AbCell]:
    planned = max(run.plan.rule.screen_rounds, 1)
    return [c for c in run.cells if not c.failure and len(c.screen) >= planned]


def stacked(cells: Sequence[Sequence[Round]]) -> tuple[Floats, Floats]:
    """Return the logs of the times of a and of b, each of shape (cells, rounds, 2).

    All cells must have the same number of rounds.  Raises ValueError unless every
    time is positive and finite.
    """
    sides = [
        [
            [[r.ns_per_op for r in repetitions] for repetitions in side]
            for side in zip(*rounds, strict=True)
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
    rounds = (*cell.screen, *cell.confirm)
    stage = CONFIRM if judged and judged is cell.confirm else SCREEN
    return CellResult(
        name=cell.name,
        judgement=judgement,
        failure=cell.failure,
        stage=stage if judged else "",
        a_median_ops_per_sec=repetition_stats.median(_rates(judged, "a")),
        b_median_ops_per_sec=repetition_stats.median(_rates(judged, "b")),
        b_rates=_rates(rounds, "b"),
        disturbed=sum(bool(m.disturbed) for r in rounds for m in (*r.a, *r.b)),
    )


def _rates(rounds: Iterable[Round], side: str) -> tuple[float, ...]:
    repetitions = [m for r in rounds for m in (r.a if side == "a" else r.b)]
    return tuple(1e9 / m.ns_per_op for m in sorted(repetitions, key=lambda m: m.order))
