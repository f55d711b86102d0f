"""A disk that fills: the error arrives, and nothing acknowledged is lost (R18)."""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from scripts.trials.crash_process import AuditFinding, Cut, Writer, audit
from scripts.trials.crash_trace import TraceKind, TraceRecord
from scripts.trials.disk_filler import DiskFiller
from scripts.trials.evidence import Evidence
from scripts.trials.intact import (
    check_again,
    differ,
    findings_of,
    rehearsed_in,
    rehearsed_once,
)
from scripts.trials.kill_trial import head_of
from scripts.trials.progress import Report
from scripts.trials.trial_disk import TrialDisk, workspace
from scripts.trials.trial_spec import PHASES, TrialSpec

_DISK_MB = 48
_ROOM_MB = 128  # of a disk that no stage fills; what is not written takes no memory
_KIB = 1024
_HANG_S = 30.0
_STILL_S = 5.0  # without a record, after which a writer waits for room


@dataclass(frozen=True)
class Stage:
    """When the disk becomes full, and with how many bytes left."""

    name: str
    phases: str
    kind: TraceKind
    phase: int  # the index in `phases` at which it happens
    left_bytes: int

    def has_come(self, record: TraceRecord) -> bool:
        """Return whether the writer is there."""
        return record.kind == self.kind and record.phase == self.phase


_BEGINS = TraceKind.PHASE_BEGINS
# Enough commits that an engine which needs more room meets the full disk.
STAGES = (
    Stage("writes", "single:50,fill:400", _BEGINS, 1, 512 * _KIB),
    Stage("batches", "single:50,batch:2000", _BEGINS, 1, 256 * _KIB),
    Stage("sync", "first:5,single:8000", _BEGINS, 1, 128 * _KIB),
    Stage("compaction", "fill:60,compact:4000", _BEGINS, 1, 64 * _KIB),
    Stage("close", "fill:60,close:4000", TraceKind.CLOSE_BEGINS, 1, 0),
)


def full_trial(spec: TrialSpec, report: Report) -> dict[str, Any]:
    """Fill the disk once in each stage.

    Raises TrialError if the driver fails where there is room.
    """
    spec = replace(spec, timeout_s=min(spec.timeout_s, _HANG_S))
    stages: list[dict[str, Any]] = []
    with workspace(spec) as space:
        described = _rehearsed(spec, space)
        evidence = Evidence(str(described["promise"]), spec.seed)
        disk = TrialDisk(space, spec.fs, _DISK_MB)
        roomy = TrialDisk(space, spec.fs, _ROOM_MB)
        for number, stage in enumerate(STAGES[: spec.states]):
            mine = replace(spec, phases=stage.phases)
            writer = Writer(mine, disk.database, space / "trace")
            entry = _tried(mine, disk, stage, writer)
            kind = _fault(entry)
            if kind or not writer.trace().is_whole:
                _rehearse_with_room(mine, roomy, writer)
            if kind:
                evidence.note_full(kind, stage.name, _sentence(entry))
            stages.append(entry)
            report(number + 1, spec.states)
    rest = {"barriers_per_write": None, "full": stages}
    return {**head_of(described), **evidence.document(), **rest}


def _tried(
    spec: TrialSpec, disk: TrialDisk, stage: Stage, writer: Writer
) -> dict[str, Any]:
    """Fill the disk in a stage; return what the record says of it."""
    with disk.empty():
        ending = _fill_and_end(writer, disk, stage)
    now_ns = time.monotonic_ns()
    cut = Cut(writer.trace_path, now_ns, now_ns)

    def look() -> AuditFinding:
        with disk.mounted():  # a fresh mount, as a process may have been stuck
            return audit(spec, disk.database, cut)

    def document(finding: AuditFinding) -> dict[str, Any]:
        return _stage_document(stage, writer, ending, finding)

    def faults(finding: AuditFinding) -> str:
        return _fault(document(finding))

    findings = findings_of(look, disk.keep(), faults)
    if differ(findings, faults):
        check_again(replace(spec, phases=PHASES), disk, writer)
    return document(min(findings, key=lambda f: bool(faults(f))))  # in doubt, for it


def _rehearse_with_room(spec: TrialSpec, roomy: TrialDisk, writer: Writer) -> None:
    """Write what a stage has written, and the commit that failed, where there is room.

    A stage that ended well needs no control: it had room for all of it.  Raises
    TrialError if the driver fails.
    """
    commits = len(writer.trace().acknowledgements) + 1
    mine = replace(spec, phases=first_commits(spec.phases, commits))
    rehearsed_once(roomy, mine, Writer(mine, roomy.database, writer.trace_path))


def first_commits(phases: str, commits: int) -> str:
    """Return the start of a list of phases that has so many commits, or all of it."""
    words = []
    for word in phases.split(","):
        name, _, count = word.partition(":")
        number = min(int(count), commits)
        if number:
            words.append(f"{name}:{number}")
        commits -= number
    return ",".join(words)


def _rehearsed(spec: TrialSpec, space: Path) -> dict[str, Any]:
    """Write to a disk with room; return what the writer said of itself."""
    spec = replace(spec, phases=PHASES)
    disk = TrialDisk(space, spec.fs)
    writer = Writer(spec, disk.database, space / "trace")
    rehearsed_in(disk, spec, writer)
    return writer.describe()


@dataclass(frozen=True)
class _Ending:
    """How a writer ended on a disk that fills."""

    word: str  # "": with all its commits
    waited_after: int | None  # commits after which it did nothing until there was room

    def reached(self, acknowledged: int) -> str:
        """Return when the disk was full, in words."""
        if self.waited_after is not None:
            return f"after {self.waited_after:,} commits; it waits for room"
        return f"after {acknowledged:,} commits" if self.word else "never"


def _fill_and_end(writer: Writer, disk: TrialDisk, stage: Stage) -> _Ending:
    """Run a writer to its end on a disk that fills, with room once it is stuck."""
    waited_after = None
    with writer.running():
        if writer.wait_until(stage.has_come):
            with DiskFiller(disk.mount_point / "filler", stage.left_bytes):
                if not writer.ends_unless_still(_STILL_S):
                    waited_after = len(writer.trace().acknowledgements)
        return _Ending(writer.wait(), waited_after)


def _stage_document(
    stage: Stage, writer: Writer, ending: _Ending, finding: AuditFinding
) -> dict[str, Any]:
    acknowledged = len(writer.trace().acknowledgements)
    error = next((str(x["error"]) for x in writer.lines() if "error" in x), "")
    failed = bool(finding.ended or finding.text("open_error"))
    lost = finding.number("lost")  # None: all could not be read
    if lost is not None:
        lost = lost or finding.number("missing") or 0
        lost += finding.number("foreign") or 0
    is_usable = not (finding.text("write_error") or finding.text("reopen_error"))
    return {
        "stage": stage.name,
        "reached": ending.reached(acknowledged),
        "error_reported": bool(error),
        "error": error,
        "ended": "ok" if not ending.word or error else ending.word,
        "lost": lost,
        "opens_again": not failed and not finding.text("read_error"),
        "works_with_room": None
        if lost is None and not failed
        else (is_usable and not failed),
        "found": finding.ended
        or next(filter(None, map(finding.text, _ERRORS)), "")
        or finding.text("first_problem"),
    }


_ERRORS = ("open_error", "read_error", "write_error", "reopen_error")


def _fault(entry: dict[str, Any]) -> str:
    """Return what is wrong in a stage, as the kind of a violation; "" if nothing."""
    rules: tuple[tuple[str, Callable[[dict[str, Any]], bool]], ...] = (
        ("full_disk_unreadable", lambda e: not e["opens_again"]),
        ("full_disk_wrong", lambda e: bool(e["lost"])),
        ("full_disk_unwritable", lambda e: not e["works_with_room"]),
        ("full_disk_crash", lambda e: e["ended"] not in ("ok", "")),
    )
    return next((kind for kind, holds in rules if holds(entry)), "")


def _sentence(entry: dict[str, Any]) -> str:
    parts = [f"disk full: {entry['reached']}"]
    if entry["ended"] != "ok":
        parts.append(f"the writer ended: {entry['ended']}")
    if entry["lost"]:
        parts.append(f"{entry['lost']} acknowledged commits or keys lost")
    if entry["found"]:
        parts.append(entry["found"])
    return "; ".join(parts)
