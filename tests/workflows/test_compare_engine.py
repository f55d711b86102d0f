"""scripts/compare-engine, with commits that fake programs "build" and test."""

import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.places import PATIENCE_S
from tests.setup.provisioning import put_programs
from tests.support.command_line import copy_commands

IDENTITY = ("-c", "user.name=t", "-c", "user.email=t@example.invalid")
# A commit does not build if its CMakeLists.txt says so.
CMAKE = """
printf '<%s>' "$@" >>"$LAB/calls.cmake"; echo >>"$LAB/calls.cmake"
if grep broken CMakeLists.txt; then echo 'error: broken here'; exit 1; fi
while [ "$1" != -B ] && [ "$#" -gt 1 ]; do shift; done
[ "$1" != -B ] || { mkdir -p "$2/drivers" && cp CMakeLists.txt "$2/drivers"; }
"""
CTEST = """
[ -z "$SUITE_FAILS" ] || { printf "\\t  1 - suite_journal's (Failed)\\n"; exit 8; }
echo '100% tests passed, 0 tests failed out of 6'
"""
KVMATRIX = """
printf '<%s>' "$@" >>"$LAB/calls.kvmatrix"; echo >>"$LAB/calls.kvmatrix"
case "$1" in ab) echo 'results   run' ;; esac
"""


@dataclass(frozen=True)
class Lab:
    """A checkout of this project, and the repository of an engine."""

    folder: Path

    def git(self, *words: str) -> str:
        return subprocess.run(
            ["git", *IDENTITY, *words],
            cwd=self.folder / "engine",
            check=True,
            capture_output=True,
            text=True,
        ).stdout.strip()

    def commit(self, text: str, folder: str = "bench") -> str:
        """Commit an engine whose driver is in `folder`; return the commit."""
        path = self.folder / "engine" / folder
        path.mkdir(parents=True, exist_ok=True)
        (path / "CMakeLists.txt").write_text(text)
        (path / "other.toml").write_text("")
        (path / "kvmatrix.toml").write_text('[[engine]]\nname = "journal"\n')
        self.git("add", "-A")
        self.git("commit", "--quiet", "-m", text)
        return self.git("rev-parse", "HEAD")

    def compare(
        self, *words: str, folder: str = "bench", env: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Compare the last two commits."""
        clean = {k: v for k, v in os.environ.items() if not k.startswith("KVMATRIX_")}
        path = f"{self.folder / 'bin'}:{os.environ['PATH']}"
        summary = str(self.folder / "summary.md")
        clean |= {"PATH": path, "LAB": str(self.folder), "SUITE_FAILS": ""}
        command = self.folder / "kvmatrix/scripts/compare-engine"
        places = [str(self.folder / "engine" / folder), "HEAD~1", "HEAD"]
        results = ["--results-dir", str(self.folder / "results")]
        return subprocess.run(
            [command, *results, "--skip-gate", *words, *places],
            cwd=self.folder,
            env={**clean, "GITHUB_STEP_SUMMARY": summary, **(env or {})},
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE_S,
        )

    def calls(self, program: str) -> list[str]:
        path = self.folder / f"calls.{program}"
        return path.read_text().splitlines() if path.exists() else []


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    root = tmp_path / "kvmatrix"
    copy_commands(root, "compare-engine", "compare-commits")
    put_programs(root / "scripts", {"setup": "", "kvmatrix": KVMATRIX})
    put_programs(tmp_path / "bin", {"cmake": CMAKE, "ctest": CTEST})
    (root / "build/venv/bin").mkdir(parents=True)
    (root / "build/venv/bin/python").symlink_to(sys.executable)
    lab = Lab(tmp_path)
    (tmp_path / "engine").mkdir()
    lab.git("init", "--quiet", "--initial-branch=main")
    return lab


def measured(lab: Lab) -> list[str]:
    return [call for call in lab.calls("kvmatrix") if call.startswith("<ab><quick>")]


@pytest.mark.parametrize("folder", ["it's $(touch PWNED)", '`touch PWNED`;"$1 &'])
def test_a_folder_is_one_word_of_the_build(lab: Lab, folder: str) -> None:
    lab.commit("one", folder)
    lab.commit("two", folder)
    done = lab.compare("--cmake=-DA=-O2 $(touch PWNED)", folder=folder)
    assert done.returncode == 0, done.stderr
    configured = [call for call in lab.calls("cmake") if "<-S>" in call]
    assert len(configured) >= 2
    assert all("<-DA=-O2 $(touch PWNED)>" in call for call in configured)
    assert len(measured(lab)) == 1
    assert not list(lab.folder.rglob("PWNED"))


@pytest.mark.parametrize("engines", ["journal,*", "$(touch PWNED)", "journal\nx"])
def test_an_unknown_engine_is_refused(lab: Lab, engines: str) -> None:
    lab.commit("one")
    lab.commit("two")
    (lab.folder / "journal").touch()  # what * would match
    done = lab.compare("--engine", engines)
    assert done.returncode == 2
    assert lab.calls("cmake") == []


@pytest.mark.parametrize("suite_fails", ["", "yes"])
def test_a_base_that_does_not_build_loses_nothing_of_the_new_commit(
    lab: Lab, suite_fails: str
) -> None:
    base = lab.commit("broken")
    new = lab.commit("two")
    done = lab.compare("--format", "github", env={"SUITE_FAILS": suite_fails})
    assert done.returncode == (6 if suite_fails else 8)
    log = lab.folder / "results/base-build.log"
    assert "error: broken here" in log.read_text()
    assert measured(lab) == []
    summary = (lab.folder / "summary.md").read_text()
    assert f"| build base | not compared: the base, {base[:12]}, " in summary
    if suite_fails:
        failed = f"::error title=kvmatrix::commit {new[:12]} fails: suite_journal's"
        assert failed in done.stdout
    else:
        assert "::warning title=kvmatrix, no comparison::" in done.stdout
        assert str(log) in done.stdout
        assert "| suites | 100% tests passed" in summary
        assert "| base against new | not compared" in summary


def test_a_new_commit_that_does_not_build_is_an_error(lab: Lab) -> None:
    lab.commit("one")
    new = lab.commit("broken")
    done = lab.compare("--format", "github")
    assert done.returncode == 2
    assert f"::error title=kvmatrix::commit {new[:12]} does not build" in done.stdout
    assert "error: broken here" in done.stderr
    assert lab.calls("kvmatrix")[-1].startswith("<list>")


@pytest.mark.parametrize("words", [[], ["--history-dir=kept"]])
def test_a_history_is_kept_on_request(lab: Lab, words: list[str]) -> None:
    lab.commit("one")
    lab.commit("two")
    assert lab.compare(*words).returncode == 0
    added = [
        call for call in lab.calls("kvmatrix") if call.startswith("<history><add>")
    ]
    kept = f"<--history-dir><{lab.folder / 'kept'}>"
    assert [call.endswith(kept) for call in added] == [True] * len(words)
