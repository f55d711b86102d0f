"""A file from which anybody with root can see a violation again.

It is a ZIP archive of three members: `cut.json` says what was tried and found, `trace`
is what the writer had begun and acknowledged, and `disk.log` is the disk after the cut
in the format of dm-log-writes, as a recorder writes it.
"""

import io
import json
import lzma
import struct
import zipfile
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scripts.store.own_files import own_folder
from scripts.store.whole_file import write_whole
from scripts.trials.block_log import write_log
from scripts.trials.crash_process import AuditFinding, Cut
from scripts.trials.crash_trace import bytes_before
from scripts.trials.cut_plan import CutState
from scripts.trials.disk_image import DiskImage
from scripts.trials.evidence import outcome_of, sentence_of
from scripts.trials.trial_spec import TrialSpec

SUFFIX = ".kvmcut"
MOST_BYTES = 1_000_000
_DATE = (1980, 1, 1, 0, 0, 0)  # the same bytes for the same cut
# Members, and the most bytes of each in one of ours; a disk is of 64 MiB.
_MEMBERS = {"cut.json": 64 << 10, "trace": 64 << 20, "disk.log": 128 << 20}
_CHUNK_BYTES = 4096  # compressed; LZMA makes at most 30 MB of it
_DAMAGE = (
    *(OSError, KeyError, ValueError, EOFError, RuntimeError, struct.error),
    *(zipfile.BadZipFile, lzma.LZMAError, zlib.error),
)


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

    Returns "" if it is larger than MOST_BYTES or nothing is to be kept.  Raises OSError
    or ResultsError, also if it would be written through a link.
    """
    spec = reproducer.spec
    if not spec.reproducers:
        return ""
    members = {
        "cut.json": json.dumps(reproducer.description(), indent=1).encode(),
        "trace": bytes_before(reproducer.cut.trace, reproducer.cut.cut_end_ns),
        "disk.log": write_log(reproducer.image.runs()),
    }
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_LZMA) as archive:
        for name in _MEMBERS:
            info = zipfile.ZipInfo(name, _DATE)
            info.compress_type = zipfile.ZIP_LZMA
            archive.writestr(info, members[name])
    if content.tell() > MOST_BYTES:
        return ""
    run, name = spec.reproducers_path.parent, spec.reproducers_path.name
    folder = own_folder(run, name)
    path = folder / f"{spec.name}-{reproducer.kind.replace('_', '-')}{SUFFIX}"
    write_whole(path, content.getvalue())
    return f"{folder.name}/{path.name}"


def read_members(path: Path, names: Iterable[str] = _MEMBERS) -> Mapping[str, bytes]:
    """Return members of a reproducer.  Raises ReproducerError.

    The file may come from anybody: one that would expand without end is refused.
    """
    try:
        if path.stat().st_size > MOST_BYTES:
            raise ReproducerError(f"{path}: larger than a reproducer ever is")
        with zipfile.ZipFile(path) as archive:
            return {name: _member(archive, name, path) for name in names}
    except _DAMAGE as error:
        problem = f"{path}: not a reproducer of kvmatrix durability ({error})"
        raise ReproducerError(problem) from None


def _member(archive: zipfile.ZipFile, name: str, path: Path) -> bytes:
    if archive.getinfo(name).file_size > _MEMBERS[name]:
        raise ReproducerError(f"{path}: {name} is larger than in a reproducer")
    with archive.open(name) as member:
        return b"".join(iter(lambda: member.read(_CHUNK_BYTES), b""))
