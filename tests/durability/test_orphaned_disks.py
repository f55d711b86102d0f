"""Disks of trials that nobody unmounts: nothing of them is left."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from scripts.regime.host_probes import NAMESPACES
from scripts.trials.trial_spec import KILL, LOG, SHUTDOWN
from tests.durability.victims import (
    LEFT_S,
    children_of,
    leftovers_of,
    wait_until_nothing_is_left,
)
from tests.places import BUILD, ROOT
from tests.support.one_trial import durable_spec, skip_unless_possible

_ENGINE = BUILD / "drivers/db_bench_leveldb"

# Mount a disk as a trial does, write to it, print a line, and wait.
_WORKSPACE = """
import sys, time
from pathlib import Path
from scripts.trials.block_log import Recorder
from scripts.regime.loop_device import mount
from scripts.regime.mkfs import make_file_system
from scripts.trials.trial_disk import TrialDisk, workspace
from scripts.trials.trial_spec import TrialSpec
def hold(point):
    (point / "file").write_bytes(bytes(1 << 20))
    print("mounted", flush=True)
    time.sleep(3600)
spec = TrialSpec.from_json(sys.stdin.read())
with workspace(spec) as space:
    disk = TrialDisk(space, spec.fs)
"""
_BUSY = """
    import subprocess
    from scripts.regime import loop_device
    loop_device._BUSY_S = 0.2
    disk.clear()
    try:
        with disk.mounted() as point, (point / "file").open("w") as file:
            user = subprocess.Popen(["sleep", "3600"], stdout=file)
    except loop_device.DiskError as error:
        mounts = Path("/proc/self/mountinfo").read_text()
        print(error, str(point) in mounts)
    user.kill()
"""
_ON_IMAGE = """
    disk.clear()
    with disk.mounted() as point:
        hold(point)
"""
_RECORDED = """
    disk.mount_point.mkdir()
    with Recorder(Path(spec.block_log), space, space / "log", 64) as device:
        make_file_system(spec.fs, device)
        mount(device, disk.mount_point, spec.fs)
        hold(disk.mount_point)
"""


@pytest.fixture(autouse=True)
def _possible() -> None:
    skip_unless_possible(LOG)


def started(words: Sequence[str], method: str, folder: Path) -> "subprocess.Popen[str]":
    """Start a process that reads the specification of a trial in a new folder."""
    folder.mkdir()
    fs = "" if method == KILL else "ext4"
    spec = durable_spec(_ENGINE, method, fs, 100, 1)
    process = subprocess.Popen(
        words,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=ROOT,
        env={**os.environ, "HOME": str(folder)},
        text=True,
    )
    assert process.stdin
    process.stdin.write(replace(spec, folder=str(folder)).to_json())
    process.stdin.close()
    return process


@pytest.mark.parametrize("victim", ["unshare", "worker", "folder"])
@pytest.mark.parametrize("script", [_ON_IMAGE, _RECORDED], ids=["image", "recorded"])
def test_a_mounted_disk_that_nobody_unmounts_leaves_nothing(
    tmp_path: Path, script: str, victim: str
) -> None:
    """A folder is removed by the session, or by the next run, perhaps too early."""
    name = f"left-{os.getpid()}-{victim}-{len(script)}"
    left = leftovers_of(tmp_path / name, name)
    words = [*NAMESPACES, sys.executable, "-c", _WORKSPACE + script]
    with started(words, SHUTDOWN, left.folder) as unshare:
        assert unshare.stdout
        assert unshare.stdout.readline() == "mounted\n"
        assert any(thing.startswith("loop") for thing in left.found())
        if victim == "worker":
            (worker,) = children_of(unshare.pid)
            os.kill(worker, signal.SIGKILL)
        else:
            if victim == "folder":
                shutil.rmtree(left.folder)
            unshare.kill()
    wait_until_nothing_is_left(left.found)


def test_a_busy_disk_is_detached_with_a_message(tmp_path: Path) -> None:
    name = f"left-{os.getpid()}-busy"
    left = leftovers_of(tmp_path / name, name)
    words = [*NAMESPACES, sys.executable, "-c", _WORKSPACE + _BUSY]
    with started(words, SHUTDOWN, left.folder) as unshare:
        assert unshare.stdout
        said = unshare.stdout.read()
    assert "stayed mounted (Device or resource busy): a process of the engine" in said
    assert said.endswith("it was detached False\n")
    wait_until_nothing_is_left(left.found)


def test_without_namespaces_a_writer_ends_with_its_worker(tmp_path: Path) -> None:
    """As for an ordinary user, who can only kill."""
    left = leftovers_of(tmp_path / "work", "no disk")
    words = [sys.executable, "-m", "scripts.trials.worker"]
    with started(words, KILL, left.folder) as worker:
        limit_s = time.monotonic() + LEFT_S
        while not any("crash_test=write" in thing for thing in left.found()):
            assert time.monotonic() < limit_s and worker.poll() is None
        worker.kill()
    wait_until_nothing_is_left(left.found)
