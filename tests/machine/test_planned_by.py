"""The commit that a run names: the one that planned it, whoever continues it."""

import json
from pathlib import Path

import pytest

from scripts.machine.checkout import harness_of
from scripts.measure import runner
from tests.fleet.many_machines import make_site, merge, plan_of, three_shards
from tests.places import ROOT
from tests.support.lab import Lab, make_lab
from tests.support.resealed import edit_plan


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    lab = make_lab(tmp_path)
    lab.scenario(benchmarks=("fillseq", "readrandom"))
    lab.suite()
    lab.engine("one", "honest")
    return lab


def planned_by(monkeypatch: pytest.MonkeyPatch, commit: str | None) -> None:
    """Let every new plan name this commit."""
    harness = {"commit": commit, "dirty": None if commit is None else False}
    monkeypatch.setattr(runner, "harness_of", lambda _root: harness)


def test_a_run_keeps_the_commit_that_planned_it(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    planned_by(monkeypatch, "a" * 40)
    assert lab.call("run", "lab", "-n", "1").returncode == 0
    assert lab.plan()["harness"] == {"commit": "a" * 40, "dirty": False}
    lines = lab.measurements.read_text().splitlines(keepends=True)
    for commit, is_told in (("a" * 40, False), ("b" * 40, True), (None, True)):
        lab.measurements.write_text("".join(lines[:-1]))
        planned_by(monkeypatch, commit)
        done = lab.call("resume", "@last")
        assert done.returncode == 0, done.stderr
        assert ("planned by commit aaaa" in done.stderr) == is_told
        assert lab.plan()["harness"]["commit"] == "a" * 40
    edit_plan(lab.run_folder, lambda plan: plan.pop("harness"))
    assert "planned by" not in lab.call("resume", "@last").stderr


def test_an_ab_run_names_the_commit_that_planned_it(lab: Lab) -> None:
    sides = ("--aa", "--a", str(lab.root / "build"), "--no-counts")
    assert lab.call("ab", "lab", *sides).returncode == 0
    plan = json.loads((lab.run_folder / "ab.json").read_text())
    assert plan["harness"] == harness_of(ROOT)


def test_a_merged_run_names_a_commit_only_if_it_planned_every_shard(
    tmp_path: Path,
) -> None:
    lab = make_site(tmp_path)
    folders = three_shards(lab)
    assert plan_of(merge(lab, *folders))["harness"] == harness_of(ROOT)
    later = {"commit": "0" * 40, "dirty": False}
    edit_plan(folders[0], lambda plan: plan.update(harness=later))
    assert "harness" not in plan_of(merge(lab, *folders))
