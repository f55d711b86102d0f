"""The cache that a user's checkouts share: downloads, compiled engines, logs."""

import fcntl
import hashlib
import os
import pwd
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from scripts.basis.problem import SetupError

# Builds split names of folders at spaces; makefiles, shells and CMake have more signs.
_FOLDER = re.compile(r"/(?!/)[\w./+@~-]{0,199}")
# https://bford.info/cachedir/
_TAG = "CACHEDIR.TAG"
_TAG_TEXT = """\
Signature: 8a477f597d28d172789f06886806bc55
# This directory is a cache of kvmatrix, made by scripts/setup.
"""
_EARLIER = {"lock", "prefix"}
_OWN = {*_EARLIER, "apt", "downloads", "logs", "work"}
_REMEDY = "set KVMATRIX_CACHE to an absolute path of letters, digits, and /._+@~-"


def cache_dir(environ: Mapping[str, str]) -> Path:
    """Return $KVMATRIX_CACHE, else kvmatrix in the user's cache directory.

    An empty variable counts as unset.  Raises SetupError if libraries cannot be
    compiled into that directory because of its name.
    """
    for variable, below in (
        ("KVMATRIX_CACHE", "."),
        ("XDG_CACHE_HOME", "kvmatrix"),
        ("HOME", ".cache/kvmatrix"),
    ):
        if folder := environ.get(variable):
            return _checked(variable, folder) / below
    return _checked("the home directory of this user", _home()) / ".cache/kvmatrix"


def _checked(variable: str, folder: str) -> Path:
    if not _FOLDER.fullmatch(folder):
        raise SetupError(f"{variable}: cannot compile below {folder!r}; {_REMEDY}")
    return Path(folder)


def _home() -> str:
    """Return the home directory that the system knows of this user, or ""."""
    try:
        return pwd.getpwuid(os.getuid()).pw_dir
    except KeyError:
        return ""


def claim(cache: Path) -> None:
    """Create the cache, or check that it is one.

    The set-up removes folders in it, such as "work", so a directory with anything else
    is refused, whatever it is called.  Raises SetupError.
    """
    cache.mkdir(parents=True, exist_ok=True)
    tag, names = cache / _TAG, set(os.listdir(cache))
    if tag.is_file() and tag.read_bytes().startswith(_TAG_TEXT.encode()):
        return
    is_earlier = _EARLIER <= names <= _OWN  # from before caches had a tag
    if names and not is_earlier:
        raise SetupError(
            f"{cache}: is not a cache of kvmatrix and not empty, for example"
            f" {sorted(names)[0]!r}\nSet KVMATRIX_CACHE to a new directory"
        )
    tag.write_text(_TAG_TEXT, encoding="utf-8")


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextmanager
def locked(path: Path, when_waiting: Callable[[], None]) -> Iterator[None]:
    """Hold the lock file `path` within the block; wait for it if necessary.

    `when_waiting` is called once if another process holds the lock.  The kernel
    releases it when the process ends, however it ends.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            when_waiting()
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
