"""A file from which anybody with root can see a violation again.

It is a ZIP archive of three members: `cut.json` says what was tried and found, `trace`
is what the writer had begun and acknowledged, and `disk.log` is the disk after the cut
in the format of dm-log-writes, as a recorder writes it.
"""

import codecs
import io
import json
import lzma
import os
import struct
import zipfile
import zlib
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from report.terms.documents import ResultsError, parse_object, validate
from report.terms.encoding import bounded_content, reason_of
from report.terms.text_table import one_line
from scripts.regime.loop_device import DiskError
from scripts.regime.seclusion import as_nobody
from scripts.store.own_files import own_folder
from scripts.store.whole_file import write_whole
from scripts.trials.block_log import read_log, write_log
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
codecs.lookup("cp437")  # of names in archives: "nobody" may not be able to load it
_ENCRYPTED = 1  # of ZipInfo.flag_bits
_DAMAGE = (
    *(OSError, KeyError, ValueError, EOFError, RuntimeError, struct.error),
    *(zipfile.BadZipFile, lzma.LZMAError, zlib.error, MemoryError, DiskError),
)
_PARSER_S = 60
_MOST_REASON_CHARS = 200
_MOST_FOUND_CHARS = 8000  # as in report/schema/reproducer.schema.json


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
            "found": sentence_of(self.finding)[:_MOST_FOUND_CHARS],
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


def read_description(path: Path) -> dict[str, Any]:
    """Return cut.json of a reproducer, checked.  Raises ReproducerError.

    The file may come from anybody; "nobody" unpacks it.
    """
    content = _unpacked(path, lambda archive: _member(archive, "cut.json"))
    try:
        document = parse_object(content, f"{path}: cut.json")
        validate(document, "reproducer", f"{path}: cut.json")
    except ResultsError as error:
        raise ReproducerError(str(error)) from None
    return {**document, "found": one_line(document["found"])}


def unpack(path: Path, trace: int, image: int, disk_bytes: int) -> None:
    """Write the trace and the disk of a reproducer to open files.

    As read_description().
    """

    def write(archive: zipfile.ZipFile) -> bytes:
        with open(trace, "wb", closefd=False) as file:
            file.write(_member(archive, "trace"))
        end = 0
        for entry in read_log(_member(archive, "disk.log")):
            if patch := entry.patch:
                start, end = end, patch.offset + len(patch.data)
                if not start <= patch.offset <= end <= disk_bytes:
                    raise ValueError("its log is not that of one disk, in order")
                os.pwrite(image, patch.data, patch.offset)
        return b""

    _unpacked(path, write, (trace, image))


def _unpacked(
    path: Path, work: Callable[[zipfile.ZipFile], bytes], files: Collection[int] = ()
) -> bytes:
    """Return what a call makes of an archive, without the rights of root."""

    def answer() -> bytes:
        try:
            with zipfile.ZipFile(io.BytesIO(content)) as archive:
                _check_members(archive)
                return b"+" + work(archive)
        except _DAMAGE as error:
            reason = one_line(str(error) or type(error).__name__)
            return b"-" + reason[:_MOST_REASON_CHARS].encode(errors="replace")

    try:
        content = bounded_content(path, MOST_BYTES)
    except OSError as error:
        raise ReproducerError(f"{path}: {reason_of(error)}") from None
    found = as_nobody(answer, _PARSER_S, files) or b"-it cannot be unpacked"
    if found[:1] != b"+":
        reason = one_line(found[1:].decode(errors="replace"))
        problem = f"{path}: not a reproducer of kvmatrix durability ({reason})"
        raise ReproducerError(problem)
    return found[1:]


def _check_members(archive: zipfile.ZipFile) -> None:
    """Raise ValueError unless an archive has the members of a reproducer alone."""
    members = archive.infolist()
    if [member.filename for member in members] != list(_MEMBERS):
        raise ValueError(f"its members are not {', '.join(_MEMBERS)}")
    for member in members:
        if member.file_size > _MEMBERS[member.filename]:
            raise ValueError(f"{member.filename} is larger than in a reproducer")
        is_packed = member.compress_type == zipfile.ZIP_LZMA and not member.extra
        if not is_packed or member.flag_bits & _ENCRYPTED:
            raise ValueError(f"{member.filename} is not packed as in a reproducer")


def _member(archive: zipfile.ZipFile, name: str) -> bytes:
    with archive.open(name) as member:
        return b"".join(iter(lambda: member.read(_CHUNK_BYTES), b""))
