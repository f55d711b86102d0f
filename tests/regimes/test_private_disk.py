"""Disks of one's own: nothing cached after eviction, settings, counters, their end."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from report.terms.regime import LOOP, Regime
from scripts.regime.regime_site import why_no_regime
from tests.places import PATIENCE_S, ROOT

PROGRAM = """
import json, os, sys
from pathlib import Path
from scripts.regime.loop_device import DiskError
from scripts.regime.private_disk import PrivateDisk, have_own_mounts

folder, action = Path(sys.argv[1]), sys.argv[2]

def sectors(disk):
    words = disk.device.stat.read_text().split()
    return int(words[2]), int(words[6])

have_own_mounts()
try:
    disk = PrivateDisk(folder, 64 << 20, read_ahead_bytes=4096)
except DiskError as error:
    print(json.dumps({"error": str(error)}))
    sys.exit()
disk.clear()
file = disk.point / "file"
file.write_bytes(os.urandom(4 << 20))
if action == "hold":
    print(json.dumps({"loop": disk.device.path}), flush=True)
    sys.stdin.read()
before = sectors(disk)
disk.evict()
evicted = sectors(disk)
handle = os.open(file, os.O_RDONLY)
os.pread(handle, 4096, 1 << 20)
one = sectors(disk)
os.pread(handle, 4096, 1 << 20)
again = sectors(disk)
os.close(handle)
words = Path("/proc/self/mountinfo").read_text().splitlines()
mounted = [line for line in words if str(disk.point) in line]
ahead = (disk.device.queue / "read_ahead_kb").read_text()
disk.clear()
left = sorted(path.name for path in disk.point.iterdir())
found = {
    "written": evicted[1] - before[1], "read": one[0] - evicted[0],
    "again": again[0] - one[0], "ahead_kb": int(ahead), "mounted": mounted,
    "left": left, "image": (folder / "disk.img").stat().st_blocks * 512,
}
disk.close()
print(json.dumps({**found, "exists": folder.exists(), "loop": ""}))
"""


def start(folder: Path, action: str) -> "subprocess.Popen[str]":
    """Start the program; skip the test where it cannot run."""
    if why := why_no_regime([Regime(device=LOOP, file_system="ext4")]):
        pytest.skip(why)
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(folder), action],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={"PATH": f"{os.environ['PATH']}:/usr/sbin:/sbin", "PYTHONPATH": str(ROOT)},
    )


def found(folder: Path) -> dict[str, Any]:
    output, _ = start(folder, "end").communicate(timeout=PATIENCE_S)
    document: dict[str, Any] = json.loads(output)
    return document


@pytest.fixture
def disk_folder() -> Iterator[Path]:
    """A folder on a disk, which a temporary one need not be."""
    folder = ROOT / "build" / f"private-disk-{os.getpid()}"
    yield folder
    assert not folder.exists() or not (folder / "mounted").is_mount()
    subprocess.run(["rm", "-rf", "--one-file-system", str(folder)], check=True)


def test_a_disk_is_read_again_after_eviction(disk_folder: Path) -> None:
    """One page is read for one page, and from memory the second time."""
    seen = found(disk_folder)
    assert seen["written"] >= 8192, "the file was written back"
    assert 8 <= seen["read"] <= 64, "a page, and what the file system needs to find it"
    assert seen["again"] == 0
    assert seen["ahead_kb"] == 4
    options = seen["mounted"][0].split()[5].split(",")
    expected = {"noatime", "nosuid", "nodev", "noexec", "nosymfollow"}
    assert expected <= {*options}, "it is for data alone"
    assert seen["left"] == ["lost+found"]
    assert seen["image"] >= 64 << 20, "no part of the image is a hole"
    assert seen["exists"] is False


@contextmanager
def held(folder: Path) -> Iterator[tuple["subprocess.Popen[str]", Path]]:
    process = start(folder, "hold")
    try:
        assert process.stdout
        loop = json.loads(process.stdout.readline())["loop"]
        yield process, Path("/sys/block") / Path(loop).name / "loop/backing_file"
    finally:
        process.kill()
        process.communicate()


def test_a_killed_process_leaves_neither_mount_nor_device(disk_folder: Path) -> None:
    with held(disk_folder) as (process, backing):
        assert str(disk_folder) in backing.read_text()
        mounts = Path("/proc/self/mountinfo").read_text()
        assert str(disk_folder) not in mounts, "only that process sees the mount"
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        limit_s = time.monotonic() + PATIENCE_S
        while backing.exists() and str(disk_folder) in backing.read_text():
            assert time.monotonic() < limit_s, "the loop device is left"
            time.sleep(0.05)
