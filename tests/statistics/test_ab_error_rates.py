"""False alarms and power of the decision rule, by simulation with fixed seeds.

A rule with the nominal rate exceeds a bound once in 1,000 simulations, by the binomial
distribution for the number of tries.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

from report.model.ab_rule import AbRule
from report.stats import ab_decision
from report.stats.aligned_ranks import Floats, p_slower
from report.stats.shifts import as_log, interval, pairs_for, sigma_log
from report.verdict.ab_verdicts import judge, suspects
from tests.builders.ab_rounds import (
    Rounds,
    cell,
    cell_name,
    rounds_of,
    run_of,
    with_cpu,
)
from tests.statistics.error_rates import (
    Change,
    Measured,
    Rate,
    false_alarms,
    measured,
    outcomes,
    rate,
    recall,
    simulated,
)
from tests.statistics.noise_model import (
    CLEAN,
    DRIFTING,
    PLACED,
    SLOW,
    Noise,
    cells,
    in_rounds,
    one_after_the_other,
)
from tests.tiers import simulation

pytestmark = simulation

CELLS = 2000
CHANGES = 1000
CVS = (0.02, 0.03, 0.05, 0.08)


def bounds(share: float, tries: int) -> tuple[float, float]:
    low, high = binom.interval(0.999, tries, share)
    return low / tries, high / tries


def at_most(counted: Rate, share: float) -> bool:
    return counted.share <= bounds(share, counted.tries)[1]


@pytest.mark.parametrize("noise", [CLEAN, DRIFTING, SLOW])
@pytest.mark.parametrize("cv", CVS)
def test_one_test_of_a_hundred_alerts_where_nothing_is_wrong(
    cv: float, noise: Noise
) -> None:
    """2,000 cells of 30 pairs: 0.35 % to 1.8 %, or less where nearly all is drift."""
    random = np.random.default_rng(int(1000 * cv))
    a, b = in_rounds(random, cells(random, CELLS, 15, cv, noise))
    low, high = bounds(0.01, CELLS)
    assert (low, high) == (0.0035, 0.018)
    alerts = rate(p_slower(a, b) <= 0.01).share
    assert alerts <= high
    # What drifts within a round cancels between two rounds, and that is no error.
    assert alerts >= low or noise is SLOW


def test_the_tail_that_several_suspects_share_is_right_too() -> None:
    random = np.random.default_rng(11)
    a, b = in_rounds(random, cells(random, 10 * CELLS, 15, 0.03))
    for limit in (0.005, 0.002, 0.001):
        assert at_most(rate(p_slower(a, b) <= limit), limit)
        assert rate(p_slower(a, b) <= limit).hits > 0


def test_two_modes_and_coarse_clocks_alert_no_more_often() -> None:
    """Modes 30 % apart cost the power: 5 % is found in a quarter of the cells."""
    random = np.random.default_rng(12)
    times = cells(random, 5 * CELLS, 15, 0.02)
    modes = times + np.where(random.random(times.shape) < 0.5, as_log(0.3), 0.0)
    coarse = np.round(times / 0.02) * 0.02
    for noisy in (modes, coarse):
        p = p_slower(*in_rounds(random, noisy))
        assert at_most(rate(p <= 0.01), 0.01)
        assert rate(p <= 0.01).share > 0.006
    a, b = in_rounds(random, modes)
    assert (
        0.2 < rate(ab_decision.is_slower(a, b + as_log(0.05), AbRule(), 1)).share < 0.3
    )


@pytest.mark.parametrize("cv", [0.02, 0.03, 0.05, None])
def test_one_change_of_a_hundred_alerts_where_nothing_is_wrong(
    cv: float | None,
) -> None:
    """60 cells and 5 engines, 1,000 times: any alert."""
    change = Change(cv=cv)
    alarms = false_alarms(simulated(21, change, CHANGES), change)
    assert alarms.tries == CHANGES
    assert alarms.share <= 0.01


@pytest.mark.parametrize(("engines", "per_engine"), [(1, 1), (1, 2), (2, 3), (1, 12)])
def test_a_small_run_alerts_no_more_often(engines: int, per_engine: int) -> None:
    for cv in (0.03, 0.08):
        change = Change(engines, per_engine, cv=cv)
        assert at_most(false_alarms(simulated(22, change, 4000), change), 0.01)


def test_a_cell_that_is_five_percent_slower_is_found() -> None:
    change = Change(slower_cells=1)
    changes = simulated(23, change, 2 * CHANGES)
    assert recall(changes, change).share >= 0.95
    assert false_alarms(changes, change).share <= 0.01
    assert 970 < changes.pairs.mean() < 1000


def test_processor_time_finds_what_wall_time_cannot() -> None:
    """60 cells, wall time with a CV of 20 %: one is 5 % slower."""
    change = Change(cv=0.2, slower_cells=1)
    changes = simulated(29, change, CHANGES)
    assert recall(changes, change).share >= 0.9
    assert false_alarms(changes, change).share <= 0.01


def test_processor_time_does_not_see_waiting() -> None:
    change = Change(slower_cells=1, only_waits=True)
    assert recall(simulated(28, change, CHANGES), change).share >= 0.94
    hidden = Change(cv=0.2, slower_cells=1, only_waits=True)
    assert recall(simulated(28, hidden, CHANGES), hidden).share < 0.05


def test_slower_cells_are_found_among_cells_of_mixed_noise() -> None:
    """CV 2 to 8 %: cells too noisy for 30 pairs are missed, and raise no alarms.

    Unless processor time, which has a CV of 3 %, shows them.
    """
    change = Change(cv=None, slower_cells=1, only_waits=True)
    changes = simulated(24, change, CHANGES)
    assert 0.76 < recall(changes, change).share < 0.90
    seen = Change(cv=None, slower_cells=1)
    assert recall(simulated(24, seen, CHANGES), seen).share > 0.98
    assert false_alarms(changes, change).share <= 0.01


def test_a_change_without_suspects_costs_little_more_than_the_screen() -> None:
    quiet = Change(cv=0.01, cpu_cv=0.005)
    assert simulated(25, quiet, 100).pairs.mean() < 1.03 * 480


def test_an_engine_that_is_slower_as_a_whole_is_found() -> None:
    for cv in (0.03, 0.05, None):
        whole = Change(cv=cv, slower_cells=12)
        changes = simulated(26, whole, 200)
        assert rate(changes.engines[:, 0]).share >= 0.99
    assert at_most(rate(changes.engines[:, 1:].any(axis=1)), 0.01)
    small = Change(slower_cells=12, effect=0.03)
    assert rate(simulated(27, small, 200).engines[:, 0]).share > 0.8


@pytest.mark.parametrize("rounds", [3, 4, 15])
@pytest.mark.parametrize("cv", [0.02, 0.08])
def test_the_interval_holds_the_truth_as_often_as_it_says(
    cv: float, rounds: int
) -> None:
    """At least 95 %, since few labellings only allow a higher level."""
    random = np.random.default_rng(rounds)
    a, b = in_rounds(random, cells(random, CELLS, rounds, cv))
    low, high = interval(a, b + as_log(0.05), 0.95)
    held = rate((low <= as_log(0.05)) & (as_log(0.05) <= high)).share
    least, most = bounds(0.95, CELLS)
    assert least <= held <= (most if rounds == 15 else 0.99)


@pytest.mark.parametrize("cv", CVS)
@pytest.mark.parametrize("noise", [CLEAN, DRIFTING])
def test_as_many_pairs_as_planned_find_what_was_planned(
    cv: float, noise: Noise
) -> None:
    random = np.random.default_rng(31)
    sigma = float(np.median(sigma_log(*in_rounds(random, cells(random, 500, 40, cv)))))
    if noise is CLEAN:
        sigma = cv * np.sqrt(2)
    for effect in (0.03, 0.05, 0.10):
        rounds = -(-pairs_for(sigma, effect) // 2)
        a, b = in_rounds(random, cells(random, 1000, rounds, cv, noise))
        power = rate(p_slower(a, b + as_log(effect)) <= 0.01).share
        # Of 1,000 cells of a true 95 % at least 92.8 % in all but one of 1,000 tries;
        # outliers are worth a round more where there are six only.
        assert power >= (0.928 if rounds > 6 else 0.88)


def test_measuring_one_side_after_the_other_fails_what_rounds_pass() -> None:
    """The same times, and the same test of them: the order makes the alarms."""
    random = np.random.default_rng(41)
    times = cells(random, CELLS, 15, 0.03)
    for limit in (0.01, 0.002):
        interleaved = rate(p_slower(*in_rounds(random, times)) <= limit)
        sequential = rate(p_slower(*one_after_the_other(times)) <= limit)
        assert at_most(interleaved, limit)
        assert sequential.share > 5 * bounds(limit, CELLS)[1]


def _rounds(times: Mapping[str, tuple[Floats, Floats]], at: Any, first: int) -> Rounds:
    """Return the rounds with wall and processor time at an index of simulated times."""
    wall, cpu = (rounds_of(a[at], b[at], first) for a, b in times.values())
    return with_cpu(wall, cpu)


def as_runs(changes: Measured, change: Change, rule: AbRule) -> list[tuple[bool, ...]]:
    """Return what judge() says of the cells of each change, then of its engines."""
    verdicts = []
    rows, columns = np.nonzero(changes.again)
    for row in range(len(changes.again)):
        run_cells = []
        for column in range(change.cells):
            again = np.flatnonzero((rows == row) & (columns == column))
            name = cell_name(
                f"engine{column // change.cells_per_engine}", f"benchmark{column}"
            )
            screen = _rounds(changes.screen, (row, column), 1)
            confirm = tuple(r for i in again for r in _rounds(changes.confirm, i, 5))
            run_cells.append(cell(screen, confirm, name=name))
        run = run_of(*run_cells, rule=rule)
        slower, faster = changes.slower.values(), changes.faster.values()
        assert (
            len(suspects(run).slower)
            == np.any([of[row] for of in slower], axis=0).sum()
        )
        assert (
            len(suspects(run).faster)
            == np.any([of[row] for of in faster], axis=0).sum()
        )
        result = judge(run)
        regressed = {c.name for c in (*result.regressed, *result.regressed_cpu)}
        engines = [e in result.regressed_engines for e in result.engines]
        verdicts.append((*(c.name in regressed for c in run_cells), *engines))
    return verdicts


def test_the_simulated_rule_is_the_rule_of_a_run() -> None:
    rule, change = AbRule(confirm_rounds=6), Change(2, 4, slower_cells=5, cv=0.05)
    changes = measured(np.random.default_rng(51), change, 12, rule)
    expected = outcomes(changes, change, rule)
    both = np.concatenate([expected.regressed, expected.engines], axis=1)
    assert as_runs(changes, change, rule) == [tuple(row) for row in both.tolist()]
    assert 5 < expected.regressed.sum() < 60
    assert expected.engines.any()


def test_a_rule_without_a_least_shift_would_alert_more_often() -> None:
    """The minimal size of a change prevents as many alarms as the test."""
    random = np.random.default_rng(61)
    a, b = in_rounds(random, cells(random, 5 * CELLS, 15, 0.02))
    bare = ab_decision.is_slower(a, b, AbRule(least_shift=0.0), 1)
    assert rate(bare).share > 0.005
    assert rate(ab_decision.is_slower(a, b, AbRule(), 1)).share < 0.001


def test_position_effects_within_a_round_raise_no_alarm() -> None:
    """Each side leads one of two rounds, so that both meet every position equally."""
    for cv, engines, per_engine in ((0.01, 5, 12), (0.02, 1, 12), (0.03, 1, 12)):
        change = Change(engines, per_engine, cv=cv, noise=PLACED)
        alarms = false_alarms(simulated(27, change, 500), change)
        assert at_most(alarms, 0.01)
