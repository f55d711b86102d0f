"""Single counters of the machine and of its processes.

Sources: proc(5), Documentation/block/stat.rst and Documentation/accounting/psi.rst of
Linux.  What cannot be read is None; it is never taken for nothing.
"""

import os
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from scripts.machine.reader import Reader

TICK_NS = 10**9 // os.sysconf("SC_CLK_TCK")
PRESSURES = ("cpu", "io", "memory")
_SECTOR_BYTES = 512  # of every block device's stat file, whatever its sectors
_PF_KTHREAD = 0x00200000  # include/linux/sched.h
_STEAL = 7  # of /proc/stat's numbers: user nice system idle iowait irq softirq steal
_IDLE = (3, 4, _STEAL)


@dataclass(frozen=True)
class Process:
    """What one user process, with the children it has reaped, has used so far."""

    parent: int
    start_ticks: int  # when it started: tells it from a later one of the same number
    cpu_ticks: int
    read_bytes: int | None
    written_bytes: int | None


def cpu_ticks(reader: Reader) -> tuple[int | None, int | None, int | None]:
    """Online processors, their busy ticks and their stolen ticks."""
    text = reader.file("/proc/stat") or ""
    lines = [line.split() for line in text.splitlines() if line.startswith("cpu")]
    if not lines or len(lines[0]) < 9:
        return None, None, None
    ticks = [int(word) for word in lines[0][1:9]]  # guest time is in user
    busy = sum(count for place, count in enumerate(ticks) if place not in _IDLE)
    return len(lines) - 1, busy, ticks[_STEAL]


def pressure_us(reader: Reader, kind: str) -> int | None:
    """Microseconds in which some task waited for cpu, io or memory."""
    for line in (reader.file(f"/proc/pressure/{kind}") or "").splitlines():
        if line.startswith("some "):
            return int(line.rpartition("total=")[2])
    return None


def device_bytes(reader: Reader, data_dir: Path) -> tuple[int | None, int | None]:
    """Read and written so far by the whole disk that holds the folder."""
    entry = f"/sys/dev/block/{reader.device_of(data_dir)}"
    if reader.file(f"{entry}/partition") is not None:
        entry = f"{entry}/.."
    words = (reader.file(f"{entry}/stat") or "").split()
    if len(words) < 7:
        return None, None
    return int(words[2]) * _SECTOR_BYTES, int(words[6]) * _SECTOR_BYTES


def user_processes(reader: Reader) -> tuple[dict[int, Process], bool]:
    """The user processes, and whether all of the machine's could be read.

    A machine on which no kernel thread is seen is seen in part: a container, or
    hidepid.  A process that ended while this looked is no loss.
    """
    found: dict[int, Process] = {}
    unread, kernel_threads = set(), 0
    for pid in reader.processes():
        stat = _stat_words(reader, pid)
        if stat is None:
            unread.add(pid)
        elif int(stat[6]) & _PF_KTHREAD:
            kernel_threads += 1
        else:
            found[pid] = _process(reader, pid, stat)
    doubtful = unread | {pid for pid, p in found.items() if p.read_bytes is None}
    listed = set(reader.processes()) if doubtful else set()
    for pid in doubtful - listed:
        found.pop(pid, None)
    return found, kernel_threads > 0 and not unread & listed


def _stat_words(reader: Reader, pid: int) -> list[str] | None:
    """The words of /proc/PID/stat from the third on: a name may hold anything."""
    words = (reader.file(f"/proc/{pid}/stat") or "").rpartition(") ")[2].split()
    return words if len(words) > 19 else None


def _process(reader: Reader, pid: int, stat: list[str]) -> Process:
    io = dict(_pairs(reader.file(f"/proc/{pid}/io") or ""))
    return Process(
        parent=int(stat[1]),
        start_ticks=int(stat[19]),
        cpu_ticks=sum(int(word) for word in stat[11:15]),
        read_bytes=io.get("read_bytes"),
        written_bytes=io.get("write_bytes"),
    )


def _pairs(text: str) -> Iterator[tuple[str, int]]:
    for line in text.splitlines():
        name, _, value = line.partition(":")
        yield name, int(value)


def descends(
    pid: int, ancestors: Collection[int], processes: Mapping[int, Process]
) -> bool:
    """Whether a process is one of the ancestors or below one."""
    seen: set[int] = set()
    while pid in processes and pid not in seen:
        if pid in ancestors:
            return True
        seen.add(pid)
        pid = processes[pid].parent
    return False
