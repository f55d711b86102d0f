"""Programs of the system that the runner starts, and the packages that have them."""

import os
import shutil
import subprocess
from collections.abc import Iterable, Mapping, Sequence

# Of Debian 12.
_PACKAGES = {
    **dict.fromkeys(("cp", "sync"), "coreutils"),
    **dict.fromkeys(("setpriv", "unshare", "blkid", "findmnt"), "util-linux"),
    **dict.fromkeys(("mount", "umount"), "mount"),
    "fincore": "util-linux-extra",
    "mkfs.ext4": "e2fsprogs",
    "mkfs.xfs": "xfsprogs",
}
CHILD_PATH = "/usr/bin:/bin"  # of every measured process
NEEDED = ("setpriv", "cp", "sync")  # by every run


class MissingProgram(Exception):
    """A program of the system is not installed; the message names its package."""


def search_path() -> str:
    """Return where programs are looked for: also where those of root are."""
    return f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"


def without(names: Iterable[str]) -> str:
    """Return which of these programs are not installed, with a remedy, or ""."""
    absent = [name for name in names if not shutil.which(name, path=search_path())]
    packages = dict.fromkeys(_PACKAGES.get(name, name) for name in absent)
    if not absent:
        return ""
    are = "is" if len(absent) == 1 else "are"
    return f"{', '.join(absent)} {are} not installed: install {' '.join(packages)}"


def require(names: Iterable[str]) -> None:
    """Raise MissingProgram unless all of these programs are installed."""
    if problem := without(names):
        raise MissingProgram(problem)


def program(name: str) -> str:
    """Return the path of a program.  Raises MissingProgram."""
    require([name])
    return shutil.which(name, path=search_path()) or name


def run_program(
    command: Sequence[str],
    timeout_s: float | None = None,
    variables: Mapping[str, str] | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run a program to its end; return it with what it printed.

    Raises MissingProgram, or subprocess.TimeoutExpired.
    """
    return subprocess.run(
        [program(command[0]), *command[1:]],
        capture_output=True,
        text=True,
        errors="replace",
        timeout=timeout_s,
        check=False,
        env={**os.environ, **(variables or {}), "PATH": search_path()},
    )
