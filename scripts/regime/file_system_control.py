"""What the file system alone writes: the control of every write amplification.

A file is appended to, first many small entries with one fsync at the end, then one
entry and one fdatasync at a time.  No engine can write less to the disk for the same
promise, unless it compresses.
"""

import os
import time
from typing import Any

from scripts.regime.private_disk import PrivateDisk

_SECTOR_BYTES = 512
_ENTRY = b"0123456789abcdef" + bytes(100)
_APPENDS, _SYNCED = 20_000, 200


def file_system_control(disk: PrivateDisk) -> dict[str, Any]:
    """Return what a new file system on a disk writes for appends, and their time.

    Raises DiskError.
    """
    disk.clear()
    handle = os.open(disk.point / "log", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        os.fsync(handle)
        before = _counters(disk)
        for _ in range(_APPENDS):
            os.write(handle, _ENTRY)
        os.fsync(handle)
        appended = _counters(disk)
        began_ns = time.monotonic_ns()
        for _ in range(_SYNCED):
            os.write(handle, _ENTRY)
            os.fdatasync(handle)
        elapsed_ns = time.monotonic_ns() - began_ns
        synced = _counters(disk)
    finally:
        os.close(handle)
    written = [b - a for a, b in zip(before, appended, strict=True)]
    each = [b - a for a, b in zip(appended, synced, strict=True)]
    return {
        "appended_bytes": _APPENDS * len(_ENTRY),
        "written_for_appends_bytes": written[0],
        "write_amplification": round(written[0] / (_APPENDS * len(_ENTRY)), 3),
        "written_per_synced_append_bytes": each[0] // _SYNCED,
        "flushes_per_synced_append": round(each[1] / _SYNCED, 2),
        "synced_append_us": round(elapsed_ns / 1e3 / _SYNCED, 1),
    }


def _counters(disk: PrivateDisk) -> tuple[int, int]:
    """Return the bytes written to a disk so far, and the flushes."""
    words = disk.device.stat.read_text().split()
    return int(words[6]) * _SECTOR_BYTES, int(words[15])
