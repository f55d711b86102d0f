"""The disk of one trial: an image in memory, a loop device, a file system."""

import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from scripts.basis.system_programs import run_program
from scripts.regime.loop_device import (
    attach,
    mount,
    mount_memory,
    unmount,
)
from scripts.regime.mkfs import make_file_system
from scripts.trials.crash_process import TrialError
from scripts.trials.disk_image import Patch
from scripts.trials.trial_spec import TrialSpec

DISK_MB = 64
_IMAGES = "images"
_MOST_MEMORY = "size=75%"


@contextmanager
def workspace(spec: TrialSpec) -> Iterator[Path]:
    """Mount a tmpfs over the folder of a trial, which only this process can see.

    Images have one of their own.  If the folder is removed from outside, what is
    mounted below it lasts as long as its tmpfs, which must not wait for a loop device:
    the device waits for what is mounted.
    """
    folder = spec.folder_path
    mount_memory(folder, _MOST_MEMORY)
    try:
        images = folder / _IMAGES
        images.mkdir()
        mount_memory(images, f"{_MOST_MEMORY},mode=0700")
        yield folder
    finally:
        run_program(("umount", "--lazy", str(folder)), 60)


def run_mount(arguments: Sequence[str], timeout_s: float) -> None:
    """Run mount(8).  Raises TrialError."""
    done = run_program(("mount", *arguments), timeout_s)
    if done.returncode:
        raise TrialError(f"cannot mount: {done.stderr.strip()}")


class TrialPlace(Protocol):
    """Where a database is written, and opened again."""

    @property
    def database(self) -> Path:
        """The folder of the database."""

    def empty(self) -> AbstractContextManager[None]:
        """Make the folder empty; it can be used in the block."""

    def mounted(self) -> AbstractContextManager[Path]:
        """Make the folder usable in the block."""

    def keep(self) -> Callable[[], None]:
        """Copy what is there; return a function that makes it so again.

        REQUIRES: not within a block of mounted()
        """


@dataclass(frozen=True)
class TrialFolder:
    """A folder of the machine, for a trial that does not cut the power."""

    database: Path

    @contextmanager
    def empty(self) -> Iterator[None]:
        """Make the folder empty."""
        shutil.rmtree(self.database, ignore_errors=True)
        self.database.mkdir()
        yield

    @contextmanager
    def mounted(self) -> Iterator[Path]:
        """Do nothing: its disk is mounted."""
        yield self.database

    def keep(self) -> Callable[[], None]:
        """Copy the folder, and holes of its files as such.  Raises TrialError."""
        kept = self.database.with_name(f"{self.database.name}.kept")
        _copy_folder(self.database, kept)
        return lambda: _copy_folder(kept, self.database)


@dataclass
class TrialDisk:
    """A file system on an image; `folder` is that of workspace()."""

    folder: Path
    fs: str
    megabytes: int = DISK_MB
    _pristine: list[Patch] = field(default_factory=list)

    @property
    def image(self) -> Path:
        """The image of the disk."""
        return self.folder / _IMAGES / "disk.img"

    @property
    def mount_point(self) -> Path:
        """Where it is mounted."""
        return self.folder / "mounted"

    @property
    def database(self) -> Path:
        """The folder of the database on it."""
        return self.mount_point / "db"

    @property
    def size(self) -> int:
        """Bytes of the disk."""
        return self.megabytes << 20

    def clear(self) -> None:
        """Make the disk a new, empty file system."""
        if self._pristine:
            self.write(self._pristine)
            return
        self.write([])
        device = attach(self.image)
        try:
            make_file_system(self.fs, device)
        finally:
            device.close()
        self._pristine = list(_runs(self.image))

    def write(self, patches: Iterable[Patch]) -> None:
        """Make the disk zeros but for these bytes."""
        with self.blank() as handle:
            for patch in patches:
                os.pwrite(handle, patch.data, patch.offset)

    @contextmanager
    def blank(self) -> Iterator[int]:
        """Make the disk zeros; yield its image, open for writing."""
        self.image.unlink(missing_ok=True)  # pages of an old loop device stay with it
        handle = os.open(self.image, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            os.ftruncate(handle, self.size)
            yield handle
        finally:
            os.close(handle)

    @contextmanager
    def mounted(self) -> Iterator[Path]:
        """Mount the file system, which recovers from a cut; unmount it at the end."""
        self.mount_point.mkdir(exist_ok=True)
        device = attach(self.image)
        try:
            mount(device, self.mount_point, self.fs)
            try:
                yield self.mount_point
            finally:
                unmount(self.mount_point)
        finally:
            device.close()

    def keep(self) -> Callable[[], None]:
        """Copy the disk."""
        kept = list(_runs(self.image))
        return lambda: self.write(kept)

    @contextmanager
    def empty(self) -> Iterator[None]:
        """Mount a new file system, with a folder for the database."""
        self.clear()
        with self.mounted():
            self.database.mkdir()
            sync_folder(self.mount_point)
            yield


def _copy_folder(source: Path, target: Path) -> None:
    """Make a folder a copy of another.  Raises TrialError."""
    shutil.rmtree(target, ignore_errors=True)
    done = run_program(("cp", "-a", str(source), str(target)))
    if done.returncode:
        raise TrialError(f"cannot copy a database: {done.stderr.strip()}")


def _runs(image: Path) -> Iterator[Patch]:
    """Yield the parts of a sparse file that hold data."""
    handle = os.open(image, os.O_RDONLY | os.O_CLOEXEC)
    try:
        at, end = 0, os.fstat(handle).st_size
        while at < end:
            try:
                start = os.lseek(handle, at, os.SEEK_DATA)
            except OSError:  # ENXIO: nothing but a hole is left
                return
            at = os.lseek(handle, start, os.SEEK_HOLE)
            yield Patch(start, os.pread(handle, at - start, start))
    finally:
        os.close(handle)


def sync_folder(folder: Path) -> None:
    """Make the entries of a folder survive a cut."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
