"""kvmatrix plan --measure: sizes chosen by default, and cells it cannot predict."""

from pathlib import Path

import pytest

from scripts.measure.calibration import default_sizes
from tests.support.lab import Lab, make_lab


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    lab = make_lab(tmp_path)
    lab.scenario(benchmarks=("fillrandom",))
    lab.suite()
    return lab


@pytest.mark.parametrize(
    ("num", "sizes"),
    [
        (5_000, (300, 1_000, 3_000)),
        (30_000, (1_000, 3_000, 10_000)),
        (10**9, (10_000, 30_000, 100_000, 300_000)),
        (100, (10, 30)),
    ],
)
def test_the_default_sizes_suffice_for_a_prediction(
    num: int, sizes: tuple[int, ...]
) -> None:
    assert default_sizes(num) == sizes


def test_a_small_size_is_predicted_after_measuring(lab: Lab) -> None:
    lab.engine("one", "honest")
    done = lab.call("plan", "lab", "--num", "1000", "--measure")
    assert done.returncode == 0, done.stderr
    assert len(list((lab.results / "plans").glob("*/run.json"))) == 3
    assert done.stderr.count(" doctor: ") == 1


def test_too_few_sizes_end_with_5_and_do_not_advise_what_was_done(lab: Lab) -> None:
    lab.engine("one", "honest")
    sizes = ("--num", "100", "--sizes", "10,30")
    done = lab.call("plan", "lab", *sizes, "--measure", "-q")
    assert done.returncode == 5
    assert "pass at least 3 sizes below --num with --sizes" in done.stderr
    assert "add --measure" not in done.stderr


def test_a_num_without_three_sizes_below_it_is_refused(lab: Lab) -> None:
    lab.engine("one", "honest")
    done = lab.call("plan", "lab", "--num", "100", "--measure")
    assert done.returncode == 2
    assert "--num 100 is too small for --measure; expected more than 100" in done.stderr


def test_measure_and_from_contradict_each_other(lab: Lab) -> None:
    lab.engine("one", "honest")
    done = lab.call("plan", "lab", "--measure", "--from", "@last")
    assert done.returncode == 2
    assert "--measure: cannot be used with --from" in done.stderr


def test_a_plan_without_an_engine_ends_with_5(lab: Lab) -> None:
    lab.engine("gone", None)
    done = lab.call("plan", "lab", "--num", "1000")
    assert done.returncode == 5
    assert "nothing can be measured; --build-dir" in done.stderr


def test_failed_measurements_end_with_3(lab: Lab) -> None:
    lab.engine("one", "crash")
    done = lab.call("plan", "lab", "--num", "1000", "--measure", "-q")
    assert done.returncode == 3
    assert "1 cell is not predicted: measurements failed" in done.stderr
