"""The scripts of the recipe for CI."""

import os
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from tests.places import ROOT
from tests.setup.provisioning import put_programs
from tests.setup.recipe_lab import FAST, SCRIPTS, Repository, repository_in


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return repository_in(tmp_path)


@pytest.mark.slow
def test_a_slower_commit_is_found_and_kept_in_the_history(
    repository: Repository,
) -> None:
    base, new = repository.commit("honest"), repository.commit("slower")
    result = repository.compare("HEAD~1", "HEAD")
    assert result.returncode == 1, result.stderr
    assert "regressed  alpha/base/fillrandom" in result.stdout
    assert f"{base[:12]} (side a); side b is {new[:12]}" in result.stdout
    [entry] = (repository.root / "results/history").iterdir()
    assert f'"label": "{new[:12]}"' in entry.read_text()
    report = re.search(r"^report +(.*)$", result.stderr, re.MULTILINE)
    assert report
    assert Path(report[1]).is_file()
    steps = [f"Setting up {base}", f"Setting up {new}", "screen 1/4"]
    assert steps == sorted(steps, key=result.stderr.index)
    assert f"trees     {repository.root}/build/commits" in result.stderr


@pytest.mark.slow
def test_each_commit_is_built_by_its_own_set_up_in_paths_of_one_length(
    repository: Repository,
) -> None:
    base, new = repository.commit("honest"), repository.commit("honest")
    assert repository.compare(base, new).returncode == 0
    trees = repository.root / "build/commits"
    set_up = [line.rstrip() for line in repository.log if line[0] == "/"]
    assert set_up == [
        f"{repository.root} --python-only",
        f"{trees / base}",
        f"{trees / new}",
    ]
    assert repository.git("status", "--porcelain") == ""


@pytest.mark.night("scripts/compare-commits", "scripts/test-the-gate", "scripts/ab")
def test_a_comparison_can_be_repeated(repository: Repository) -> None:
    commit = repository.commit("honest")
    for _ in range(2):
        assert repository.compare(commit, commit, "--no-history").returncode == 0
    assert len(list((repository.root / "results").iterdir())) == 2
    assert not (repository.root / "results/history").exists()


@pytest.mark.slow
def test_commits_whose_selected_engines_are_the_same_pass_unmeasured(
    repository: Repository,
) -> None:
    """Whatever else they build: an engine that is not measured cannot be slower."""
    text = (repository.root / "scripts/setup").read_text()
    more = f"{text}git rev-parse HEAD >build/release/drivers/db_bench_other\n"
    (repository.root / "scripts/setup").write_text(more)
    repository.commit("honest")
    repository.commit("honest")
    result = repository.compare("HEAD~1", "HEAD")
    assert (result.returncode, result.stdout) == (0, ""), result.stderr
    assert "nothing is measured" in result.stderr
    assert not [*(repository.root / "results").glob("2*")]


@pytest.mark.slow
def test_a_commit_against_itself_is_measured_as_one_build(
    repository: Repository,
) -> None:
    repository.commit("honest")
    result = repository.compare("HEAD", "HEAD")
    assert result.returncode == 0, result.stderr
    [measured] = [line for line in repository.log if line.startswith("kvmatrix ab lab")]
    assert " --aa" in measured
    assert "--b " not in measured


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "two commits"),
        (["HEAD"], "two commits"),
        (["HEAD", "HEAD", "HEAD"], "but got 3; see --help"),
        (["HEAD", "nowhere"], "nowhere is not a commit"),
        (["HEAD", "--output=x"], "unknown option --output"),
        (["--suite"], "needs a value"),
        (["--format", "xml", "HEAD", "HEAD"], "--format xml"),
        (["--fail-on", "always", "HEAD", "HEAD"], "--fail-on always"),
        (["--minutes", "0", "HEAD", "HEAD"], "--minutes 0"),
        (["--repository", "/", "HEAD", "HEAD"], "HEAD is not a commit of /"),
        (["--repository", "/nowhere", "HEAD", "HEAD"], "/nowhere: no such directory"),
        (["--format=xml", "HEAD", "HEAD"], "--format xml"),
        (["--suite", "", "HEAD", "HEAD"], "is empty"),
        (["--suite=", "HEAD", "HEAD"], "is empty"),
        (["--results-dir=dangling", "HEAD", "HEAD"], "dangling is a link to nothing"),
        (["--build", "", "HEAD", "HEAD"], "is empty"),
        (["--results-dir", "kind/x", "HEAD", "HEAD"], "kind is not a directory"),
        (["--history-dir", "kind", "HEAD", "HEAD"], "kind is not a directory"),
        (["--built", "nowhere", "."], "nowhere: no such file or folder"),
        (["--built", "scripts", "./scripts"], "both"),
    ],
)
def test_invalid_arguments_exit_2_before_the_build(
    repository: Repository, words: list[str], message: str
) -> None:
    (repository.root / "dangling").symlink_to("nowhere")
    repository.commit("honest")
    result = repository.call("compare-commits", *words)
    assert result.returncode == 2
    assert message in result.stderr
    assert not (repository.lab.root / "log").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["HEAD", "HEAD", "--", "--repeat"], "unknown option '--repeat'"),
        (["HEAD", "HEAD", "--", "-e", ""], "is empty"),
        (["--suite", "labs", "HEAD", "HEAD"], "unknown suite 'labs'"),
    ],
)
def test_mistakes_in_options_of_ab_exit_2_before_the_build(
    repository: Repository, words: list[str], message: str
) -> None:
    commit = repository.commit("honest")
    result = repository.call("compare-commits", *words)
    assert result.returncode == 2
    assert message in result.stderr
    assert not (repository.root / "build/commits" / commit).exists()
    assert not (repository.root / "results").exists()


def test_a_commit_that_does_not_build_exits_2(repository: Repository) -> None:
    repository.commit("honest")
    (repository.root / "scripts/setup").write_text(
        '#!/usr/bin/env bash\n[[ "$*" == *--python-only* ]]\n'
    )
    repository.commit("honest")
    result = repository.compare("HEAD~1", "HEAD")
    assert result.returncode == 2
    assert "does not build" in result.stderr
    assert not (repository.root / "results/history").exists()


def test_if_one_commit_does_not_build_the_other_is_built_and_kept(
    repository: Repository,
) -> None:
    setup = repository.root / "scripts/setup"
    builds = setup.read_text()
    setup.write_text("#!/usr/bin/env bash\nexit 1\n")
    base = repository.commit("honest")
    setup.write_text(builds)
    new = repository.commit("honest")
    result = repository.compare(base, new, "--format", "github")
    assert result.returncode == 8
    assert f"commit {base} does not build; it is BASE" in result.stderr
    assert f"::error title=kvmatrix::commit {base} (BASE)" in result.stdout
    tree = repository.root / "build/commits" / new
    assert (tree / "build/release/drivers/db_bench_alpha").is_file()


@pytest.mark.slow
def test_folders_of_builds_are_compared_without_commits(repository: Repository) -> None:
    for kind in ("honest", "slower"):
        repository.commit(kind)
        assert repository.call("setup").returncode == 0
        shutil.copytree(
            repository.root / "build/release", repository.root / f"a {kind}"
        )
    result = repository.compare("a honest", "a slower", "--built")
    assert result.returncode == 1, result.stderr
    [entry] = (repository.root / "results/history").iterdir()
    assert '"label": "a slower"' in entry.read_text()


@pytest.mark.slow
def test_a_changed_work_tree_is_not_measured(repository: Repository) -> None:
    base, new = repository.commit("honest"), repository.commit("slower")
    assert repository.compare(base, base).returncode == 0
    (repository.root / "build/commits" / base / "kind").write_text("slower\n")
    result = repository.compare(base, new)
    assert result.returncode == 2
    assert base in result.stderr


@pytest.mark.slow
def test_a_copied_checkout_builds_its_own_work_trees(repository: Repository) -> None:
    commit = repository.commit("honest")
    options = (commit, commit, "--build-only")
    assert repository.compare(*options).returncode == 0
    other = repository.root.with_name("other")
    shutil.copytree(repository.root, other, symlinks=True)
    result = replace(repository, root=other).compare(*options)
    assert result.returncode == 0, result.stderr
    assert f"Removing build/commits/{commit}" in result.stderr
    tree = other / "build/commits" / commit
    assert f"gitdir: {other}" in (tree / ".git").read_text()
    assert repository.log[-1].startswith(str(tree))
    result = repository.compare(*options)
    assert result.returncode == 0 and "Removing" not in result.stderr


@pytest.mark.slow
def test_a_failure_of_the_measuring_program_is_no_regression(
    repository: Repository,
) -> None:
    """Exit code 1 of what is not the verdict, as of a program that crashes."""
    repository.commit("honest")
    repository.commit("slower")
    script = repository.root / "scripts/kvmatrix"
    script.write_text("#!/bin/sh\nexit 1\n")
    result = repository.compare("HEAD~1", "HEAD")
    assert result.returncode == 2
    assert "there is no verdict" in result.stderr


@pytest.mark.slow
def test_a_run_without_measurements_does_not_pass(repository: Repository) -> None:
    repository.commit("honest")
    repository.commit("garbage")
    result = repository.compare("HEAD~1", "HEAD")
    assert result.returncode == 5, result.stderr
    assert "not passed: nothing was judged" in result.stdout
    assert not (repository.root / "results/history").exists()


# Builds in a folder outside of the work tree.
BUILD = 'cd "$1" && scripts/setup && mkdir -p "$2" && cp -r build/release/drivers "$2"'


@pytest.mark.slow
def test_a_build_can_be_any_command_in_any_repository(repository: Repository) -> None:
    other = repository.root.with_name("other")
    repository.commit("honest")
    repository.git("clone", "--quiet", ".", str(other))
    theirs = replace(repository, root=other)
    base, new = theirs.commit("honest"), theirs.commit("slower")
    options = ("--repository", str(other), "--build", BUILD)
    result = repository.compare(base, new, *options, "--build-only")
    assert result.returncode == 0, result.stderr
    assert not any(line.startswith("kvmatrix ab lab") for line in repository.log)
    result = repository.compare(base, new, *options)
    assert result.returncode == 1, result.stderr
    [measured] = [line for line in repository.log if line.startswith("kvmatrix ab lab")]
    trees = repository.root / "build/commits"
    assert f"--a {trees / base}.build " in measured
    assert f"--b {trees / new}.build " in measured


@pytest.mark.slow
def test_what_was_measured_in_time_is_judged(repository: Repository) -> None:
    repository.commit("honest")
    repository.commit("slower")
    programs = put_programs(
        repository.root.parent / "bin", {"timeout": 'shift 3; "$@"; exit 124'}
    )
    env = {"PATH": f"{programs}:{os.environ['PATH']}"}
    result = repository.compare("HEAD~1", "HEAD", "--minutes", "3", env=env)
    assert result.returncode == 1, result.stderr
    assert "3 minutes are over" in result.stderr


@pytest.mark.night("scripts/compare-commits", "scripts/test-the-gate", "scripts/ab")
def test_the_gate_is_tested_with_a_slower_build(repository: Repository) -> None:
    builds = {}
    for kind in ("honest", "slower"):
        repository.commit(kind)
        assert repository.call("setup").returncode == 0
        builds[kind] = str(repository.root / kind)
        shutil.copytree(repository.root / "build/release", builds[kind])
    words = ["--suite", "lab", "--a", builds["honest"], "--b"]
    fast = ("--", *FAST, "-k", "*/*/fillrandom")
    works = repository.call("test-the-gate", *words, builds["slower"], *fast)
    assert works.returncode == 0, works.stderr
    assert works.stderr.count("ok    ") == 3
    # A build that is another file and no slower: a gate that sees nothing.
    equal = repository.root / "equal"
    shutil.copytree(builds["honest"], equal)
    with (equal / "drivers/db_bench_alpha").open("a") as shim:
        shim.write("# built again\n")
    blind = repository.call("test-the-gate", *words, str(equal), *fast)
    assert blind.returncode == 1, blind.stderr
    assert "FAIL  a tenth more work: exit 0 instead of 1" in blind.stderr
    for refused in ("nowhere", builds["honest"]):
        untested = repository.call("test-the-gate", *words, refused, *fast)
        assert untested.returncode == 2


# Prints its arguments, and exits like a verb.
_ENDS = """#!/usr/bin/env bash
echo "$*" >>"{log}"
[[ "$*" =~ --results-dir[[:space:]]([^[:space:]]+) ]] && mkdir -p "${{BASH_REMATCH[1]}}"
echo "progress of $1" >&2
case "$*" in
  *history*) exit 5 ;;
  ab*--aa*) exit {measured} ;;
  check*/same*) exit {judged} ;;
  *) exit 1 ;;
esac
"""


def gate_that_ends(
    repository: Repository, measured: int, judged: int, *options: str
) -> tuple[subprocess.CompletedProcess[str], list[str]]:
    log = repository.lab.root / "asked"
    script = repository.root / "scripts/kvmatrix"
    script.write_text(_ENDS.format(log=log, measured=measured, judged=judged))
    build = str(repository.root)
    words = ["--a", build, "--b", build, "--", *options]
    result = repository.call("test-the-gate", *words)
    return result, log.read_text().splitlines()


@pytest.mark.parametrize(
    ("measured", "judged", "expected", "message"),
    [
        (0, 0, 0, "ok    a build against itself"),
        (5, 5, 3, "NOISY a build against itself"),
        (0, 5, 3, "NOISY a build against itself"),
        (1, 1, 1, "FAIL  a build against itself"),
        (3, 3, 2, "the gate could not be tested"),
    ],
)
def test_a_machine_that_is_too_noisy_fails_the_test_of_the_gate(
    repository: Repository, measured: int, judged: int, expected: int, message: str
) -> None:
    result, _ = gate_that_ends(repository, measured, judged)
    assert result.returncode == expected, result.stderr
    assert message in result.stderr
    assert "progress of ab" in result.stderr


@pytest.mark.parametrize(
    ("options", "is_chosen"),
    [
        ([], True),
        (["--num", "20000"], True),
        (["--screen-rounds", "8"], True),
        (["-e", "leveldb"], False),
        (["--num", "20000", "-kleveldb/*/*"], False),
        (["--cells=leveldb/*/*"], False),
        (["--scenario", "baseline"], False),
    ],
)
def test_the_gates_cells_are_measured_unless_others_are_chosen(
    repository: Repository, options: list[str], is_chosen: bool
) -> None:
    _, calls = gate_that_ends(repository, 0, 0, *options)
    measured = [line for line in calls if line.startswith("ab ")]
    assert len(measured) == 2
    for line in measured:
        assert ("-k leveldb/baseline/fillseq" in line) == is_chosen
        assert " ".join(options) in line
        assert "--quiet" not in line


@pytest.mark.parametrize("script", [*SCRIPTS, "compare-engine"])
def test_scripts_have_a_short_help(script: str) -> None:
    result = subprocess.run(
        [ROOT / "scripts" / script, "--help"], capture_output=True, text=True
    )
    assert result.returncode == 0
    assert result.stdout.startswith(f"usage: scripts/{script} ")
    assert max(len(line) for line in result.stdout.splitlines()) <= 88
