"""An engine of another repository, built and measured from an installed package."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.places import BUILD, PATIENCE_S, ROOT

PACKAGE = pytest.mark.night("tests/out_of_tree", "drivers/plugins", "common/driver.h")

EXAMPLE = ROOT / "tests/out_of_tree"
SOME_CELLS_MISSING = 3


def run(*command: str | Path, cwd: Path, **more: str) -> str:
    """Return what a command prints; it must succeed."""
    result = subprocess.run(
        [str(word) for word in command],
        cwd=cwd,
        env=os.environ | more,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of the example, built with an installed kvmatrix."""
    folder = tmp_path_factory.mktemp("theirs")
    prefix = tmp_path_factory.mktemp("installed")
    shutil.copytree(EXAMPLE, folder, dirs_exist_ok=True)
    run("cmake", "--install", BUILD, "--prefix", prefix, cwd=folder)
    configure = ("cmake", "-B", "build", "-DCMAKE_BUILD_TYPE=Release")
    run(*configure, f"-DCMAKE_PREFIX_PATH={prefix}", cwd=folder)
    run("cmake", "--build", "build", cwd=folder)
    return folder


def test_a_maintainer_writes_four_files() -> None:
    """The engine itself, a README for our readers and a history aside."""
    files = {path.name for path in EXAMPLE.rglob("*") if path.is_file()}
    workflow = "kvmatrix.yml"
    assert files - {"journal.h", "README.md", "nightly.yml", workflow} == {
        "kvmatrix_driver.cc",
        "CMakeLists.txt",
        "kvmatrix.toml",
    }
    text = (EXAMPLE / ".github/workflows" / workflow).read_text()
    assert text.count("engine.yml@") == 1


@PACKAGE
def test_the_suites_come_as_tests(repository: Path) -> None:
    """Conformance, crash, durability, settling, threads, and lies that are caught."""
    text = run("ctest", "-L", "journal", cwd=repository / "build")
    assert "100% tests passed" in text
    for suite in ("conformance", "crash", "durability", "settle", "threads", "lies"):
        assert f"{suite}_journal" in text


BROKEN = """
[[engine]]
name = "broken"
title = "Broken"
summary = "no plug-in"
plugin = "CMakeLists.txt"
"""


@PACKAGE
def test_it_is_measured_next_to_ours(repository: Path, tmp_path: Path) -> None:
    """$KVMATRIX_DRIVERS names the folder; a broken plug-in stops no other engine."""
    (repository / "broken.toml").write_text(BROKEN)
    (tmp_path / "data").mkdir()
    result = subprocess.run(
        [
            *(sys.executable, "-m", "scripts.cli.main", "run", "smoke"),
            *("-e", "journal,broken,memory", "-k", "*/baseline/readrandom", "-q"),
            *("--results-dir", tmp_path / "results", "--data-dir", tmp_path / "data"),
            *("--build-dir", BUILD),
        ],
        cwd=ROOT,
        env=os.environ | {"KVMATRIX_DRIVERS": str(repository)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == SOME_CELLS_MISSING, result.stdout + result.stderr
    file = next((tmp_path / "results").glob("*/measurements.jsonl"))
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    statuses = {(line["engine"], line["status"]) for line in lines}
    assert {("journal", "ok"), ("broken", "missing"), ("memory", "ok")} == statuses
    reasons = {line["reason"] for line in lines if line["engine"] == "broken"}
    assert all("invalid ELF header" in reason for reason in reasons)
