"""The cache that a user's checkouts share: downloads, compiled engines, logs."""

import fcntl
import hashlib
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path


def cache_dir(environ: Mapping[str, str]) -> Path:
    """Return $KVMATRIX_CACHE, else kvmatrix in the user's cache directory."""
    folder = environ.get("KVMATRIX_CACHE")
    if folder:
        return Path(folder).absolute()
    home = Path(environ.get("HOME", "~")).expanduser()
    base = environ.get("XDG_CACHE_HOME") or home / ".cache"
    return Path(base).absolute() / "kvmatrix"


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
