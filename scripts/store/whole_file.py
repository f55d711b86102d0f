"""Files that are replaced as a whole or not at all."""

import errno
import os
from pathlib import Path

from report.durability.durability_folder import TRIALS
from report.durability.durability_plan import DURABILITY_PLAN
from report.model.ab_plan import AB_PLAN
from report.model.count_lines import COUNTS_FILE
from report.model.plan_document import PLAN
from report.model.record import LINES
from report.terms.encoding import reason_of

_PLANS = {PLAN, AB_PLAN, DURABILITY_PLAN}
OUTPUT = "-o"  # the option with which a user names any file
_OF_RUNS = {*_PLANS, LINES, COUNTS_FILE, TRIALS, "environment.json"}


def write_whole(target: Path, content: str | bytes, option: str = "") -> None:
    """Replace a file by a text or by bytes atomically.

    A pipe or a device that -o names, and whatever is below /dev (/dev/stdout), is
    written to directly.  Raises OSError, which names the target and the option that
    gave it, also for a link (a folder from elsewhere must not decide which file is
    replaced), for any other pipe or device, for a file that must not be written to,
    and for what a run has measured.
    """
    try:
        _replace(target, _encoded(content), is_named=option == OUTPUT)
    except OSError as error:
        name, reason = f"{option} {target}".strip(), reason_of(error)
        if not target.parent.exists():
            reason = f"directory {target.parent} does not exist"
        raise OSError(error.errno, reason, name) from None


def _refuse_run_file(target: Path) -> None:
    """Raise OSError for a file that holds what a run has measured."""
    if target.name in _OF_RUNS and any((target.parent / p).exists() for p in _PLANS):
        raise OSError(errno.EPERM, "is a file of a run; choose another name")


def _encoded(content: str | bytes) -> bytes:
    return content.encode() if isinstance(content, str) else content


def _replace(target: Path, content: bytes, *, is_named: bool) -> None:
    _refuse_run_file(target)
    is_device = target.is_absolute() and target.parts[1:2] == ("dev",)
    if target.is_symlink() and not is_device:
        reason = (
            f"is a link to {os.readlink(target)}; name that file, or remove the link"
        )
        raise OSError(errno.ELOOP, reason)
    if is_device or (is_named and target.exists() and not target.is_file()):
        target.write_bytes(content)
        return
    if target.exists() and not target.is_file():
        raise OSError(errno.EINVAL, "is not an ordinary file; remove it")
    if target.exists() and not os.access(target, os.W_OK):
        # Its directory would let it be replaced, but whoever has it forbids that.
        raise OSError(errno.EACCES, "is not writable; choose another name")
    building = target.with_name(f".{target.name}.{os.getpid()}.unfinished")
    building.unlink(missing_ok=True)
    try:
        with building.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        building.replace(target)
    finally:
        building.unlink(missing_ok=True)
