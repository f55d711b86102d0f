"""The recorded disk: starting block_log, and reading and writing its logs.

A log has the format of dm-log-writes; common/disk/write_log.h says what is ours in it.
"""

import contextlib
import select
import struct
import subprocess
import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from scripts.regime.loop_device import (
    DiskError,
    LoopDevice,
    abort_fuse,
    attach,
    unmount,
)
from scripts.trials.disk_image import SECTOR_BYTES, Patch

_SUPER = struct.Struct("<QQQI")
_HEAD = struct.Struct("<QQQQQ")
_MAGIC, _VERSION = 0x6A736677736872, 1
_KINDS = _WRITE, _FLUSH, _DISCARD = 0, 1, 4  # of all flags, those of block_log
_START_S = 10.0
STOP_S = 10.0  # tests shorten it
_KILLED_S = 10.0
_MOST_DISK_BYTES = 1 << 30


@dataclass(frozen=True)
class LoggedWrite:
    """An entry of a log: a write or a discard; a completed flush has no patch."""

    at_ns: int  # CLOCK_MONOTONIC
    patch: Patch | None


def read_log(content: bytes) -> Iterator[LoggedWrite]:
    """Yield the entries of a log.  Raises DiskError if it is damaged.

    A recorder that was killed leaves a log that says it has no entries and may end
    within one, which is left out.
    """
    view = memoryview(content)
    promised = _promised_entries(view)
    at, number = SECTOR_BYTES, 0
    while at + SECTOR_BYTES <= len(view):
        sector, sectors, flags, _, at_ns = _HEAD.unpack_from(view, at)
        if flags not in _KINDS or (sectors == 0) != (flags == _FLUSH):
            raise DiskError(
                f"entry {number + 1} of the log is no write, flush or discard of"
                f" block_log (flags {flags}, {sectors} sectors): record it again"
            )
        if (sector + sectors) * SECTOR_BYTES > _MOST_DISK_BYTES:
            raise DiskError(
                f"entry {number + 1} of the log lies beyond any disk of ours"
            )
        at += SECTOR_BYTES
        size = sectors * SECTOR_BYTES
        if flags == _WRITE:
            if at + size > len(view):
                break
            data = bytes(view[at : at + size])
            at += size
        else:
            data = bytes(size)
        patch = Patch(sector * SECTOR_BYTES, data) if size else None
        yield LoggedWrite(at_ns, patch)
        number += 1
    if number < promised:
        raise DiskError(
            f"the log has {number} of its {promised} entries: record it again"
        )


def _promised_entries(view: memoryview) -> int:
    """Return the count in the super block.  Raises DiskError."""
    if len(view) >= SECTOR_BYTES:
        magic, version, entries, sector_bytes = _SUPER.unpack_from(view)
        if (magic, version, sector_bytes) == (_MAGIC, _VERSION, SECTOR_BYTES):
            return int(entries)
    raise DiskError("not a log of dm-log-writes, version 1, with sectors of 512 bytes")


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
        self.process: subprocess.Popen[bytes] | None = None
        self._device: LoopDevice | None = None

    def __enter__(self) -> LoopDevice:
        """Start the server and attach the device.  Raises DiskError."""
        self._point.mkdir(exist_ok=True)
        try:
            self.process = subprocess.Popen(
                self._command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
        except OSError as error:
            raise DiskError(f"{error}: run scripts/setup, which builds it") from None
        try:
            self._wait_until_ready(self.process)
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

        Closing the device may wait for the server, and so may everybody who calls
        sync(2) on this machine.  A server that does not end in time is aborted.
        """
        process, self.process = self.process, None
        if process is None:
            return 0, ""
        late = threading.Event()
        watchdog = threading.Timer(STOP_S, _abort, (process, self._point, late))
        watchdog.start()
        try:
            if self._device:
                with contextlib.suppress(OSError):
                    self._device.close()
            process.terminate()
            _, words = process.communicate(timeout=STOP_S + _KILLED_S)
        except subprocess.TimeoutExpired:
            return -1, "it cannot be killed: restart the machine"
        finally:
            watchdog.cancel()
            watchdog.join()
            with contextlib.suppress(DiskError):
                unmount(self._point)
        if late.is_set():
            return -1, f"it did not end within {STOP_S:.0f} s, and was killed"
        return process.returncode, " ".join(words.decode(errors="replace").split())


def _abort(
    process: "subprocess.Popen[bytes]", point: Path, late: threading.Event
) -> None:
    """Kill a server, and fail every request that waits for it."""
    late.set()
    process.kill()
    with contextlib.suppress(OSError):
        abort_fuse(point)
