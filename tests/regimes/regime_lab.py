"""A lab on a disk, in which real engines run in a process of their own."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from report.terms.regime import LOOP, Regime
from scripts.regime.memory_group import find_hierarchy
from scripts.regime.regime_site import why_no_regime
from tests.places import BUILD, PATIENCE_S, ROOT
from tests.support.lab import Lab, make_lab

LIMIT = 'memory_limit = "24MiB"\n'
DISK = 'device = "loop"\ndevice_size = "256MiB"\n'
LIMITED_LOOP = Regime(memory_limit_bytes=24 << 20, device=LOOP, file_system="ext4")
FLAGS: dict[str, int | float | str] = {
    **{"num": 300_000, "reads": 300_000, "duration": "1s", "cache_size": "1MiB"},
    **{"key_size": 16, "value_size": 100, "compression": False},
}
ENVIRONMENT = {**os.environ, "PATH": f"{os.environ['PATH']}:/usr/sbin:/sbin"}


@pytest.fixture
def regime_lab() -> Iterator[Lab]:
    """Yield a lab on a disk; skip the test where there can be no regime."""
    if why := why_no_regime([LIMITED_LOOP]):
        pytest.skip(why)
    folder = ROOT / "build" / f"regime-lab-{os.getpid()}"
    _remove(folder)
    folder.mkdir(parents=True)
    yield make_lab(folder)
    _remove(folder)


def _remove(folder: Path) -> None:
    subprocess.run(["rm", "-rf", "--one-file-system", str(folder)], check=True)


def command_of(
    lab: Lab,
    engine: str,
    benchmarks: tuple[str, ...],
    regime: str,
    build: Path = BUILD,
    **flags: Any,
) -> list[str]:
    """Configure a lab, and return the command that measures one engine once."""
    (lab.root / "configs/engines.toml").write_text("")
    lab.engine(engine, None)
    lab.scenario(benchmarks=benchmarks, flags=FLAGS | flags, more=f"[regime]\n{regime}")
    lab.suite()
    words = lab.arguments("run", "lab", "-n", "1", "--repeat-disturbed", "0")
    words[words.index("--build-dir") + 1] = str(build)
    return [sys.executable, "-m", "scripts.cli.main", *words]


def run_command(command: list[str]) -> "subprocess.CompletedProcess[str]":
    """Run a command of a lab to its end, with the folders of mkfs and mount."""
    return subprocess.run(
        command,
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=4 * PATIENCE_S,
        check=False,
        env=ENVIRONMENT,
    )


def run(
    lab: Lab,
    engine: str,
    benchmarks: tuple[str, ...],
    regime: str,
    build: Path = BUILD,
    **flags: Any,
) -> Mapping[str, Any]:
    """Measure an engine once, and return its lines by benchmark."""
    done = run_command(command_of(lab, engine, benchmarks, regime, build, **flags))
    assert done.returncode in (0, 3), done.stderr
    assert not leftovers(lab)
    *_, file = sorted(lab.results.glob("*/measurements.jsonl"))
    lines = map(json.loads, file.read_text().splitlines())
    return {line["benchmark"]: line for line in lines}


def leftovers(lab: Lab) -> list[str]:
    """Return what a run has left: folders, mounts, loop devices."""
    found = [str(path) for path in lab.data.iterdir()]
    return found + kernel_leftovers(lab)


def kernel_leftovers(lab: Lab) -> list[str]:
    """Return the mounts and loop devices of a lab that stay, and unused groups.

    A device is busy for as long as there is a process in whose mount namespace it is
    still mounted: one that began while it was mounted here.
    """
    limit_s = time.monotonic() + PATIENCE_S
    while (left := _kernel_leftovers_now(lab)) and time.monotonic() < limit_s:
        time.sleep(0.05)
    return left


def _kernel_leftovers_now(lab: Lab) -> list[str]:
    """Return the mounts and loop devices of a lab, and groups of ended processes."""
    mounts = Path("/proc/self/mountinfo").read_text().splitlines()
    found = [line for line in mounts if str(lab.root) in line]
    for backing in Path("/sys/block").glob("loop*/loop/backing_file"):
        try:
            name = backing.read_text()
        except OSError:  # it was detached meanwhile
            continue
        found += [name] if str(lab.root) in name else []
    hierarchy = find_hierarchy(Path("/proc/self/mountinfo").read_text())
    assert hierarchy
    for group in hierarchy.folder.glob("kvmatrix-*"):
        if not Path(f"/proc/{group.name.removeprefix('kvmatrix-')}").exists():
            found.append(str(group))
    return found
