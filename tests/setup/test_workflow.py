"""The workflows: their rules, and the execution of each step of regressions.yml."""

import re
import subprocess
from pathlib import Path

import pytest

from tests.places import ROOT
from tests.setup.provisioning import put_programs
from tests.setup.recipe_lab import FAST, Repository, repository_in
from tests.support.workflow import FOLDER, Step, blocks, run_step

WORKFLOW = FOLDER / "regressions.yml"
EXAMPLE = ROOT / "tests/out_of_tree/.github/workflows/kvmatrix.yml"
ACTIONLINT = ROOT / "build/consumers/bin/actionlint"


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return repository_in(tmp_path)


def step(name: str, folder: Path, **env: str) -> Step:
    """Run a step of regressions.yml."""
    return run_step(blocks(WORKFLOW)[name], folder, **env)


def test_the_workflows_are_valid() -> None:
    if not ACTIONLINT.exists():
        pytest.skip("actionlint is not there: scripts/setup --test installs it")
    files = [*FOLDER.iterdir(), EXAMPLE]
    result = subprocess.run(
        [ACTIONLINT, *files], cwd=ROOT, capture_output=True, text=True
    )
    assert result.returncode == 0, result.stdout


@pytest.mark.parametrize("name", ["regressions.yml", "engine.yml", "matrix.yml"])
def test_a_workflow_pins_its_actions_and_has_few_permissions(name: str) -> None:
    text = (FOLDER / name).read_text()
    uses = re.findall(r"uses: (.*)", text)
    assert uses
    assert all(re.fullmatch(r"[\w/-]+@[0-9a-f]{40} # v[\d.]+", use) for use in uses)
    assert re.search(r"^permissions:\n  contents: read\n\n", text, re.MULTILINE)
    jobs = text.split("\njobs:\n")[1]
    assert "permissions:" not in jobs
    assert jobs.count("timeout-minutes:") == jobs.count("runs-on:") >= 1
    assert jobs.count("persist-credentials: false") == jobs.count("actions/checkout@")


@pytest.mark.parametrize("name", ["regressions.yml", "engine.yml", "matrix.yml"])
def test_no_expression_is_part_of_a_script(name: str) -> None:
    scripts = blocks(FOLDER / name)
    assert all("${{" not in block for block in scripts.values())
    assert len(scripts) >= 4


def test_the_defaults_of_an_engine_s_workflow_are_arguments(tmp_path: Path) -> None:
    put_programs(
        tmp_path / "kvmatrix/scripts", {"compare-engine": 'printf "<%s>" "$@"'}
    )
    text = (FOLDER / "engine.yml").read_text()
    inputs = dict(re.findall(r" ([\w-]+):\n.*\n +type: .*\n +default: (.*)", text))
    env = {name.upper().replace("-", "_"): of.strip('"') for name, of in inputs.items()}
    env |= {"BASE": "b", "NEW": "n"}
    compared = run_step(
        blocks(FOLDER / "engine.yml")["Build, test, compare"], tmp_path, **env
    )
    assert compared.code == 0
    assert compared.output.endswith("<engine/.><b><n><-->")
    assert "<>" not in compared.output


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


@pytest.mark.parametrize(
    ("event", "env", "expected"),
    [
        ("push", {"BEFORE": "main~1"}, (1, 2)),
        ("push", {"BEFORE": "0" * 40}, (1, 2)),
        ("schedule", {}, (2, 2)),
        ("workflow_dispatch", {"INPUT_BASE": "main~2", "INPUT_NEW": "main~1"}, (0, 1)),
        ("workflow_dispatch", {"INPUT_BASE": "nowhere", "INPUT_NEW": "main"}, None),
        ("workflow_dispatch", {"INPUT_BASE": "--all", "INPUT_NEW": "main"}, None),
    ],
)
def test_each_event_compares_its_commits(
    repository: Repository,
    event: str,
    env: dict[str, str],
    expected: tuple[int, int] | None,
) -> None:
    commits = [repository.commit(kind) for kind in ("honest", "slower", "honest")]
    done = step(
        "Which commits", repository.root, EVENT=event, GITHUB_SHA=commits[2], **env
    )
    if expected is None:
        assert done.code != 0
        assert done.outputs == {}
    else:
        assert done.code == 0, done.output
        assert done.outputs == dict(
            zip(("base", "new"), (commits[i] for i in expected), strict=True)
        )


def test_a_pull_request_is_compared_with_its_target(repository: Repository) -> None:
    forked = repository.commit("honest")
    repository.git("checkout", "--quiet", "-b", "request")
    repository.commit("slower")
    repository.git("checkout", "--quiet", "main")
    # Another commit, later than the base that the event names.
    main = repository.commit("honest")
    strategy = ("--quiet", "--no-ff", "--no-edit", "-X", "theirs")
    repository.git("merge", *strategy, "request")
    merge = repository.git("rev-parse", "HEAD")
    done = step(
        "Which commits",
        repository.root,
        EVENT="pull_request",
        GITHUB_SHA=merge,
        PULL_BASE=forked,
    )
    assert done.code == 0, done.output
    assert done.outputs == {"base": main, "new": merge}


def jobs() -> dict[str, str]:
    """Return the text of each job."""
    parts = re.split(
        r"^  ([\w-]+):\n", WORKFLOW.read_text().split("\njobs:\n")[1], flags=re.M
    )
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def test_manual_runs_do_not_change_the_history_of_main() -> None:
    caching = [name for name, job in jobs().items() if "actions/cache/save@" in job]
    assert caching == ["history", "test-the-gate"]
    for name in caching:
        [condition] = re.findall(
            r"^    if:(?: >-)?((?:.|\n)*?)\n    \w", jobs()[name], re.M
        )
        assert "github.event_name != 'workflow_dispatch'" in condition
    assert "actions/cache@" not in WORKFLOW.read_text()


def test_one_run_at_a_time_writes_the_history_and_none_is_cancelled() -> None:
    job = jobs()["history"]
    assert "group: regressions-history\n      cancel-in-progress: false\n" in job
    assert job.index("cache/restore@") < job.index("Add the run") < job.index("save@")
    others = [text for name, text in jobs().items() if name != "history"]
    assert all("history-${{" not in text for text in others)


def test_entries_of_two_runs_are_both_kept(tmp_path: Path) -> None:
    stored, run = tmp_path / "build/ci/history", tmp_path / "build/run/history"
    done = step("Add the run", tmp_path)
    assert done.code == 0
    assert "::warning::nothing was judged" in done.output
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
    env |= {"FAIL_ON": "regression", "AB_OPTIONS": "--seed 7  -k */*/fillrandom"}
    done = step("Compare", repository.root, BASE=base, NEW=new, **env)
    assert done.code == 1, done.output
    assert "::error title=regressed%3A alpha/base/fillrandom::" in done.output
    assert "alpha/base/fillrandom" in summary.read_text()
    [ab_call] = [line for line in repository.log if line.startswith("kvmatrix ab lab")]
    assert "--seed 7 -k */*/fillrandom" in ab_call
    artifacts = repository.root / "build/ci"
    assert len(list((artifacts / "history").glob("*-ab-lab.json"))) == 1
    assert len(list((artifacts / "results").glob("*/report.html"))) == 1
