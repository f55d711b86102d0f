"""The recipe for CI: the workflow, and the scripts that it and people run."""

import os
import re
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.lab import MACHINE, ROOT, Lab

WORKFLOW = ROOT / ".github/workflows/regressions.yml"
ACTIONLINT = ROOT / "build/consumers/bin/actionlint"
SCRIPTS = ("compare-commits", "test-the-gate")

# What a commit's scripts/setup builds: an engine of a kind of fake_drivers/.
_SETUP = """#!/usr/bin/env bash
set -euo pipefail
cd "$(dirname "${{BASH_SOURCE[0]}}")/.."
echo "$PWD $*" >>"{log}"
[[ "$*" == *--python-only* ]] && exit 0
mkdir -p build/release/drivers
{{
  echo '#!{python} -IS'
  echo 'import sys'
  echo 'sys.path.insert(0, "{root}")'
  echo "from tests.fake_drivers import $(<kind), protocol"
  echo "protocol.serve($(<kind).Driver, 'alpha')"
}} >build/release/drivers/db_bench_alpha
chmod +x build/release/drivers/db_bench_alpha
"""
# The command line, on a machine where nothing else happens.
_KVMATRIX = """#!/usr/bin/env bash
set -euo pipefail
verb="$1"
echo "kvmatrix $*" >>"{log}"
export KVMATRIX_CONFIGS_DIR="{lab}/configs" KVMATRIX_DATA_DIR="{lab}/data"
cd "{root}"
exec "{python}" "{machine}" "$@"
"""


@dataclass(frozen=True)
class Repository:
    """A project with the recipe in it, whose commits build engines of their kind."""

    root: Path
    lab: Lab

    def git(self, *words: str) -> str:
        identity = ("-c", "user.name=t", "-c", "user.email=t@example.invalid")
        made = subprocess.run(
            ["git", *identity, *words],
            cwd=self.root,
            check=True,
            capture_output=True,
            text=True,
        )
        return made.stdout.strip()

    def commit(self, kind: str) -> str:
        (self.root / "kind").write_text(f"{kind}\n")
        self.git("add", "-A")
        self.git("commit", "--quiet", "--allow-empty", "-m", kind)
        return self.git("rev-parse", "HEAD")

    def call(
        self, script: str, *words: str, env: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        clean = {k: v for k, v in os.environ.items() if not k.startswith("KVMATRIX_")}
        return subprocess.run(
            [str(self.root / "scripts" / script), *words],
            cwd=self.root,
            env={**clean, **(env or {})},
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )

    def compare(
        self, base: str, new: str, *words: str, env: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        options = ["--suite", "lab", *words, base, new]
        return self.call("compare-commits", *options, "--", *FAST, env=env)

    @property
    def log(self) -> list[str]:
        return (self.lab.root / "log").read_text().splitlines()


FAST = ("--no-counts", "--screen-rounds", "4", "--confirm-rounds", "4")


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    lab = Lab(tmp_path / "lab")
    for folder in ("configs/scenarios", "configs/suites", "build/drivers"):
        (lab.root / folder).mkdir(parents=True)
    lab.engine("alpha", None)
    lab.scenario(benchmarks=("fillseq", "fillrandom"))
    lab.suite()
    root = tmp_path / "project"
    (root / "scripts").mkdir(parents=True)
    for name in SCRIPTS:
        shutil.copy(ROOT / "scripts" / name, root / "scripts" / name)
    places = {
        "log": lab.root / "log",
        "root": ROOT,
        "python": sys.executable,
        "machine": MACHINE,
        "lab": lab.root,
    }
    for name, text in (("setup", _SETUP), ("kvmatrix", _KVMATRIX)):
        path = root / "scripts" / name
        path.write_text(text.format(**places))
        path.chmod(0o755)
    (root / ".gitignore").write_text("/build/\n/results/\n")
    made = Repository(root, lab)
    made.git("init", "--quiet", "--initial-branch=main")
    return made


def test_a_slower_commit_is_found_and_kept_in_the_history(
    repository: Repository,
) -> None:
    base, new = repository.commit("honest"), repository.commit("slower")
    found = repository.compare("HEAD~1", "HEAD")
    assert found.returncode == 1, found.stderr
    assert "regressed  alpha/base/fillrandom" in found.stdout
    assert f"{base[:12]} (side a), with {new[:12]} (side b)" in found.stdout
    [entry] = (repository.root / "results/history").iterdir()
    assert f'"label": "{new[:12]}"' in entry.read_text()
    report = re.search(r"^report +(.*)$", found.stderr, re.MULTILINE)
    assert report
    assert Path(report[1]).is_file()


def test_each_commit_is_built_by_its_own_set_up_in_paths_of_one_length(
    repository: Repository,
) -> None:
    base, new = repository.commit("honest"), repository.commit("honest")
    assert repository.compare(base, new).returncode == 0
    trees = repository.root / "build/commits"
    set_up = [line for line in repository.log if "--quiet" in line][:3]
    assert set_up == [
        f"{repository.root} --quiet --python-only",
        f"{trees / base} --quiet",
        f"{trees / new} --quiet",
    ]
    assert repository.git("status", "--porcelain") == ""


def test_it_can_be_repeated(repository: Repository) -> None:
    base, new = repository.commit("honest"), repository.commit("slower")
    for _ in range(2):
        assert repository.compare(base, new, "--no-history").returncode == 1
    assert not (repository.root / "results/history").exists()


def test_a_commit_against_itself_is_measured_as_one_build(
    repository: Repository,
) -> None:
    repository.commit("honest")
    found = repository.compare("HEAD", "HEAD")
    assert found.returncode == 0, found.stderr
    [measured] = [line for line in repository.log if line.startswith("kvmatrix ab")]
    assert " --aa" in measured
    assert "--b " not in measured


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ([], "two commits"),
        (["HEAD"], "two commits"),
        (["HEAD", "HEAD", "HEAD"], "two commits"),
        (["HEAD", "nowhere"], "nowhere is no commit"),
        (["HEAD", "--output=x"], "no option --output"),
        (["--suite"], "needs a value"),
        (["--format", "xml", "HEAD", "HEAD"], "--format xml"),
        (["--fail-on", "always", "HEAD", "HEAD"], "--fail-on always"),
    ],
)
def test_what_makes_no_sense_exits_2_before_anything_is_built(
    repository: Repository, words: list[str], told: str
) -> None:
    repository.commit("honest")
    found = repository.call("compare-commits", *words)
    assert found.returncode == 2
    assert told in found.stderr
    assert not (repository.lab.root / "log").exists()


def test_a_commit_that_does_not_build_exits_2(repository: Repository) -> None:
    repository.commit("honest")
    (repository.root / "scripts/setup").write_text(
        '#!/usr/bin/env bash\n[[ "$*" == *--python-only* ]]\n'
    )
    repository.commit("honest")
    found = repository.compare("HEAD~1", "HEAD")
    assert found.returncode == 2
    assert "does not build" in found.stderr
    assert not (repository.root / "results/history").exists()


def test_a_changed_work_tree_is_not_measured(repository: Repository) -> None:
    base, new = repository.commit("honest"), repository.commit("slower")
    assert repository.compare(base, base).returncode == 0
    (repository.root / "build/commits" / base / "kind").write_text("slower\n")
    found = repository.compare(base, new)
    assert found.returncode == 2
    assert base in found.stderr


def test_nothing_measured_is_no_pass(repository: Repository) -> None:
    repository.commit("honest")
    repository.commit("garbage")
    found = repository.compare("HEAD~1", "HEAD")
    assert found.returncode == 5, found.stderr
    assert "not passed: nothing was judged" in found.stdout
    assert not (repository.root / "results/history").exists()


def test_the_gate_is_tested_with_a_slower_build(repository: Repository) -> None:
    for kind in ("honest", "slower"):
        commit = repository.commit(kind)
        assert repository.compare(commit, commit).returncode == 0
    base, slower = (repository.git("rev-parse", name) for name in ("HEAD~1", "HEAD"))
    trees = repository.root / "build/commits"
    builds = ["--suite", "lab", "--a", str(trees / base), "--b"]
    works = repository.call("test-the-gate", *builds, str(trees / slower), "--", *FAST)
    assert works.returncode == 0, works.stderr
    assert works.stderr.count("ok    ") == 3
    blind = repository.call("test-the-gate", *builds, str(trees / base), "--", *FAST)
    assert blind.returncode == 1
    assert "FAIL  a tenth more work: exit 0 instead of 1" in blind.stderr
    absent = repository.call("test-the-gate", *builds, "nowhere", "--", *FAST)
    assert absent.returncode == 2


@pytest.mark.parametrize("script", SCRIPTS)
def test_scripts_tell_what_they_do(script: str) -> None:
    found = subprocess.run(
        [ROOT / "scripts" / script, "--help"], capture_output=True, text=True
    )
    assert found.returncode == 0
    assert found.stdout.startswith(f"usage: scripts/{script} ")
    assert max(len(line) for line in found.stdout.splitlines()) <= 88


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
