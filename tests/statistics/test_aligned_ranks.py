"""The aligned-rank test against brute force, and its approximation against both."""

import itertools
import math
import statistics

import numpy as np
import pytest

from report.stats import aligned_ranks
from report.stats.aligned_ranks import Floats, p_slower


def noise(
    rounds: int, cells: int, seed: int, shift: float = 0.0
) -> tuple[Floats, Floats]:
    random = np.random.default_rng(seed)
    drift = random.normal(0, 0.05, (cells, rounds, 1))
    both = drift + random.normal(0, 0.03, (2, cells, rounds, 2))
    return both[0], both[1] + shift


def mean_ranks(values: list[float]) -> list[float]:
    return [
        sum(compared_value < value for compared_value in values)
        + (sum(compared_value == value for compared_value in values) + 1) / 2
        for value in values
    ]


def by_brute_force(a: Floats, b: Floats) -> float:
    """Return the p-value from every labelling of every round, enumerated."""
    rounds = [
        [*map(float, a_block), *map(float, b_block)]
        for a_block, b_block in zip(a, b, strict=True)
    ]
    aligned = [
        round(value - statistics.median(four), 11) for four in rounds for value in four
    ]
    ranks = mean_ranks(aligned)
    pairs = list(itertools.combinations(range(4), 2))
    sums = [
        sum(
            ranks[4 * number + place]
            for number, two in enumerate(labels)
            for place in two
        )
        for labels in itertools.product(pairs, repeat=len(rounds))
    ]
    observed = sum(
        ranks[4 * number + place] for number in range(len(rounds)) for place in (2, 3)
    )
    return sum(total >= observed for total in sums) / len(sums)


@pytest.mark.parametrize("rounds", [1, 2, 3, 4])
def test_the_exact_p_is_the_share_of_all_labellings(rounds: int) -> None:
    a, b = noise(rounds, 5, seed=rounds, shift=0.02)
    p = p_slower(a, b)
    expected = [by_brute_force(*cell) for cell in zip(a, b, strict=True)]
    assert p == pytest.approx(expected)
    assert len(set(expected)) > 1


def test_ties_share_their_rank() -> None:
    random = np.random.default_rng(9)
    a, b = random.integers(0, 3, (2, 8, 3, 2)) / 16
    expected = [by_brute_force(*cell) for cell in zip(a, b, strict=True)]
    assert p_slower(a, b) == pytest.approx(expected)


def test_rounding_in_the_logs_does_not_break_a_tie() -> None:
    """0.1 + 0.2 is not 0.3, yet 10 % after 20 % is the same as 30 %."""
    a = np.array([[0.0, 0.3], [0.1, 0.4]])
    b = np.array([[0.1 + 0.2, 0.0], [0.1 + 0.3, 0.1]])
    assert p_slower(a, b) == pytest.approx(by_brute_force(a, b))
    assert p_slower(a, b) == p_slower(b, a)


@pytest.mark.parametrize(("rounds", "error"), [(5, 0.007), (6, 0.005)])
def test_the_approximation_is_near_the_exact_p(
    rounds: int, error: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    a, b = noise(rounds, 60, seed=rounds, shift=0.01)
    monkeypatch.setattr(aligned_ranks, "MOST_LABELLINGS", 6**rounds)
    exact = p_slower(a, b)
    monkeypatch.setattr(aligned_ranks, "MOST_LABELLINGS", 0)
    approximate = p_slower(a, b)
    assert np.abs(exact - approximate).max() < error
    assert exact.min() < 0.05 < 0.5 < exact.max()


def test_the_least_p_is_one_labelling_of_all() -> None:
    a, b = noise(4, 1, seed=1, shift=10.0)
    assert p_slower(a, b) == pytest.approx(6.0**-4)
    assert p_slower(b, a) == pytest.approx(1.0)


def test_drift_between_the_rounds_changes_nothing() -> None:
    a, b = noise(15, 20, seed=3)
    drift = np.linspace(0, 3, 15)[:, None]
    assert p_slower(a + drift, b + drift) == pytest.approx(p_slower(a, b))


def test_without_any_difference_nothing_is_slower() -> None:
    for rounds in (1, 4, 15):
        same = np.full((rounds, 2), math.log(1000))
        assert p_slower(same, same) == 1.0


def test_many_cells_at_once_are_the_cells_one_by_one() -> None:
    a, b = noise(4, aligned_ranks._ROWS + 3, seed=5)
    p = p_slower(a, b)
    for cell in (0, 1, aligned_ranks._ROWS - 1, aligned_ranks._ROWS + 2):
        assert p[cell] == p_slower(a[cell], b[cell])


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ([[0.0, math.nan]], [[0.0, 0.0]]),
        ([[0.0, 0.0]], [[math.inf, 0.0]]),
        ([[0.0, 0.0]], [[0.0, 0.0], [0.0, 0.0]]),
        ([[0.0, 0.0, 0.0]], [[0.0, 0.0, 0.0]]),
        ([0.0, 0.0], [0.0, 0.0]),
        (np.zeros((0, 2)), np.zeros((0, 2))),
    ],
)
def test_invalid_times_are_refused(a: Floats, b: Floats) -> None:
    with pytest.raises(ValueError, match=r"round|finite"):
        p_slower(a, b)


@pytest.mark.parametrize("rounds", [1, 4, 8, 12])
def test_rounds_of_one_and_one_are_a_signed_rank_test(rounds: int) -> None:
    """As of a duet, whose processes measure both sides."""
    d = np.random.default_rng(rounds).normal(0.01, 0.02, rounds)
    weights = 2 * np.argsort(np.argsort(np.abs(d))) + 1
    signs = np.array(list(itertools.product((-1, 1), repeat=rounds)))
    sums, observed = signs @ weights, np.sign(d) @ weights
    p = p_slower(np.zeros((rounds, 1)), d[:, None])
    assert p == pytest.approx((sums >= observed).mean())


def test_the_approximation_is_near_the_exact_p_of_one_and_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    source = np.random.default_rng(5)
    a, b = np.zeros((500, 12, 1)), source.normal(0.2, 1.0, (500, 12, 1))
    exact = p_slower(a, b)
    monkeypatch.setattr(aligned_ranks, "MOST_LABELLINGS", 0)
    assert np.abs(p_slower(a, b) - exact).max() < 0.01
