"""Control groups that limit the memory of one process at a time.

The limit covers what the process allocates and the page cache that it fills.  A page of
a file is charged to the group whose process touches it first, so files must be evicted
before the process opens them: Documentation/admin-guide/cgroup-v1/memory.rst and
cgroup-v2.rst of Linux.
"""

import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from report.terms.encoding import reason_of

_PREFIX = "kvmatrix-"
_ATTEMPTS = 50
_PAUSE_S = 0.1
_ENTER = 'echo $$ > "$0" && exec "$@"'
# It waits for the end of the process that holds its standard input, kills what is left
# in the groups below "$1" and removes them.
_GUARD = """
read -r _
attempt=0
while [ -d "$1" ] && [ $attempt -lt 50 ]; do
  for group in "$1"/*/ "$1"/; do
    [ -f "$group/cgroup.procs" ] || continue
    while read -r pid; do kill -9 "$pid"; done < "$group/cgroup.procs"
    rmdir "$group"
  done 2>/dev/null
  attempt=$((attempt + 1))
  sleep 0.1
done
"""


class MemoryGroupError(Exception):
    """There can be no memory limit; the message names a remedy."""


@dataclass(frozen=True)
class Hierarchy:
    """The folder in which memory groups are made, and its version, 1 or 2."""

    folder: Path
    version: int


@dataclass(frozen=True)
class GroupMemory:
    """What is charged to a group, in bytes: anonymous memory, and pages of files."""

    anonymous_bytes: int
    file_bytes: int


def find_hierarchy(mountinfo: str) -> Hierarchy | None:
    """Return the hierarchy with the memory controller, from /proc/self/mountinfo.

    Return None if the kernel has none, or if it is mounted nowhere.
    """
    for line in mountinfo.splitlines():
        head, _, tail = line.partition(" - ")
        words, rest = head.split(), tail.split()
        if len(words) < 5 or len(rest) < 3:
            continue
        folder = Path(words[4])
        if rest[0] == "cgroup" and "memory" in rest[2].split(","):
            return Hierarchy(folder, 1)
        if rest[0] == "cgroup2":
            with suppress(OSError):
                if "memory" in (folder / "cgroup.controllers").read_text().split():
                    return Hierarchy(folder, 2)
    return None


class MemoryGroup:
    """The group of one process.  The process must have ended before remove()."""

    def __init__(self, folder: Path, version: int, limit_bytes: int) -> None:
        self._folder, self._version = folder, version
        folder.mkdir()
        if version == 1:
            self._write("memory.limit_in_bytes", limit_bytes)
            self._write("memory.swappiness", 0)
        else:
            self._write("memory.max", limit_bytes)
            with suppress(OSError):  # a kernel without swap does not have the file
                self._write("memory.swap.max", 0)

    @property
    def enter(self) -> tuple[str, ...]:
        """The start of a command that enters the group before it does anything."""
        return ("/bin/sh", "-c", _ENTER, str(self._folder / "cgroup.procs"))

    @property
    def peak_bytes(self) -> int | None:
        """The most memory charged so far; None if the kernel does not keep it."""
        name = {1: "memory.max_usage_in_bytes", 2: "memory.peak"}[self._version]
        with suppress(OSError, ValueError):
            return int(self._read(name))
        return None

    @property
    def memory(self) -> GroupMemory | None:
        """What is charged now; None if it cannot be read."""
        names = {1: ("rss", "cache"), 2: ("anon", "file")}[self._version]
        with suppress(OSError, KeyError, ValueError):
            counts = dict(
                line.split() for line in self._read("memory.stat").split("\n") if line
            )
            return GroupMemory(*(int(counts[name]) for name in names))
        return None

    @property
    def kills(self) -> int:
        """How many processes the kernel has killed because of the limit."""
        name = {1: "memory.oom_control", 2: "memory.events"}[self._version]
        with suppress(OSError, ValueError):
            for line in self._read(name).splitlines():
                if line.startswith("oom_kill "):
                    return int(line.split()[1])
        return 0

    def remove(self) -> None:
        """Give up the page cache that is charged to the group, and remove it.

        Raises MemoryGroupError if a process stays in it.
        """
        for attempt in range(_ATTEMPTS):
            with suppress(OSError):  # it may be busy: that costs some memory only
                if self._version == 1:
                    self._write("memory.force_empty", 0)
            try:
                self._folder.rmdir()
            except FileNotFoundError:
                return
            except OSError as error:
                if attempt == _ATTEMPTS - 1:
                    problem = f"{self._folder}: cannot remove: {reason_of(error)}"
                    raise MemoryGroupError(problem) from None
                time.sleep(_PAUSE_S)
            else:
                return

    def _write(self, name: str, value: int) -> None:
        (self._folder / name).write_text(str(value))

    def _read(self, name: str) -> str:
        return (self._folder / name).read_text()


def try_groups(hierarchy: Hierarchy) -> None:
    """Make a folder for groups and remove it.  Raises MemoryGroupError."""
    _new_folder(hierarchy, "-probe").rmdir()


class MemoryGroups:
    """The groups of this process, which a guard removes if it is killed."""

    def __init__(self, hierarchy: Hierarchy) -> None:
        """Start the guard.  Raises MemoryGroupError."""
        _remove_stale(hierarchy.folder)
        self._version = hierarchy.version
        self._folder = _new_folder(hierarchy)
        self._guard = subprocess.Popen(
            ["/bin/sh", "-c", _GUARD, "kvmatrix-guard", str(self._folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C must not end it
        )

    @contextmanager
    def limited(self, limit_bytes: int) -> Iterator[MemoryGroup]:
        """Yield a new group with this limit, and remove it at the end of the block.

        Raises MemoryGroupError.
        """
        try:
            group = MemoryGroup(self._folder / "process", self._version, limit_bytes)
        except OSError as error:
            problem = f"{self._folder}: cannot limit the memory: {reason_of(error)}"
            raise MemoryGroupError(problem) from None
        try:
            yield group
        finally:
            group.remove()

    def close(self) -> None:
        """Remove the groups.  The guard does it, unless it was killed."""
        assert self._guard.stdin is not None
        self._guard.stdin.close()
        self._guard.wait()
        if self._folder.exists():
            _remove_tree(self._folder)


def _new_folder(hierarchy: Hierarchy, suffix: str = "") -> Path:
    """Make the folder for the groups of this process.  Raises MemoryGroupError."""
    made = hierarchy.folder / f"{_PREFIX}{os.getpid()}{suffix}"
    try:
        made.mkdir()
        if hierarchy.version == 2:
            for folder in (hierarchy.folder, made):
                (folder / "cgroup.subtree_control").write_text("+memory")
    except OSError as error:
        with suppress(OSError):
            made.rmdir()
        raise MemoryGroupError(
            f"{hierarchy.folder}: no memory group can be made there:"
            f" {reason_of(error)}; run as root, outside of containers or in one that"
            " is started with --privileged --cgroupns=host"
        ) from None
    return made


def _remove_stale(folder: Path) -> None:
    """Remove the groups of processes that ended together with their guard."""
    for group in folder.glob(f"{_PREFIX}*"):
        pid = group.name.removeprefix(_PREFIX).partition("-")[0]
        if pid.isdigit() and not Path(f"/proc/{pid}").exists():
            _remove_tree(group)


def _remove_tree(folder: Path) -> None:
    for path in (*folder.glob("*/"), folder):
        with suppress(OSError):
            path.rmdir()
