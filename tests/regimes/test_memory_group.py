"""Control groups: their limits, what they report, and that nothing of them is left."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from scripts.regime.memory_group import (
    Hierarchy,
    MemoryGroup,
    MemoryGroupError,
    MemoryGroups,
    find_hierarchy,
    try_groups,
)
from tests.places import PATIENCE_S, ROOT

MIB = 1 << 20
MOUNTINFO = Path("/proc/self/mountinfo")
V1 = "34 24 0:30 / {} rw,relatime - cgroup cgroup rw,memory\n"
CPU = "33 24 0:29 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu\n"
V2 = "35 24 0:31 / {} rw,relatime - cgroup2 cgroup2 rw\n"


def test_the_hierarchy_with_the_memory_controller_is_found(tmp_path: Path) -> None:
    unified, bare = tmp_path / "unified", tmp_path / "bare"
    for folder, controllers in ((unified, "cpu memory pids\n"), (bare, "cpu\n")):
        folder.mkdir()
        (folder / "cgroup.controllers").write_text(controllers)
    first = V1.format("/cg/memory")
    assert find_hierarchy(CPU + first) == Hierarchy(Path("/cg/memory"), 1)
    assert find_hierarchy(CPU + V2.format(unified)) == Hierarchy(unified, 2)
    assert find_hierarchy(CPU + V2.format(bare)) is None
    assert find_hierarchy(V2.format(bare) + first) == Hierarchy(Path("/cg/memory"), 1)
    assert find_hierarchy("") is None
    assert find_hierarchy("nonsense\n") is None


def test_version_2_has_files_of_other_names(tmp_path: Path) -> None:
    """No machine of this project has the second version: its files are simulated."""
    group = MemoryGroup(tmp_path / "group", 2, 64 * MIB)
    folder = tmp_path / "group"
    assert (folder / "memory.max").read_text() == str(64 * MIB)
    assert (folder / "memory.swap.max").read_text() == "0"
    assert group.peak_bytes is None
    assert group.memory is None
    assert group.kills == 0
    (folder / "memory.peak").write_text("123\n")
    (folder / "memory.stat").write_text("anon 5\nfile 7\nkernel 9\n")
    (folder / "memory.events").write_text("low 0\noom 2\noom_kill 1\n")
    assert group.peak_bytes == 123
    assert group.memory
    assert (group.memory.anonymous_bytes, group.memory.file_bytes) == (5, 7)
    assert group.kills == 1
    assert group.enter[-1] == str(folder / "cgroup.procs")


def test_a_folder_that_is_no_hierarchy_is_an_error_with_a_remedy() -> None:
    with pytest.raises(MemoryGroupError, match="run as root, outside of containers"):
        MemoryGroups(Hierarchy(Path("/proc"), 1))


def hierarchy() -> Hierarchy:
    """Return that of this machine; skip the test without one."""
    found = find_hierarchy(MOUNTINFO.read_text())
    if os.geteuid() != 0 or found is None or not os.access(found.folder, os.W_OK):
        pytest.skip("needs root and memory control groups")
    return found


@contextmanager
def groups() -> Iterator[MemoryGroups]:
    made = MemoryGroups(hierarchy())
    try:
        yield made
    finally:
        made.close()


def test_a_machine_that_can_make_groups_is_not_refused() -> None:
    """Otherwise the tests that need them would be skipped everywhere."""
    try_groups(hierarchy())
    assert not list(hierarchy().folder.glob(f"kvmatrix-{os.getpid()}*"))


def own_groups(pid: int) -> Path:
    return hierarchy().folder / f"kvmatrix-{pid}"


def run(group: MemoryGroup, program: str, *words: str) -> int:
    """Run a Python program in a group."""
    command = [*group.enter, sys.executable, "-c", program, *words]
    return subprocess.run(command, check=False, timeout=PATIENCE_S).returncode


def test_a_process_has_no_more_memory_than_its_limit(tmp_path: Path) -> None:
    """The page cache counts: a file of 64 MiB is read with 32 MiB of memory."""
    file = tmp_path / "file"
    with file.open("wb") as stream:
        stream.write(bytes(64 * MIB))
        stream.flush()
        os.fsync(stream.fileno())
        os.posix_fadvise(stream.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    read = "import sys; open(sys.argv[1], 'rb').read(1); [0 for _ in "
    read += "iter(lambda f=open(sys.argv[1], 'rb'): f.read(1 << 16), b'')]"
    with groups() as made, made.limited(32 * MIB) as group:
        assert run(group, read, str(file)) == 0
        assert group.kills == 0
        assert group.peak_bytes is not None
        assert group.peak_bytes <= 32 * MIB


def test_a_process_that_needs_more_is_killed_and_that_is_reported() -> None:
    with groups() as made:
        with made.limited(32 * MIB) as group:
            assert run(group, "memory = bytearray(64 << 20)") == -signal.SIGKILL
            assert group.kills == 1
        with made.limited(96 * MIB) as group:
            assert run(group, "memory = bytearray(64 << 20)") == 0
            assert group.kills == 0
    assert not own_groups(os.getpid()).exists()


HOLD = """
import sys, time
from pathlib import Path
from scripts.regime.memory_group import MemoryGroups, find_hierarchy
groups = MemoryGroups(find_hierarchy(Path("/proc/self/mountinfo").read_text()))
with groups.limited(32 << 20) as group:
    print(groups._guard.pid, flush=True)
    sys.stdin.read()
groups.close()
"""


@contextmanager
def holder() -> Iterator[tuple["subprocess.Popen[str]", int]]:
    """Yield a process that has groups, and the process id of their guard."""
    hierarchy()
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout
        yield process, int(process.stdout.readline())
    finally:
        process.kill()
        process.communicate()


def wait_until_gone(path: Path) -> None:
    limit_s = time.monotonic() + PATIENCE_S
    while path.exists():
        assert time.monotonic() < limit_s, f"{path} is left"
        time.sleep(0.05)


def test_the_guard_removes_the_groups_of_a_killed_process() -> None:
    with holder() as (process, _):
        assert own_groups(process.pid).exists()
        process.kill()
        process.wait()
        wait_until_gone(own_groups(process.pid))


def test_the_process_removes_them_if_its_guard_was_killed() -> None:
    with holder() as (process, guard):
        os.kill(guard, signal.SIGKILL)
        process.communicate("", timeout=PATIENCE_S)
        assert process.returncode == 0
        assert not own_groups(process.pid).exists()


def test_the_next_run_removes_them_if_both_were_killed() -> None:
    with holder() as (process, guard):
        os.kill(guard, signal.SIGKILL)
        process.kill()
        process.wait()
        assert own_groups(process.pid).exists()
        with groups():
            assert not own_groups(process.pid).exists()
