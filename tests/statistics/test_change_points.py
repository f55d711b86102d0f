"""The steps of a series: where its level changes."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from report.stats import critical_values
from report.stats.change_points import (
    DESPIKED_FROM,
    Step,
    change_points,
    critical,
    despiked,
    largest_t,
)
from tests.statistics.change_point_limits import simulated_critical
from tests.support.effort import Effort, effort

Array = NDArray[np.float64]


def noise(count: int, sigma: float, seed: int = 1) -> Array:
    return np.random.default_rng(seed).normal(0, sigma, count)


def steps(logs_of_times: Array) -> tuple[Step, ...]:
    return change_points((1e5 * np.exp(-logs_of_times)).tolist())


def with_step(logs: Array, start: int, percent: float) -> Array:
    changed = logs.copy()
    changed[start:] += math.log1p(percent / 100)
    return changed


def test_noise_has_no_steps() -> None:
    assert steps(noise(100, 0.02)) == ()


def test_a_slowdown_is_found_where_it_is() -> None:
    (step,) = steps(with_step(noise(80, 0.01), 50, 5))
    assert step.index == 50
    assert step.is_slower
    assert step.rate_change == pytest.approx(-1 + 1 / 1.05, abs=0.01)


def test_a_speedup_is_a_step_too() -> None:
    (step,) = steps(with_step(noise(80, 0.01), 30, -8))
    assert step.index == 30
    assert not step.is_slower
    assert step.rate_change == pytest.approx(1 / 0.92 - 1, abs=0.01)


def test_the_unit_of_the_figures_does_not_matter() -> None:
    figures = np.exp(-with_step(noise(60, 0.01), 40, 6))
    lists = [change_points((figures * scale).tolist()) for scale in (1.0, 1e-9, 1e9)]
    for scaled in lists[1:]:
        assert [step.index for step in scaled] == [step.index for step in lists[0]]


def test_several_steps_are_distinguished() -> None:
    logs = with_step(with_step(with_step(noise(400, 0.01), 90, 5), 200, -9), 330, 4)
    found_steps = steps(logs)
    assert [step.is_slower for step in found_steps] == [True, False, True]
    for step, place in zip(found_steps, (90, 200, 330), strict=True):
        assert abs(step.index - place) <= 1


def test_a_step_that_two_windows_see_is_reported_once() -> None:
    for place in range(40, 160, 7):
        found_steps = steps(with_step(noise(200, 0.01), place, 6))
        assert len(found_steps) == 1
        assert abs(found_steps[0].index - place) <= 1


def test_a_step_below_two_percent_is_not_reported() -> None:
    assert steps(with_step(noise(100, 0.001), 50, 1.8)) == ()
    assert len(steps(with_step(noise(100, 0.001), 50, 2.2))) == 1


def test_every_step_that_is_reported_is_two_percent_or_more() -> None:
    """Also where the means differ by as much and the medians do not."""
    for seed in range(40):
        logs = with_step(with_step(noise(150, 0.012, seed), 60, 1.8), 110, 3)
        assert all(abs(step.log_shift) >= math.log(1.02) for step in steps(logs))


# Found by trying seeds: each first shows a step that later points refute.
@pytest.mark.parametrize("seed", [20, 30, 174, 212])
def test_a_small_step_is_not_reported_next_to_a_large_one(seed: int) -> None:
    logs = np.random.default_rng(seed).normal(0, 0.012, 150)
    logs[60:] += 0.018
    logs[110:] += 0.03
    assert [step.index for step in steps(logs)] == [110]


@pytest.mark.parametrize(("seed", "place"), [(1007, 115), (1113, 173), (2180, 141)])
def test_steps_first_seen_in_the_wrong_place_are_dropped(seed: int, place: int) -> None:
    source = np.random.default_rng(seed)
    logs = source.normal(0, 0.02, 200)
    assert place == int(source.integers(20, 180))
    logs[place:] += 0.05
    assert len(steps(logs)) == 1


def test_both_parts_of_a_window_are_searched() -> None:
    logs = with_step(with_step(with_step(noise(96, 0.01), 24, 6), 48, 6), 72, 6)
    assert [step.index for step in steps(logs)] == [24, 48, 72]


def test_constant_series_have_no_steps() -> None:
    assert change_points([3.0] * 150) == ()
    (step,) = change_points([3.0] * 20 + [2.0] * 20)
    assert (step.index, step.is_slower) == (20, True)


@pytest.mark.parametrize("count", range(4))
def test_too_few_points_have_no_steps(count: int) -> None:
    assert change_points([1.0, 1.0, 0.5][:count]) == ()


@pytest.mark.parametrize("figure", [0.0, -1.0, math.nan, math.inf])
def test_values_without_a_logarithm_are_refused(figure: float) -> None:
    with np.errstate(all="ignore"), pytest.raises(ValueError, match="positive"):
        change_points([1.0, 1.0, figure, 1.0, 1.0])


@pytest.mark.parametrize("length", [DESPIKED_FROM - 1, DESPIKED_FROM, 60, 150])
def test_one_outlier_is_not_a_step(length: int) -> None:
    for place in range(length):
        logs = noise(length, 0.01, seed=length)
        logs[place] += 0.8
        assert steps(logs) == (), place


def test_despiking_leaves_a_step_and_draws_in_a_spike() -> None:
    logs = with_step(noise(60, 0.01), 57, 5)
    assert np.abs(despiked(logs) - logs).max() < 0.03
    logs[20] += 1.0
    assert abs(despiked(logs)[20]) < 0.06


def test_t_is_the_largest_two_sample_t() -> None:
    logs = with_step(noise(17, 0.02), 9, 4)
    largest, place = largest_t(logs)
    by_hand = {}
    for cut in range(2, 16):
        before, after = logs[:cut], logs[cut:]
        squares = np.var(before) * cut + np.var(after) * (17 - cut)
        pooled = squares / 15 * (1 / cut + 1 / (17 - cut))
        by_hand[cut] = abs(before.mean() - after.mean()) / math.sqrt(pooled)
    assert place == max(by_hand, key=lambda cut: by_hand[cut])
    assert largest == pytest.approx(by_hand[int(place)])


@pytest.mark.parametrize("length", [6, 13, 24, 30, 60, 100])
def test_the_limits_can_be_recomputed(length: int) -> None:
    """Within four standard errors of 40,000 draws: 40 of them beyond the limit."""
    source = np.random.default_rng(7)
    drawn = despiked(source.standard_normal((40_000, length)))
    beyond = int((largest_t(drawn)[0] > critical(length)).sum())
    assert abs(beyond - 40) <= 4 * math.sqrt(40)


def test_limits_are_reproducible() -> None:
    assert simulated_critical(8, 20_000, 1) == simulated_critical(8, 20_000, 1)
    assert simulated_critical(8, 200_000, critical_values.SEED) == pytest.approx(
        critical(8), rel=0.03
    )


def test_limits_lie_between_those_of_their_neighbours() -> None:
    assert critical(3) == math.inf
    assert critical(80) < critical(75) < critical(70)
    assert critical(100) == pytest.approx(critical_values.CRITICAL[100])


def test_work_grows_linearly_with_the_points() -> None:
    def work(points: int) -> Effort:
        figures = np.exp(-with_step(noise(points, 0.02), points // 2, 5)).tolist()
        change_points(figures[:200])
        return effort(lambda: change_points(figures))

    half, whole = work(5_000), work(10_000)
    assert whole.calls < 2.5 * half.calls
    assert whole.peak_bytes < 2.5 * half.peak_bytes
    assert whole.calls < 200_000 and whole.peak_bytes < 20_000_000
