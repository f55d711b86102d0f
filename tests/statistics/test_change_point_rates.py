"""Error rates and delays of the detector of steps, by simulation.

The bounds are those of ERROR_RATES.md, with a margin for fewer replicates.  All seeds
are fixed, so that the rates are the same each time.
"""

from __future__ import annotations

import statistics

import pytest

from tests.statistics.change_point_rates import (
    Noise,
    accuracy,
    delays,
    drifting,
    false_alarms,
    gate,
    gauss,
    ours,
    outliers,
    rare_outliers,
    sixty_commits,
)
from tests.tiers import simulation

pytestmark = simulation


@pytest.mark.parametrize(
    ("noise", "per_thousand"), [(gauss, 1.0), (outliers, 5.0), (drifting, 8.0)]
)
def test_false_alarms_are_rare(noise: Noise, per_thousand: float) -> None:
    rate = false_alarms(noise, 0.03, streams=10, length=509)
    assert rate.of == 5000
    assert rate.share * 1000 <= per_thousand


def test_correlated_noise_raises_false_alarms() -> None:
    """The simulation can fail: a level that walks has steps."""
    walk: Noise = lambda source, count, sigma: source.normal(0, sigma, count).cumsum()  # noqa: E731
    assert false_alarms(walk, 0.01, streams=1, length=509).share > 0.01


@pytest.mark.parametrize(
    ("noise", "sigma", "points"),
    [(gauss, 0.013, 4), (gauss, 0.03, 12), (outliers, 0.013, 4), (outliers, 0.03, 14)],
)
def test_five_percent_are_seen_soon(noise: Noise, sigma: float, points: int) -> None:
    delay_points = delays(noise, sigma, 0.05, 60)
    assert statistics.median(delay_points) <= points


def test_ten_percent_are_seen_at_once() -> None:
    assert statistics.median(delays(gauss, 0.03, 0.1, 60)) <= 4


@pytest.mark.parametrize(
    ("noise", "sigma", "shift", "points"),
    [
        (gauss, 0.02, 0.05, 5),
        (gauss, 0.02, 0.1, 2),
        (outliers, 0.02, 0.05, 5),
        (outliers, 0.05, 0.1, 9),
    ],
)
def test_a_step_at_the_thirtieth_of_60_commits_is_seen_soon(
    noise: Noise, sigma: float, shift: float, points: int
) -> None:
    result = sixty_commits(ours, noise, sigma, shift, 60)
    assert statistics.median(result.delays) <= points
    assert result.power >= 0.9
    assert sixty_commits(ours, noise, sigma, 0, 60).false <= 2 / 60


def test_a_step_is_found_and_little_else() -> None:
    for noise in (gauss, outliers):
        recall, precision = accuracy(noise, 0.03, 0.05, 100)
        assert recall.share >= 0.85
        assert precision.share >= 0.85


@pytest.mark.parametrize("sigma", [0.013, 0.03])
def test_a_gate_is_not_failed_by_rare_outliers(sigma: float) -> None:
    """Of 300 runs of which 2.7 % fail, more than 17 do once in 500 times."""
    false, _ = gate(rare_outliers, sigma, 300)
    assert false.found <= 17


def test_a_tenth_is_nominated_within_five_runs() -> None:
    _, power = gate(rare_outliers, 0.03, 40, shift=0.1, late=4)
    assert power.share >= 0.75
