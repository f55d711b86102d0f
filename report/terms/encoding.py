"""Text in files: ordinary files of bounded size, UTF-8, errors fit for the user."""

import errno
import os
import stat
from pathlib import Path


def decoded(content: bytes) -> str:
    """Return the text of UTF-8 bytes.  Raises ValueError that names the first fault."""
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        byte = content[error.start]
        reason = f"byte 0x{byte:02x} at offset {error.start} is not UTF-8"
        raise ValueError(reason) from None


def bounded_content(path: Path, most: int) -> bytes:
    """Return the content of a regular file of at most `most` bytes.

    Never waits, even for a pipe, and never opens a device, which could act on that.
    Raises OSError, also for any other file.
    """
    _check_regular(os.stat(path), path)
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        status = os.fstat(fd)
        _check_regular(status, path)
        with open(fd, "rb", closefd=False) as file:
            # No more than its size: a buffer of that length is allocated.
            content = file.read(min(status.st_size, most + 1))
    finally:
        os.close(fd)
    if len(content) > most:
        limit = f"{most >> 20} MiB" if most >= 1 << 20 else f"{most >> 10} KiB"
        raise OSError(errno.EFBIG, f"larger than the limit of {limit}", str(path))
    return content


def _check_regular(status: os.stat_result, path: Path) -> None:
    """Raise OSError for anything but an ordinary file."""
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, "not a regular file", str(path))


def problem_of(error: OSError) -> str:
    """Return what failed, if that is known, and why."""
    place = f"{error.filename}: " if error.filename else ""
    return f"{place}{reason_of(error)}"


def reason_of(error: OSError) -> str:
    """Return why something failed; not every OSError comes from the system."""
    return error.strerror or str(error) or type(error).__name__
