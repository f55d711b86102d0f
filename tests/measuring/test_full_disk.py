"""A data directory that is full, or will be."""

from pathlib import Path

import pytest

from scripts.measure import result_check
from tests.support.lab import Lab, make_lab


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    lab = make_lab(tmp_path)
    lab.scenario()
    lab.suite()
    return lab


def test_a_full_disk_stops_the_run_and_keeps_it_resumable(lab: Lab) -> None:
    lab.engine("one", "disk_full")
    (lab.data / "free").write_text("0")
    done = lab.call("run", "lab", "-n", "1")
    assert done.returncode == 3
    assert f"no space left in the data directory {lab.data}" in done.stderr
    assert lab.lines() == []
    (lab.data / "free").write_text("1000")
    assert lab.call("resume", "@last").returncode == 0
    assert len(lab.lines()) == 4


def test_a_full_disk_does_not_excuse_lost_data(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    lab.engine("bad", "corrupt")
    monkeypatch.setattr(result_check, "looks_full", lambda *_: True)
    assert lab.call("run", "lab", "-n", "1").returncode == 3
    lost = [x for x in lab.lines() if x["benchmark"] == "fillrandom"]
    assert lost
    for line in lost:
        assert line["status"] == "wrong"
        assert "no error was reported although the disk is full" in line["reason"]


def test_a_disk_too_small_is_refused_with_figures(lab: Lab) -> None:
    lab.engine("one", "honest")
    done = lab.call("run", "lab", "--num", str(10**13))
    assert done.returncode == 2
    assert "PiB" in done.stderr and "free" in done.stderr
    assert "lower --num or the scenario's reads" in done.stderr
    assert list(lab.results.glob("*")) == []
