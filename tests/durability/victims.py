"""The processes of a durability run, and what is left of it after it has ended."""

import contextlib
import fcntl
import os
import struct
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.places import PATIENCE_S

KINDS = ("session", "unshare", "worker", "writer", "audit", "block_log")
_WORKER = b"scripts.trials.worker"
LEFT_S = 120.0  # after which what is left will not go by itself
_POLL_S = 0.02
_LOOP_GET_STATUS64 = 0x4C05
_NAME_AT, _NAME_BYTES, _STATUS_BYTES = 56, 64, 232  # of struct loop_info64
_IMAGES = ("disk.img", "disk")
_LIST_FUSE = (
    "mount -t fusectl none /sys/fs/fuse/connections; ls /sys/fs/fuse/connections"
)


def victims(session: int) -> dict[str, list[int]]:
    """Return the processes of a running session, by kind."""
    found: dict[str, list[int]] = {kind: [] for kind in KINDS}
    found["session"].append(session)
    children = _families()
    for unshare in children.get(session, []):
        if _WORKER not in _file(unshare, "cmdline"):
            continue  # an engine that describes itself
        found["unshare"].append(unshare)
        for worker in children.get(unshare, []):
            found["worker"].append(worker)
            for child in children.get(worker, []):
                if kind := _kind_of(_file(child, "cmdline")):
                    found[kind].append(child)
    return found


def children_of(pid: int) -> list[int]:
    """Return the children of a process."""
    return _families().get(pid, [])


def _families() -> dict[int, list[int]]:
    """Return the children of each process."""
    found: dict[int, list[int]] = {}
    for pid in _pids():
        if status := _file(pid, "stat"):
            parent = status.rpartition(b")")[2].split()[1]
            found.setdefault(int(parent), []).append(int(pid))
    return found


def _kind_of(command: bytes) -> str:
    if b"--crash_test=write" in command:
        return "writer"
    if b"--crash_test=audit" in command:
        return "audit"
    return "block_log" if b"block_log\0" in command else ""


def _file(pid: int | str, name: str) -> bytes:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/{name}").read_bytes()
    return b""


@dataclass(frozen=True)
class Leftovers:
    """Finds what a run has left.

    Its processes know its folder from their environment, and its loop devices are named
    after `setting`, which no other run has.
    """

    folder: Path
    setting: str
    fuse_before: frozenset[str]

    def found(self) -> list[str]:
        """Return what is left, for people."""
        return [*self._processes(), *self._mounts(), *self._loop_devices()]

    def fuse(self) -> list[str]:
        """Return FUSE connections that are new, and that nobody has mounted."""
        new = fuse_connections() - self.fuse_before
        return [f"FUSE connection {number}" for number in sorted(new - _mounted_fuse())]

    def _processes(self) -> Iterator[str]:
        mark = os.fsencode(self.folder)
        for pid in _pids():
            if mark in _file(pid, "environ"):
                command = _file(pid, "cmdline").replace(b"\0", b" ").decode()
                yield f"process {pid}: {command}"

    def _mounts(self) -> Iterator[str]:
        mark = os.fsencode(self.folder)
        for line in _file("self", "mountinfo").splitlines():
            if mark in line:
                yield f"mount: {line.decode()}"

    def _loop_devices(self) -> Iterator[str]:
        for file in Path("/sys/block").glob("loop*/loop/backing_file"):
            name = ""
            with contextlib.suppress(OSError):  # it was detached meanwhile
                if Path(file.read_text().strip().split(" ")[0]).name in _IMAGES:
                    name = _name_of(Path("/dev") / file.parts[3])
            if self.setting in name:
                yield f"{file.parts[3]}: {name}"


def _name_of(device: Path) -> str:
    """Return the name that a loop device was attached with."""
    handle = os.open(device, os.O_RDONLY | os.O_CLOEXEC)
    try:
        status = fcntl.ioctl(handle, _LOOP_GET_STATUS64, bytes(_STATUS_BYTES))
    finally:
        os.close(handle)
    (name,) = struct.unpack_from(f"{_NAME_BYTES}s", status, _NAME_AT)
    return os.fsdecode(name.rstrip(b"\0"))


def _pids() -> list[str]:
    return [path.name for path in Path("/proc").iterdir() if path.name.isdigit()]


def fuse_connections() -> frozenset[str]:
    """Return the numbers of all connections, wherever they are mounted."""
    own = ("unshare", "--mount", "--propagation", "private")
    done = subprocess.run(
        [*own, "sh", "-c", _LIST_FUSE],
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=True,
    )
    return frozenset(done.stdout.split())


def _mounted_fuse() -> set[str]:
    """Return the numbers of connections that are mounted for any process."""
    lines = {line for pid in _pids() for line in _file(pid, "mountinfo").splitlines()}
    return {
        line.split(b" ")[2].partition(b":")[2].decode()
        for line in lines
        if b" - fuse" in line
    }


def leftovers_of(folder: Path, setting: str) -> Leftovers:
    """Return what finds the leftovers of a run that has not begun."""
    return Leftovers(folder, setting.replace("/", "-"), fuse_connections())


def wait_until_nothing_is_left(found: Callable[[], Sequence[str]]) -> None:
    """Wait as long as something is left that goes by itself."""
    limit_s = time.monotonic() + LEFT_S
    while left := found():
        assert time.monotonic() < limit_s, "\n".join(left)
        time.sleep(_POLL_S)
