"""Two independent samples, against benchstat, SciPy and tables.

The golden values were printed by benchmath.AssumeNothing of golang.org/x/perf
v0.0.0-20260908200009-22c9c6c9d4da, the arithmetic of benchstat.
"""

import itertools
import math
from collections.abc import Sequence

import numpy as np
import pytest
from scipy.stats import mannwhitneyu

from report.stats.unpaired import highest_confidence, unpaired

Sample = Sequence[float]

# Two samples, and benchstat's two-sided p of their difference.
COMPARED: list[tuple[Sample, Sample, float]] = [
    ([100, 101, 102], [103, 104, 105], 0.10000000000000002),
    ([10, 12, 11, 14, 13], [13, 15, 16, 17, 12.5], 0.06349206349206349),
    (
        [100.5, 99.2, 101.7, 98.8, 102.4, 97.9],
        [103.1, 104.7, 101.2, 105.9, 102.8, 106.3],
        0.00865800865800866,
    ),
    ([5, 5, 6, 6, 7, 8], [6, 7, 7, 8, 9, 9], 0.08658008658008658),
    (
        [2.31, 2.44, 2.29, 2.51, 2.38, 2.40, 2.36, 2.47, 2.33, 2.42],
        [2.35, 2.39, 2.45, 2.41, 2.50, 2.37, 2.55, 2.43, 2.48, 2.46],
        0.16549394877568258,
    ),
    ([1, 2, 3, 4], [9, 8, 7, 6, 5, 10, 11], 0.0060606060606060615),
    ([7, 7, 7, 7], [7, 7, 7, 7], 1.0),
]


@pytest.mark.parametrize(("base", "new", "p"), COMPARED)
def test_the_p_is_that_of_benchstat(base: Sample, new: Sample, p: float) -> None:
    interval = unpaired(base, new)
    assert min(1, 2 * min(interval.p_slower, interval.p_faster)) == pytest.approx(p)


@pytest.mark.parametrize(("base", "new"), [(3, 3), (5, 7), (12, 3), (40, 40)])
def test_the_exact_p_is_that_of_scipy(base: int, new: int) -> None:
    random = np.random.default_rng(base)
    first, second = random.lognormal(size=base), random.lognormal(0.3, size=new)
    interval = unpaired(first.tolist(), second.tolist())
    expected = mannwhitneyu(second, first, alternative="greater", method="exact")
    assert interval.p_slower == pytest.approx(expected.pvalue, rel=1e-9)


def test_more_values_take_the_normal_approximation() -> None:
    random = np.random.default_rng(2)
    first, second = random.lognormal(size=(2, 41))
    interval = unpaired(first.tolist(), second.tolist())
    exact = mannwhitneyu(second, first, alternative="greater", method="exact")
    assert interval.p_slower == pytest.approx(exact.pvalue, abs=0.003)
    assert 0.95 <= interval.confidence < 0.952


def test_three_and_three_reach_ninety_percent_only() -> None:
    interval = unpaired([10, 11, 12], [15, 13, 14])
    assert interval.confidence == pytest.approx(0.9)
    assert highest_confidence(3, 3) == pytest.approx(0.9)
    assert interval.p_slower == pytest.approx(1 / 20)
    assert interval.p_faster == 1.0
    assert interval.log_low == pytest.approx(math.log(13 / 12))
    assert interval.log_high == pytest.approx(math.log(15 / 10))


def test_the_shift_is_the_median_of_all_ratios() -> None:
    base, new = [10.0, 11.0, 12.0], [13.0, 14.0, 30.0]
    ratios = sorted(b / a for a, b in itertools.product(base, new))
    assert unpaired(base, new).log_shift == pytest.approx(math.log(ratios[4]))
    assert unpaired(new, base).log_shift == pytest.approx(-math.log(ratios[4]))


@pytest.mark.parametrize(
    ("base", "new", "left_out", "level"),
    # Critical values of U at 2.5 % on each side are 0, 2, 8, 23: any table has them.
    [
        (4, 4, 0, 1 - 2 / 70),
        (5, 5, 2, 1 - 8 / 252),
        (7, 7, 8, None),
        (10, 10, 23, None),
    ],
)
def test_the_interval_leaves_out_what_the_tables_of_u_allow(
    base: int, new: int, left_out: int, level: float | None
) -> None:
    first = np.exp(np.arange(base) * 0.001)
    second = np.exp(1 + np.arange(new) * 0.1)
    differences = sorted(b - a for a in np.log(first) for b in np.log(second))
    interval = unpaired(first.tolist(), second.tolist())
    assert interval.log_low == pytest.approx(differences[left_out])
    assert interval.log_high == pytest.approx(differences[-1 - left_out])
    assert interval.confidence >= 0.95
    if level:
        assert interval.confidence == pytest.approx(level)


def test_the_interval_holds_the_truth_as_often_as_it_says() -> None:
    random = np.random.default_rng(8)
    held = 0
    for _ in range(2000):
        first, second = random.lognormal(sigma=0.1, size=(2, 6))
        interval = unpaired(first.tolist(), (second * 1.05).tolist())
        held += interval.log_low <= math.log(1.05) <= interval.log_high
    # 95.9 % for 6 and 6, within four standard errors.
    assert interval.confidence == pytest.approx(0.9589, abs=1e-4)
    assert 0.94 < held / 2000 < 0.977


@pytest.mark.parametrize("bad", [[], [0.0, 1.0], [-1.0], [math.nan], [math.inf]])
def test_times_that_are_not_positive_are_refused(bad: list[float]) -> None:
    with pytest.raises(ValueError, match=r"sample|positive"):
        unpaired([1.0, 2.0], bad)
    with pytest.raises(ValueError, match=r"sample|positive"):
        unpaired(bad, [1.0, 2.0])
