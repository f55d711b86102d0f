"""A disk of one's own: a file system on a loop device that nothing else uses.

Its counters are therefore those of the one process that works on it, and its read-ahead
is not that of the machine's disk.  Only this process and its children see it mounted.
"""

import ctypes
import errno
import mmap
import os
import shutil
import time
from dataclasses import dataclass, field
from pathlib import Path

from scripts.regime.loop_device import (
    DiskError,
    LoopDevice,
    attach,
    make_file_system,
    mount,
    unmount,
)

_CLONE_NEWNS = 0x20000  # these three from sched.h and sys/mount.h
_MS_REC = 0x4000
_MS_PRIVATE = 1 << 18
_CHUNK_BYTES = 4 << 20
_QUIET_S, _LONGEST_WAIT_S, _POLL_S = 0.2, 10.0, 0.02
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
class PrivateDisk:
    """A disk in a folder of its own, which is removed with it.

    The image is written once as a whole, and each file system is made on that: none
    begins on a disk that is emptier than another's.
    """

    folder: Path
    size_bytes: int
    file_system: str = "ext4"  # of the next clear()
    read_ahead_bytes: int = 128 << 10  # of the next clear() or evict()
    _device: LoopDevice | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        """Make and attach the image.  Raises DiskError, or OSError if it is full."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self.point.mkdir(parents=True)
        try:
            _write_zeros(self._image, self.size_bytes)
            self._device = attach(self._image, direct=True)
            if not self._device.is_direct:
                raise DiskError(f"{self.folder}: {_NOT_DIRECT}")
        except BaseException:  # also if it is interrupted
            self.close()
            raise

    @property
    def point(self) -> Path:
        """The folder on which it is mounted."""
        return self.folder / "mounted"

    @property
    def device(self) -> LoopDevice:
        """The loop device."""
        assert self._device is not None, "it is closed"
        return self._device

    def clear(self) -> None:
        """Make a new, empty file system and mount it.  Raises DiskError."""
        unmount(self.point)
        make_file_system(self.file_system, self.device, small_journal=False)
        self._mount()

    def evict(self) -> None:
        """Mount it again, so that nothing of it is in memory; wait until it is idle.

        Raises DiskError.
        """
        unmount(self.point)
        self._mount()
        _wait_until_idle(self.device.stat)

    def close(self) -> None:
        """Remove the disk."""
        unmount(self.point)
        if self._device:
            self._device.close()
            self._device = None
        shutil.rmtree(self.folder, ignore_errors=True)

    @property
    def _image(self) -> Path:
        return self.folder / "disk.img"

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


def _wait_until_idle(stat: Path) -> None:
    """Wait until a device has done nothing for a while, or for ten seconds."""
    began_s = changed_s = time.monotonic()
    last = stat.read_text()
    while (now_s := time.monotonic()) - changed_s < _QUIET_S:
        if now_s - began_s > _LONGEST_WAIT_S:
            break
        time.sleep(_POLL_S)
        if (counters := stat.read_text()) != last:
            last, changed_s = counters, time.monotonic()
