"""Cutting the power of a real file system, with the ioctl that shuts it down.

Nothing that was not written to the device before the cut reaches it afterwards: all
of the page cache is lost, and so is what the journal had not committed.
"""

import random
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from scripts.trials.crash_process import (
    Cut,
    Writer,
    audit,
    audit_command,
    has_started,
    is_ready,
)
from scripts.trials.crash_trace import (
    ACKNOWLEDGED,
    BATCH,
    CLOSE,
    COVERING_WRITE,
    RANDOM,
    RECOVERY,
    TraceKind,
    TraceRecord,
    phase_names,
)
from scripts.trials.evidence import Evidence
from scripts.trials.kill_trial import head_of
from scripts.trials.loop_device import shut_down
from scripts.trials.progress import Report
from scripts.trials.trial_disk import TrialDisk, sync_folder, workspace
from scripts.trials.trial_spec import TrialSpec

_LONGEST_DELAY_S = 0.2
_LONGEST_RECOVERY_S = 0.05
_AFTERLIFE_S = 0.01  # in which a writer may acknowledge what no disk has taken


@dataclass(frozen=True)
class Moment:
    """When to cut: as soon as the trace is so, and up to `delay_s` later."""

    aim: str  # "": what the writer was doing at the cut
    holds: Callable[[TraceRecord], bool]
    delay_s: float = 0.0
    after: int = 0  # the writer stops after this commit, so that silence follows


def moments(rng: random.Random, phases: Sequence[str]) -> list[Moment]:
    """Return one moment for each aim, found by watching the writer's trace."""
    silent = rng.randint(6, 45)
    watched = [
        Moment(ACKNOWLEDGED, is_ready, after=silent),
        Moment(
            COVERING_WRITE, _has(TraceKind.ACKNOWLEDGED, phases, "cover", durable=True)
        ),
        Moment("", _has(TraceKind.OPENED, phases, "first"), _LONGEST_DELAY_S / 10),
        Moment(BATCH, _has(TraceKind.COMMIT_BEGINS, phases, "batch")),
        Moment(CLOSE, _has(TraceKind.CLOSE_BEGINS, phases, "close")),
        Moment(RANDOM, has_started, _LONGEST_DELAY_S),
        Moment(RECOVERY, has_started, _LONGEST_DELAY_S),
    ]
    for phase in ("growth", "settle", "compact", "read"):
        begins = _has(TraceKind.PHASE_BEGINS, phases, phase)
        watched.append(Moment("", begins, _LONGEST_DELAY_S / 4))
    return watched


def _has(
    kind: TraceKind, phases: Sequence[str], phase: str, durable: bool = False
) -> Callable[[TraceRecord], bool]:
    number = phases.index(phase) if phase in phases else -1

    def holds(record: TraceRecord) -> bool:
        is_durable = not durable or bool(record.durable)
        return record.kind == kind and record.phase == number and is_durable

    return holds


def shutdown_trial(spec: TrialSpec, report: Report) -> dict[str, Any]:
    """Cut at each aim in turn until `spec.states` cuts are made."""
    rng = random.Random(spec.seed)
    evidence, described, done = None, {}, 0
    with workspace(spec) as space:
        disk = TrialDisk(space, spec.fs)
        while done < spec.states:
            for moment in moments(rng, phase_names(spec.phases))[: spec.states - done]:
                writer = Writer(spec, disk.database, space / "trace")
                cut = _write_and_cut(writer, disk, moment, rng)
                if evidence is None:
                    described = writer.describe()
                    evidence = Evidence(str(described["promise"]), spec.seed)
                if moment.aim == RECOVERY:
                    _cut_recovery(spec, disk, cut, rng)
                with disk.mounted():
                    finding = audit(spec, disk.database, cut)
                trace = writer.trace()
                aim = moment.aim or trace.aim_at(cut.cut_ns)
                evidence.note_without_disk(aim, trace.durable_after(cut.cut_end_ns))
                evidence.add(aim, finding, lambda _: "")
                done += 1
                report(done, spec.states)
    assert evidence is not None
    rest = {"barriers_per_write": None}
    return {**head_of(described), **evidence.document(), **rest}


def _write_and_cut(
    writer: Writer, disk: TrialDisk, moment: Moment, rng: random.Random
) -> Cut:
    disk.clear()
    with disk.mounted():
        disk.database.mkdir()
        sync_folder(disk.mount_point)
        more = [f"--crash_after={moment.after}"] if moment.after else []
        with writer.running(*more):
            writer.wait_until(moment.holds)
            time.sleep(rng.random() * moment.delay_s)
            cut_ns = time.monotonic_ns()
            shut_down(disk.mount_point)
            end_ns = time.monotonic_ns()
            time.sleep(_AFTERLIFE_S)
    return Cut(writer.trace_path, cut_ns, end_ns)


def _cut_recovery(
    spec: TrialSpec, disk: TrialDisk, cut: Cut, rng: random.Random
) -> None:
    """Open the database, and cut again while it recovers."""
    with disk.mounted():
        opener = subprocess.Popen(
            audit_command(spec, disk.database, cut),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            time.sleep(rng.random() * _LONGEST_RECOVERY_S)
            shut_down(disk.mount_point)
        finally:
            opener.kill()
            opener.wait(spec.timeout_s)
