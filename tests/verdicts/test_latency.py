"""Percentiles from histograms: compared with samples, and omitted for few samples."""

import bisect
import math
import random
from typing import Any

import pytest

from report.stats import latency

SUB = 128


def edges_up_to(ns: int) -> list[int]:
    """Return the lower edge of each bucket, by walking them; the last is above `ns`."""
    edges = list(range(2 * SUB))
    width = 2
    while edges[-1] <= ns:
        edges += [SUB * width + n * width for n in range(SUB)]
        width *= 2
    return edges


EDGES = edges_up_to(1 << 40)


def bucket_of(ns: int) -> tuple[int, int]:
    """Return (lower, upper) of the bucket."""
    index = bisect.bisect_right(EDGES, ns) - 1
    return EDGES[index], EDGES[index + 1] - 1


def histogram(samples: list[int]) -> Any:
    buckets: dict[int, int] = {}
    for ns in sorted(samples):
        lower = bucket_of(ns)[0]
        buckets[lower] = buckets.get(lower, 0) + 1
    return {
        "count": len(samples),
        "min": min(samples),
        "max": max(samples),
        "sum": sum(samples),
        "buckets": [list(pair) for pair in buckets.items()],
    }


@pytest.mark.parametrize("ns", [0, 1, 255, 256, 257, 511, 512, 1000, 123456, 10**9])
def test_the_edges_are_those_of_the_executable(ns: int) -> None:
    lower, upper = bucket_of(ns)
    assert latency.upper_edge_ns(lower) == upper
    assert upper - lower <= lower / SUB


def test_percentiles_are_the_upper_edge_of_their_bucket() -> None:
    source = random.Random(7)
    samples = [int(source.lognormvariate(8, 1.5)) + 1 for _ in range(120_000)]
    percentiles = latency.percentiles(histogram(samples))
    assert percentiles is not None
    ordered = sorted(samples)
    for name, share in zip(latency.NAMES, (0.5, 0.9, 0.99, 0.999, 0.9999), strict=True):
        exact = ordered[math.ceil(len(samples) * share) - 1]
        assert percentiles.at[name] == min(bucket_of(exact)[1], max(samples)), name
    assert (percentiles.count, percentiles.min_ns, percentiles.max_ns) == (
        len(samples),
        min(samples),
        max(samples),
    )


def test_no_percentile_is_above_the_maximum() -> None:
    percentiles = latency.percentiles(histogram([1000] * 5000))
    assert percentiles is not None
    assert percentiles.at["p50"] == 1000  # the bucket ends at 1003


@pytest.mark.parametrize(
    ("count", "names"),
    [
        (19, []),
        (20, ["p50"]),
        (99, ["p50"]),
        (100, ["p50", "p90"]),
        (999, ["p50", "p90"]),
        (1000, ["p50", "p90", "p99"]),
        (9_999, ["p50", "p90", "p99"]),
        (10_000, ["p50", "p90", "p99", "p99.9"]),
        (99_999, ["p50", "p90", "p99", "p99.9"]),
        (100_000, ["p50", "p90", "p99", "p99.9", "p99.99"]),
    ],
)
def test_fewer_than_ten_samples_above_suppress(count: int, names: list[str]) -> None:
    percentiles = latency.percentiles(histogram([50] * count))
    assert percentiles is not None
    assert [name for name, ns in percentiles.at.items() if ns is not None] == names


def test_lines_without_latencies_have_none() -> None:
    assert latency.percentiles(None) is None
    nothing: Any = {"count": 0, "min": 0, "max": 0, "sum": 0, "buckets": []}
    assert latency.percentiles(nothing) is None


def test_a_percentile_of_several_repetitions_is_their_median_with_a_spread() -> None:
    repetitions = [histogram([ns] * 999 + [10 * ns]) for ns in (1000, 1100, 1300)]
    percentiles = latency.percentiles(*repetitions)
    assert percentiles is not None
    each = [latency.percentiles(one) for one in repetitions]
    values = [one.at["p50"] for one in each if one]
    assert percentiles.at["p50"] == values[1]
    assert percentiles.spread["p50"] == pytest.approx((1300 - 1000) / 1100, rel=0.02)
    assert (percentiles.count, percentiles.min_ns, percentiles.max_ns) == (
        *(3000, 1000, 13000),
    )
    alone = latency.percentiles(repetitions[0])
    assert alone is not None and alone.spread == {}


def test_a_percentile_that_one_repetition_cannot_have_is_left_out() -> None:
    many, few = histogram([1000] * 2000), histogram([1000] * 200)
    both = latency.percentiles(many, few)
    assert both is not None
    assert both.at["p90"] is not None
    assert both.at["p99"] is None
    assert latency.percentiles(None, None) is None
