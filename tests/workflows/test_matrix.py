"""The steps of matrix.yml, with fake commands."""

import json
import os
import re
import shutil
import sys
from pathlib import Path

import pytest

from tests.places import ROOT
from tests.setup.provisioning import put_programs
from tests.support.workflow import FOLDER, Step, blocks, run_step

WORKFLOW = FOLDER / "matrix.yml"
TOLD = 'printf "<%s>" "$@"'


def step(name: str, folder: Path, job: str, **env: str) -> Step:
    bin_folder = put_programs(folder / "bin", {"tar": TOLD})
    if not (folder / ".ci").exists():
        shutil.copytree(ROOT / ".ci", folder / ".ci")
        put_programs(folder / "scripts", {"setup": TOLD, "kvmatrix": TOLD})
        (bin_folder / "python3").symlink_to(sys.executable)
    path = f"{bin_folder}:{os.environ['PATH']}"
    defaults = {"SUITE": "quick", "ENGINES": "", "NUM": "", "MACHINES": "4"}
    defaults |= {"SHARD": "2", "OPTIONS": "-n 9", "CALL": "{}", "PATH": path}
    done = run_step(blocks(WORKFLOW, job)[name], folder, **(defaults | env))
    assert not list(folder.rglob("*PWNED*"))
    return done


def test_a_call_has_the_inputs_of_a_manual_run() -> None:
    text = WORKFLOW.read_text()
    parts = text.split("  workflow_call:\n")
    names = [re.findall(r"^      ([\w-]+):$", part, re.M) for part in parts]
    manual = names[0]
    assert manual == ["suite", "engines", "num", "machines", "options"]
    assert names[1][: len(manual)] == manual


@pytest.mark.parametrize(
    ("machines", "shards"), [("1", [1]), ("4", [1, 2, 3, 4]), ("99", [*range(1, 100)])]
)
def test_each_machine_has_a_shard(
    tmp_path: Path, machines: str, shards: list[int]
) -> None:
    done = step("Names", tmp_path, "build", MACHINES=machines)
    assert done.code == 0, done.output
    assert json.loads(done.outputs["shards"]) == shards


@pytest.mark.parametrize("machines", ["0", "100", "-1", "x", "", "1\nname=PWNED"])
def test_other_numbers_of_machines_are_refused(tmp_path: Path, machines: str) -> None:
    done = step("Names", tmp_path, "build", MACHINES=machines)
    assert done.code == 2
    assert done.outputs == {}


def test_two_calls_have_different_names(tmp_path: Path) -> None:
    named = [
        step("Names", tmp_path, "build", **env).outputs["name"]
        for env in ({"CALL": "1"}, {"CALL": "2"}, {"CALL": "2", "ENGINES": "a/b\nx=y"})
    ]
    assert len(set(named)) == 3
    assert all(re.fullmatch(r"matrix-[A-Za-z0-9_.-]+", name) for name in named)


@pytest.mark.parametrize("engines", ["", "leveldb,rocksdb", "$(touch PWNED)", "-x"])
def test_the_engines_are_installed_and_measured(tmp_path: Path, engines: str) -> None:
    built = step("Build", tmp_path, "build", ENGINES=engines)
    assert built.code == 0, built.output
    assert built.output.startswith(f"<--only={engines}>" if engines else "<>")
    measured = step("Measure", tmp_path, "shard", ENGINES=engines, NUM="1e6")
    assert measured.output == (
        "<run><-n><9>"
        + (f"<--engine={engines}>" if engines else "")
        + "<--num=1e6><--shard><2/4><--machine><hosted-2><--results-dir><shards>"
        "<--no-report><--><quick>"
    )


@pytest.mark.parametrize("suite", ["-x", "$(touch PWNED)", "a b", "*"])
def test_a_suite_is_one_word(tmp_path: Path, suite: str) -> None:
    options = "-k 'a b' \"$(touch PWNED)\""
    done = step("Measure", tmp_path, "shard", SUITE=suite, OPTIONS=options)
    assert done.output.startswith("<run><-k><a b><$(touch PWNED)><--shard>")
    assert done.output.endswith(f"<--><{suite}>")
