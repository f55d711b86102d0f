"""Medians, extremes, noise, and the titles of benchmarks."""

import pytest

from report.stats import repetition_stats
from report.stats.repetition_stats import Summary
from report.terms import titles


def test_a_summary_is_the_median_and_the_extremes() -> None:
    assert repetition_stats.summarize([3.0, 1.0, 2.0]) == Summary(2.0, 1.0, 3.0, 3)
    assert repetition_stats.summarize([1.0, 2.0]) == Summary(1.5, 1.0, 2.0, 2)
    assert repetition_stats.summarize([]) is None


def test_the_spread_is_relative_to_the_median() -> None:
    assert Summary(100.0, 95.0, 105.0, 3).spread == pytest.approx(0.1)


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
