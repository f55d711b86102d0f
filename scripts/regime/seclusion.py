"""Keeping what a stranger wrote apart: without rights, where nothing can be changed.

A parser may have a fault that a file uses to run code of its own.  So the files of
strangers are parsed by the user "nobody", and engines open their databases as that user
in a process that can write to the disk of the trial alone.
"""

import ctypes
import os
import resource
import signal
import struct
from collections.abc import Callable, Collection, Iterable
from pathlib import Path

from scripts.regime.loop_device import DiskError

NOBODY = 65534  # the user, and a group of its own
# A command that begins with these words may read every file, as the folder of an
# engine may be one of root's, and nothing else that "nobody" may not do.  Without
# no_setuid_fixup, access(2) would say that it may not.
AS_NOBODY = (
    *("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"),
    *("--no-new-privs", "--inh-caps=-all,+dac_read_search"),
    *("--ambient-caps=-all,+dac_read_search", "--securebits=+no_setuid_fixup", "--"),
)
MOST_MEMORY = 2 << 30  # of an engine, which might read a sparse file without end
_MOST_PARSER_MEMORY = 1 << 30
_MOST_ANSWER_BYTES = 1 << 20
_FIRST_FILE = 3  # after the standard streams
_PR_SET_PDEATHSIG, _PR_SET_NO_NEW_PRIVS = 1, 38  # linux/prctl.h
_SYS_MOUNT_SETATTR = 442  # on every processor; since Linux 5.12
_AT_RECURSIVE, _AT_FDCWD = 0x8000, -100
_ATTRIBUTES = struct.Struct("=QQQQ")  # struct mount_attr: set, clear, and two unused
_RDONLY, _NOSUID, _NODEV = 1, 2, 4
_MS_BIND = 4096
_HARMLESS = ("null", "zero", "full", "random", "urandom")
_libc = ctypes.CDLL(None, use_errno=True)


def as_nobody(
    work: Callable[[], bytes], limit_s: int, files: Collection[int] = ()
) -> bytes | None:
    """Return what a call returns in a child process without rights.

    Of all open files it has only `files`; its standard streams lead nowhere.  None: it
    raised an exception, crashed, or took longer than the limit.  A user other than root
    stays that user.
    """
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            _close_all_but({*files, writer})
            _give_up_rights(limit_s)
            answer = work()
            with open(writer, "wb") as pipe:
                pipe.write(answer)
            status = 0
        finally:
            os._exit(status)
    os.close(writer)
    with open(reader, "rb") as pipe:
        answer = pipe.read(_MOST_ANSWER_BYTES)
    _, status = os.waitpid(child, 0)
    return None if status else answer


def _close_all_but(files: Iterable[int]) -> None:
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in range(_FIRST_FILE):
        os.dup2(nowhere, stream)
    first = _FIRST_FILE
    for file in sorted(files):
        os.closerange(first, file)
        first = file + 1
    os.closerange(first, os.sysconf("SC_OPEN_MAX"))


def _give_up_rights(limit_s: int) -> None:
    """Become "nobody", for a limited time and with little memory."""
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(limit_s)
    limit_memory(_MOST_PARSER_MEMORY)
    if os.geteuid() == 0:
        os.setgroups([])
        os.setresgid(NOBODY, NOBODY, NOBODY)
        os.setresuid(NOBODY, NOBODY, NOBODY)
    _libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def limit_memory(most: int) -> None:
    """Limit the memory of this process, and of each process that it starts."""
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    most = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (most, most))


def make_all_read_only() -> None:
    """Make all that is mounted here read-only; what is mounted later is not.

    REQUIRES: a mount namespace of its own.  Raises DiskError.
    """
    _change(Path("/"), add=_RDONLY | _NOSUID, flags=_AT_RECURSIVE)


def forbid_devices() -> None:
    """Make it impossible to open a device, except a few harmless ones.

    REQUIRES: a mount namespace of its own.  Raises DiskError.
    """
    devices = [p for name in _HARMLESS if (p := Path("/dev") / name).exists()]
    for path in devices:
        if _libc.mount(bytes(path), bytes(path), None, _MS_BIND, None) != 0:
            reason = os.strerror(ctypes.get_errno())
            raise DiskError(f"cannot mount {path}: {reason}")
    _change(Path("/"), add=_NODEV, flags=_AT_RECURSIVE)
    for path in devices:
        _change(path, remove=_NODEV)


def _change(path: Path, *, add: int = 0, remove: int = 0, flags: int = 0) -> None:
    """Change the attributes of a mount.  Raises DiskError."""
    attributes = _ATTRIBUTES.pack(add, remove, 0, 0)
    words = (_AT_FDCWD, bytes(path), flags, attributes, len(attributes))
    if _libc.syscall(_SYS_MOUNT_SETATTR, *words) != 0:
        reason = os.strerror(ctypes.get_errno())
        raise DiskError(f"a stranger's disk needs Linux 5.12 (mount_setattr: {reason})")
