"""The workflow of the recipe: its rules, and each of its steps executed."""

import os
import re
import subprocess
import textwrap
from pathlib import Path

import pytest

from tests.lab import ROOT
from tests.recipe_lab import FAST, Repository, repository_in

WORKFLOW = ROOT / ".github/workflows/regressions.yml"
ACTIONLINT = ROOT / "build/consumers/bin/actionlint"


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return repository_in(tmp_path)


def blocks() -> dict[str, str]:
    """The run: blocks of the workflow by the name of their step."""
    found, name = {}, ""
    lines = WORKFLOW.read_text().splitlines()
    for index, line in enumerate(lines):
        if match := re.match(r" *- name: (.*)", line):
            name = match[1]
        match = re.match(r"( *)run: (.*)", line)
        if not match or match[1] == "  ":
            continue
        if match[2] != "|":
            found[name] = match[2]
            continue
        indent = len(match[1])
        block = []
        for text in lines[index + 1 :]:
            if text.strip() and len(text) - len(text.lstrip()) <= indent:
                break
            block.append(text)
        found[name] = textwrap.dedent("\n".join(block))
    return found


def step(
    name: str, folder: Path, **env: str
) -> tuple[subprocess.CompletedProcess[str], dict[str, str]]:
    """Runs a block as GitHub does; the result, and what it has put out."""
    outputs = folder / "outputs"
    outputs.write_text("")
    made = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", blocks()[name]],
        cwd=folder,
        env={
            **{k: v for k, v in os.environ.items() if not k.startswith("KVMATRIX_")},
            "HOME": str(folder),
            "GITHUB_WORKSPACE": str(folder),
            "GITHUB_ENV": str(outputs),
            "GITHUB_OUTPUT": str(outputs),
            **env,
        },
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    lines = outputs.read_text().splitlines()
    outputs.unlink()
    return made, dict(line.split("=", 1) for line in lines)


def test_the_workflow_is_valid() -> None:
    if not ACTIONLINT.exists():
        pytest.skip("actionlint is not there: scripts/setup --test installs it")
    found = subprocess.run([ACTIONLINT, WORKFLOW], capture_output=True, text=True)
    assert found.returncode == 0, found.stdout


def test_the_workflow_pins_its_actions_and_may_do_little() -> None:
    text = WORKFLOW.read_text()
    uses = re.findall(r"uses: (.*)", text)
    assert uses
    assert all(re.fullmatch(r"[\w/-]+@[0-9a-f]{40} # v[\d.]+", use) for use in uses)
    assert re.search(r"^permissions:\n  contents: read\n\n", text, re.MULTILINE)
    jobs = text.split("\njobs:\n")[1]
    assert "permissions:" not in jobs
    assert jobs.count("timeout-minutes:") == jobs.count("runs-on:") == 2
    assert jobs.count("persist-credentials: false") == jobs.count("actions/checkout@")


def test_no_expression_is_part_of_a_script() -> None:
    assert all("${{" not in block for block in blocks().values())
    assert len(blocks()) >= 6


def test_places_are_absolute_so_that_every_work_tree_shares_the_cache(
    tmp_path: Path,
) -> None:
    made, places = step("Choose places", tmp_path)
    assert made.returncode == 0, made.stderr
    assert places == {
        "KVMATRIX_CACHE": str(tmp_path / "build/cache"),
        "KVMATRIX_RESULTS_DIR": str(tmp_path / "build/ci/results"),
        "KVMATRIX_HISTORY_DIR": str(tmp_path / "build/ci/history"),
    }
    text = WORKFLOW.read_text()
    assert text.count("path: build/cache\n") == 2
    assert text.count("path: build/ci/history\n") == 2


@pytest.mark.parametrize(
    ("event", "env", "expected"),
    [
        ("pull_request", {"PULL_BASE": "main~2"}, (0, 2)),
        ("push", {"BEFORE": "main~1"}, (1, 2)),
        ("push", {"BEFORE": "0" * 40}, (1, 2)),
        ("schedule", {}, (2, 2)),
        ("workflow_dispatch", {"INPUT_BASE": "main~2", "INPUT_NEW": "main~1"}, (0, 1)),
        ("workflow_dispatch", {"INPUT_BASE": "nowhere", "INPUT_NEW": "main"}, None),
        ("workflow_dispatch", {"INPUT_BASE": "--all", "INPUT_NEW": "main"}, None),
        ("pull_request", {"PULL_BASE": "0" * 40}, None),
    ],
)
def test_what_an_event_compares(
    repository: Repository,
    event: str,
    env: dict[str, str],
    expected: tuple[int, int] | None,
) -> None:
    commits = [repository.commit(kind) for kind in ("honest", "slower", "honest")]
    made, found = step(
        "Which commits", repository.root, EVENT=event, GITHUB_SHA=commits[2], **env
    )
    if expected is None:
        assert made.returncode != 0
        assert found == {}
    else:
        assert made.returncode == 0, made.stderr
        assert found == dict(
            zip(("base", "new"), (commits[i] for i in expected), strict=True)
        )


def test_the_steps_compare_two_commits_as_on_a_pull_request(
    repository: Repository,
) -> None:
    base, new = repository.commit("honest"), repository.commit("slower")
    summary = repository.root / "build/summary.md"
    summary.parent.mkdir()
    _, places = step("Choose places", repository.root)
    # The lab is small and its machine known: what the step leaves to the defaults.
    script = repository.root / "scripts/kvmatrix"
    script.write_text(
        script.read_text().replace(
            '"$@"', '"$@" $([[ "$verb" == ab ]] && echo ' + " ".join(FAST) + ")"
        )
    )
    env = {**places, "GITHUB_STEP_SUMMARY": str(summary)}
    made, _ = step("Compare", repository.root, BASE=base, NEW=new, SUITE="lab", **env)
    assert made.returncode == 1, made.stderr
    assert "::error title=regressed%3A alpha/base/fillrandom::" in made.stdout
    assert "alpha/base/fillrandom" in summary.read_text()
    kept = repository.root / "build/ci"
    assert len(list((kept / "history").glob("*-ab-lab.json"))) == 1
    assert len(list((kept / "results").glob("*/report.html"))) == 1
