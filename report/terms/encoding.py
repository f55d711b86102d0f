"""Text in files: ordinary files of bounded size, UTF-8, errors fit for the user."""

import codecs
import errno
import os
import stat
from pathlib import Path

# The mark of UTF-32, least significant byte first, begins with that of UTF-16.
_MARKS = (
    (codecs.BOM_UTF32_LE, "UTF-32"),
    (codecs.BOM_UTF32_BE, "UTF-32"),
    (codecs.BOM_UTF16_LE, "UTF-16"),
    (codecs.BOM_UTF16_BE, "UTF-16"),
)
_REMEDY = "save it as UTF-8"
# What compressed files begin with.
_COMPRESSED = {
    b"\x1f\x8b": "gzip",
    b"BZh": "bzip2",
    b"\xfd7zXZ\0": "xz",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"PK\3\4": "zip",
}
_LOOKED_AT = 256  # bytes of a text in which a third are zero if it is UTF-16
# Errors of calls that reach a limit of the process, and the option that raises it.
_LIMITS = {errno.EMFILE: "-n", errno.EFBIG: "-f", errno.EAGAIN: "-u"}


def decoded(content: bytes, *, is_latin: bool = False) -> str:
    """Return the text of UTF-8 bytes, without a byte order mark.

    With `is_latin`, bytes that are not UTF-8 are those of ISO 8859-1.  Raises
    ValueError that names the first fault, or another encoding and the remedy.
    """
    for begin, name in _COMPRESSED.items():
        if content.startswith(begin):
            raise ValueError(f"the file is compressed ({name}); decompress it first")
    for mark, name in _MARKS:
        if content.startswith(mark):
            raise ValueError(f"the text is {name}; {_REMEDY}")
    if b"\0" in (start := content[:_LOOKED_AT]) and start.count(0) >= len(start) // 3:
        raise ValueError(f"the text looks like UTF-16 or UTF-32; {_REMEDY}")
    text = content.removeprefix(codecs.BOM_UTF8)
    try:
        return text.decode("utf-8")
    except UnicodeDecodeError as error:
        if is_latin:
            return text.decode("latin-1")
        at = error.start + len(content) - len(text)
        reason = f"byte 0x{text[error.start]:02x} at offset {at} is not UTF-8"
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
    reason = error.strerror or str(error) or type(error).__name__
    number = error.errno or 0
    if number in _LIMITS and reason == os.strerror(number):
        return (
            f"{reason}; a limit of this process is reached (ulimit {_LIMITS[number]})"
        )
    return reason
