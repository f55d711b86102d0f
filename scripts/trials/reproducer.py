"""A file from which anybody with root can see a violation again.

It is a ZIP archive of three members: `cut.json` says what was tried and found, `trace`
is what the writer had begun and acknowledged, and `disk.log` is the disk after the cut
in the format of dm-log-writes, as a recorder writes it.
"""

import json
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scripts.trials.block_log import write_log
from scripts.trials.crash_process import AuditFinding, Cut
from scripts.trials.crash_trace import bytes_before
from scripts.trials.cut_plan import CutState
from scripts.trials.disk_image import DiskImage
from scripts.trials.evidence import outcome_of, sentence_of
from scripts.trials.trial_spec import TrialSpec

SUFFIX = ".kvmcut"
MOST_BYTES = 1_000_000
_MOST_MEMBER_BYTES = 400 << 20  # a disk.log that is larger is not one of ours
_DATE = (1980, 1, 1, 0, 0, 0)  # the same bytes for the same cut
_MEMBERS = ("cut.json", "trace", "disk.log")


class ReproducerError(Exception):
    """A file that is not a reproducer, or is damaged."""


@dataclass(frozen=True)
class Reproducer:
    """A violation and all that is needed to see it again."""

    spec: TrialSpec
    cut: Cut
    kind: str
    state: CutState
    image: DiskImage
    finding: AuditFinding

    def description(self) -> dict[str, Any]:
        """Return cut.json."""
        return {
            "schema": 1,
            "setting": self.spec.setting,
            "engine": self.spec.engine,
            "flags": self.spec.flags,
            "phases": self.spec.phases,
            "fs": self.spec.fs,
            "kind": self.kind,
            "aim": self.state.aim,
            "what_is_there": self.state.kind,
            "cut_ns": self.cut.cut_ns,
            "cut_end_ns": self.cut.cut_end_ns,
            "outcome": outcome_of(self.finding),
            "found": sentence_of(self.finding),
        }


def store(reproducer: Reproducer) -> str:
    """Write a reproducer into the folder of the run; return its path in the run.

    Returns "" if it is larger than MOST_BYTES or nothing is to be kept.
    """
    spec = reproducer.spec
    if not spec.reproducers:
        return ""
    folder = Path(spec.reproducers)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{spec.name}-{reproducer.kind.replace('_', '-')}{SUFFIX}"
    unfinished = path.with_suffix(".unfinished")
    members = {
        "cut.json": json.dumps(reproducer.description(), indent=1).encode(),
        "trace": bytes_before(reproducer.cut.trace, reproducer.cut.cut_end_ns),
        "disk.log": write_log(reproducer.image.runs()),
    }
    with zipfile.ZipFile(unfinished, "w", zipfile.ZIP_LZMA) as archive:
        for name in _MEMBERS:
            info = zipfile.ZipInfo(name, _DATE)
            info.compress_type = zipfile.ZIP_LZMA
            archive.writestr(info, members[name])
    if unfinished.stat().st_size > MOST_BYTES:
        unfinished.unlink()
        return ""
    unfinished.replace(path)
    return f"{folder.name}/{path.name}"


def read_members(path: Path) -> Mapping[str, bytes]:
    """Return the members of a reproducer.  Raises ReproducerError."""
    try:
        with zipfile.ZipFile(path) as archive:
            for name in _MEMBERS:
                if archive.getinfo(name).file_size > _MOST_MEMBER_BYTES:
                    raise ReproducerError(f"{path}: {name} is too large")
            return {name: archive.read(name) for name in _MEMBERS}
    except (OSError, KeyError, zipfile.BadZipFile, NotImplementedError) as error:
        problem = f"{path}: not a reproducer of kvmatrix durability ({error})"
        raise ReproducerError(problem) from None
