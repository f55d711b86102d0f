"""The only way the runner looks at the machine, so that tests can make one up."""

import os
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

_CHUNK_BYTES = 1 << 16
_BLOCK_BYTES = 512  # the unit of st_blocks, whatever the file system's


class Reader(Protocol):
    """A machine as it can be read."""

    def file(self, path: str) -> str | None:
        """The text of a file of /proc or /sys, or None."""

    def command(self, words: Sequence[str]) -> str | None:
        """What a command prints on stdout, whatever it exits with, or None."""

    def device_of(self, folder: Path) -> str:
        """major:minor of the device a folder is on."""

    def free_bytes(self, folder: Path) -> int:
        """Bytes an ordinary user can still write there."""

    def processes(self) -> Sequence[int]:
        """The processes that /proc lists."""

    def allocated_bytes(self, folder: Path) -> int:
        """Bytes allocated to all that is below a folder; 0 if it is not there."""

    def clock_ns(self) -> int:
        """A clock that only goes forward."""

    def cpu_ns(self) -> int:
        """CPU time that the calling thread has used."""


class SystemReader:
    """Reads this machine."""

    def file(self, path: str) -> str | None:
        """The text of a file, or None.

        Without Python's own layers, which cost three times as much: a look at the
        machine is two files per process.
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
        """What a command prints on stdout, or None."""
        try:
            done = subprocess.run(
                words,
                capture_output=True,
                text=True,
                timeout=10,
                check=False,
                env={"LC_ALL": "C", "PATH": "/usr/bin:/bin:/usr/sbin:/sbin"},
            )
        except (OSError, subprocess.TimeoutExpired):
            return None
        return done.stdout

    def device_of(self, folder: Path) -> str:
        """major:minor of the device a folder is on."""
        number = os.stat(folder).st_dev
        return f"{os.major(number)}:{os.minor(number)}"

    def free_bytes(self, folder: Path) -> int:
        """Bytes an ordinary user can still write there."""
        stat = os.statvfs(folder)
        return stat.f_bavail * stat.f_frsize

    def processes(self) -> Sequence[int]:
        """The processes that /proc lists."""
        return [int(name) for name in os.listdir("/proc") if name.isdigit()]

    def allocated_bytes(self, folder: Path) -> int:
        """Bytes allocated below a folder; files that vanish meanwhile are fine."""
        blocks, folders = 0, [os.fspath(folder)]
        while folders:
            try:
                with os.scandir(folders.pop()) as entries:
                    for entry in entries:
                        blocks += _blocks(entry)
                        if entry.is_dir(follow_symlinks=False):
                            folders.append(entry.path)
            except OSError:  # the folder has gone
                continue
        return blocks * _BLOCK_BYTES

    def clock_ns(self) -> int:
        """A clock that only goes forward."""
        return time.monotonic_ns()

    def cpu_ns(self) -> int:
        """CPU time that the calling thread has used."""
        return time.thread_time_ns()


def _blocks(entry: "os.DirEntry[str]") -> int:
    try:
        return entry.stat(follow_symlinks=False).st_blocks
    except OSError:  # the file has gone
        return 0
