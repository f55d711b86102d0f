"""A place where nothing can be damaged: / is read-only, except one folder.

`python -m tests.hostile.sandbox FOLDER COMMAND ...` is started by confined() in a mount
namespace of its own.  It makes every file system read-only there, replaces /dev by a
few harmless devices, proves that nothing else can be written, and becomes COMMAND.  It
refuses, with the reason, if any of that fails.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.places import ROOT

REFUSED = 2
_OUTER = "KVMATRIX_OUTER_NAMESPACE"  # the mount namespace that must not be changed
_DEVICES = ("null", "zero", "full", "urandom")
_KEPT_OPTIONS = ("nosuid", "nodev", "noexec", "noatime", "relatime")


class CannotConfine(Exception):
    """The place cannot be made; str() is fit for the user."""


def confined(command: Sequence[str], writable: Path) -> list[str]:
    """Return the command line that runs `command` where only `writable` is writable.

    Raises CannotConfine if there is no program for that.
    """
    if not shutil.which("unshare") or not shutil.which("mount"):
        raise CannotConfine("unshare and mount are needed, of util-linux")
    user = () if os.geteuid() == 0 else ("--map-root-user",)
    own = (sys.executable, "-B", "-m", "tests.hostile.sandbox", str(writable))
    variable = f"{_OUTER}={_namespace()}"
    unshare = ("unshare", *user, "--mount", "--propagation", "private")
    return ["env", variable, *unshare, *own, *command]


def _namespace() -> str:
    return os.readlink("/proc/self/ns/mnt")


def enter(writable: Path) -> None:
    """Make everything but `writable` read-only.  Raises CannotConfine."""
    outer = os.environ.get(_OUTER, "")
    if not outer or outer == _namespace():
        raise CannotConfine("not in a mount namespace of its own; see confined()")
    _mount("--make-rprivate", "/")
    _mount("--bind", str(writable), str(writable))
    _replace_devices(writable)
    for point, options in reversed(_mounts()):
        if Path(point) != writable:
            _mount("-o", ",".join(("remount", "bind", "ro", *options)), point)
    for folder in ("/", "/dev", "/tmp", "/var/tmp", ROOT, ROOT / "build", Path.home()):
        _prove_read_only(Path(folder))


def _replace_devices(writable: Path) -> None:
    """Put a folder of harmless devices over /dev: no disk can be opened."""
    devices = writable / "dev"
    devices.mkdir()
    _mount("-t", "tmpfs", "tmpfs", str(devices))
    for name in _DEVICES:
        (devices / name).touch()
        _mount("--bind", f"/dev/{name}", str(devices / name))
    _mount("--rbind", str(devices), "/dev")


def _mounts() -> list[tuple[str, tuple[str, ...]]]:
    """Return the mount points that can be seen, and the options that they keep."""
    lines = Path("/proc/self/mountinfo").read_text("utf-8").splitlines()
    found = {}
    for line in lines:
        point = re.sub(r"\\(\d{3})", lambda m: chr(int(m[1], 8)), line.split()[4])
        options = line.split()[5].split(",")
        if Path(point).exists():  # one below another mount cannot be reached
            found[point] = tuple(o for o in options if o in _KEPT_OPTIONS)
    return list(found.items())


def _mount(*words: str) -> None:
    done = subprocess.run(("mount", *words), capture_output=True, text=True)
    if done.returncode:
        problem = done.stderr.strip() or f"exit {done.returncode}"
        raise CannotConfine(f"mount {' '.join(words)}: {problem}")


def _prove_read_only(folder: Path) -> None:
    """Raise CannotConfine if a file can be created in a folder."""
    probe = folder / f".kvmatrix-probe-{os.getpid()}"
    try:
        probe.touch(exist_ok=False)
    except OSError:
        return
    probe.unlink()
    raise CannotConfine(f"{folder} is still writable")


def main(words: Sequence[str]) -> int:
    """Enter the place and become the command; return only if that is refused."""
    writable, *command = words
    try:
        enter(Path(writable).resolve(strict=True))
    except (CannotConfine, OSError) as error:
        print(f"sandbox: cannot confine the command: {error}", file=sys.stderr)
        return REFUSED
    os.environ["TMPDIR"] = writable
    os.execvp(command[0], command)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
