"""Running a module in namespaces of its own, which needs root."""

import os
import subprocess
import sys

import pytest

from scripts.durability.requisites import requisites
from scripts.regime.host_probes import NAMESPACES
from tests.places import BUILD, ROOT

_LIMIT_S = 240


def in_namespaces(module: str, *arguments: str) -> str:
    """Return the standard output of a module; skip the test where it cannot run."""
    why = requisites(("log",), ("ext4",), BUILD / "common/block_log")["log"]
    if why:
        pytest.skip(why)
    done = subprocess.run(
        [*NAMESPACES, sys.executable, "-m", module, *arguments],
        cwd=ROOT,
        env={"PATH": f"{os.environ['PATH']}:/usr/sbin:/sbin", "LC_ALL": "C"},
        capture_output=True,
        text=True,
        timeout=_LIMIT_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
