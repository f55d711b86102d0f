"""The error rates of a comparison of two runs, as in ERROR_RATES.md."""

from __future__ import annotations

from tests.statistics.compare_rates import Pair, called_slower
from tests.tiers import simulation

pytestmark = simulation

PAIRS = 30  # of 60 cells each


def share(pair: Pair, slower: float) -> float:
    return float(called_slower(pair, slower, PAIRS, seed=1).mean())


def test_few_unchanged_cells_are_called_slower_on_a_steady_machine() -> None:
    """2.4 % in 200 pairs of runs; these 30 are within 3 standard errors of runs."""
    assert 0.005 < share(Pair(3, 0.03), 0.0) < 0.05


def test_a_slower_machine_is_taken_for_a_slower_build() -> None:
    """This is why a change must be confirmed: no statistic distinguishes the two."""
    assert share(Pair(3, 0.03, machine=0.03), 0.0) > 0.06
    assert share(Pair(3, 0.03, machine=0.1), 0.0) > 0.4


def test_ten_repetitions_find_a_tenth() -> None:
    assert share(Pair(10, 0.02), 0.1) > 0.9
    assert share(Pair(10, 0.02), 0.0) < 0.02


def test_unchanged_executables_reveal_a_slower_machine() -> None:
    slower = Pair(10, 0.03, machine=0.03)
    pair = Pair(10, 0.03, machine=0.03, unchanged=48)
    assert share(pair, 0.0) < 0.1 < share(slower, 0.0)
    assert share(pair, 0.1) > 0.9
