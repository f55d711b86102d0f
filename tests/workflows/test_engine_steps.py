"""The steps of engine.yml, with fake programs and hostile inputs.

Each hostile input would create the file PWNED, if a shell evaluated it.
"""

import json
import os
import re
import shutil
import sys
from pathlib import Path

import pytest

from tests.builders import synthetic_history
from tests.places import ROOT
from tests.setup.provisioning import put_programs
from tests.support.workflow import FOLDER, Step, blocks, run_step

WORKFLOW = FOLDER / "engine.yml"
HOSTILE = [
    "$(touch PWNED)",
    "`touch PWNED`",
    "; touch PWNED",
    "x\ntouch PWNED",
    "x\nartifact=PWNED",
    "'\"$(touch PWNED)\"'",
    "*",
    "../..",
    "-x --help",
]


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """Return a workspace with what the steps call, which prints its arguments."""
    shutil.copytree(ROOT / ".ci", tmp_path / "kvmatrix/.ci")
    told = 'printf "<%s>" "$@" | tee -a "$0.calls"; exit ${CODE:-0}'
    put_programs(tmp_path / "kvmatrix/scripts", {"compare-engine": told})
    put_programs(tmp_path / "bin", {"apt-get": told, "git": "echo " + "c" * 40})
    (tmp_path / "bin/python3").symlink_to(sys.executable)
    (tmp_path / "summary.md").write_text("the verdict\n")
    return tmp_path


def defaults() -> dict[str, str]:
    """Return the inputs of the workflow as the environment of its steps has them."""
    text = WORKFLOW.read_text()
    inputs = dict(re.findall(r" ([\w-]+):\n.*\n +type: .*\n +default: (.*)", text))
    named = {name.upper().replace("-", "_"): of for name, of in inputs.items()}
    return {name: of.strip('"') for name, of in named.items()}


def step(name: str, workspace: Path, job: str = "compare", **env: str) -> Step:
    done = run_step(
        blocks(WORKFLOW, job)[name],
        workspace,
        PATH=f"{workspace / 'bin'}:{os.environ['PATH']}",
        GITHUB_STEP_SUMMARY=str(workspace / "summary.md"),
        **{**defaults(), "BASE": "b", "NEW": "n", "ATTEMPT": "1", **env},
    )
    assert not list(workspace.rglob("*PWNED*"))
    return done


def compared(workspace: Path, **env: str) -> str:
    """Return the arguments of compare-engine, which must pass."""
    done = step("Build, test, compare", workspace, **env)
    assert done.code == 0, done.output
    return done.output


def test_the_defaults_are_arguments(workspace: Path) -> None:
    output = compared(workspace)
    assert output.endswith("<engine/.><b><n><-->")
    assert "<>" not in output
    assert "history" not in output
    assert (workspace / "results/summary.md").read_text() == "the verdict\n"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('-DCMAKE_CXX_FLAGS="-O2 -g"', ["-DCMAKE_CXX_FLAGS=-O2 -g"]),
        ("'-DA=x y'\n-DB=1", ["-DA=x y", "-DB=1"]),
        ("  -DA=1   -DB=2 ", ["-DA=1", "-DB=2"]),
        ("-DA=$(touch PWNED)", ["-DA=$(touch", "PWNED)"]),
        ("-DA='$(touch PWNED)'", ["-DA=$(touch PWNED)"]),
        (r"-DA=a\ b", ["-DA=a b"]),
        ("-DA=* -DB=~ -DC=${HOME} -DD=#x", ["-DA=*", "-DB=~", "-DC=${HOME}", "-DD=#x"]),
        ("", []),
    ],
)
def test_options_arrive_as_the_words_of_a_shell(
    workspace: Path, text: str, words: list[str]
) -> None:
    output = compared(workspace, CMAKE_OPTIONS=text, AB_OPTIONS=text)
    assert output.startswith("".join(f"<--cmake={of}>" for of in words) + "<--suite>")
    assert output.endswith("<-->" + "".join(f"<{of}>" for of in words))


@pytest.mark.parametrize("name", ["CMAKE_OPTIONS", "AB_OPTIONS", "PACKAGES"])
def test_a_quote_that_is_not_closed_ends_the_step(workspace: Path, name: str) -> None:
    steps = ["Build, test, compare", "Install the engine's packages"]
    done = step(steps[name == "PACKAGES"], workspace, **{name: "-DA='x y"})
    assert done.code != 0
    assert "::error title=kvmatrix::" in done.output
    assert not list(workspace.rglob("*.calls"))


@pytest.mark.parametrize("hostile", HOSTILE)
def test_an_input_is_one_argument_whatever_it_has(
    workspace: Path, hostile: str
) -> None:
    inputs = ("FOLDER", "ENGINE", "SUITE", "MINUTES", "FAIL_ON")
    output = compared(workspace, **dict.fromkeys(inputs, hostile))
    assert f"<engine/{hostile}><b><n><-->" in output
    for option in ("engine", "suite", "minutes", "fail-on"):
        assert f"<--{option}><{hostile}>" in output
    assert output.count("<") == 16


@pytest.mark.parametrize(
    "packages", ["-x", "--purge", "g++ git-", "a/b", "x;y", "./x.deb", "*", "x=$(id)"]
)
def test_what_is_no_package_is_not_installed(workspace: Path, packages: str) -> None:
    done = step("Install the engine's packages", workspace, PACKAGES=packages)
    assert done.code == 2
    assert "::error title=kvmatrix::" in done.output
    assert not list(workspace.rglob("*.calls"))


def test_packages_are_installed(workspace: Path) -> None:
    packages = "libsnappy-dev g++\n'libfoo1=1:2.0~rc1-1'"
    done = step("Install the engine's packages", workspace, PACKAGES=packages)
    assert done.code == 0, done.output
    assert done.output.endswith("<--><libsnappy-dev><g++><libfoo1=1:2.0~rc1-1>")


@pytest.mark.parametrize(
    ("code", "fail_on", "expected"),
    [
        *((code, "regression", code) for code in (1, 2, 6)),
        *((code, "regression", 0) for code in (5, 7, 8)),
        *((code, "inconclusive", code) for code in (5, 8)),
    ],
)
def test_the_job_passes_without_a_verdict_unless_told_otherwise(
    workspace: Path, code: int, fail_on: str, expected: int
) -> None:
    done = step("Build, test, compare", workspace, CODE=str(code), FAIL_ON=fail_on)
    assert done.code == expected
    assert (workspace / "results/summary.md").exists()


def names(workspace: Path, call: str = "", **env: str) -> dict[str, str]:
    inputs = {key: value for key, value in defaults().items() if key in env} | env
    measured = [env.get(key, "") for key in ("PACKAGES", "CMAKE_OPTIONS", "AB_OPTIONS")]
    more = {"CALL": json.dumps(inputs) + call, "MEASURED": json.dumps(measured)}
    done = step("Names", workspace, **{**env, **more})
    assert done.code == 0, done.output
    assert set(done.outputs) == {"label", "artifact", "kvmatrix", "CCACHE_DIR"}
    return done.outputs


@pytest.mark.parametrize("hostile", [*HOSTILE, 'é/ü:<>|?"\\', "x" * 300])
def test_names_are_of_few_letters(workspace: Path, hostile: str) -> None:
    inputs = ("FOLDER", "ENGINE", "SUITE", "PACKAGES")
    found = names(workspace, **dict.fromkeys(inputs, hostile))
    for name in (found["label"], found["artifact"]):
        assert re.fullmatch(r"kvmatrix-[A-Za-z0-9_.-]+", name)
        assert len(name) < 100


def test_calls_that_differ_have_different_names(workspace: Path) -> None:
    calls: list[dict[str, str]] = [
        {},
        {"ENGINE": "a"},
        {"ENGINE": "a/b"},
        {"ENGINE": "a:b"},
        {"FOLDER": "a", "ENGINE": "b"},
        {"FOLDER": "a"},
        {"SUITE": "a"},
        {"CMAKE_OPTIONS": "-O2"},
        {"AB_OPTIONS": "-O2"},
    ]
    labels = [names(workspace, **call)["label"] for call in calls]
    assert len(set(labels)) == len(calls)
    # The same again, in the same workflow, or in another attempt.
    one = names(workspace, "job 1")
    for other in (names(workspace, "job 2"), names(workspace, "job 1", ATTEMPT="2")):
        assert other["label"] == one["label"]
        assert other["artifact"] != one["artifact"]


def test_a_history_is_kept_where_the_artefact_has_it(workspace: Path) -> None:
    output = compared(workspace, HISTORY="true")
    assert "<--history-dir><results/history>" in output


def fake_history(workspace: Path, code: int = 0) -> None:
    body = f'case "$*" in *html*) echo "$@" >&2;; esac; echo page; exit {code}'
    put_programs(workspace / "kvmatrix/scripts", {"kvmatrix": body})


def test_entries_are_added_and_shown(workspace: Path) -> None:
    fake_history(workspace)
    (workspace / "run/history").mkdir(parents=True)
    (workspace / "run/history/one.json").write_text("1")
    (workspace / "kept/history").mkdir(parents=True)
    (workspace / "kept/history/zero.json").write_text("0")
    assert step("Add the run", workspace, "history").code == 0
    kept = sorted(path.name for path in (workspace / "kept/history").iterdir())
    assert kept == ["one.json", "zero.json"]
    done = step("Make the page", workspace, "history")
    assert done.code == 0, done.output
    assert f"--output {workspace}/kept/page/index.html" in done.output
    assert "```text\npage\n```" in (workspace / "summary.md").read_text()


@pytest.mark.slow
def test_the_page_of_a_real_history_is_made(workspace: Path) -> None:
    (workspace / "kvmatrix/scripts/kvmatrix").symlink_to(ROOT / "scripts/kvmatrix")
    entries = synthetic_history.history(12)
    synthetic_history.write(workspace / "run/history", entries)
    for name in ("Add the run", "Make the page"):
        done = step(name, workspace, "history")
        assert done.code == 0, done.output
    assert "<html" in (workspace / "kept/page/index.html").read_text()
    assert "\n## History\n" in (workspace / "summary.md").read_text()


@pytest.mark.parametrize(("code", "expected"), [(5, 0), (2, 2)])
def test_an_empty_history_has_no_page(
    workspace: Path, code: int, expected: int
) -> None:
    fake_history(workspace, code)
    assert step("Add the run", workspace, "history").code == 0
    assert step("Make the page", workspace, "history").code == expected
