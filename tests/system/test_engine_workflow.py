"""The steps of engine.yml, run in order on the repository of an engine."""

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.places import BUILD, ROOT
from tests.setup.provisioning import put_programs
from tests.support.workflow import FOLDER, Step, blocks, run_step

pytestmark = [
    pytest.mark.night(
        "tests/out_of_tree",
        "drivers/plugins",
        "common/driver.h",
        ".ci",
        ".github/workflows/engine.yml",
        "scripts/compare-engine",
        "scripts/compare-commits",
        "scripts/test-the-gate",
    ),
    pytest.mark.skipif(
        shutil.which("valgrind") is None, reason="valgrind is not installed"
    ),
]

EXAMPLE = ROOT / "tests/out_of_tree"
# Small, and judged by its counts, which a busy machine does not change.
AB_OPTIONS = (
    "-k '*/baseline/readrandom' --num 5000 --max-time 100ms"
    " --screen-rounds 1 --confirm-rounds 4"
)
FOUND = "    const auto found = journal_.entries.find(key);\n"
SLOWER = FOUND + "    if (journal_.entries.count(key) > 1) return std::nullopt;\n" * 3
WRONG = "    return value_ = found->second;\n"
WRONG_NOW = "    return value_ = found->second + '!';\n"


@dataclass(frozen=True)
class Runner:
    """A workspace with what the workflow checks out, and its summary."""

    folder: Path

    @property
    def summary(self) -> str:
        """What the steps wrote for the page of the job."""
        return (self.folder / "summary.md").read_text()

    def git(self, *words: str) -> str:
        identity = ("-c", "user.name=t", "-c", "user.email=t@example.invalid")
        return subprocess.run(
            ["git", *identity, *words],
            cwd=self.folder / "engine",
            check=True,
            capture_output=True,
            text=True,
        ).stdout.strip()

    def commit(self, file: str, old: str, new: str) -> str:
        """Commit a change of the driver's folder; return the commit."""
        path = self.folder / "engine/bench" / file
        assert old in path.read_text()
        path.write_text(path.read_text().replace(old, new))
        self.git("add", "-A")
        self.git("commit", "--quiet", "-m", "change")
        return self.git("rev-parse", "HEAD")

    def push(self, before: str, new: str) -> tuple[Step, dict[str, Step]]:
        """Run the steps of a push; return the last, and the others by name."""
        programs = put_programs(self.folder / "bin", {"apt-get": f"echo {'$*'}"})
        (self.folder / "summary.md").write_text("")
        env = {
            "PATH": f"{programs}:{os.environ['PATH']}",
            "GITHUB_STEP_SUMMARY": str(self.folder / "summary.md"),
            **{"PACKAGES": "libmine-dev", "FOLDER": "bench", "ENGINE": ""},
            **{"CMAKE_OPTIONS": "-DONE='1 2' -DTWO=2", "SUITE": "quick"},
            **{"MINUTES": "7", "AB_OPTIONS": AB_OPTIONS, "FAIL_ON": "regression"},
            **{"HISTORY": "true", "CALL": "one", "MEASURED": "all", "ATTEMPT": "1"},
            **{"EVENT": "push", "BEFORE": before, "GITHUB_SHA": new},
        }
        done = {}
        for name, block in blocks(FOLDER / "engine.yml", "compare").items():
            done[name] = run_step(block, self.folder, **env)
            env |= {k.upper(): v for k, v in done[name].outputs.items()}
            if done[name].code:
                break
        return done[name], done


@pytest.fixture
def runner(tmp_path: Path) -> Runner:
    runner = Runner(tmp_path)
    shutil.copytree(EXAMPLE, tmp_path / "engine/bench")
    runner.git("init", "--quiet", "--initial-branch=main")
    runner.commit("README.md", "", "")
    put_checkout(tmp_path / "kvmatrix")
    return runner


def put_checkout(folder: Path) -> None:
    """Put a checkout of this project that shares what is already built."""
    for name in ("scripts", ".ci"):
        shutil.copytree(ROOT / name, folder / name)
    for path in ROOT.iterdir():
        if path.name not in {"scripts", ".ci", ".git", "build", "results"}:
            (folder / path.name).symlink_to(path)
    (folder / "build").mkdir()
    for path in (BUILD, ROOT / "build/venv"):
        (folder / "build" / path.name).symlink_to(path)


def test_a_commit_that_changes_no_code_passes(runner: Runner) -> None:
    before = runner.git("rev-parse", "HEAD")
    last, steps = runner.push(before, runner.commit("README.md", "# out", "# Out"))
    assert last.code == 0, last.output
    assert list(steps) == list(blocks(FOLDER / "engine.yml", "compare"))
    assert "libmine-dev" in steps["Install the engine's packages"].output
    assert "| suites | 100% tests passed, 0 tests failed out of 6 |" in runner.summary
    assert "| base against new | passed: the builds are identical |" in runner.summary


def test_a_slower_commit_fails_and_the_gate_is_tested(runner: Runner) -> None:
    before = runner.git("rev-parse", "HEAD")
    new = runner.commit("kvmatrix_driver.cc", FOUND, SLOWER)
    last, _ = runner.push(before, new)
    assert last.code == 1, last.output
    slower = "journal/baseline/readrandom instructions"
    assert f"::error title=regressed%3A {slower}::" in last.output
    assert f"{before[:12]} (side a); side b is {new[:12]}" in runner.summary
    assert "| base against new | regressed |" in runner.summary
    assert "| test the gate |" in runner.summary
    assert "could not be tested" not in runner.summary
    assert re.search(f"▼ regressed +{slower}", last.output)
    [page] = (runner.folder / "results").glob("*/report.html")
    assert page.stat().st_size > 0
    [entry] = (runner.folder / "results/history").iterdir()
    assert new[:12] in entry.read_text()


def test_a_commit_that_breaks_an_answer_fails_its_suite(runner: Runner) -> None:
    before = runner.git("rev-parse", "HEAD")
    new = runner.commit("kvmatrix_driver.cc", WRONG, WRONG_NOW)
    last, _ = runner.push(before, new)
    assert last.code == 6, last.output
    assert "::error title=kvmatrix::commit " in last.output
    assert "conformance_journal" in runner.summary
    assert [path.name for path in (runner.folder / "results").iterdir()] == [
        "summary.md"
    ]
