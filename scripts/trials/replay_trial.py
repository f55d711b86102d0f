"""Opening the database of a reproducer again, which may come from anybody."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from report.terms.documents import shown
from report.terms.encoding import reason_of
from scripts.regime.seclusion import (
    AS_NOBODY,
    MOST_MEMORY,
    NOBODY,
    forbid_devices,
    limit_memory,
    make_all_read_only,
)
from scripts.regime.superblock import BYTES, check_superblock
from scripts.trials.crash_process import Cut, TrialError, audit
from scripts.trials.evidence import outcome_of, sentence_of
from scripts.trials.progress import Report
from scripts.trials.reproducer import read_description, unpack
from scripts.trials.trial_disk import TrialDisk, workspace
from scripts.trials.trial_spec import TrialSpec

_MOST_FILES = 10_000  # on a disk of 64 MB; ours have a few dozen
_FIRST_TO_BE_KILLED = "1000"  # if memory becomes short: proc(5), oom_score_adj


def replay_trial(spec: TrialSpec, report: Report) -> dict[str, Any]:
    """Rebuild the disk of the file `spec.reproducers`, and audit the database on it.

    The kernel mounts the disk as it does for root; everything else is done by "nobody",
    who can write to that disk and to the folder of the trial.
    """
    Path("/proc/self/oom_score_adj").write_text(_FIRST_TO_BE_KILLED)
    make_all_read_only()
    with workspace(spec) as space:
        description = read_description(spec.reproducers_path)
        disk, trace = TrialDisk(space, spec.fs), space / "trace"
        with trace.open("wb") as file, disk.blank() as image:
            unpack(spec.reproducers_path, file.fileno(), image, disk.size)
            check_superblock(os.pread(image, BYTES, 0), spec.fs)
        cut = Cut(trace, description["cut_ns"], description["cut_end_ns"])
        with disk.mounted() as point:
            forbid_devices()
            hand_over(point, NOBODY)
            if disk.database.exists() and not disk.database.is_dir():
                raise TrialError("the database of the reproducer is not a folder")
            limit_memory(MOST_MEMORY)
            finding = audit(spec, disk.database, cut, AS_NOBODY)
        report(1, 1)
    return {"outcome": outcome_of(finding), "found": sentence_of(finding)}


def hand_over(point: Path, user: int) -> None:
    """Make a user the owner of all files on a stranger's disk, with rights to them.

    Raises TrialError for what no engine makes: a link, a device, a pipe, a socket.
    """
    device = os.lstat(point).st_dev
    for number, path in enumerate(_below(point)):
        name = shown(str(path.relative_to(point)))
        status = os.lstat(path)
        if number >= _MOST_FILES:
            problem = f"the disk of the reproducer has more than {_MOST_FILES} files"
            raise TrialError(problem)
        is_plain = stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode)
        if not is_plain or status.st_dev != device:
            raise TrialError(
                f"{name} on the disk of the reproducer is neither a file nor a folder"
            )
        mode = stat.S_IMODE(status.st_mode) & 0o777 | _rights(status.st_mode)
        try:
            os.lchown(path, user, user)
            os.chmod(path, mode)
        except OSError as error:  # such as of an immutable file
            raise TrialError(
                f"{name} on the disk of the reproducer: {reason_of(error)}"
            ) from None


def _rights(mode: int) -> int:
    """Return the rights that root has without them."""
    return 0o700 if stat.S_ISDIR(mode) else 0o600


def _below(point: Path) -> Iterator[Path]:
    """Yield a folder and all that is in it, each folder before what is in it."""
    folders = [point]
    yield point
    while folders:
        with os.scandir(folders.pop()) as entries:
            for entry in entries:
                yield Path(entry.path)
                if entry.is_dir(follow_symlinks=False):
                    folders.append(Path(entry.path))
