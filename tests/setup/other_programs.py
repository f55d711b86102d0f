"""Other programs that read our files; a test is skipped if its program is absent."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.places import ROOT

CONSUMERS = ROOT / "build/consumers"
COMPARE = Path("/usr/share/benchmark/compare.py")
# Otava without its network clients, which it imports and does not need for files.
_OTAVA = """
import sys
from unittest.mock import MagicMock
for name in ("pg8000", "requests", "requests.exceptions", "slack_sdk", "google",
             "google.cloud", "google.cloud.bigquery", "google.oauth2"):
    sys.modules[name] = MagicMock()
from otava.main import main
main()
"""
# Series on stdin as JSON, the indices of their steps on stdout.
_OTAVA_STEPS = """
import json, sys
from otava.analysis import compute_change_points
found = [[int(point.index) for point in compute_change_points(values, **options)[0]]
         for values, options in json.load(sys.stdin)]
json.dump(found, sys.stdout)
"""


def program(name: str) -> Path:
    """Return the path of benchstat or actionlint; skip the test if it is absent."""
    return _present(CONSUMERS / "bin" / name)


def google_compare() -> list[str]:
    """Return the command of Google Benchmark's compare.py; skip the test without it."""
    return [sys.executable, str(_present(COMPARE))]


def google_program() -> str:
    """Return a program linked with Google Benchmark's library; skip without one."""
    return str(_present(ROOT / "build/release/tests/cost_bench"))


def otava(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run Apache Otava to its end."""
    path = _present(CONSUMERS / "otava/otava").parent
    return subprocess.run(
        [sys.executable, "-c", _OTAVA, *arguments],
        cwd=cwd,
        env=os.environ | {"PYTHONPATH": str(path)},
        capture_output=True,
        text=True,
        check=False,
    )


def otava_steps(many: Sequence[Sequence[float]], **options: float) -> list[list[int]]:
    """Return the indices at which Otava's detector finds steps, for each series."""
    path = _present(CONSUMERS / "otava/otava").parent
    settings = {"window_len": 50, "max_pvalue": 0.001, "min_magnitude": 0.0, **options}
    done = subprocess.run(
        [sys.executable, "-c", _OTAVA_STEPS],
        env=os.environ | {"PYTHONPATH": str(path)},
        input=json.dumps([[list(values), settings] for values in many]),
        capture_output=True,
        text=True,
        check=True,
    )
    steps: list[list[int]] = json.loads(done.stdout)
    return steps


def _present(path: Path) -> Path:
    if not path.exists():
        pytest.skip(f"there is no {path}: scripts/setup --test says why")
    return path
