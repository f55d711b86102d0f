"""The directories that one command at a time uses, and their locks."""

import errno
import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from report.terms.documents import ResultsError
from report.terms.encoding import reason_of
from scripts.planning.disk_room import existing_part

IN_USE = "another run is using the"  # begins a message
_ANOTHER = "choose another directory"
# The option that names a directory, by its purpose; that of a fleet has none.
_OPTION_OF = {
    "results": "--results-dir",
    "data": "--data-dir",
    "history": "--history-dir",
    "device": "--device",
}


class FolderLocked(Exception):
    """Another runner is using the folder."""


def check_usable(folder: Path, purpose: str) -> None:
    """Raise ResultsError if a directory cannot be used, or created if it is missing.

    Nothing is created.  The message names the option --PURPOSE-dir.
    """
    place = existing_part(folder)
    fault = ""
    if not place.is_dir():
        fault = os.strerror(errno.ENOTDIR)
    elif not os.access(place, os.W_OK | os.X_OK):
        fault = os.strerror(errno.EACCES)
    if place == folder.absolute():
        fault = fault and "not writable"
    elif fault:
        fault = f"cannot create: {fault}"
    if fault:
        raise ResultsError(f"{_named(folder, purpose)}: {fault}; {_ANOTHER}")


def _named(folder: Path, purpose: str) -> str:
    """Return a directory with the option that names it; a fleet has none."""
    option = _OPTION_OF.get(purpose, "")
    return f"{option} {folder}".strip()


@contextmanager
def sole_user(folder: Path, purpose: str) -> Iterator[None]:
    """Hold the lock of a directory, which is created.

    What was created is removed again if the block raises and has put nothing there.
    The kernel releases the lock when the process ends, in whatever way.  Raises
    FolderLocked if another runner holds it, or the error of check_usable().
    """
    check_usable(folder, purpose)
    new = [p for p in (folder, *folder.absolute().parents) if not os.path.lexists(p)]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as error:
        problem = f"cannot create: {reason_of(error)}"
        raise ResultsError(
            f"{_named(folder, purpose)}: {problem}; {_ANOTHER}"
        ) from error
    try:
        _lock(fd, folder, purpose)
        try:
            yield
        except BaseException:
            for created in new:
                with suppress(OSError):  # in use, or not empty
                    created.rmdir()
            raise
    finally:
        os.close(fd)


def _lock(fd: int, folder: Path, purpose: str) -> None:
    """Lock a directory that is open.  Raises FolderLocked."""
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # A command that failed may have removed it meanwhile.
        is_free = os.path.samestat(folder.stat(), os.fstat(fd))
    except (BlockingIOError, FileNotFoundError):
        is_free = False
    if not is_free:
        option = _OPTION_OF.get(purpose)
        other = f", or name another with {option}" if option else ""
        problem = f"{IN_USE} {purpose} directory {folder}; wait for it to end{other}"
        raise FolderLocked(problem)
