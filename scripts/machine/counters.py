"""Counters of the machine.

Sources: proc(5), and Documentation/block/stat.rst and Documentation/accounting/psi.rst
of Linux.  A counter that cannot be read is None, not 0.
"""

import os
from pathlib import Path

from scripts.machine.reader import Reader
from scripts.regime.loop_device import disk_counts

TICK_NS = 10**9 // os.sysconf("SC_CLK_TCK")
PRESSURES = ("cpu", "io", "memory")
# Positions in a line of /proc/stat: user nice system idle iowait irq softirq steal.
_STEAL = 7
_IDLE = (3, 4, _STEAL)


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
    counts = disk_counts(reader.file(f"{entry}/stat") or "")
    return (counts.read_bytes, counts.written_bytes) if counts else (None, None)
