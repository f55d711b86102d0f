"""The data directory: its file system, its disk, and the free space."""

import re

from report.terms import numbers
from scripts.doctor.finding import UNKNOWN, Finding, fail, ok, unknown, warn
from scripts.doctor.subject import Subject
from scripts.machine.mounts import (
    OTHER_DISK,
    in_memory,
    missing_barrier,
    upper_type,
)

REMOTE_TYPES = ("nfs", "cifs", "smb", "9p", "virtiofs", "ceph", "afs", "fuse", "lustre")
DISK_TYPES = (
    *("ext2", "ext3", "ext4", "xfs", "btrfs", "f2fs", "zfs", "bcachefs", "jfs"),
    *("nilfs2", "reiserfs", "ntfs3"),
)
# The kernel's default (VM_READAHEAD_PAGES).  With 8 MiB one random read of an engine
# that maps its files moved 2 MB: the disk was measured, not the engine.
READ_AHEAD_BYTES = 128 << 10
_NO_DEVICE = "the data directory is not on a block device that /sys shows"


def data_directory(subject: Subject) -> Finding:
    """Check that databases are on a disk of this machine."""
    name, kind = "data dir", subject.machine.mount.type
    location = f"{kind} on {subject.machine.mount.device}"
    if kind == UNKNOWN:
        return unknown(name, "its mount is not in /proc", OTHER_DISK)
    below = upper_type(subject.machine.mountinfo, subject.machine.data_dir)
    if memory := in_memory(subject.machine.mount, below):
        effect = f"{memory}: in memory, so no write reaches a disk"
        return fail(name, effect, OTHER_DISK)
    if kind == "overlay":
        return _overlay(name, below)
    if kind.startswith(REMOTE_TYPES):
        return warn(name, f"{kind}: a server is measured, too", OTHER_DISK)
    if kind not in DISK_TYPES:
        return warn(name, f"{location}: an unknown file system", OTHER_DISK)
    return ok(name, location)


def _overlay(name: str, below: str) -> Finding:
    effect = f"overlay on {below}: syncs cost more than the disk alone"
    if below in (UNKNOWN, "overlay"):
        effect = "overlay on a disk that cannot be seen from here"
    return warn(name, effect, "mount a volume of the host and pass it as --data-dir")


def barriers(subject: Subject) -> Finding:
    """Check that the file system flushes the disk's cache on a sync."""
    name, mount = "barriers", subject.machine.mount
    if option := missing_barrier(mount):
        effect = f"{option}: a sync does not wait for the disk's own cache"
        return fail(name, effect, f"mount it without {option}")
    if mount.type not in DISK_TYPES:
        return unknown(name, "not a known file system on a disk", OTHER_DISK)
    return ok(name, "enabled")


def disk_space(subject: Subject) -> Finding:
    """Check that the largest cell of the suite fits on the disk."""
    name, free = "disk space", subject.environment["file_system"]["free_bytes"]
    needed = subject.needed_bytes
    if needed is None:
        reason = (
            f"{numbers.size(free)} free; no engine is built, so the need is unknown"
        )
        return unknown(name, reason, "build with scripts/setup")
    cell = f"the largest cell of suite {subject.suite}"
    state = f"{numbers.size(free)} free; {cell} needs {numbers.size(needed)}"
    remedy = "free some space, or choose another disk with --data-dir"
    return fail(name, state, remedy) if free < needed else ok(name, state)


def write_cache(subject: Subject) -> Finding:
    """Check that the kernel sends flushes to the disk."""
    name, state = "disk cache", subject.fact("block_device", "write_cache")
    if state == UNKNOWN:
        return unknown(name, _NO_DEVICE, OTHER_DISK)
    if state == "write back":
        return ok(name, "write back: a sync sends a flush to the disk")
    effect = f"{state}: no flush is sent; a hidden cache of the disk would be lost"
    return warn(
        name, effect, f"echo 'write back' | sudo tee {_queue(subject)}/write_cache"
    )


def read_ahead(subject: Subject) -> Finding:
    """Check that one read of an engine is about one read of the disk."""
    name, size = "read-ahead", subject.fact("block_device", "read_ahead_bytes")
    if not isinstance(size, int):
        return unknown(name, _NO_DEVICE, OTHER_DISK)
    state = numbers.size(size)
    if size <= READ_AHEAD_BYTES:
        return ok(name, state)
    effect = f"{state}: random disk reads would be dominated by read-ahead"
    return warn(name, effect, f"echo 128 | sudo tee {_queue(subject)}/read_ahead_kb")


def disk(subject: Subject) -> Finding:
    """Report what kind of disk it is."""
    rotates = subject.fact("block_device", "rotational")
    scheduler = subject.fact("block_device", "scheduler")
    if rotates == UNKNOWN or scheduler == UNKNOWN:
        return unknown("disk", _NO_DEVICE, OTHER_DISK)
    kind = "rotational" if rotates else "not rotational"
    chosen = re.search(r"\[(\S+)\]", str(scheduler))
    return ok("disk", f"{kind}, scheduler {chosen[1] if chosen else scheduler}")


def _queue(subject: Subject) -> str:
    """Return the folder of the disk's settings."""
    entry = f"/sys/dev/block/{subject.machine.device}"
    whole = subject.machine.reader.file(f"{entry}/queue/rotational") is not None
    return f"{entry}/queue" if whole else f"{entry}/../queue"
