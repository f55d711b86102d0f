"""The steps of regressions.yml, run as GitHub runs them."""

import re
import shutil
from pathlib import Path

import pytest

from tests.places import ROOT
from tests.setup.recipe_lab import FAST, Repository, repository_in
from tests.support.workflow import FOLDER, Step, blocks, jobs, run_step

WORKFLOW = FOLDER / "regressions.yml"


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return repository_in(tmp_path)


def step(name: str, folder: Path, **env: str) -> Step:
    """Run a step of regressions.yml."""
    return run_step(blocks(WORKFLOW)[name], folder, **env)


def test_paths_are_absolute_so_that_work_trees_share_the_cache(tmp_path: Path) -> None:
    places = step("Choose places", tmp_path)
    assert places.code == 0, places.output
    assert places.outputs == {
        "KVMATRIX_CACHE": str(tmp_path / "build/cache"),
        "KVMATRIX_RESULTS_DIR": str(tmp_path / "build/ci/results"),
        "KVMATRIX_HISTORY_DIR": str(tmp_path / "build/ci/history"),
    }
    text = WORKFLOW.read_text()
    assert text.count("path: build/cache\n") == 3
    assert text.count("path: build/ci/history\n") == 3


def test_a_merge_queue_compares_what_it_merges_onto(repository: Repository) -> None:
    base, new = repository.commit("honest"), repository.commit("slower")
    env = {"EVENT": "merge_group", "GITHUB_SHA": new}
    assert step("Which commits", repository.root, **env).code == 2
    done = step("Which commits", repository.root, **env, QUEUE_BASE=base)
    assert done.outputs == {"base": base, "new": new}, done.output


def test_manual_runs_do_not_change_the_history_of_main() -> None:
    caching = [
        name for name, job in jobs(WORKFLOW).items() if "actions/cache/save@" in job
    ]
    assert caching == ["history", "test-the-gate"]
    for name in caching:
        [condition] = re.findall(
            r"^    if:(?: >-)?((?:.|\n)*?)\n    \w", jobs(WORKFLOW)[name], re.M
        )
        assert "github.event_name != 'workflow_dispatch'" in condition


def test_only_one_job_writes_the_history() -> None:
    others = [text for name, text in jobs(WORKFLOW).items() if name != "history"]
    assert all("history-${{" not in text for text in others)


def test_entries_of_two_runs_are_both_kept(tmp_path: Path) -> None:
    shutil.copytree(ROOT / ".ci", tmp_path / ".ci")
    stored, run = tmp_path / "build/ci/history", tmp_path / "build/run/history"
    run.mkdir(parents=True)
    done = step("Add the run", tmp_path)
    assert done.code == 0
    assert "nothing was judged" in done.output
    (stored / "first.json").write_text("1")
    (run / "second.json").write_text("2")
    for _ in range(2):
        done = step("Add the run", tmp_path)
        assert done.code == 0, done.output
        assert sorted(path.name for path in stored.iterdir()) == [
            "first.json",
            "second.json",
        ]
    (run / "first.json").write_text("another")
    done = step("Add the run", tmp_path)
    assert done.code != 0
    assert (stored / "first.json").read_text() == "1"


@pytest.mark.slow
def test_the_steps_compare_two_commits_as_on_a_pull_request(
    repository: Repository,
) -> None:
    base, new = repository.commit("honest"), repository.commit("slower")
    summary = repository.root / "build/summary.md"
    summary.parent.mkdir()
    places = step("Choose places", repository.root)
    # The lab is small and its machine known: options that the step leaves to defaults.
    script = repository.root / "scripts/kvmatrix"
    script.write_text(
        script.read_text().replace(
            '"$@"', '"$@" $([[ "$verb" == ab ]] && echo ' + " ".join(FAST) + ")"
        )
    )
    env = {**places.outputs, "GITHUB_STEP_SUMMARY": str(summary), "SUITE": "lab"}
    env |= {"FAIL_ON": "regression", "AB_OPTIONS": "--seed 7  -k '*/*/fillrandom'"}
    done = step("Compare", repository.root, BASE=base, NEW=new, **env)
    assert done.code == 1, done.output
    assert "::error title=regressed%3A alpha/base/fillrandom::" in done.output
    assert "alpha/base/fillrandom" in summary.read_text()
    [ab_call] = [line for line in repository.log if line.startswith("kvmatrix ab lab")]
    assert "--seed 7 -k */*/fillrandom" in ab_call
    artifacts = repository.root / "build/ci"
    assert len(list((artifacts / "history").glob("*-ab-lab.json"))) == 1
    assert len(list((artifacts / "results").glob("*/report.html"))) == 1
