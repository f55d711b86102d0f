"""Our detector and Apache Otava's on the same synthetic series.

Skipped where Otava is not installed; scripts/setup --test installs it.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence

import numpy as np
import pytest

from tests.setup.other_programs import otava_steps
from tests.statistics import change_point_rates as rates
from tests.statistics.change_point_rates import NEAR, Noise, gauss, outliers, places

SERIES, POINTS, STEP = 60, 200, 100


def rates_with_step(noise: Noise, shift: float) -> list[list[float]]:
    """Return rates with one step in the middle."""
    logs_of_runs = []
    for number in range(SERIES):
        logs = noise(np.random.default_rng((5, number)), POINTS, 0.03)
        logs[STEP:] += np.log1p(shift)
        logs_of_runs.append(np.exp(-logs).tolist())
    return logs_of_runs


def scores(steps_of_series: Sequence[Sequence[int]]) -> tuple[float, float]:
    """Return recall and precision."""
    hits = sum(any(abs(at - STEP) <= NEAR for at in seen) for seen in steps_of_series)
    return hits / len(steps_of_series), hits / max(1, sum(map(len, steps_of_series)))


def ours(many: Sequence[Sequence[float]]) -> list[list[int]]:
    return [places((-np.log(values)).tolist()) for values in many]


@pytest.mark.slow
@pytest.mark.parametrize("noise", [gauss, outliers])
def test_we_find_as_many_steps_as_otava_with_fewer_false_ones(noise: Noise) -> None:
    many = rates_with_step(noise, 0.05)
    our_recall, our_precision = scores(ours(many))
    recall, precision = scores(otava_steps(many))
    assert recall > 0.4  # Otava found steps
    assert our_recall >= recall - 0.05
    assert our_precision >= precision


@pytest.mark.slow
def test_both_find_a_large_step_in_the_same_place() -> None:
    many = rates_with_step(gauss, 0.2)
    for mine, theirs in zip(ours(many), otava_steps(many), strict=True):
        (place,) = mine
        assert min(abs(place - otava_place) for otava_place in theirs) <= 1


@pytest.mark.slow
def test_otava_reports_more_steps_in_pure_noise() -> None:
    many = rates_with_step(gauss, 0.0)
    assert sum(map(len, ours(many))) <= sum(map(len, otava_steps(many)))


# The level at which Otava has as few false steps in 60 points of normal noise.
EQUAL = 3e-5


@pytest.mark.slow
@pytest.mark.parametrize(
    ("noise", "sigma", "shift"),
    [(gauss, 0.05, 0.1), (outliers, 0.02, 0.05)],
)
def test_at_equal_false_steps_we_are_as_fast(
    noise: Noise, sigma: float, shift: float
) -> None:
    """With outliers Otava still has more of them."""
    mine, theirs = (
        rates.sixty_commits(find, noise, sigma, shift, 20)
        for find in (rates.ours, rates.otava(EQUAL))
    )
    assert mine.any_false <= theirs.any_false + 0.05
    late = statistics.median(mine.delays)
    assert late <= 1.3 * statistics.median(theirs.delays)
