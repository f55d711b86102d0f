"""Record a real file system on a recorded disk, and print what is found, as JSON.

    python -m tests.trials.recorded_disk BLOCK_LOG KIND FOLDER

Runs as root in a mount namespace of its own, so that nothing stays mounted.
"""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from scripts.regime.loop_device import (
    DiskError,
    LoopDevice,
    abort_fuse,
    attach,
    mount,
    mount_memory,
    shut_down,
    unmount,
)
from scripts.regime.mkfs import make_file_system
from scripts.trials import block_log
from scripts.trials.block_log import LoggedWrite, Recorder, read_log
from scripts.trials.trial_disk import DISK_MB

COMMITS = 20
_LINE = b"%099d\n"
_CHUNK = 1 << 18
_MARK = b"a mark that is discarded\n"
_MARK_AT = 1 << 20


def image_name(folder: Path) -> str:
    """Return a name that no other test uses, by which its loop device is found."""
    return "-".join([*folder.parts[-2:], "cut.img"])


class RecordedDisk:
    """A disk of one kind of file system, in a folder."""

    def __init__(self, program: Path, kind: str, folder: Path) -> None:
        self._program, self._kind, self._folder = program, kind, folder
        self._point = folder / "mounted"
        self._point.mkdir()
        self._log = folder / "disk.log"
        self._image = folder / image_name(folder)
        self._synced_ns: list[int] = []

    def recorder(self) -> Recorder:
        """Return a new, empty disk, whose log replaces that of the one before."""
        return Recorder(self._program, self._folder, self._log, DISK_MB)

    def facts(self) -> dict[str, Any]:
        """Commit lines to a file, and compare the log with the disk."""
        with self.recorder() as device:
            _write_and_discard(device)
            make_file_system(self._kind, device)
            mount(device, self._point, self._kind)
            options = self._options()
            self._commit_lines()
            unmount(self._point)
            _copy_sparse(Path(device.path), self._folder / "real.img")
        log = list(read_log(self._log.read_bytes()))
        times = [entry.at_ns for entry in log]
        ends = [self._last_flush(log, at_ns) for at_ns in self._synced_ns]
        return {
            "options": options,
            "is_identical": self._is_identical(log),
            "never_earlier": times == sorted(times),
            "promised": int.from_bytes(self._log.read_bytes()[16:24], "little"),
            "entries": len(log),
            "is_discarded": self._is_discarded(log),
            "flushes_after_each": len(set(ends)),
            "lines_after": [self._lines(log[:end]) for end in ends],
        }

    def _options(self) -> dict[str, list[str]]:
        """Return the options of each mount in the folder, and of a new tmpfs."""
        (memory := self._folder / "memory").mkdir()
        mount_memory(memory, "size=1m")
        options = {line[4]: line[5].split(",") for line in self._mounts()}
        unmount(memory)
        return options

    def _commit_lines(self) -> None:
        handle = os.open(self._point / "lines", os.O_WRONLY | os.O_CREAT)
        try:
            for number in range(COMMITS):
                os.write(handle, _LINE % number)
                os.fsync(handle)
                self._synced_ns.append(time.monotonic_ns())
        finally:
            os.close(handle)

    def _is_discarded(self, log: Iterable[LoggedWrite]) -> bool:
        """Return whether a mark was written to the disk, and is not on it any more."""
        was_there = any(_MARK in entry.patch.data for entry in log if entry.patch)
        return was_there and _MARK not in self._image_after(log).read_bytes()

    def _last_flush(self, log: list[LoggedWrite], at_ns: int) -> int:
        """Return how many entries there are up to the last flush before a time."""
        flushed = (i + 1 for i, entry in enumerate(log) if entry.patch is None)
        return max(end for end in flushed if log[end - 1].at_ns <= at_ns)

    def _image_after(self, log: Iterable[LoggedWrite]) -> Path:
        """Return a file of the disk after writes, without the class that trials use."""
        self._image.unlink(missing_ok=True)
        with self._image.open("wb") as file:
            file.truncate(DISK_MB << 20)
            for patch in (entry.patch for entry in log if entry.patch):
                file.seek(patch.offset)
                file.write(patch.data)
        return self._image

    def _is_identical(self, log: Iterable[LoggedWrite]) -> bool:
        """Return whether the writes make the disk that the loop device showed."""
        with (
            self._image_after(log).open("rb") as ours,
            (self._folder / "real.img").open("rb") as real,
        ):
            while chunk := real.read(_CHUNK):
                if ours.read(_CHUNK) != chunk:
                    return False
            return not ours.read(1) and real.tell() == DISK_MB << 20

    def _lines(self, log: Iterable[LoggedWrite]) -> int:
        """Return how many lines are in the file after a power cut; -1 if damaged."""
        device = attach(self._image_after(log))
        try:
            mount(device, self._point, self._kind)
            content = (self._point / "lines").read_bytes()
            unmount(self._point)
        finally:
            device.close()
        lines = len(content) // len(_LINE % 0)
        expected = b"".join(_LINE % number for number in range(lines))
        return lines if content == expected else -1

    def failures(self) -> dict[str, str]:
        """Return what a disk that fails, or would be the wrong one, raises."""
        with self.recorder() as device:
            make_file_system(self._kind, device)
            mount(device, self._point, self._kind)
            foreign = _raised(lambda: shut_down(self._folder))
            shut_down(self._point)
            is_cut = _raised(lambda: (self._point / "a").write_bytes(b"lost"))
            unmount(self._point)
        return {
            "foreign": foreign,
            "no_longer_ours": self._no_longer_ours(),
            "is_cut": is_cut,
            "killed": _raised(lambda: self._fail(signal.SIGKILL)),
            "hanging": _raised(lambda: self._fail(signal.SIGSTOP)),
            "entries_after": str(len(list(read_log(self._log.read_bytes())))),
            "aborted": self._aborted(),
            "mounts_left": " ".join(line[4] for line in self._mounts()),
        }

    def _aborted(self) -> str:
        """Return the error of a request after a server that hangs was aborted."""
        recorder, words = self.recorder(), ""
        with contextlib.suppress(DiskError), recorder:
            assert recorder.process is not None
            recorder.process.send_signal(signal.SIGSTOP)
            point = self._folder / "recorded"
            abort_fuse(point)
            # Of a file that is not there, the kernel knows nothing by itself.
            words = subprocess.run(
                ["stat", str(point / "absent")],
                capture_output=True,
                text=True,
                timeout=60,
                check=False,
            ).stderr
        return words.rpartition(":")[2].strip()

    def _mounts(self) -> list[list[str]]:
        """Return the mounts in the folder, which is one itself, as in mountinfo."""
        mounts = Path("/proc/self/mountinfo").read_text().splitlines()
        lines = [line.split(" ") for line in mounts]
        return [line for line in lines if line[4].startswith(f"{self._folder}/")]

    def _no_longer_ours(self) -> str:
        """Return what is raised for a loop device that was given up."""
        device = attach(self._image)
        mount(device, self._point, self._kind)
        device.close()
        try:
            return _raised(lambda: shut_down(self._point))
        finally:
            unmount(self._point)

    def _fail(self, number: signal.Signals) -> None:
        """Send the server a signal, so that what is still to be written cannot be."""
        recorder = self.recorder()
        with recorder as device:
            os.pwrite(device.handle, b"synced" * 1024, 0)
            os.fsync(device.handle)
            os.pwrite(device.handle, b"not synced" * 1024, 0)
            assert recorder.process is not None
            recorder.process.send_signal(number)


def _write_and_discard(device: LoopDevice) -> None:
    os.pwrite(device.handle, _MARK * 100, _MARK_AT)
    os.fsync(device.handle)
    where = ("--offset", str(_MARK_AT), "--length", "8192")
    subprocess.run(["blkdiscard", *where, device.path], check=True, timeout=60)


def _copy_sparse(source: Path, target: Path) -> None:
    """Copy bytes, with holes where they are zeros."""
    with source.open("rb") as reading, target.open("wb") as writing:
        while chunk := reading.read(_CHUNK):
            if chunk.strip(b"\0"):
                writing.write(chunk)
            else:
                writing.seek(len(chunk), os.SEEK_CUR)
        writing.truncate(writing.tell())


def _raised(action: Any) -> str:
    try:
        action()
    except (DiskError, OSError) as error:
        return f"{type(error).__name__}: {error}"
    return ""


def main() -> None:
    """Print the facts of one kind of file system."""
    program, kind, folder = Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3])
    block_log.STOP_S = 0.5
    subprocess.run(
        ["mount", "-t", "tmpfs", "kvmatrix-test", str(folder)], check=True, timeout=60
    )
    disk = RecordedDisk(program, kind, folder)
    print(json.dumps({**disk.facts(), **disk.failures()}))


if __name__ == "__main__":
    main()
