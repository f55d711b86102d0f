"""The block device or directory that a user names as the disk of the regimes."""

import os
import stat
from dataclasses import dataclass, replace
from pathlib import Path

from report.terms import numbers
from report.terms.encoding import reason_of
from report.terms.regime import BLOCK, DIRECTORY, FILE_SYSTEMS, Regime
from scripts.basis.system_programs import run_program
from scripts.regime.loop_device import DiskError, claim


@dataclass(frozen=True)
class NamedDevice:
    """What the user named, as it was when the command began."""

    path: Path
    kind: str  # BLOCK or DIRECTORY
    size_bytes: int  # of the block device, or of the directory's file system
    file_system: str  # that is kept; "": a new one is made for each repetition
    read_ahead_bytes: int = 0  # of the directory's disk; that of others is chosen
    stat: Path = Path()  # the counters of the directory's disk

    def given_to(self, regime: Regime) -> Regime:
        """Return a regime that has this instead of a file, if it has a disk at all."""
        if not regime.device:
            return regime
        regime = replace(regime, device=self.kind, device_bytes=self.size_bytes)
        if self.file_system:
            regime = replace(regime, file_system=self.file_system)
        if self.kind == DIRECTORY:
            regime = replace(regime, read_ahead_bytes=self.read_ahead_bytes)
        return regime

    def check_size(self, needed_bytes: int) -> None:
        """Raise DiskError if it is smaller than the disk that scenarios need."""
        free = self.size_bytes
        if self.kind == DIRECTORY:
            found = os.statvfs(self.path)
            free = found.f_bavail * found.f_frsize
        if free < needed_bytes:
            raise DiskError(
                f"--device {self.path} has {numbers.size(free)}, but the scenarios"
                f" need {numbers.size(needed_bytes)}; lower --num, or name a larger one"
            )

    def difference(self, regime: Regime) -> str:
        """Return how it differs from the disk of a recorded regime, or ""."""
        if not regime.device or self.given_to(regime) == regime:
            return ""
        now, recorded = self.given_to(regime).disk_text, regime.disk_text
        return f"--device {self.path} is {now}, but the run had {recorded}"


def named_device(path: Path, to_format: Path | None) -> NamedDevice:
    """Examine what the user named; `to_format` must repeat it to be formatted.

    Raises DiskError.
    """
    if to_format is not None and str(to_format) != str(path):
        raise DiskError(f"--format-device {to_format} is not the path of --device")
    try:
        mode = path.stat().st_mode
    except OSError as error:
        raise DiskError(f"--device {path}: {reason_of(error)}") from None
    if stat.S_ISBLK(mode):
        return _block(path, to_format is not None)
    if not stat.S_ISDIR(mode):
        raise DiskError(f"--device {path} is neither a block device nor a directory")
    if to_format is not None:
        raise DiskError(f"--format-device {path} is a directory; leave the option out")
    return _directory(path.resolve())


def _block(path: Path, formats: bool) -> NamedDevice:
    handle = claim(path)
    try:
        size_bytes = os.lseek(handle, 0, os.SEEK_END)
    finally:
        os.close(handle)
    file_system = "" if formats else _output("blkid", *_PROBE, str(path))
    if not formats and file_system not in FILE_SYSTEMS:
        raise DiskError(
            f"--device {path} has {file_system or 'no'} file system; expected"
            f" {' or '.join(FILE_SYSTEMS)}. --format-device {path} makes a new one for"
            " each repetition, which destroys everything on the device"
        )
    return NamedDevice(path, BLOCK, size_bytes, file_system)


def _directory(path: Path) -> NamedDevice:
    number = path.stat().st_dev
    device = f"{os.major(number)}:{os.minor(number)}"
    counters = Path("/sys/dev/block") / device / "stat"
    file_system = _output("findmnt", *_TYPE, str(path))
    if not counters.exists():
        raise DiskError(
            f"--device {path} is on {file_system or 'a file system'}, which has no"
            " block device with counters; name a directory on ext4 or xfs"
        )
    ahead = Path("/sys/class/bdi") / device / "read_ahead_kb"
    found = os.statvfs(path)
    return NamedDevice(
        path,
        DIRECTORY,
        found.f_blocks * found.f_frsize,
        file_system,
        int(ahead.read_text()) << 10,
        counters,
    )


_PROBE = ("--probe", "--match-tag", "TYPE", "--output", "value")
_TYPE = ("--noheadings", "--output", "FSTYPE", "--target")


def _output(*command: str) -> str:
    """Return what a program printed.  Raises MissingProgram."""
    return run_program(command).stdout.strip()
