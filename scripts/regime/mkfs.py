"""Making an empty file system on a loop device."""

import subprocess

from scripts.basis.system_programs import run_program
from scripts.regime.loop_device import DiskError, LoopDevice

_MKFS_S = 60
# Everything is written at once, so that the kernel has nothing to write later.
_MKFS = {
    "ext4": (
        *("mkfs.ext4", "-q", "-F", "-b", "4096", "-m", "0"),
        *("-E", "nodiscard,lazy_itable_init=0,lazy_journal_init=0"),
    ),
    "xfs": ("mkfs.xfs", "-q", "-f", "-K"),
}
# With these, which the tests of xfs set, mkfs.xfs accepts a disk below 300 MB and a log
# below 64 MB, which takes half a second to recover (xfsprogs, mkfs/xfs_mkfs.c).
_SMALL_JOURNAL = {"ext4": ("-J", "size=4"), "xfs": ()}
_SMALL_XFS = dict.fromkeys(("TEST_DIR", "TEST_DEV", "QA_CHECK_FS"), "1")


def make_file_system(kind: str, device: LoopDevice, small_journal: bool = True) -> None:
    """Make an empty file system: "ext4" or "xfs".  Raises DiskError.

    A small journal takes little time to recover.
    """
    options = _SMALL_JOURNAL[kind] if small_journal else ()
    try:
        command = (*_MKFS[kind], *options, device.path)
        done = run_program(command, _MKFS_S, _SMALL_XFS)
    except subprocess.TimeoutExpired:
        raise DiskError(f"mkfs.{kind} did not end within {_MKFS_S} s") from None
    if done.returncode:
        raise DiskError(f"mkfs.{kind}: {' '.join(done.stderr.split())}")
