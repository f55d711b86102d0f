"""Leads between the engines of a run: paired by round, with a learnt spread."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.stats import norm

from report.stats import leads
from report.stats.aligned_ranks import Floats
from report.stats.leads import Leads
from tests.statistics.error_rates import Rate, rate
from tests.statistics.lead_rates import (
    CELLS,
    CHARTS,
    Field,
    any_winner,
    rates,
    simulated,
)
from tests.statistics.noise_model import Noise
from tests.tiers import simulation

SPREAD = 0.02
SURE = 1000.0  # degrees of freedom


def led(times: list[list[float]], spread: float = SPREAD) -> Leads:
    """Return the leads in one chart whose cells have this spread."""
    return leads.leads(np.array(times), np.full(len(times), spread), SURE)


def test_a_lead_is_the_median_of_the_ratios_of_each_round() -> None:
    paired = led([[0.0, 1.0, 2.0], [0.1, 1.2, 2.3]])
    assert paired.logs[0, 1] == pytest.approx(0.2)
    assert paired.logs[1, 0] == pytest.approx(-0.2)
    assert paired.significant[0, 1]
    assert not paired.significant[1, 0]
    assert not paired.significant.diagonal().any()


def test_what_all_engines_of_a_round_share_has_no_effect() -> None:
    random = np.random.default_rng(1)
    times = random.normal(size=(4, 7))
    drift = random.normal(size=7)
    spread = np.full(4, SPREAD)
    steady, drifting = (leads.leads(t, spread, SURE) for t in (times, times + drift))
    for name in ("logs", "half_logs", "margins"):
        np.testing.assert_allclose(getattr(steady, name), getattr(drifting, name))
    np.testing.assert_allclose(leads.spreads(times), leads.spreads(times + drift))


def test_slow_repetitions_of_a_rival_make_no_lead() -> None:
    """Two of three are 20 % slower, so its median is, but its fastest is as fast.

    At least two other engines must tell that the rounds were not slow.
    """
    others = [[1.0, 1.0, 1.0], [2.0, 2.0, 2.0], [3.0, 3.0, 3.0]]
    paired = led([[0.0, 0.0, 0.0], [0.0, 0.2, 0.2], *others])
    assert paired.logs[0, 1] == pytest.approx(0.2)
    assert paired.logs[0, 1] > paired.margins[0, 1]
    assert paired.half_logs[0, 1] == pytest.approx(0.1)
    wider = led([[0.0, 0.0, 0.0], [0.0, 0.2, 0.2], *others], spread=0.05)
    assert wider.logs[0, 1] > wider.margins[0, 1]
    assert not wider.significant[0, 1]


def test_a_slow_repetition_of_the_leader_does_not_hide_its_lead() -> None:
    steady = led([[0.0, 0.0, 0.0], [0.1, 0.1, 0.1], [0.2, 0.2, 0.2]])
    once_slow = led([[0.0, 0.5, 0.0], [0.1, 0.1, 0.1], [0.2, 0.2, 0.2]])
    assert steady.significant[0, 1]
    assert once_slow.significant[0, 1]


def test_engines_are_level_if_no_larger_difference_is_possible() -> None:
    paired = led([[0.0] * 9, [0.01] * 9], spread=0.005)
    margin = float(max(paired.margins[0, 1], paired.half_margins[0, 1]))
    assert paired.level(0.0101 + margin)[0, 1]
    assert paired.level(0.0101 + margin)[1, 0]
    assert not paired.level(0.0099 + margin)[0, 1]


def test_margins_shrink_with_the_rounds_and_grow_with_doubt_about_the_spread() -> None:
    def margin(rounds: int, freedom: float) -> float:
        times, spread = np.zeros((2, rounds)), np.full(2, SPREAD)
        return float(leads.leads(times, spread, freedom).half_margins[0, 1])

    assert margin(12, SURE) == pytest.approx(margin(3, SURE) / 2, rel=0.1)
    margins = [margin(rounds, SURE) for rounds in range(2, 32)]
    assert margins == sorted(margins, reverse=True)
    assert margin(3, 2.0) > 2.5 * margin(3, SURE)


def test_the_smallest_lead_is_found_in_four_of_five_cases() -> None:
    contest = Field(engines=2, cv=0.03, noise=Noise(slow=0.0, outliers=False))
    smallest = float(np.median(simulated(1, contest, 100).leads.smallest))
    ahead = float(np.expm1(smallest))
    found, _ = rates(Field(**{**vars(contest), "ahead": ahead}), 100)
    assert 0.74 < found.share < 0.86


@pytest.mark.parametrize("engines", [2, 3, 6])
@pytest.mark.parametrize("rounds", [3, 4, 5, 9, 31])
def test_a_spread_is_the_standard_deviation_of_a_cell(
    engines: int, rounds: int
) -> None:
    logs = np.random.default_rng(1).normal(scale=0.04, size=(20_000, engines, rounds))
    assert float(leads.spreads(logs).mean()) == pytest.approx(0.04, rel=0.08)


def test_one_slow_repetition_hardly_changes_a_spread() -> None:
    logs = np.random.default_rng(1).normal(scale=0.04, size=(20_000, 6, 3))
    before = leads.spreads(logs).mean(axis=0)
    logs[:, 0, 1] += 0.4
    after = leads.spreads(logs).mean(axis=0)
    assert after[0] == pytest.approx(before[0] * 4 / 3, rel=0.1)
    np.testing.assert_allclose(after[1:], before[1:], rtol=0.1)


@pytest.mark.parametrize(
    ("rounds", "low", "high"), [(3, 0.011, 0.02), (31, 0.02, 0.03)]
)
def test_few_repetitions_take_the_spread_of_the_run_and_many_their_own(
    rounds: int, low: float, high: float
) -> None:
    own = np.array([0.03, 0.03])
    assert low < leads.moderated(own, 0.01, rounds)[0] < high
    noisy = leads.moderated(np.array([0.09, 0.01]), 0.01, rounds)
    assert noisy[0] > noisy[1] > 0.01


def test_the_approximate_variances_are_right() -> None:
    """With odd counts within 2 %; even ones have less variance than assumed."""
    random = np.random.default_rng(1)
    for count in (3, 4, 5, 6, 9, 15, 31):
        drawn = np.sort(random.standard_normal((50_000, count)), axis=-1)
        spread = np.ones(2)
        paired = leads.leads(np.zeros((2, count)), spread, 1e9)
        of_median = paired.margins[0, 1] / norm.isf(leads.MEDIAN_ALPHA)
        of_half = paired.half_margins[0, 1] / norm.isf(leads.ALPHA)
        half = drawn[:, : count // 2 + 1].mean(axis=1)
        _assert_near(np.median(drawn, axis=1), float(of_median), count)
        _assert_near(half, float(of_half), count)


def _assert_near(drawn: Floats, deviation_of_two: float, count: int) -> None:
    ratio = float(drawn.std()) / (deviation_of_two / np.sqrt(2))
    assert (0.97 if count % 2 else 0.9) < ratio < 1.02


def test_equal_engines_have_no_winner() -> None:
    """The bar is 1 % of the charts; the old rule, without a control, had 9 %."""
    for cv in (0.02, 0.1, CHARTS):
        assert any_winner(Field(cv=cv), 100).share <= 0.01


def test_a_tenth_is_found_in_three_repetitions() -> None:
    assert rates(Field(cv=0.03, ahead=0.1), 100)[0].share >= 0.75


@simulation
@pytest.mark.parametrize("repetitions", [3, 4, 5, 6, 7, 9, 11, 15, 21, 31])
@pytest.mark.parametrize("cv", [0.02, 0.03, 0.05, 0.1, CHARTS, CELLS])
def test_at_most_one_chart_of_equal_engines_in_a_hundred_has_a_winner(
    repetitions: int, cv: float | str
) -> None:
    """1.1 % in the worst case, in which each cell has another noise."""
    contest = Field(repetitions=repetitions, cv=cv)
    most = 0.014 if (repetitions, cv) == (3, CELLS) else 0.01
    found = any_winner(contest, 2400 // repetitions)
    assert found.share - 2 * found.error <= most


@simulation
@pytest.mark.parametrize("repetitions", [3, 4, 5, 7, 9, 15, 31])
@pytest.mark.parametrize("cv", [0.02, 0.05, CELLS])
def test_two_equal_engines_ahead_of_the_others_seldom_have_a_winner(
    repetitions: int, cv: float | str
) -> None:
    """2 % is the nominal rate of both directions."""
    contest = Field(repetitions=repetitions, cv=cv, equal=2)
    assert any_winner(contest, 1200 // repetitions).share <= 0.04
    alone = Field(repetitions=repetitions, cv=cv, engines=2, blocks=1)
    assert any_winner(alone, 2400 // repetitions).share <= 0.045


@simulation
@pytest.mark.parametrize("cv", [0.02, 0.03, 0.05, 0.1, CHARTS, CELLS])
@pytest.mark.parametrize("ahead", [0.05, 0.1, 0.2])
def test_power_does_not_fall_with_the_repetitions(
    cv: float | str, ahead: float
) -> None:
    found: list[Rate] = []
    for repetitions in (3, 4, 5, 6, 7, 9, 11, 15, 21, 31):
        contest = Field(repetitions=repetitions, cv=cv, ahead=ahead)
        found.append(rates(contest, 1200 // repetitions)[0])
    for fewer, more in itertools.pairwise(found):
        error = float(np.hypot(fewer.error, more.error))
        assert more.share >= fewer.share - 3 * error


@simulation
def test_a_tenth_at_three_per_cent_noise_is_found_in_four_of_five_charts() -> None:
    found, other = rates(Field(cv=0.03, ahead=0.1), 1000)
    assert found.share >= 0.8
    assert other.share == 0


@simulation
def test_equal_engines_are_level_only_with_enough_repetitions() -> None:
    level = {
        repetitions: rate(simulated(1, Field(repetitions=repetitions), 40).level(0.05))
        for repetitions in (3, 31)
    }
    assert level[3].share < 0.05 < 0.6 < level[31].share
