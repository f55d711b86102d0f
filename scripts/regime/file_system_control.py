"""What the file system alone writes: the control of every write amplification.

A file is appended to, first many small entries with one fsync at the end, then one
entry and one fdatasync at a time.  No engine can write less to the disk for the same
promise, unless it compresses.
"""

import os
import time
from typing import Any

from scripts.regime.loop_device import DiskCounts, DiskError, disk_counts
from scripts.regime.regime_disk import Disk

_ENTRY = b"0123456789abcdef" + bytes(100)
_APPENDS, _SYNCED = 20_000, 200


def file_system_control(disk: Disk) -> dict[str, Any]:
    """Return what the file system of an empty disk writes for appends, and their time.

    Raises DiskError.
    """
    disk.clear()
    handle = os.open(disk.root / "log", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        os.fsync(handle)
        before = _counts(disk)
        for _ in range(_APPENDS):
            os.write(handle, _ENTRY)
        os.fsync(handle)
        appended = _counts(disk)
        began_ns = time.monotonic_ns()
        for _ in range(_SYNCED):
            os.write(handle, _ENTRY)
            os.fdatasync(handle)
        elapsed_ns = time.monotonic_ns() - began_ns
        synced = _counts(disk)
    finally:
        os.close(handle)
    appended_bytes = _APPENDS * len(_ENTRY)
    written_bytes = appended.written_bytes - before.written_bytes
    synced_bytes = synced.written_bytes - appended.written_bytes
    flushes = None
    if synced.flushes is not None and appended.flushes is not None:
        flushes = round((synced.flushes - appended.flushes) / _SYNCED, 2)
    return {
        "appended_bytes": appended_bytes,
        "written_for_appends_bytes": written_bytes,
        "write_amplification": round(written_bytes / appended_bytes, 3),
        "written_per_synced_append_bytes": synced_bytes // _SYNCED,
        "flushes_per_synced_append": flushes,
        "synced_append_us": round(elapsed_ns / 1e3 / _SYNCED, 1),
    }


def _counts(disk: Disk) -> DiskCounts:
    counts = disk_counts(disk.stat.read_text())
    if counts is None:
        raise DiskError(f"{disk.stat}: the kernel keeps no counts of the disk")
    return counts
