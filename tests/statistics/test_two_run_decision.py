"""The rule of a comparison of two runs: changed, unchanged or inconclusive."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest

from report.model.judgement import Verdict
from report.stats.two_run_decision import (
    Limits,
    beyond_unchanged,
    judge,
    repetitions_for,
)
from tests.builders.two_runs import scaled


@pytest.mark.parametrize(
    ("base", "new", "verdict"),
    [
        (scaled(1), scaled(0.9), Verdict.REGRESSED),
        (scaled(1), scaled(1 / 0.9), Verdict.IMPROVED),
        (scaled(1), scaled(0.97), Verdict.UNCHANGED),
        (scaled(1), scaled(1 / 0.97), Verdict.UNCHANGED),
        (scaled(1), scaled(1), Verdict.UNCHANGED),
        ([1e5] * 3, [1e5] * 3, Verdict.UNCHANGED),
        # 5 % more time is 4.76 % fewer operations: the two sides of the limit.
        ([1e5] * 3, [1e5 / 1.0501] * 3, Verdict.REGRESSED),
        ([1e5] * 3, [1e5 / 1.0499] * 3, Verdict.UNCHANGED),
        # The interval reaches into 2 %: a large change that is uncertain.
        (scaled(1, 0.03), scaled(0.93, 0.03), Verdict.INCONCLUSIVE),
        (scaled(1, 0.06), scaled(1, 0.06), Verdict.INCONCLUSIVE),
        # The interval lies beyond 2 %, and the change is not of 5 %.
        (scaled(1, 0.006), scaled(0.96, 0.006), Verdict.INCONCLUSIVE),
    ],
)
def test_the_verdict_needs_the_size_and_the_interval(
    base: Sequence[float], new: Sequence[float], verdict: Verdict
) -> None:
    assert judge(base, new).verdict is verdict


def test_a_change_within_the_noise_of_the_runs_is_inconclusive() -> None:
    judgement = judge(scaled(1), scaled(0.9), noise=0.12)
    assert judgement.verdict is Verdict.INCONCLUSIVE
    assert "noise of these runs: 12 %" in judgement.reason
    assert judge(scaled(1), scaled(0.9), noise=0.11).verdict is Verdict.REGRESSED


@pytest.mark.parametrize(("counts", "level"), [((1, 1), 0.0), ((2, 2), 2 / 3)])
def test_too_few_repetitions_have_no_verdict(
    counts: tuple[int, int], level: float
) -> None:
    judgement = judge(scaled(1, count=counts[0]), scaled(0.5, count=counts[1]))
    assert judgement.verdict is Verdict.INCONCLUSIVE
    assert judgement.confidence == pytest.approx(level)
    both = f"{counts[0]} and {counts[1]}"
    needed = f"for an interval of 90 %: {both}, but 3 and 3 are needed"
    assert needed in judgement.reason


def test_three_repetitions_allow_90_percent_and_four_allow_95() -> None:
    assert judge(scaled(1), scaled(0.9)).confidence == pytest.approx(0.9)
    more = judge(scaled(1, count=4), scaled(0.9, count=4))
    assert more.confidence == pytest.approx(1 - 2 / math.comb(8, 4))
    assert repetitions_for(0.95) == 4
    strict = Limits(least_confidence=0.95)
    assert judge(scaled(1), scaled(0.9), limits=strict).verdict is Verdict.INCONCLUSIVE


def test_an_inconclusive_cell_says_how_many_repetitions_would_tell() -> None:
    wide = judge(scaled(1, 0.06), scaled(1, 0.06))
    wider = judge(scaled(1, 0.12), scaled(1, 0.12))
    assert wide.pairs_needed is not None and wider.pairs_needed is not None
    assert 3 < wide.pairs_needed < wider.pairs_needed
    needed = wide.pairs_needed
    assert needed == 100 or f"about {needed} repetitions per run" in wide.reason


def test_a_lower_threshold_takes_the_margin_with_it() -> None:
    small = Limits(threshold=0.01)
    assert judge(scaled(1), scaled(0.985), limits=small).verdict is Verdict.REGRESSED
    assert judge(scaled(1), scaled(0.985)).verdict is Verdict.UNCHANGED


@pytest.mark.parametrize(
    ("moved", "verdict"),
    [
        ((0.2, 0.2), Verdict.REGRESSED),  # too few to say anything of the machine
        ((0.2, 0.2, 0.2), Verdict.INCONCLUSIVE),
        ((0.2, 0.1, 0.1), Verdict.REGRESSED),  # one of few is chance
        ((0.2, 0.12, 0.0), Verdict.INCONCLUSIVE),
        ((*[0.0] * 18, 0.2, 0.2), Verdict.REGRESSED),
        ((*[0.0] * 17, 0.2, 0.2, 0.2), Verdict.INCONCLUSIVE),
    ],
)
def test_a_change_must_exceed_what_unchanged_executables_moved(
    moved: tuple[float, ...], verdict: Verdict
) -> None:
    judgement = judge(scaled(1), scaled(0.9))  # 11.1 % more time
    assert beyond_unchanged(judgement, moved).verdict is verdict
    same = judge(scaled(1), scaled(1))
    assert beyond_unchanged(same, (0.2, 0.2, 0.2)) == same


def test_sigma_is_of_the_difference_of_two_repetitions() -> None:
    """By hand: logs -d, 0, d have the variance d^2, and a difference twice that."""
    sample = [1e5 * math.exp(-0.02), 1e5, 1e5 * math.exp(0.02)]
    sigma = judge(sample, sample).sigma_log
    assert sigma == pytest.approx(0.02 * math.sqrt(2))
    assert judge([1e5], [1e5]).sigma_log is None
