"""Commands that mend damaged files, and the messages of errors of the system."""

import errno
import os
import shlex
import tempfile
from collections.abc import Sequence
from pathlib import Path

from report.config.toml_table import short_path
from report.terms.encoding import reason_of

_FULL = (errno.ENOSPC, errno.EDQUOT)
_FORBIDDEN = (errno.EACCES, errno.EPERM, errno.EROFS)


def removing(paths: Sequence[Path]) -> str:
    """Return the command that removes files or folders and makes them again."""
    words = [shlex.quote(str(path)) for path in paths]
    recursive = "-r " if any(map(os.path.isdir, paths)) else ""
    return f"rm {recursive}{' '.join(words)} && scripts/setup"


def restoring(path: Path) -> str:
    """Return how to restore a file of the repository."""
    name = shlex.quote(short_path(path))
    return f"To restore the committed file: git checkout -- {name}"


def system_text(error: OSError, root: Path, cache: Path | None) -> str:
    """Return the path and the reason of an error of the system, and what mends it.

    `root` is the checkout.  `cache` is None if it cannot be determined.
    """
    reason = reason_of(error)
    name = error.filename2 or error.filename
    if not isinstance(name, str | bytes | os.PathLike):
        written = [root / "build", *([cache] if cache else []), tempfile.gettempdir()]
        remedy = "free space in" if error.errno in _FULL else "check"
        return f"{reason}; {remedy} the folders that are written to: " + ", ".join(
            map(str, written)
        )
    path = _culprit(Path(os.fsdecode(name)).absolute())
    return f"{path}: {reason}\n{_remedy(error.errno, path, root, cache)}"


def _culprit(path: Path) -> Path:
    """Return the path, or the parent that is in the way because it is no folder."""
    for parent in reversed(path.parents):
        if os.path.lexists(parent) and not os.path.isdir(parent):
            return parent
    return path


def _remedy(number: int | None, path: Path, root: Path, cache: Path | None) -> str:
    """Return what mends an error at a path, by the folder that it is in."""
    build = root / "build"
    is_cached = cache is not None and cache in path.parents
    if number in _FULL:
        return f"Free space on the file system of {path}, then run scripts/setup again"
    if number not in _FORBIDDEN and (is_cached or build in (path, *path.parents)):
        if os.path.lexists(path) and (path != build or not build.is_dir()):
            return f"To make it again: {removing([path])}"
        return "Run scripts/setup again"
    if path.is_relative_to(root) and not is_cached:
        owner = "Run as the user who owns this checkout, or clone it again"
        return owner if number in _FORBIDDEN else restoring(path)
    if cache and (is_cached or path in (cache, *cache.parents)):
        return "Set KVMATRIX_CACHE to a directory that this user can write"
    return f"Make {path} readable for this user, then run scripts/setup again"
