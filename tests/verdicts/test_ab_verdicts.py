"""Suspects, the verdicts of cells and engines, and the exit code of a run."""

import math
import statistics

import numpy as np
import pytest

from report.model.ab_plan import Failure
from report.model.ab_rule import WALL, AbRule
from report.model.ab_run import AbCell
from report.model.judgement import MORE, NOT_GATED, Judgement, Verdict
from report.stats import shifts
from report.verdict import ab_verdicts
from report.verdict.ab_verdicts import CellResult, judge, suspects
from report.verdict.count_verdicts import CountResult
from tests.builders.ab_rounds import (
    Rounds,
    cell,
    cell_name,
    noisy,
    round_of,
    rounds_of,
    run_of,
)

FAILED = Failure("b", "wrong", "3 values differ")


def only(*cells: AbCell, rule: AbRule | None = None) -> CellResult:
    """Return the result of the first cell."""
    return judge(run_of(*cells, rule=rule)).cells[0]


def judgement_of(result: CellResult) -> Judgement:
    assert result.judgement
    return result.judgement


def two_stages(screened: float, confirmed: float, cv: float = 0.01) -> AbCell:
    return cell(noisy(4, screened, cv), noisy(15, confirmed, cv, seed=2, first=5))


def many(count: int, slower: float, cv: float = 0.01) -> list[AbCell]:
    """Return screened cells of one engine."""
    return [
        cell(noisy(4, slower, cv, seed=n + 10), name=cell_name(benchmark=f"bench{n}"))
        for n in range(count)
    ]


def test_a_cell_that_is_slower_in_both_stages_has_regressed() -> None:
    result = only(two_stages(0.05, 0.05))
    judgement = judgement_of(result)
    assert judgement.verdict is Verdict.REGRESSED
    assert result.stage == "confirm"
    assert judgement.pairs == 30
    assert judgement.rate_change == pytest.approx(-1 + 1 / 1.05, abs=0.01)
    assert judgement.rate_interval
    assert (
        judgement.rate_interval[0] < judgement.rate_change < judgement.rate_interval[1]
    )


def test_a_cell_that_is_faster_in_both_stages_has_improved() -> None:
    assert judgement_of(only(two_stages(-0.05, -0.05))).verdict is Verdict.IMPROVED


def test_a_suspect_is_judged_only_by_its_confirm_rounds() -> None:
    result = only(two_stages(0.3, 0.0))
    judgement = judgement_of(result)
    assert judgement.verdict is Verdict.UNCHANGED
    assert abs(judgement.log_shift) < 0.01
    assert judgement.pairs == 30


def test_a_suspect_that_reverses_is_inconclusive() -> None:
    assert judgement_of(only(two_stages(0.1, -0.1))).verdict is Verdict.INCONCLUSIVE
    assert judgement_of(only(two_stages(-0.1, 0.1))).verdict is Verdict.INCONCLUSIVE
    others = (*many(1, 0.1), *many(1, -0.1))
    for suspect in (two_stages(0.1, -0.1), two_stages(-0.1, 0.1)):
        assert judgement_of(only(suspect, *others)).verdict is Verdict.INCONCLUSIVE


def test_a_small_certain_change_is_not_a_regression() -> None:
    result = judgement_of(only(two_stages(0.1, 0.02, cv=0.001)))
    assert result.p_slower < 1e-6
    assert result.verdict is Verdict.UNCHANGED


def test_the_limit_is_a_share_of_the_time() -> None:
    """2.5 % slower is 1.025 times as long, 2.5 % faster 1/1.025 of it."""
    for factor, verdict in ((1.0251, Verdict.REGRESSED), (1.0249, Verdict.UNCHANGED)):
        judged = judgement_of(only(two_stages(0.1, factor - 1, cv=1e-9)))
        assert judged.verdict is verdict
    for factor, verdict in ((1.0251, Verdict.IMPROVED), (1.0249, Verdict.UNCHANGED)):
        judged = judgement_of(only(two_stages(-0.1, 1 / factor - 1, cv=1e-9)))
        assert judged.verdict is verdict


def test_the_limit_of_p_is_shared_by_the_suspects_of_a_direction() -> None:
    weak = cell(noisy(4, 0.1), noisy(15, 0.03, cv=0.05, seed=20, first=5))
    p = judgement_of(only(weak)).p_slower
    assert 0.008 / 2 < p <= 0.008
    assert judgement_of(only(weak)).verdict is Verdict.REGRESSED
    assert judgement_of(only(weak, *many(1, -0.1))).verdict is Verdict.REGRESSED
    assert judgement_of(only(weak, *many(1, 0.1))).verdict is Verdict.INCONCLUSIVE


def test_the_smallest_effect_is_that_of_the_stage() -> None:
    """Half of 8 pairs' worth is enough for a suspicion, not for a verdict."""
    screened = judgement_of(only(cell(noisy(4, 0.0, cv=0.03))))
    sigma = screened.sigma_log
    assert sigma
    assert screened.smallest_effect == shifts.smallest_effect(sigma, 8, 0.2, 0.02)
    confirmed = judgement_of(only(two_stages(0.1, 0.0), *many(4, 0.1)))
    sigma = confirmed.sigma_log
    assert sigma
    expected = shifts.smallest_effect(sigma, 30, 0.008 / 5, 0.025)
    assert confirmed.smallest_effect == expected


def test_cells_that_are_not_suspects_are_unchanged_or_inconclusive() -> None:
    quiet = only(cell(noisy(4, 0.0, cv=0.001)))
    assert judgement_of(quiet).verdict is Verdict.UNCHANGED
    assert quiet.stage == "screen"
    loud = judgement_of(only(cell(noisy(4, 0.0, cv=0.2, seed=3))))
    assert loud.verdict is Verdict.INCONCLUSIVE
    assert loud.reason == "the interval extends beyond ±3 %"
    assert loud.smallest_effect
    assert loud.pairs_needed
    assert loud.smallest_effect > 0.1
    assert loud.pairs_needed > 50


def test_improvements_need_more_evidence_than_regressions() -> None:
    a = np.zeros((4, 2))
    b = np.array([[0.03, 0.03], [0.03, 0.03], [0.03, 0.03], [-0.03, -0.03]])
    slower = run_of(cell(rounds_of(a, b)))
    assert suspects(slower).slower == (cell_name(),)
    faster = run_of(cell(rounds_of(a, -b)))
    assert suspects(faster).all == ()


def test_the_screen_of_a_failed_or_unfinished_cell_nominates_nothing() -> None:
    failed = cell(noisy(4, 0.3), failure=FAILED)
    unfinished = cell(noisy(3, 0.3))
    assert suspects(run_of(failed)).all == ()
    assert suspects(run_of(unfinished)).all == ()
    assert suspects(run_of()).all == ()
    assert suspects(run_of(cell(noisy(4, 0.3)))).all == (cell_name(),)


@pytest.mark.parametrize(
    ("incomplete", "reason"),
    [
        (cell(), "no complete round was measured"),
        (cell(noisy(1, 0.3)), "1 of 4 screen rounds complete"),
        (cell(noisy(4, 0.3)), "suspect; 0 of 15 confirm rounds"),
        (
            cell(noisy(4, 0.3), noisy(14, 0.3)),
            "suspect; 14 of 15 confirm rounds",
        ),
    ],
)
def test_a_stage_is_judged_when_it_is_complete(incomplete: AbCell, reason: str) -> None:
    judgement = judgement_of(only(incomplete))
    assert judgement.verdict is Verdict.INCONCLUSIVE
    assert judgement.reason.startswith(reason)


def test_one_round_has_no_interval() -> None:
    judgement = judgement_of(only(cell(noisy(1)), rule=AbRule(screen_rounds=1)))
    assert judgement.log_low is None
    assert judgement.rate_interval is None
    assert judgement.sigma_log is None
    assert judgement.verdict is Verdict.INCONCLUSIVE
    assert judgement.reason == "too few rounds for an interval"


def test_times_without_any_noise_are_judged_too() -> None:
    same: Rounds = noisy(4, cv=0.0)
    judgement = judgement_of(only(cell(same)))
    assert judgement.verdict is Verdict.UNCHANGED
    assert judgement.log_shift == 0
    assert judgement.log_low == pytest.approx(0, abs=1e-9)
    assert judgement.smallest_effect == pytest.approx(AbRule().suspect_shift)
    assert (
        judgement_of(only(two_stages(0.05, 0.05, cv=0.0))).verdict is Verdict.REGRESSED
    )


@pytest.mark.parametrize("time", [0.0, -1.0, math.nan, math.inf])
def test_times_that_are_not_positive_are_refused(time: float) -> None:
    broken = [round_of(n, [1000.0, time], [1000.0, 1000.0]) for n in range(1, 5)]
    with pytest.raises(ValueError, match="positive and finite"):
        judge(run_of(cell(tuple(broken))))


def test_a_result_shows_the_rates_of_b_and_the_median_of_the_screen() -> None:
    screen = tuple(
        round_of(n, [1000.0 + n, 2000.0 + n], [1400.0, 1600.0]) for n in range(1, 5)
    )
    confirm = tuple(
        round_of(n, [100.0 + n, 200.0 + n], [150.0, 160.0], {1: ("psi",)})
        for n in range(5, 20)
    )
    result = only(cell(screen, confirm))
    expected = [1e9 / r.ns_per_op for round_ in screen for r in round_.a]
    assert len(result.b_rates) == 38
    assert result.stage == "screen"
    assert result.a_median_ops_per_sec == statistics.median(expected)
    assert result.disturbed == 15


def test_a_failed_cell_has_its_failure_and_no_judgement() -> None:
    result = only(cell(noisy(4, 0.3), failure=FAILED))
    assert result.judgement is None
    assert result.failure == FAILED
    assert result.stage == ""


def test_an_engine_is_judged_by_the_rounds_of_all_its_cells() -> None:
    result = judge(run_of(*many(12, 0.05, cv=0.03)))
    assert [engine.engine for engine in result.engines] == ["alpha"]
    assert result.engines[0].cells == 12
    assert result.engines[0].judgement.verdict is Verdict.REGRESSED
    assert result.regressed_engines == result.engines
    assert result.engines[0].judgement.pairs == 12 * 8
    faster = judge(run_of(*many(12, -0.05, cv=0.03)))
    assert faster.engines[0].judgement.verdict is Verdict.IMPROVED
    same = judge(run_of(*many(12, 0.0, cv=0.03)))
    assert same.engines[0].judgement.verdict is Verdict.UNCHANGED


def test_the_limit_of_p_is_shared_by_the_engines() -> None:
    weak = [
        cell(noisy(4, 0.03, 0.04, seed=16 + n), name=cell_name(benchmark=f"bench{n}"))
        for n in range(4)
    ]
    quiet = [
        cell(noisy(4, seed=n), name=cell_name("beta", f"bench{n}")) for n in range(4)
    ]
    alone, among = judge(run_of(*weak)), judge(run_of(*weak, *quiet))
    assert 0.002 / 2 < alone.engines[0].judgement.p_slower <= 0.002
    assert alone.engines[0].judgement.verdict is Verdict.REGRESSED
    assert among.engines[0].judgement.verdict is Verdict.INCONCLUSIVE


def test_a_failed_cell_is_not_part_of_its_engine() -> None:
    failed = cell(noisy(4, 3.0), failure=FAILED, name=cell_name(benchmark="other"))
    result = judge(run_of(failed, *many(4, 0.0)))
    assert result.engines[0].cells == 4
    assert "screened" not in result.engines[0].judgement.reason
    assert abs(result.engines[0].judgement.log_shift) < 0.02


def test_one_cell_does_not_move_its_engine() -> None:
    engine = judge(run_of(two_stages(2.0, 2.0), *many(11, 0.0))).engines[0]
    assert engine.judgement.verdict is Verdict.UNCHANGED


def test_an_engine_has_four_cells_or_more() -> None:
    assert judge(run_of(*many(3, 0.2))).engines == ()
    assert judge(run_of(*many(4, 0.2))).engines


def test_an_engine_is_judged_when_all_its_cells_are_screened() -> None:
    late = cell(noisy(3), name=cell_name(benchmark="late"))
    engine = judge(run_of(*many(4, 0.2), late)).engines[0]
    assert engine.judgement.verdict is Verdict.INCONCLUSIVE
    assert engine.judgement.reason == "4 of 5 cells screened"


def test_the_exit_code_is_that_of_the_worst_result() -> None:
    quiet = cell(noisy(4, cv=0.001))
    failed = cell(failure=FAILED, name=cell_name(benchmark="other"))
    assert judge(run_of(quiet)).exit_code == 0
    assert judge(run_of(quiet, failed)).exit_code == 3
    assert judge(run_of(quiet, unfinished=True)).exit_code == 3
    assert judge(run_of(two_stages(0.1, 0.1), failed)).exit_code == 1
    assert judge(run_of(two_stages(-0.1, -0.1))).exit_code == 0
    assert judge(run_of(*many(12, 0.05, cv=0.03))).exit_code == 1


def test_a_run_that_judged_nothing_says_so() -> None:
    failed = cell(failure=FAILED)
    assert judge(run_of()).exit_code == 5
    assert judge(run_of(failed)).exit_code == 5
    assert judge(run_of(cell(), unfinished=True)).exit_code == 5


def test_a_cell_that_would_hide_ten_percent_is_not_judged() -> None:
    loud = cell(noisy(4, 0.0, cv=0.2, seed=3))
    quiet = cell(noisy(4, 0.0, cv=0.001), name=cell_name(benchmark="quiet"))
    fair = cell(noisy(4, 0.0, cv=0.02, seed=5), name=cell_name(benchmark="fair"))
    assert judge(run_of(loud)).exit_code == 5
    assert "to detect a slowdown of 10 %" in judge(run_of(loud)).nothing_judged
    assert judge(run_of(loud, quiet)).exit_code == 0
    result = judge(run_of(loud, fair))
    assert judgement_of(result.cells[1]).verdict is Verdict.INCONCLUSIVE
    assert (result.exit_code, result.nothing_judged) == (0, "")
    assert judge(run_of(loud, unfinished=True)).exit_code == 5


def test_few_rounds_cannot_confirm_one_of_many_suspects() -> None:
    slow = [
        cell(noisy(4, 0.3), noisy(4, 0.3, seed=2, first=5), name=cell_name(benchmark=b))
        for b in map(str, range(11))
    ]
    rule = AbRule(confirm_rounds=4, measures=(WALL,))
    assert len(judge(run_of(*slow[:10], rule=rule)).regressed) == 10
    judged = judgement_of(only(*slow, rule=rule))
    assert judged.verdict is Verdict.INCONCLUSIVE
    reason = "4 rounds cannot confirm any of 11 suspects; use --confirm-rounds 5"
    assert judged.reason == reason
    faster = cell(noisy(4, -0.3), noisy(4, -0.3, seed=2, first=5))
    result = judge(run_of(faster, *slow[:10], rule=rule))
    assert (len(result.improved), len(result.regressed)) == (1, 10)


def test_a_gated_count_is_a_regression(monkeypatch: pytest.MonkeyPatch) -> None:
    more = CountResult(cell_name(), "write_calls", "", 1, 2, 1.0, 0.002, MORE)
    shown = CountResult(cell_name(), "write_calls", "", 1, 2, 1.0, 0.2, NOT_GATED)
    quiet = run_of(cell(noisy(4, cv=0.001)))
    for count, code in ((more, 1), (shown, 0)):
        monkeypatch.setattr(ab_verdicts, "count_results", lambda _run, c=count: (c,))
        assert judge(quiet).exit_code == code


def test_every_cell_is_in_exactly_one_list() -> None:
    cells = (two_stages(0.1, 0.1), cell(failure=FAILED, name=cell_name("beta")))
    result = judge(run_of(*cells, *many(3, 0.0, cv=0.001)))
    parts = tuple(map(result.of, Verdict))
    assert [len(part) for part in parts] == [1, 0, 3, 0]
    assert result.failed == (result.cells[1],)
