"""Loop devices and the file systems on them, for this process alone.

Each device is attached so that the kernel detaches it once nothing uses it, also if
this process is killed.  REQUIRES: a mount namespace of its own.
"""

import ctypes
import errno
import fcntl
import os
import struct
import sys
import time
from dataclasses import dataclass
from pathlib import Path

_LOOP_CTL_GET_FREE = 0x4C82  # these three from linux/loop.h
_LOOP_CONFIGURE = 0x4C0A
_LO_FLAGS_AUTOCLEAR = 4
_LO_FLAGS_DIRECT_IO = 16
_BLKSSZGET = 0x1268  # linux/fs.h
_MS_NOATIME = 1024  # sys/mount.h, as the next four
_MS_NOSUID, _MS_NODEV, _MS_NOEXEC = 2, 4, 8
_MS_NOSYMFOLLOW = 256  # since Linux 5.10; an earlier one ignores it
# Nothing on a disk is started, and no name on it leads to anything outside of it.
_DATA_ALONE = _MS_NOSUID | _MS_NODEV | _MS_NOEXEC | _MS_NOSYMFOLLOW
_LOOP_MAJOR = 7
_SECTOR_BYTES = 512  # the unit of every block device's stat file
_MOST_NAME_BYTES = 63  # LO_NAME_SIZE, less the zero at its end
# struct loop_config: fd, block size, loop_info64 with its flags, reserved.
_LOOP_CONFIG = struct.Struct("=II5Q4I64s64s32s2Q8Q")
_FS_IOC_SHUTDOWN = 0x8004587D  # of ext4 and xfs
_WITHOUT_LOG_FLUSH = 2
_MNT_DETACH = 2
_ATTEMPTS = 100
_BUSY_S = 30.0
_libc = ctypes.CDLL(None, use_errno=True)


class DiskError(Exception):
    """A disk of a trial cannot be made, mounted or cut; the message names a remedy."""


class NotOurs(DiskError):
    """A path that is not on a loop device which this process has attached."""


class NotMountable(DiskError):
    """A file system that does not recover from a cut, whatever the engine did."""


@dataclass(frozen=True)
class DiskCounts:
    """What a block device has done: bytes read and written, and flushes."""

    read_bytes: int
    written_bytes: int
    flushes: int | None  # None: the kernel does not count them


def disk_counts(stat: str) -> DiskCounts | None:
    """Return the counts in the text of a stat file; None if it is not one."""
    words = stat.split()
    if len(words) < 7:
        return None
    flushes = int(words[15]) if len(words) > 15 else None
    return DiskCounts(
        int(words[2]) * _SECTOR_BYTES, int(words[6]) * _SECTOR_BYTES, flushes
    )


@dataclass
class LoopDevice:
    """An attached device; it lasts until close() and until it is unmounted."""

    path: str
    handle: int

    @property
    def queue(self) -> Path:
        """The folder with the settings of the device, such as read_ahead_kb."""
        return self._sysfs / "queue"

    @property
    def stat(self) -> Path:
        """The file with its counters: Documentation/block/stat.rst of Linux."""
        return self._sysfs / "stat"

    @property
    def is_direct(self) -> bool:
        """True if it passes the cache of the file system that holds the image by."""
        return (self._sysfs / "loop/dio").read_text().strip() == "1"

    @property
    def _sysfs(self) -> Path:
        return Path("/sys/block") / Path(self.path).name

    @property
    def number(self) -> int:
        """The device, as st_dev of the files on it has it."""
        return os.fstat(self.handle).st_rdev

    def close(self) -> None:
        """Give the device up."""
        _attached.discard(self.number)
        os.close(self.handle)


_attached: set[int] = set()  # by device number


def claim(path: Path) -> int:
    """Open a block device so that nobody can mount it meanwhile.  Raises DiskError."""
    try:
        return os.open(path, os.O_RDWR | os.O_EXCL | os.O_CLOEXEC)
    except OSError as error:
        reason = os.strerror(error.errno or 0)
        if error.errno == errno.EBUSY:
            reason = "it is in use (mounted, swapped to or part of a volume); name an"
            reason += " unused device, or a directory on this one"
        elif error.errno in (errno.EACCES, errno.EPERM):
            remedy = "run it with sudo" if os.geteuid() else "it is forbidden here"
            reason = f"{reason}; {remedy}"
        raise DiskError(f"{path}: {reason}") from None


def logical_block_bytes(handle: int) -> int:
    """Return the smallest block that an open block device reads or writes."""
    return int.from_bytes(fcntl.ioctl(handle, _BLKSSZGET, bytes(4)), sys.byteorder)


def attach(image: Path, direct: bool = False, block_bytes: int = 0) -> LoopDevice:
    """Attach an image, a file or a block device, to a free loop device.

    With `direct` the kernel reads and writes the image past its own cache, if the file
    system of the image can do that.  The loop device has blocks of `block_bytes`; 0:
    512 bytes.  Raises DiskError.
    """
    try:
        control = os.open("/dev/loop-control", os.O_RDWR | os.O_CLOEXEC)
    except OSError as error:
        raise DiskError(
            f"/dev/loop-control: {os.strerror(error.errno or 0)}; needs root"
        ) from None
    backing = os.open(image, os.O_RDWR | os.O_CLOEXEC)
    try:
        for _ in range(_ATTEMPTS):
            path = f"/dev/loop{fcntl.ioctl(control, _LOOP_CTL_GET_FREE)}"
            device = _configured(path, backing, image, direct, block_bytes)
            if device is not None:
                _attached.add(device.number)
                return device
    finally:
        os.close(backing)
        os.close(control)
    raise DiskError("no free loop device; losetup --list shows which are used")


def _configured(
    path: str, backing: int, image: Path, direct: bool, block_bytes: int
) -> LoopDevice | None:
    """Return the device, or None if another process took it meanwhile."""
    handle = -1
    name = bytes(image)[-_MOST_NAME_BYTES:]  # for people: it says whose device it is
    try:
        handle = os.open(path, os.O_RDWR | os.O_CLOEXEC)
        numbers = (0,) * 8
        flags = _LO_FLAGS_AUTOCLEAR | (_LO_FLAGS_DIRECT_IO if direct else 0)
        info = (0, 0, 0, 0, 0, 0, 0, 0, flags, name, b"", b"", 0, 0)
        config = _LOOP_CONFIG.pack(backing, block_bytes, *info, *numbers)
        fcntl.ioctl(handle, _LOOP_CONFIGURE, config)
    except OSError as error:
        if handle >= 0:
            os.close(handle)
        if error.errno in (errno.EBUSY, errno.ENOENT, errno.ENXIO):
            time.sleep(0.01)
            return None
        raise DiskError(
            f"{path}: cannot attach: {os.strerror(error.errno or 0)}"
        ) from None
    return LoopDevice(path, handle)


def mount(
    device: LoopDevice, folder: Path, kind: str, access_times: bool = True
) -> None:
    """Mount a device, which makes its file system recover.  Raises NotMountable.

    Without `access_times`, reading a file does not change it.
    """
    # Two copies of one file system are never mounted at once, so the identity of an
    # xfs need not be unique.
    options = "nouuid" if kind == "xfs" else ""
    flags = 0 if access_times else _MS_NOATIME
    if problem := _mount_data(device.path, folder, kind, options, flags):
        raise NotMountable(f"cannot mount {kind} on {device.path}: {problem}")


def mount_memory(folder: Path, options: str) -> None:
    """Mount a new tmpfs.  Raises DiskError."""
    if problem := _mount_data("kvmatrix-trial", folder, "tmpfs", options):
        raise DiskError(f"cannot mount tmpfs on {folder}: {problem}")


def _mount_data(
    source: str, folder: Path, kind: str, options: str = "", flags: int = 0
) -> str:
    """Mount a file system for data alone; return why that is impossible, or ""."""
    words = (os.fsencode(word) for word in (source, folder, kind))
    failed = _libc.mount(*words, flags | _DATA_ALONE, options.encode()) != 0
    return os.strerror(ctypes.get_errno()) if failed else ""


def unmount(folder: Path) -> None:
    """Unmount a folder.  Raises DiskError if it stays busy, and detaches it then."""
    limit = time.monotonic() + _BUSY_S
    target = str(folder).encode()
    while _libc.umount2(target, 0) != 0:
        number = ctypes.get_errno()
        if number == errno.EINVAL:
            return  # not mounted
        if number != errno.EBUSY or time.monotonic() > limit:
            _libc.umount2(target, _MNT_DETACH)
            raise DiskError(
                f"{folder} stayed mounted ({os.strerror(number)}): a process of the"
                " engine still uses it; it was detached"
            )
        time.sleep(0.01)


def shut_down(folder: Path) -> None:
    """Cut the power of the file system that holds a folder.

    Raises NotOurs unless it is on a loop device that this process has attached.
    """
    number = os.stat(folder).st_dev
    if os.major(number) != _LOOP_MAJOR or number not in _attached:
        raise NotOurs(f"{folder} is not on a disk of this trial; nothing was shut down")
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.ioctl(handle, _FS_IOC_SHUTDOWN, struct.pack("=I", _WITHOUT_LOG_FLUSH))
    except OSError as error:
        raise DiskError(
            f"{folder}: cannot shut down: {os.strerror(error.errno or 0)}"
        ) from None
    finally:
        os.close(handle)


def abort_fuse(point: Path) -> None:
    """Make every request to a FUSE file system fail, without asking it anything.

    Raises OSError.
    """
    connections = Path("/sys/fs/fuse/connections")
    if not any(connections.iterdir()):  # not mounted, as in a container
        _mount_data("fusectl", connections, "fusectl")
    for line in Path("/proc/self/mountinfo").read_text().splitlines():
        _, _, device, _, mounted_on, *_ = line.split(" ")
        if mounted_on == str(point):
            (connections / device.partition(":")[2] / "abort").write_text("1")
