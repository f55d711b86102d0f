"""A disk of one's own: a file system on a loop device that nothing else uses.

Its counters are therefore those of the one process that works on it, and its read-ahead
is not that of the machine's disk.  Only this process and its children see it mounted.
The loop device passes requests on to a file, or to a block device that the user named.
"""

import ctypes
import errno
import mmap
import os
import shutil
from dataclasses import dataclass, field
from pathlib import Path

from scripts.regime.loop_device import (
    DiskError,
    LoopDevice,
    attach,
    claim,
    logical_block_bytes,
    mount,
    unmount,
)
from scripts.regime.mkfs import make_file_system
from scripts.regime.regime_disk import FOLDER, Disk

_CLONE_NEWNS = 0x20000  # these three from sched.h and sys/mount.h
_MS_REC = 0x4000
_MS_PRIVATE = 1 << 18
_CHUNK_BYTES = 4 << 20
_libc = ctypes.CDLL(None, use_errno=True)


def have_own_mounts() -> None:
    """Give the calling thread and its later children mounts of their own.

    They last as long as these processes, however they end.  Raises DiskError.
    """
    done = _libc.unshare(_CLONE_NEWNS) == 0
    if not done or _libc.mount(b"none", b"/", None, _MS_REC | _MS_PRIVATE, None) != 0:
        reason = os.strerror(ctypes.get_errno())
        raise DiskError(f"no mount namespace of its own ({reason}); needs root")


@dataclass
class PrivateDisk(Disk):
    """A disk that is mounted in a folder of its own, which is removed with it.

    Without a block device it is a file in that folder.  The file is written once as a
    whole, and each file system is made on that: none begins on a disk that is emptier
    than another's.
    """

    folder: Path
    size_bytes: int
    file_system: str = "ext4"  # of the next clear()
    read_ahead_bytes: int = 128 << 10  # of the next clear() or evict()
    block_device: Path | None = None
    is_kept: bool = False  # whether the file system of the block device is
    _device: LoopDevice | None = field(init=False, default=None)
    _claimed: int | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        """Make and attach the image.  Raises DiskError, or OSError if it is full."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self.point.mkdir(parents=True)
        try:
            image, block_bytes = self.folder / "disk.img", 0
            if self.block_device:
                image = self.block_device
                self._claimed = claim(image)
                block_bytes = logical_block_bytes(self._claimed)
            else:
                _write_zeros(image, self.size_bytes)
            self._device = attach(image, direct=True, block_bytes=block_bytes)
            if not self._device.is_direct:
                place = self.block_device or self.folder
                raise DiskError(f"{place}: {_NOT_DIRECT}")
        except BaseException:  # also if it is interrupted
            self.close()
            raise

    @property
    def point(self) -> Path:
        """The folder on which it is mounted."""
        return self.folder / "mounted"

    @property
    def root(self) -> Path:
        """The folder in which databases are created."""
        return self.point / FOLDER if self.is_kept else self.point

    @property
    def stat(self) -> Path:
        """The file with the counters of the loop device."""
        return self.device.stat

    @property
    def device(self) -> LoopDevice:
        """The loop device."""
        assert self._device is not None, "it is closed"
        return self._device

    def _empty(self) -> None:
        """Make a new file system, or a new folder on one that is kept, and mount it."""
        if self.is_kept:
            self._remount()
            shutil.rmtree(self.root, ignore_errors=True)
            self.root.mkdir()
            return
        unmount(self.point)
        make_file_system(self.file_system, self.device, small_journal=False)
        self._mount()

    def _evict(self) -> None:
        """Mount it again, so that nothing of it is in memory."""
        self._remount()

    def close(self) -> None:
        """Remove the disk."""
        if self.is_kept and self.point.is_mount():
            shutil.rmtree(self.root, ignore_errors=True)
        unmount(self.point)
        if self._device:
            self._device.close()
            self._device = None
        if self._claimed is not None:
            os.close(self._claimed)
            self._claimed = None
        shutil.rmtree(self.folder, ignore_errors=True)

    def _remount(self) -> None:
        unmount(self.point)
        self._mount()

    def _mount(self) -> None:
        queue = self.device.queue / "read_ahead_kb"
        queue.write_text(str(self.read_ahead_bytes // 1024))
        mount(self.device, self.point, self.file_system, access_times=False)


_NOT_DIRECT = (
    "the file system cannot read and write past its cache; choose a directory on a disk"
    " with --data-dir"
)


def _write_zeros(image: Path, size_bytes: int) -> None:
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_DIRECT
    try:
        handle = os.open(image, flags, 0o600)
    except OSError as error:
        if error.errno == errno.EINVAL:
            raise DiskError(f"{image.parent}: {_NOT_DIRECT}") from None
        raise
    with mmap.mmap(-1, _CHUNK_BYTES) as zeros:
        try:
            os.posix_fallocate(handle, 0, size_bytes)
            for offset in range(0, size_bytes, _CHUNK_BYTES):
                part = memoryview(zeros)[: min(_CHUNK_BYTES, size_bytes - offset)]
                os.pwrite(handle, part, offset)
                part.release()
            os.fsync(handle)
        finally:
            os.close(handle)
