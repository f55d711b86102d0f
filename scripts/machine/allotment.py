"""What this process may use of its machine: processors, CPU time, memory.

A control group inherits the limits of those around it, so the least of them counts.
A limit that cannot be read is taken as none.
"""

import math
import re
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any

from report.terms.machine_facts import NO_LIMIT
from scripts.machine.reader import Reader

_UNLIMITED = 1 << 60  # bytes: version 1 has a number near 2^63 for no limit
_OCTAL = re.compile(r"\\([0-7]{3})")


def allotted(reader: Reader, cpus: Any, total_bytes: Any) -> dict[str, Any]:
    """Return the facts of what the process may use, of `cpus` and `total_bytes`.

    A limit that is no less than what is there is none.
    """
    return {
        "allowed_cpus": allowed_cpus(reader),
        "cpu_quota": _below(cpu_quota(reader), cpus),
        "memory_limit_bytes": _below(group_memory(reader), total_bytes),
        "address_space_bytes": _below(limit_of(reader, "address space"), _UNLIMITED),
    }


def _below(limit: float, there: Any) -> float | str:
    least = there if isinstance(there, int) else math.inf
    return limit if limit < least else NO_LIMIT


def allowed_cpus(reader: Reader) -> str:
    """Return the processors that the runner and its children may use: "0-2"."""
    for line in _text(reader, "/proc/self/status").splitlines():
        name, _, value = line.partition(":")
        if name == "Cpus_allowed_list":
            return value.strip()
    return "unknown"


def cpu_quota(reader: Reader) -> float:
    """Return how many processors' time the control groups leave the process."""
    quotas = [math.inf]
    for version, folder in _groups(reader, "cpu"):
        if version == 2:
            quota, _, period = _text(reader, f"{folder}/cpu.max").partition(" ")
        else:
            quota = _text(reader, f"{folder}/cpu.cfs_quota_us")
            period = _text(reader, f"{folder}/cpu.cfs_period_us")
        if quota.isdecimal():
            per = int(period) if period.isdecimal() else 100_000  # the kernel's default
            quotas.append(round(int(quota) / per, 3))
    return min(quotas)


def group_memory(reader: Reader) -> float:
    """Return the bytes of memory that the control groups leave the process."""
    names = {1: ("memory.limit_in_bytes",), 2: ("memory.max", "memory.high")}
    texts = (
        _text(reader, f"{folder}/{name}")
        for version, folder in _groups(reader, "memory")
        for name in names[version]
    )
    limits = [int(text) for text in texts if text.isdecimal()]
    return min((limit for limit in limits if limit < _UNLIMITED), default=math.inf)


def limit_of(reader: Reader, resource: str) -> float:
    """Return a limit of the process, such as "open files": see setrlimit(2)."""
    for line in _text(reader, "/proc/self/limits").splitlines():
        words = line.removeprefix(f"Max {resource} ").split()
        if line.startswith(f"Max {resource} ") and words[0].isdecimal():
            return int(words[0])
    return math.inf


def _text(reader: Reader, path: str) -> str:
    return (reader.file(path) or "").strip()


def _groups(reader: Reader, controller: str) -> Iterator[tuple[int, str]]:
    """Yield the version and the folder of each group that the process is in."""
    for line in _text(reader, "/proc/self/cgroup").splitlines():
        _, _, rest = line.partition(":")
        kinds, _, path = rest.partition(":")
        if not path.startswith("/") or (kinds and controller not in kinds.split(",")):
            continue
        if ".." in path.split("/"):  # outside of what this namespace shows
            path = "/"
        version = 1 if kinds else 2
        point, inner = _mounted(reader, controller, version, PurePosixPath(path))
        for folder in (inner, *inner.parents):
            yield version, f"{point}/{folder}".rstrip("/.")


def _mounted(
    reader: Reader, controller: str, version: int, path: PurePosixPath
) -> tuple[str, PurePosixPath]:
    """Return where a hierarchy is mounted, and the path of a group below that."""
    for line in _text(reader, "/proc/self/mountinfo").splitlines():
        head, _, tail = line.partition(" - ")
        words, rest = head.split(), tail.split()
        kind = "cgroup" if version == 1 else "cgroup2"
        if len(words) > 4 and len(rest) > 2 and rest[0] == kind:
            if version == 1 and controller not in rest[2].split(","):
                continue
            root, point = (_OCTAL.sub(_character, word) for word in words[3:5])
            if path.is_relative_to(root):
                return point, path.relative_to(root)
            return point, path.relative_to("/")
    usual = f"/sys/fs/cgroup/{controller}" if version == 1 else "/sys/fs/cgroup"
    return usual, path.relative_to("/")


def _character(match: "re.Match[str]") -> str:
    return chr(int(match[1], 8))
