"""Predictions of growth: intervals that hold, and accuracy where growth is smooth."""

import csv
import math
import random
import statistics
from collections.abc import Callable, Sequence

import pytest

from report.stats.scaling import (
    MEMORY,
    PARTS,
    Prediction,
    SizePoint,
    SizeSample,
    TooFew,
    estimate_repetition,
    predict,
)
from tests.places import ROOT

SIZES = (30_000, 100_000, 300_000)
LOOP = PARTS["loop"]
TENFOLD = 3_000_000
NOISE = 0.04  # of one measurement
Growth = Callable[[int], float]


def linear(num: int) -> float:
    return 0.04 + 2e-6 * num


def n_log_n(num: int) -> float:
    return 1e-7 * num * math.log2(num)


def levels(num: int) -> float:
    """Return the cost of a merge tree, which writes each entry once more per level."""
    return 2e-6 * num * (1 + 0.6 * max(0, math.ceil(math.log10(num * 816 / 8e6))))


def smooth_levels(num: int) -> float:
    return 2e-6 * num * (1 + 0.6 * max(0.0, math.log10(num * 816 / 8e6)))


def power(num: int) -> float:
    return 1e-6 * math.pow(num, 1.15)


def cache_exceeded(num: int) -> float:
    """Return a cost with cache misses from 200,000 entries, each nine times a hit."""
    return num * (1e-6 + 8e-6 * max(0.0, 1 - 2e5 / num))


def measured(
    growth: Growth, rng: random.Random, sizes: Sequence[int] = SIZES
) -> list[SizePoint]:
    return [SizePoint(n, growth(n) * math.exp(rng.gauss(0, NOISE))) for n in sizes]


def trials(growth: Growth, count: int = 40) -> list[tuple[Prediction, float]]:
    """Return predictions for a tenfold size, with the measured values."""
    rng = random.Random(5)
    return [
        (
            predict(measured(growth, rng), TENFOLD, LOOP),
            growth(TENFOLD) * math.exp(rng.gauss(0, NOISE)),
        )
        for _ in range(count)
    ]


GROWTHS = (linear, n_log_n, levels, smooth_levels, power, cache_exceeded)


@pytest.mark.parametrize("growth", GROWTHS)
def test_the_truth_lies_within_the_interval(growth: Growth) -> None:
    predictions = trials(growth)
    inside = sum(p.low <= truth <= p.high for p, truth in predictions)
    assert inside >= 0.9 * len(predictions)


@pytest.mark.parametrize("growth", (linear, n_log_n, smooth_levels, power))
def test_smooth_growth_is_predicted_tenfold_within_half(growth: Growth) -> None:
    for prediction, truth in trials(growth):
        assert 1 / 1.5 < prediction.middle / truth < 1.5


def test_an_interval_can_miss() -> None:
    """Growth that starts above all measured sizes is missed."""

    def late_knee(num: int) -> float:
        return 1e-6 * num * (1 if num <= max(SIZES) else 20)

    assert not any(p.low <= truth <= p.high for p, truth in trials(late_knee, 5))


def test_a_knee_that_was_seen_makes_a_wide_interval() -> None:
    rng = random.Random(1)
    smooth = predict(measured(n_log_n, rng), TENFOLD, LOOP)
    bent = predict(measured(cache_exceeded, rng), TENFOLD, LOOP)
    assert bent.high / bent.low > 4 * smooth.high / smooth.low


def test_more_sizes_and_a_nearer_goal_narrow_the_interval() -> None:
    def width(sizes: Sequence[int], num: int) -> float:
        prediction = predict(measured(n_log_n, random.Random(2), sizes), num, LOOP)
        return prediction.high / prediction.low

    assert width((3000, 10_000, *SIZES), TENFOLD) < width(SIZES, TENFOLD)
    assert width(SIZES, TENFOLD) < width(SIZES, 1_000_000_000)


def test_what_grows_is_distinguished_from_what_does_not() -> None:
    """A cache of 8 MiB and a table of 4 bytes for each entry."""
    fixed = [SizePoint(n, 8e6 * (1 + n % 7 / 1000)) for n in SIZES]
    prediction = predict(fixed, TENFOLD, MEMORY)
    assert prediction.low < 8e6 < prediction.high and prediction.middle < 2 * 8e6
    table = predict([SizePoint(n, 4.0 * n) for n in SIZES], TENFOLD, MEMORY)
    assert table.middle == pytest.approx(4.0 * TENFOLD, rel=0.1)


def test_fewer_than_three_sizes_give_no_prediction() -> None:
    with pytest.raises(ValueError, match="2 sizes measured, at least 3 needed"):
        predict([SizePoint(1000, 1.0), SizePoint(3000, 3.0)] * 9, 10_000, LOOP)
    with pytest.raises(ValueError, match="positive"):
        predict([SizePoint(n, 0.0) for n in SIZES], TENFOLD, LOOP)


def sample(num: int, work: int = 0, loop_s: float = 0.0) -> SizeSample:
    seconds = {"loop": loop_s or num * 2e-6, "rest": 0.05}
    return SizeSample(num, work or num, seconds, 9e6, 120.0 * num)


def test_a_cell_is_the_sum_of_its_parts() -> None:
    samples = [sample(n) for n in SIZES]
    fills = [SizePoint(n, n * 4e-6) for n in SIZES]
    estimate = estimate_repetition(samples, fills, TENFOLD, TENFOLD)
    loop, rest = estimate.seconds["loop"], estimate.seconds["rest"]
    assert estimate.wall_s == loop + rest and "settle" not in estimate.seconds
    assert loop.middle == pytest.approx(6.0, rel=0.15)
    assert estimate.seconds["prepare"].middle == pytest.approx(12.0, rel=0.15)
    assert estimate.disk_bytes and estimate.sizes == SIZES
    assert estimate.disk_bytes.middle == pytest.approx(120.0 * TENFOLD, rel=0.1)


def test_a_loop_grows_with_its_operations_and_not_with_the_database() -> None:
    samples = [sample(n, work=50_000, loop_s=0.1) for n in SIZES]
    estimate = estimate_repetition(samples, (), TENFOLD, 50_000)
    assert estimate.seconds["loop"].middle == pytest.approx(0.1, rel=0.15)
    doubled = estimate_repetition(samples, (), TENFOLD, 100_000)
    assert doubled.seconds["loop"].middle == pytest.approx(0.2, rel=0.15)


def test_larger_sizes_are_ignored() -> None:
    samples = [sample(n) for n in (*SIZES, 10 * TENFOLD)]
    assert estimate_repetition(samples, (), TENFOLD, TENFOLD).sizes == SIZES
    with pytest.raises(
        TooFew, match="3 sizes are needed; measured on this machine: 30,000, 100,000"
    ):
        estimate_repetition(samples, (), 200_000, 200_000)
    with pytest.raises(TooFew, match="measured on this machine: none"):
        estimate_repetition((), (), 200_000, 200_000)


def test_one_more_measurement_is_as_noisy_as_those_before() -> None:
    """The interval is that of one more measurement, not of the mean."""
    rng = random.Random(3)
    points = [
        SizePoint(n, linear(n) * math.exp(rng.gauss(0, 0.3)))
        for n in SIZES
        for _ in "a" * 20
    ]
    prediction = predict(points, 310_000, LOOP)
    assert prediction.high / prediction.low > math.exp(2 * 1.64 * 0.25)


RECORDED = ROOT / "tests/formats/golden/growth.csv"
TIMES = ("loop", "settle", "audit", "rest")


def recorded() -> dict[str, dict[int, SizeSample]]:
    """Return the recorded times by cell and size: 29 cells, six sizes, one machine."""
    sizes_by_cell: dict[str, dict[int, SizeSample]] = {}
    with RECORDED.open() as file:
        for row in csv.DictReader(file):
            num = int(row["num"])
            seconds = {p: float(row[f"{p}_s"]) for p in TIMES if row[f"{p}_s"]}
            sizes = float(row["memory_bytes"]), float(row["disk_bytes"])
            size_sample = SizeSample(num, int(row["work"]), seconds, *sizes)
            sizes_by_cell.setdefault(row["cell"], {})[num] = size_sample
    return sizes_by_cell


@pytest.mark.parametrize(
    "sizes, num",
    [
        ((10_000, 30_000, 100_000, 300_000), 1_000_000),
        ((10_000, 30_000, 100_000), 1_000_000),
        ((3_000, 10_000, 30_000, 100_000), 300_000),
    ],
)
def test_recorded_sizes_are_predicted(sizes: Sequence[int], num: int) -> None:
    """ERROR_RATES.md has the figures; a busy machine made them."""
    factors: dict[str, list[float]] = {"time": [], "memory": [], "disk": []}
    inside = 0
    for cell in recorded().values():
        truth = cell[num]
        estimate = estimate_repetition([cell[n] for n in sizes], (), num, truth.work)
        took = sum(truth.seconds.values())
        inside += estimate.wall_s.low <= took <= estimate.wall_s.high
        pairs = {
            "time": (estimate.wall_s, took),
            "memory": (estimate.memory_bytes, max(truth.memory_bytes or 0, 1 << 20)),
            "disk": (estimate.disk_bytes, max(truth.disk_bytes or 0, 1 << 20)),
        }
        for kind, (prediction, value) in pairs.items():
            assert prediction is not None
            factors[kind].append(math.exp(abs(math.log(prediction.middle / value))))
    assert inside >= 25
    medians = {kind: statistics.median(values) for kind, values in factors.items()}
    assert medians["time"] < 1.35
    assert medians["memory"] < 1.6
    assert medians["disk"] < 1.15
