"""Files and folders that only the runner may touch, checked before each use.

A run folder or a data directory can come from elsewhere or be replaced meanwhile.
What is written goes into files of our own, never through a link.
"""

import os
import shutil
import stat
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

from report.terms.documents import ResultsError
from report.terms.encoding import reason_of
from scripts.machine.mounts import points_in

_MOUNTINFO = Path("/proc/self/mountinfo")


class WorkFolderLost(Exception):
    """The runner's folder in the data directory is not the one that it created."""

    def __init__(self, path: Path) -> None:
        super().__init__(
            f"{path} was removed or replaced during the run; leave the data directory"
            " to the runner, or choose another with --data-dir"
        )


def open_own(path: Path, flags: int) -> int:
    """Open a file for writing, or create it; return its descriptor.

    Raises ResultsError for a link, for a file in a linked folder or with a second
    name, and for anything that is not an ordinary file; OSError if it cannot be opened.
    """
    refuse_link(path.parent)
    refuse_link(path)
    if path.exists():  # opening a device could already act on it
        _check_sole(path, path.lstat())
    # O_NOFOLLOW: it may have become a link.  O_NONBLOCK: a pipe must not wait.
    flags |= os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    fd = os.open(path, flags, 0o644)
    try:
        _check_sole(path, os.fstat(fd))
    except ResultsError:
        os.close(fd)
        raise
    return fd


def _check_sole(path: Path, status: os.stat_result) -> None:
    """Raise ResultsError unless this is an ordinary file with one name."""
    if stat.S_ISREG(status.st_mode) and status.st_nlink == 1:
        return
    fault = "is not an ordinary file"
    if stat.S_ISREG(status.st_mode):
        fault = "has a second name (a hard link), which would be written to as well"
    raise ResultsError(f"{path}: {fault}; copy the run's directory and use the copy")


def refuse_link(path: Path) -> None:
    """Raise ResultsError for a symbolic link, whatever it leads to."""
    if path.is_symlink():
        raise ResultsError(
            f"{path}: is a link to {os.readlink(path)}; nothing is written through"
            " links; use what it leads to"
        )


def refuse_links(folder: Path, but_in: Collection[Path] = ()) -> None:
    """Raise ResultsError for a folder with anything but files and folders in it.

    What is in the folders `but_in`, which nothing uses, is not looked at.
    REQUIRES: it is the folder of a run that is about to be continued.
    """
    refuse_link(folder)
    for place, folders, files in os.walk(folder):
        for path in (Path(place, name) for name in (*folders, *files)):
            refuse_link(path)
            if stat.S_IFMT(path.lstat().st_mode) not in (stat.S_IFREG, stat.S_IFDIR):
                raise ResultsError(f"{path}: is neither a file nor a directory")
        folders[:] = [name for name in folders if Path(place, name) not in but_in]


def own_folder(root: Path, *names: str) -> Path:
    """Return a folder below `root`, a name for each level; create what is missing.

    Raises ResultsError if a level is a link or a file.
    """
    folder = root
    for name in names:
        folder /= name
        refuse_link(folder)
        try:
            folder.mkdir(exist_ok=True)
        except FileExistsError:
            raise ResultsError(f"{folder}: is not a directory; remove it") from None
    return folder


def is_open_file(path: Path, fd: int) -> bool:
    """Return True if a path still leads to an open file."""
    try:
        status = os.stat(path, follow_symlinks=False)
    except OSError:
        return False
    return os.path.samestat(status, os.fstat(fd))


def remove(path: Path) -> None:
    """Remove a file, a link or a folder; what a link leads to is kept.

    Raises ResultsError if a file system is mounted in the folder.
    """
    if path.is_dir() and not path.is_symlink():
        _refuse_mounts(path)
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


class WorkFolder:
    """The runner's folder in the data directory."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)

    def check(self) -> None:
        """Raise WorkFolderLost unless the folder is still in its place."""
        if not is_open_file(self.path, self._fd):
            raise WorkFolderLost(self.path)

    def empty(self) -> None:
        """Remove everything in the folder.  Raises WorkFolderLost."""
        self.check()
        for entry in self.path.iterdir():
            remove(entry)

    def fresh(self, name: str) -> Path:
        """Return an empty folder of this name in it.  Raises WorkFolderLost."""
        self.check()
        remove(self.path / name)
        (self.path / name).mkdir()
        return self.path / name

    def close(self) -> None:
        """Close the descriptor that identifies the folder."""
        os.close(self._fd)


def remove_leftover(path: Path) -> None:
    """Remove a folder of the runner that a killed command left.

    REQUIRES: no other command uses it.  Raises ResultsError as work_folder().
    """
    _refuse_foreign(path)
    if path.exists():
        shutil.rmtree(path)


def _refuse_foreign(path: Path) -> None:
    """Raise ResultsError if a path is no folder that the runner can have made."""
    if path.is_symlink() or (path.exists() and not path.is_dir()):
        kind = f"is a link to {os.readlink(path)}" if path.is_symlink() else "is a file"
        raise ResultsError(
            f"{path}: {kind}; the runner needs a directory of its own; remove it"
        )
    if path.exists() and os.geteuid() not in (0, path.stat().st_uid):
        raise ResultsError(
            f"{path}: belongs to another user, and the runner would empty it; choose"
            " another directory"
        )
    _refuse_mounts(path)


def _refuse_mounts(path: Path) -> None:
    """Raise ResultsError if something is mounted in a folder, or on it."""
    mountinfo = _MOUNTINFO.read_text("utf-8", "surrogateescape")
    mounted = points_in(mountinfo, path.resolve())
    if mounted:
        raise ResultsError(
            f"{mounted[0]}: a file system is mounted here, in a directory of the"
            " runner, which it empties; unmount it"
        )


@contextmanager
def work_folder(path: Path) -> Iterator[WorkFolder]:
    """Create the runner's folder, or empty it; remove it at the end of the block.

    Raises ResultsError if the path is a link or a file, cannot be created, or has
    something mounted in it.
    """
    _refuse_foreign(path)
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ResultsError(
            f"--data-dir {path.parent}: cannot create {path.name}: {reason_of(error)};"
            " choose another directory"
        ) from error
    folder = WorkFolder(path)
    try:
        folder.empty()
        yield folder
    finally:
        if is_open_file(path, folder._fd):
            shutil.rmtree(path, ignore_errors=True)
        folder.close()
