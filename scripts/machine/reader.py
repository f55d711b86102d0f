"""Reading the machine through one interface, so that tests can provide another."""

import os
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

_CHUNK_BYTES = 1 << 16
_BLOCK_BYTES = 512  # the unit of st_blocks, on every file system


class Reader(Protocol):
    """Read access to a machine."""

    def file(self, path: str) -> str | None:
        """Return the text of a file of /proc or /sys; None if it cannot be read."""

    def command(self, words: Sequence[str]) -> str | None:
        """Return a command's stdout, whatever its exit status; None if it cannot run.

        It cannot run if it is not installed, or does not end within 10 s.
        """

    def device_of(self, folder: Path) -> str:
        """Return the device that holds a folder, as major:minor."""

    def free_bytes(self, folder: Path) -> int:
        """Return the bytes that an ordinary user can still write in a folder."""

    def allocated_bytes(self, folder: Path) -> int:
        """Return the bytes allocated to everything below a folder; 0 without it."""

    def clock_ns(self) -> int:
        """Return the time of a monotonic clock."""

    def cpu_ns(self) -> int:
        """Return the CPU time that the calling thread has used."""


class SystemReader:
    """Read access to this machine."""

    def file(self, path: str) -> str | None:
        """Return the text of a file; None if it cannot be read.

        os.read() costs a third of open().read(), and a snapshot of the machine reads
        two files per process.
        """
        try:
            fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            return None
        chunks = []
        try:
            while chunk := os.read(fd, _CHUNK_BYTES):
                chunks.append(chunk)
        except OSError:
            return None
        finally:
            os.close(fd)
        return b"".join(chunks).decode("utf-8", "replace")

    def command(self, words: Sequence[str]) -> str | None:
        """Return a command's stdout; None if it cannot run, or not within 10 s."""
        try:
            result = subprocess.run(
                words,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=10,
                check=False,
                env={"LC_ALL": "C", "PATH": "/usr/bin:/bin:/usr/sbin:/sbin"},
            )
        except (OSError, subprocess.TimeoutExpired):
            return None
        return result.stdout

    def device_of(self, folder: Path) -> str:
        """Return the device that holds a folder, as major:minor."""
        number = os.stat(folder).st_dev
        return f"{os.major(number)}:{os.minor(number)}"

    def free_bytes(self, folder: Path) -> int:
        """Return the bytes that an ordinary user can still write in a folder."""
        stat = os.statvfs(folder)
        return stat.f_bavail * stat.f_frsize

    def allocated_bytes(self, folder: Path) -> int:
        """Return the bytes allocated below a folder; skip files that vanish."""
        blocks, folders = 0, [os.fspath(folder)]
        while folders:
            try:
                with os.scandir(folders.pop()) as entries:
                    for entry in entries:
                        blocks += _blocks(entry)
                        if entry.is_dir(follow_symlinks=False):
                            folders.append(entry.path)
            except OSError:  # the folder was removed meanwhile
                continue
        return blocks * _BLOCK_BYTES

    def clock_ns(self) -> int:
        """Return the time of a monotonic clock."""
        return time.monotonic_ns()

    def cpu_ns(self) -> int:
        """Return the CPU time that the calling thread has used."""
        return time.thread_time_ns()


def _blocks(entry: "os.DirEntry[str]") -> int:
    try:
        return entry.stat(follow_symlinks=False).st_blocks
    except OSError:  # the file was removed meanwhile
        return 0
