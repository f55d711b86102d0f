import math

import numpy as np
import pytest
from scipy.stats import t

from report.cells import CellName
from report.regressions.judgement import Verdict
from report.regressions.window import (
    Point,
    Watched,
    center_and_scale,
    judge,
    limit,
    tail,
)
from tests.window_rates import World, measure

CELL = CellName("alpha", "baseline", "fillseq")
# Rates of twelve runs, about 1 % apart.
QUIET = (100, 101, 99.5, 100.4, 98.9, 100.2, 99.7, 101.3, 100.1, 99.2, 100.8, 99.9)


def point(rate: float, run: str = "new", spread: float = 0.002) -> Point:
    return Point(run, rate, rate * (1 - spread), rate * (1 + spread), 3)


def watched(
    new: Point, rates: tuple[float, ...] = QUIET, spread: float = 0.002
) -> Watched:
    found = (point(rate, f"run{i:02}", spread) for i, rate in enumerate(rates))
    return Watched(tuple(found), new)


def verdict(new: Point, rates: tuple[float, ...] = QUIET) -> tuple[Verdict, str]:
    found = judge({CELL: watched(new, rates)}, 0.05)[CELL]
    return found.verdict, found.reason


def test_what_is_far_below_the_last_runs_is_a_regression() -> None:
    assert verdict(point(85))[0] is Verdict.REGRESSED
    assert verdict(point(115))[0] is Verdict.IMPROVED
    assert verdict(point(100))[0] is Verdict.UNCHANGED


def test_a_change_below_the_threshold_is_none_however_sure_it_is() -> None:
    same = (100.0, 100.1, 99.9, 100.05, 99.95, 100.02)
    assert verdict(point(96), same)[0] is Verdict.UNCHANGED
    assert verdict(point(94), same)[0] is Verdict.REGRESSED


def test_a_wide_window_hides_a_change_and_says_how_large_it_must_be() -> None:
    wide = tuple(100 * math.exp(0.08 * (-1) ** i * (1 + i / 12)) for i in range(12))
    found = judge({CELL: watched(point(88), wide)}, 0.05)[CELL]
    assert found.verdict is Verdict.INCONCLUSIVE
    assert "not narrow" in found.reason
    assert found.smallest_effect is not None
    assert found.smallest_effect > 0.3


def test_one_repetition_as_fast_as_ever_is_no_regression() -> None:
    disturbed = Point("new", 80, 79, 100, 3)
    told = verdict(disturbed)
    assert told == (Verdict.INCONCLUSIVE, "its repetitions do not agree")
    many = Point("new", 80, 79, 100, 30)  # their median is not made of outliers
    assert verdict(many)[0] is Verdict.REGRESSED


def test_few_points_predict_nothing() -> None:
    assert judge({CELL: watched(point(50), QUIET[:4])}, 0.05) == {}
    assert CELL in judge({CELL: watched(point(50), QUIET[:5])}, 0.05)


def test_one_outlier_in_the_window_neither_hides_nor_makes_a_regression() -> None:
    rates = (*QUIET[:5], 60.0, *QUIET[6:])
    assert verdict(point(85), rates)[0] is Verdict.REGRESSED
    assert verdict(point(100), rates)[0] is Verdict.UNCHANGED


def with_outliers(*places: int) -> tuple[float, ...]:
    return tuple(60.0 if i in places else rate for i, rate in enumerate(QUIET))


def test_where_a_cells_runs_were_out_of_the_ordinary_too_nothing_is_concluded() -> None:
    assert verdict(point(80), with_outliers(7))[0] is Verdict.REGRESSED
    found = verdict(point(80), with_outliers(3, 7))
    assert found[0] is Verdict.INCONCLUSIVE
    assert "2 of its runs before" in found[1]


def test_the_outliers_of_one_cell_excuse_no_other() -> None:
    names = [CellName("alpha", "baseline", f"read{i}") for i in range(3)]
    cells = {name: watched(point(100)) for name in names}
    cells[names[0]] = watched(point(80))
    cells[names[1]] = watched(point(100), with_outliers(3, 7))
    assert judge(cells, 0.05)[names[0]].verdict is Verdict.REGRESSED


def test_runs_in_which_most_cells_were_slower_count_for_every_cell() -> None:
    names = [CellName("alpha", "baseline", f"read{i}") for i in range(3)]
    cells = {name: watched(point(100), with_outliers(3, 7)) for name in names}
    cells[names[0]] = watched(point(80))
    found = judge(cells, 0.05)[names[0]]
    assert found.verdict is Verdict.INCONCLUSIVE


@pytest.mark.parametrize("start", [5, 6, 7, 8, 9, 10, 11])
def test_a_regression_that_lasts_stays_one(start: int) -> None:
    rates = tuple(rate * (0.5 if i >= start else 1) for i, rate in enumerate(QUIET))
    assert verdict(point(50), rates)[0] is Verdict.REGRESSED
    assert verdict(point(100), rates)[0] is Verdict.UNCHANGED


def test_a_level_that_fills_the_window_is_the_new_normal() -> None:
    assert verdict(point(50), tuple(rate / 2 for rate in QUIET))[0] is Verdict.UNCHANGED


def test_the_limit_grows_with_the_cells_that_are_judged() -> None:
    def smallest(count: int) -> float:
        names = [CellName("alpha", "baseline", f"read{i}") for i in range(count)]
        found = judge({name: watched(point(100)) for name in names}, 0.001)
        effect = found[names[0]].smallest_effect
        assert effect is not None
        return effect

    assert smallest(60) > 1.2 * smallest(1)


def test_equal_figures_are_no_certainty() -> None:
    found = judge({CELL: watched(point(1), (1.0,) * 12)}, 0.05)[CELL]
    assert found.verdict is Verdict.UNCHANGED
    assert 0 < found.p_slower < 1
    assert found.log_low is not None
    assert found.log_low < 0


@pytest.mark.parametrize("count", [5, 7, 9])
@pytest.mark.parametrize("share", [0.05, 0.01, 0.001])
def test_untrimmed_limits_are_close_to_students(count: int, share: float) -> None:
    expected = t.isf(share, count - 1) * math.sqrt(1 + 1 / count)
    assert limit(count, share) == pytest.approx(expected, rel=0.05)


@pytest.mark.parametrize("count", [5, 12, 30])
def test_limits_are_exceeded_as_often_as_they_say(count: int) -> None:
    draws = np.random.default_rng(99).standard_normal((200_000, count + 1))
    center, scale = center_and_scale(draws[:, :-1])
    for share in (0.05, 0.01, 0.002):
        seen = float((draws[:, -1] > center + limit(count, share) * scale).mean())
        error = math.sqrt(share / len(draws))
        assert seen == pytest.approx(share, abs=4 * error + 0.05 * share)


def test_a_tail_is_half_in_the_middle_and_falls() -> None:
    found = [tail(12, times) for times in (0, 1, 3, 6)]
    assert found[0] == pytest.approx(0.5, abs=0.01)
    assert found == sorted(found, reverse=True)


@pytest.mark.slow
# Of 300 runs with one percent of false alarms more than 8 are seen once in 300 times.
@pytest.mark.parametrize(
    "world",
    [World(), World(outliers=0.05), World(noise=0.013, repetitions=0)],
    ids=["noise", "outliers", "ratios"],
)
def test_runs_of_60_cells_are_false_alarms_in_one_of_a_hundred(world: World) -> None:
    assert measure(world, 300).false_alarms * 300 <= 8


@pytest.mark.slow
def test_outliers_without_agreement_would_be_alarms() -> None:
    """The simulation can fail: without repetitions nothing excuses a point."""
    world = World(noise=0.013, repetitions=0, outlying_points=0.001)
    assert measure(world, 300).false_alarms * 300 > 8


@pytest.mark.slow
def test_a_tenth_is_found_in_ratios_of_30_runs() -> None:
    world = World(noise=0.013, repetitions=0, slowdown=0.1, window=30)
    assert measure(world, 40).found >= 0.9
