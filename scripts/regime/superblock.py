"""What a file system must be before a kernel mounts it for a stranger.

The superblock of a disk decides more than where its files are: another device that has
the journal, what an error does to the whole machine, how long a mount waits.  A disk of
a trial has none of that, so one that differs is refused.

Offsets and values: Documentation/filesystems/ext4/super.rst and fs/ext4/ext4.h of
Linux; fs/xfs/libxfs/xfs_format.h.
"""

import struct

from scripts.regime.loop_device import DiskError

BYTES = 4096  # of a disk that check_superblock() reads, from its start
_EXT4 = 1024
_EXT4_MAGIC = 0xEF53
# Features that mke2fs gives a small disk, in any version: journal, attributes,
# resizing, indexed folders, orphan file; file types, recovery, extents, 64 bit,
# flexible groups, seed of checksums; sparse superblocks, large and huge files,
# checksums.
_COMPATIBLE = 0x4 | 0x8 | 0x10 | 0x20 | 0x1000
_INCOMPATIBLE = 0x2 | 0x4 | 0x40 | 0x80 | 0x200 | 0x2000
_READ_ONLY = 0x1 | 0x2 | 0x8 | 0x10 | 0x20 | 0x40 | 0x400 | 0x10000
_USUAL_OPTIONS = 0x4 | 0x8  # user_xattr, acl
_CONTINUE, _JOURNAL_INODE = 1, 8
_XFS_VERSION = 5
# Features that mkfs.xfs gives a disk, in any version: trees of free inodes, of owners
# and of shared blocks, and counts of inodes; file types, sparse inodes, large times and
# counts, exchanged ranges, and parents.
_XFS_READ_ONLY = 0x1 | 0x2 | 0x4 | 0x8
_XFS_INCOMPATIBLE = 0x1 | 0x2 | 0x8 | 0x20 | 0x40 | 0x80


def check_superblock(start: bytes, kind: str) -> None:
    """Raise DiskError unless a disk that starts so is one that a trial makes."""
    problem = {"ext4": _ext4_problem, "xfs": _xfs_problem}[kind](start)
    if problem:
        raise DiskError(f"its disk is no {kind} of a trial: {problem}")


def _ext4_problem(start: bytes) -> str:
    def number(offset: int, form: str = "<I") -> int:
        return int(struct.unpack_from(form, start, _EXT4 + offset)[0])

    options = start[_EXT4 + 0x200 : _EXT4 + 0x240].rstrip(b"\0")
    rules = {
        "magic number": number(0x38, "<H") == _EXT4_MAGIC,
        "behaviour on errors": number(0x3C, "<H") == _CONTINUE,
        "compatible features": not number(0x5C) & ~_COMPATIBLE,
        "incompatible features": not number(0x60) & ~_INCOMPATIBLE,
        "read-only features": not number(0x64) & ~_READ_ONLY,
        "inode of the journal": number(0xE0) == _JOURNAL_INODE,
        "device of the journal": number(0xE4) == 0,
        "mount options": not options and not number(0x100) & ~_USUAL_OPTIONS,
    }
    return ", ".join(name for name, holds in rules.items() if not holds)


def _xfs_problem(start: bytes) -> str:
    magic = start[:4]
    real_time_blocks, real_time_extents = struct.unpack_from(">2Q", start, 16)
    (log_start,) = struct.unpack_from(">Q", start, 48)
    (version,) = struct.unpack_from(">H", start, 100)
    (quotas,) = struct.unpack_from(">H", start, 176)
    compatible, read_only, incompatible, of_log = struct.unpack_from(">4I", start, 208)
    rules = {
        "magic number": magic == b"XFSB",
        "version": version & 0xF == _XFS_VERSION,
        "quotas": not quotas,
        "compatible features": not compatible and not of_log,
        "read-only features": not read_only & ~_XFS_READ_ONLY,
        "incompatible features": not incompatible & ~_XFS_INCOMPATIBLE,
        "real-time device": not real_time_blocks and not real_time_extents,
        "device of the log": log_start != 0,
    }
    return ", ".join(name for name, holds in rules.items() if not holds)
