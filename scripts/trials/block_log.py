"""The recorded disk: starting block_log, and reading and writing its logs.

A log has the format of dm-log-writes; common/disk/write_log.h says what is ours in it.
"""

import contextlib
import os
import select
import struct
import subprocess
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from scripts.trials.disk_image import SECTOR_BYTES, Patch
from scripts.trials.loop_device import DiskError, LoopDevice, attach, unmount

_SUPER = struct.Struct("<QQQI")
_HEAD = struct.Struct("<QQQQQ")
_MAGIC, _VERSION = 0x6A736677736872, 1
_FLUSH, _FUA, _DISCARD, _MARK = 1, 2, 4, 8
_START_S = 10.0
_STOP_S = 20.0


@dataclass(frozen=True)
class LoggedWrite:
    """An entry of a log: a write or a discard; a completed flush has no patch."""

    at_ns: int  # CLOCK_MONOTONIC
    patch: Patch | None


def read_log(content: bytes) -> Iterator[LoggedWrite]:
    """Yield the entries of a log, up to one that is incomplete.  Raises DiskError."""
    view = memoryview(content)
    if len(view) < SECTOR_BYTES or _SUPER.unpack_from(view)[:2] != (_MAGIC, _VERSION):
        raise DiskError("not a log of dm-log-writes, version 1")
    at, end = SECTOR_BYTES, len(view)
    while at + SECTOR_BYTES <= end:
        sector, sectors, flags, data_bytes, at_ns = _HEAD.unpack_from(view, at)
        at += SECTOR_BYTES
        if flags & _MARK:
            at += data_bytes
            continue
        size = sectors * SECTOR_BYTES
        if flags & _DISCARD:
            yield LoggedWrite(at_ns, Patch(sector * SECTOR_BYTES, bytes(size)))
            continue
        if at + size > end:
            return
        if size:
            data = bytes(view[at : at + size])
            yield LoggedWrite(at_ns, Patch(sector * SECTOR_BYTES, data))
        if flags & (_FLUSH | _FUA):
            yield LoggedWrite(at_ns, None)
        at += size


def write_log(patches: Iterable[Patch]) -> bytes:
    """Return a log of these writes, and a flush after them."""
    parts: list[bytes] = []
    entries = 1
    for patch in patches:
        sector, sectors = patch.offset // SECTOR_BYTES, len(patch.data) // SECTOR_BYTES
        parts += [_sector(_HEAD.pack(sector, sectors, 0, 0, 0)), patch.data]
        entries += 1
    head = _sector(_SUPER.pack(_MAGIC, _VERSION, entries, SECTOR_BYTES))
    flush = _sector(_HEAD.pack(0, 0, _FLUSH, 0, 0))
    return b"".join([head, *parts, flush])


def _sector(content: bytes) -> bytes:
    return content.ljust(SECTOR_BYTES, b"\0")


class Recorder:
    """A loop device of which every write and flush is recorded in a file.

    In a `with` statement it is the device, which must be unmounted before the end; the
    log is complete after it.
    """

    def __init__(
        self,
        block_log: Path,
        folder: Path,
        log: Path,
        megabytes: int,
        image: Path | None = None,
    ) -> None:
        self._point = folder / "recorded"
        self._command = [
            *(str(block_log), f"--mountpoint={self._point}", f"--log={log}"),
            f"--size_mb={megabytes}",
        ]
        if image:
            self._command.append(f"--image={image}")
        self._process: subprocess.Popen[bytes] | None = None
        self._device: LoopDevice | None = None

    def __enter__(self) -> LoopDevice:
        """Start the server and attach the device.  Raises DiskError."""
        self._point.mkdir(exist_ok=True)
        self._process = subprocess.Popen(
            self._command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        try:
            self._wait_until_ready(self._process)
            self._device = attach(self._point / "disk")
        except BaseException:
            self._end()
            raise
        return self._device

    def __exit__(
        self,
        kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        """Detach the device and end the server.  Raises DiskError if it had failed."""
        code, words = self._end()
        if code and kind is None:
            raise DiskError(f"block_log failed: {words or f'exit code {code}'}")

    def _wait_until_ready(self, process: "subprocess.Popen[bytes]") -> None:
        assert process.stdout is not None
        readable, _, _ = select.select([process.stdout], [], [], _START_S)
        if not readable or process.stdout.readline() != b"ready\n":
            _, words = self._end()
            raise DiskError(words or "block_log did not start")

    def _end(self) -> tuple[int, str]:
        """End the server; return its exit code and what it said.

        One that does not answer is aborted by the kernel, so that no request waits for
        ever.
        """
        process, self._process = self._process, None
        if process is None:
            return 0, ""
        connection = self._connection()
        if self._device:
            self._device.close()
        with contextlib.suppress(DiskError):
            unmount(self._point)
        process.terminate()
        try:
            _, words = process.communicate(timeout=_STOP_S)
        except subprocess.TimeoutExpired:
            if connection:
                with contextlib.suppress(OSError):
                    (connection / "abort").write_text("1")
            process.kill()
            process.communicate(timeout=_STOP_S)
            return -1, "it did not end, and was aborted"
        return process.returncode, " ".join(words.decode(errors="replace").split())

    def _connection(self) -> Path | None:
        try:
            minor = os.minor(os.stat(self._point).st_dev)
        except OSError:
            return None
        folder = Path(f"/sys/fs/fuse/connections/{minor}")
        return folder if folder.is_dir() else None
