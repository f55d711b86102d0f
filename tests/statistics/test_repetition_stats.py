"""Medians, intervals, verdicts, ratios, and the digits shown."""

import pytest

from report.stats import repetition_stats
from report.stats.repetition_stats import ChartOutcome, Summary
from report.terms import titles


def verdict(noise: float = 0.0, **rates: list[float]) -> repetition_stats.ChartVerdict:
    summaries = {
        name: repetition_stats.summarize(values) for name, values in rates.items()
    }
    return repetition_stats.verdict(
        {name: s for name, s in summaries.items() if s}, noise
    )


def test_a_summary_is_the_median_and_the_extremes() -> None:
    assert repetition_stats.summarize([3.0, 1.0, 2.0]) == Summary(2.0, 1.0, 3.0, 3)
    assert repetition_stats.summarize([1.0, 2.0]) == Summary(1.5, 1.0, 2.0, 2)
    assert repetition_stats.summarize([]) is None


def test_the_spread_is_relative_to_the_median() -> None:
    assert Summary(100.0, 95.0, 105.0, 3).spread == pytest.approx(0.1)


def test_a_win_needs_separate_intervals() -> None:
    apart = verdict(a=[10, 11, 12], b=[7, 8, 9])
    assert apart == repetition_stats.ChartVerdict(ChartOutcome.WIN, ("a",))
    touching = verdict(a=[10, 11, 12], b=[8, 9, 10])
    assert touching == repetition_stats.ChartVerdict(ChartOutcome.TIE, ("a", "b"))


def test_intervals_that_touch_overlap_in_both_directions() -> None:
    low, high = Summary(1.5, 1.0, 2.0, 3), Summary(2.5, 2.0, 3.0, 3)
    assert low.overlaps(high)
    assert high.overlaps(low)
    above = Summary(2.6, 2.1, 3.0, 3)
    assert not low.overlaps(above)
    assert not above.overlaps(low)


def test_an_outlier_of_the_third_ties_too() -> None:
    tie = verdict(a=[10, 11, 12], b=[7, 8, 9], c=[1, 2, 10.5])
    assert tie == repetition_stats.ChartVerdict(ChartOutcome.TIE, ("a", "c"))


def test_one_repetition_shows_no_win() -> None:
    assert verdict(a=[10], b=[1]).outcome is ChartOutcome.SINGLE
    assert verdict(a=[10, 11], b=[1]).outcome is ChartOutcome.SINGLE


def test_a_single_engine_does_not_win() -> None:
    assert verdict(a=[10, 11, 12]) == repetition_stats.ChartVerdict(
        ChartOutcome.UNCONTESTED, ("a",)
    )
    assert verdict() == repetition_stats.ChartVerdict(ChartOutcome.NONE, ())


def test_a_win_needs_medians_further_apart_than_the_noise() -> None:
    """103 is 3 % more than 100."""
    rates = {"a": [102.5, 103.0, 103.5], "b": [99.5, 100.0, 100.5]}
    assert verdict(0.0299, **rates) == repetition_stats.ChartVerdict(
        ChartOutcome.WIN, ("a",)
    )
    tie = repetition_stats.ChartVerdict(ChartOutcome.TIE, ("a", "b"), within_noise=True)
    assert verdict(0.0301, **rates) == tie


def test_a_tie_of_intervals_is_not_a_tie_of_noise() -> None:
    """The intervals of a and b overlap; that c lies within the noise has no effect."""
    tie = verdict(0.05, a=[102, 103, 104], b=[99, 100, 102.5], c=[101, 101, 101])
    assert tie == repetition_stats.ChartVerdict(
        ChartOutcome.TIE, ("a", "c", "b"), within_noise=False
    )


def test_the_difference_is_that_of_medians_in_either_order() -> None:
    faster, slower = Summary(103.0, 90.0, 120.0, 3), Summary(100.0, 99.0, 101.0, 3)
    assert repetition_stats.difference(faster, slower) == pytest.approx(0.03)
    assert repetition_stats.difference(slower, faster) == pytest.approx(0.03)


@pytest.mark.parametrize(
    ("count", "share"),
    [(1, 1), (2, 2), (9, 9), (10, 9), (11, 10), (18, 17), (19, 18), (20, 18)],
)
def test_the_noise_is_the_90th_percentile_by_nearest_rank(
    count: int, share: int
) -> None:
    differences = [n / 100 for n in range(count, 0, -1)]
    noise = repetition_stats.noise(differences, "A")
    assert noise == repetition_stats.Noise(share / 100, count / 100, count, "A")


def test_without_a_control_there_is_no_noise() -> None:
    assert repetition_stats.noise([], "A") is None


def test_the_geometric_mean_of_a_ratio_and_its_inverse_is_one() -> None:
    assert repetition_stats.geometric_mean([4.0, 0.25]) == pytest.approx(1.0)
    assert repetition_stats.geometric_mean([2.0, 8.0]) == pytest.approx(4.0)
    assert repetition_stats.geometric_mean([]) is None
    assert repetition_stats.geometric_mean([1e300] * 3) == pytest.approx(1e300)


def test_means_are_over_charts_that_all_engines_share() -> None:
    rated = {"a": frozenset("xyz"), "b": frozenset("yz"), "missing": frozenset[str]()}
    assert repetition_stats.shared_charts(rated) == frozenset("yz")
    assert repetition_stats.shared_charts({}) == frozenset()


def test_a_benchmark_knows_its_baseline_twin() -> None:
    twins = {
        "fillseqbatch": "fillseq",
        "fillseqsync": "fillseq",
        "fillrandbatch": "fillrandom",
        "fillrandsync": "fillrandom",
        "fillrandom": "fillrandom",
        "readseq": "readseq",
        "overwrite": "overwrite",
        "fillseq100K": None,
        "fillrand100K": None,
    }
    assert {name: titles.baseline_twin(name) for name in twins} == twins


def test_batches_count_entries() -> None:
    assert titles.unit("fillseqbatch") == "entries/s"
    assert titles.unit("fillseq") == "ops/s"
    assert titles.title("fillseqbatch") == "Sequential writes"
    assert titles.title("anything") == "anything"
