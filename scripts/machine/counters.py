"""Counters of the machine and of its processes.

Sources: proc(5), and Documentation/block/stat.rst and Documentation/accounting/psi.rst
of Linux.  A counter that cannot be read is None, not 0.
"""

import os
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from scripts.machine.reader import Reader

TICK_NS = 10**9 // os.sysconf("SC_CLK_TCK")
PRESSURES = ("cpu", "io", "memory")
_SECTOR_BYTES = 512  # the unit of every block device's stat file
_PF_KTHREAD = 0x00200000  # include/linux/sched.h
# Positions in a line of /proc/stat: user nice system idle iowait irq softirq steal.
_STEAL = 7
_IDLE = (3, 4, _STEAL)


@dataclass(frozen=True)
class Process:
    """What a user process and the children that it reaped have used so far."""

    parent: int
    start_ticks: int  # its start time: distinguishes processes with the same pid
    cpu_ticks: int
    read_bytes: int | None
    written_bytes: int | None


def cpu_ticks(reader: Reader) -> tuple[int | None, int | None, int | None]:
    """Return the number of online processors, their busy ticks and stolen ticks."""
    text = reader.file("/proc/stat") or ""
    lines = [line.split() for line in text.splitlines() if line.startswith("cpu")]
    if not lines or len(lines[0]) < 9:
        return None, None, None
    ticks = [int(word) for word in lines[0][1:9]]  # user includes guest time
    busy = sum(count for index, count in enumerate(ticks) if index not in _IDLE)
    return len(lines) - 1, busy, ticks[_STEAL]


def pressure_us(reader: Reader, kind: str) -> int | None:
    """Return the microseconds in which some task waited for cpu, io or memory."""
    for line in (reader.file(f"/proc/pressure/{kind}") or "").splitlines():
        if line.startswith("some "):
            return int(line.rpartition("total=")[2])
    return None


def device_bytes(reader: Reader, data_dir: Path) -> tuple[int | None, int | None]:
    """Return the bytes read and written so far by the disk that holds the folder.

    For a folder on a partition, this is the whole disk.
    """
    entry = f"/sys/dev/block/{reader.device_of(data_dir)}"
    if reader.file(f"{entry}/partition") is not None:
        entry = f"{entry}/.."
    words = (reader.file(f"{entry}/stat") or "").split()
    if len(words) < 7:
        return None, None
    return int(words[2]) * _SECTOR_BYTES, int(words[6]) * _SECTOR_BYTES


def user_processes(reader: Reader) -> tuple[dict[int, Process], bool]:
    """Return the user processes, and True if none of the machine's is hidden.

    If no kernel thread is visible, other processes are hidden too: in a container, or
    by the mount option hidepid.  A process that ends during the call is not hidden.
    """
    processes: dict[int, Process] = {}
    unread, kernel_threads = set(), 0
    for pid in reader.processes():
        stat = _stat_words(reader, pid)
        if stat is None:
            unread.add(pid)
        elif int(stat[6]) & _PF_KTHREAD:
            kernel_threads += 1
        else:
            processes[pid] = _process(reader, pid, stat)
    # /proc/PID/stat and /proc/PID/io are also unreadable if the process has just ended.
    doubtful = unread | {pid for pid, p in processes.items() if p.read_bytes is None}
    listed = set(reader.processes()) if doubtful else set()
    for pid in doubtful - listed:
        processes.pop(pid, None)
    return processes, kernel_threads > 0 and not unread & listed


def _stat_words(reader: Reader, pid: int) -> list[str] | None:
    """Return the words of /proc/PID/stat from the third on.

    The second is the program's name, in brackets; it may contain spaces and brackets.
    """
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
    """Return True if a process is one of the ancestors or a descendant of one."""
    seen: set[int] = set()
    while pid in processes and pid not in seen:
        if pid in ancestors:
            return True
        seen.add(pid)
        pid = processes[pid].parent
    return False
