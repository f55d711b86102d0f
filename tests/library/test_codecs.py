"""Two builds of which only one has the engine's codec."""

from pathlib import Path

import pytest

from tests.support.lab import make_lab

NOTHING_COMPARED = 5


@pytest.mark.parametrize(
    ("kinds", "side"),
    [
        (("without_codec", "varying_codec"), "a"),
        (("varying_codec", "without_codec"), "b"),
    ],
)
def test_sides_that_store_other_data_are_not_compared(
    tmp_path: Path, kinds: tuple[str, str], side: str
) -> None:
    lab = make_lab(tmp_path)
    lab.scenario(benchmarks=("fillrandom",))
    lab.suite()
    lab.engine("one", kinds[0])
    lab.install("one", kinds[1], "other")
    builds = ("--a", str(lab.root / "build"), "--b", str(lab.root / "other"))
    done = lab.call("ab", "lab", *builds)
    assert done.returncode == NOTHING_COMPARED, done.stderr
    assert f"one was built without snappy on side {side}" in done.stderr
    assert not lab.results.exists()
