"""A project that uses the recipe for CI, and whose commits build fake engines."""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.fake_drivers.kinds import shim
from tests.places import PATIENCE_S, ROOT
from tests.support.command_line import copy_commands
from tests.support.lab import Lab

SCRIPTS = ("compare-commits", "test-the-gate")

# scripts/setup of each commit: it "builds" a fake engine of the commit's kind.
_SETUP = """#!/usr/bin/env bash
set -euo pipefail
cd "$(dirname "${{BASH_SOURCE[0]}}")/.."
echo "$PWD $*" >>"{log}"
[[ "$*" == *--python-only* ]] && exit 0
mkdir -p build/release/drivers
cat >build/release/drivers/db_bench_alpha <<SHIM
{shim}SHIM
chmod +x build/release/drivers/db_bench_alpha
"""
# The command line on a machine where nothing else happens, over fake engines.
_KVMATRIX = """#!/usr/bin/env bash
set -euo pipefail
verb="$1"
echo "kvmatrix $*" >>"{log}"
export KVMATRIX_CONFIGS_DIR="{lab}/configs" KVMATRIX_DATA_DIR="{lab}/data"
cd "{root}"
exec "{python}" -m tests.support.fake_executor "$@"
"""


@dataclass(frozen=True)
class Repository:
    """A project that uses the recipe; each commit builds an engine of a given kind."""

    root: Path
    lab: Lab

    def git(self, *words: str) -> str:
        identity = ("-c", "user.name=t", "-c", "user.email=t@example.invalid")
        completed = subprocess.run(
            ["git", *identity, *words],
            cwd=self.root,
            check=True,
            capture_output=True,
            text=True,
        )
        return completed.stdout.strip()

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
            timeout=PATIENCE_S,
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


def repository_in(tmp_path: Path) -> Repository:
    """Return a new repository without commits."""
    lab = Lab(tmp_path / "lab")
    for folder in ("configs/scenarios", "configs/suites", "build/drivers"):
        (lab.root / folder).mkdir(parents=True)
    lab.engine("alpha", None)
    lab.scenario(benchmarks=("fillseq", "fillrandom"))
    lab.suite()
    root = tmp_path / "project"
    copy_commands(root, *SCRIPTS)
    shutil.copytree(ROOT / ".ci", root / ".ci")
    places = {
        "log": lab.root / "log",
        "root": ROOT,
        "python": sys.executable,
        "lab": lab.root,
        "shim": shim("$(<kind)", "alpha"),
    }
    for name, text in (("setup", _SETUP), ("kvmatrix", _KVMATRIX)):
        path = root / "scripts" / name
        path.write_text(text.format(**places))
        path.chmod(0o755)
    (root / ".gitignore").write_text("/build/\n/results/\n")
    repository = Repository(root, lab)
    repository.git("init", "--quiet", "--initial-branch=main")
    return repository
