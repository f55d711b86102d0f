"""Small disks: a tmpfs in a mount namespace of its own, which no other process sees."""

import errno
import os
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.hardship.site import Site

# The data directory must have more than the reserve that every run asks for.
SIZES = {"data": "112m", "results": "2m"}
_CHUNK = b"\0" * 65536


def _unshare() -> list[str]:
    own = ["--mount", "--propagation", "private"]
    return ["unshare", *([] if os.geteuid() == 0 else ["--map-root-user"]), *own]


def why_not() -> str:
    """Return why small disks cannot be made here, or ""."""
    command = [*_unshare(), "mount", "-t", "tmpfs", "tmpfs", "/mnt"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as error:
        return str(error)
    return done.stderr.strip()


@contextmanager
def small_disk(site: Site, name: str) -> Iterator[None]:
    """Give the commands of a site a small disk at its folder `name`.

    A process holds the namespace, so that the disk outlives the commands.
    """
    target = site.root / name
    target.mkdir(exist_ok=True)
    script = 'mount -t tmpfs -o "size=$1" tmpfs "$2" && echo ready && exec cat'
    holder = subprocess.Popen(
        [*_unshare(), "sh", "-c", script, "sh", SIZES[name], str(target)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert holder.stdin and holder.stdout
    try:
        assert holder.stdout.readline() == b"ready\n", "cannot mount a tmpfs"
        user = [] if os.geteuid() == 0 else ["--user", "--preserve-credentials"]
        site.prefix = ("nsenter", f"--target={holder.pid}", "--mount", *user, "--")
        site.outside = Path(f"/proc/{holder.pid}/root")
        site.helpers.add(holder.pid)
        yield
    finally:
        site.kill_all()
        holder.communicate()
        site.prefix, site.outside = (), Path("/")


class Filler:
    """A file that takes all space of a disk, and what is freed later, until removed."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "filler"
        self._file = self._path.open("wb", buffering=0)
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._keep_full, daemon=True)

    def begin(self) -> None:
        """Fill the disk, and return once it is full."""
        self._fill()
        self._thread.start()

    def _keep_full(self) -> None:
        while not self._end.wait(0.002):
            self._fill()

    def _fill(self) -> None:
        size = len(_CHUNK)
        while size:
            try:
                self._file.write(_CHUNK[:size])
            except OSError as error:
                if error.errno != errno.ENOSPC:
                    raise
                size //= 2

    def remove(self) -> None:
        """Free the space."""
        self._end.set()
        self._thread.join()
        self._file.close()
        with suppress(FileNotFoundError):
            self._path.unlink()
