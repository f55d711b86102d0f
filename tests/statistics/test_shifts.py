"""The size of a change, its interval, its noise, and the pairs that it needs."""

import math

import numpy as np
import pytest

from report.stats import shifts
from report.stats.aligned_ranks import Floats, p_slower
from report.stats.shifts import interval, pairs_for, sigma_log, smallest_effect


def noise(rounds: int, cells: int = 1, seed: int = 1) -> tuple[Floats, Floats]:
    a, b = np.random.default_rng(seed).normal(0, 0.03, (2, cells, rounds, 2))
    return a, b


def test_the_shift_is_the_median_of_the_differences_within_rounds() -> None:
    a = np.array([[0.0, 0.01], [5.0, 5.02]])
    b = np.array([[0.05, 0.06], [5.05, 5.09]])
    differences = [0.05, 0.04, 0.06, 0.05, 0.05, 0.03, 0.09, 0.07]
    assert shifts.shift(a, b) == pytest.approx(np.median(differences))
    assert shifts.shift(b, a) == pytest.approx(-np.median(differences))


def test_an_outlier_in_four_moves_a_shift_little() -> None:
    a, b = np.zeros((4, 2)), np.full((4, 2), 0.05)
    b[0, 0], b[2, 1] = 0.5, 0.4
    assert shifts.shift(a, b) == pytest.approx(0.05)


def test_shares_and_logs_are_each_others_inverse() -> None:
    assert shifts.as_log(0.05) == pytest.approx(math.log(1.05))
    assert shifts.as_share(shifts.as_log(0.05)) == pytest.approx(0.05)


@pytest.mark.parametrize("rounds", [3, 4, 5, 6, 15])
def test_the_interval_is_what_the_test_does_not_reject(rounds: int) -> None:
    a, b = noise(rounds, 40, seed=rounds)
    low, high = (bound[:, None, None] for bound in interval(a, b, 0.95))
    assert (p_slower(a, b - (low - 1e-6)) <= 0.025).all()
    assert (p_slower(a, b - (low + 1e-6)) > 0.025).all()
    assert (p_slower(b - (high + 1e-6), a) <= 0.025).all()
    assert (p_slower(b - (high - 1e-6), a) > 0.025).all()
    estimate = shifts.shift(a, b)
    assert ((low[:, 0, 0] < estimate) & (estimate < high[:, 0, 0])).all()


def test_an_interval_is_mirrored_with_the_sides_and_shifts_with_b() -> None:
    a, b = noise(15)
    low, high = interval(a, b, 0.95)
    turned = interval(b, a, 0.95)
    assert np.array(turned) == pytest.approx(np.array([-high, -low]))
    moved = interval(a, b + 0.5, 0.95)
    assert np.array(moved) == pytest.approx(np.array([low, high]) + 0.5)


def test_more_confidence_is_a_wider_interval() -> None:
    a, b = noise(15)
    widths = [np.subtract(*interval(a, b, level)).item() for level in (0.8, 0.95, 0.99)]
    assert widths == sorted(widths, reverse=True)


def test_the_bounds_are_inside_one_extreme_difference_of_three_rounds() -> None:
    """3 rounds have 216 labellings: 5 of them on a side are 2.3 %."""
    a, b = noise(3)
    low, high = interval(a, b, 0.95)
    differences = (b[..., None, :] - a[..., :, None]).ravel()
    assert differences.min() < low < high < differences.max()


def test_too_few_rounds_have_no_interval() -> None:
    for rounds, bounded in ((1, False), (2, False), (3, True)):
        low, high = interval(*noise(rounds), 0.95)
        assert np.isfinite([low, high]).all() == bounded
    low, _ = interval(*noise(2), 0.94)
    assert np.isfinite(low).all()


def test_without_noise_the_interval_is_the_shift() -> None:
    a = np.zeros((15, 2))
    for change in (0.0, 0.05):
        low, high = interval(a, a + change, 0.95)
        assert low == pytest.approx(change, abs=1e-9)
        assert high == pytest.approx(change, abs=1e-9)
        assert low <= high


def test_sigma_is_that_of_a_pair_and_ignores_outliers() -> None:
    a, b = np.random.default_rng(4).normal(0, 0.03, (2, 4000, 2))
    assert sigma_log(a, b) == pytest.approx(0.03 * math.sqrt(2), rel=0.05)
    b[:400] += 3
    assert sigma_log(a, b) == pytest.approx(0.03 * math.sqrt(2), rel=0.2)


def test_sigma_is_about_the_shift_not_about_zero() -> None:
    a, b = noise(15)
    assert sigma_log(a, b + 1) == pytest.approx(sigma_log(a, b))


def test_sigma_needs_three_pairs() -> None:
    assert np.isnan(sigma_log(*noise(1))).all()
    assert np.isfinite(sigma_log(*noise(2))).all()


def smallest(
    sigma: float, pairs: int, alpha: float = 0.01, least: float = 0.0
) -> float:
    effect = smallest_effect(sigma, pairs, alpha, least)
    assert effect is not None
    return effect


def test_pairs_and_the_smallest_effect_are_each_others_inverse() -> None:
    for sigma in (0.02, 0.05, 0.1):
        pairs = pairs_for(sigma, 0.05)
        assert smallest(sigma, pairs) <= 0.05 < smallest(sigma, pairs - 1)


def test_noise_a_small_effect_and_a_strict_test_cost_pairs() -> None:
    assert pairs_for(0.03, 0.05) < pairs_for(0.06, 0.05)
    assert pairs_for(0.03, 0.05) < pairs_for(0.03, 0.03)
    assert pairs_for(0.03, 0.05) < pairs_for(0.03, 0.05, alpha=0.001)
    assert pairs_for(0.0, 0.05) == 9


def test_an_estimate_must_also_reach_the_least_shift() -> None:
    assert smallest(0.0, 30, least=0.025) == pytest.approx(0.025)
    assert smallest(0.01, 30, least=0.025) > smallest(0.01, 30)
    assert smallest(0.1, 30, least=0.025) == smallest(0.1, 30)


def test_outliers_alone_can_hide_any_effect_of_few_pairs() -> None:
    assert smallest_effect(0.01, 8) is None
    assert smallest(0.01, 8, alpha=0.2) < 0.03


def test_the_shift_of_rounds_of_one_and_one_is_that_of_hodges_and_lehmann() -> None:
    """The median of the means of any two differences, each with itself too."""
    a, b = np.zeros((3, 1)), np.array([[0.01], [0.03], [0.11]])
    assert shifts.shift(a, b) == pytest.approx((0.03 + 0.06) / 2)


def test_six_rounds_of_one_and_one_have_an_interval() -> None:
    """Fewer cannot reject anything: the least p is 2 to the power of minus rounds."""
    a, b = np.zeros((6, 1)), np.arange(1.0, 7.0)[:, None]
    low, high = shifts.interval(a, b, 0.95)
    assert [float(low), float(high)] == pytest.approx([1.0, 6.0])
    assert np.isnan(shifts.interval(a[1:], b[1:], 0.95)).all()
