"""Cutting the power of a real file system, with the ioctl that shuts it down.

Nothing that was not written to the device before the cut reaches it afterwards: all
of the page cache is lost, and so is what the journal had not committed.
"""

import random
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from scripts.regime.loop_device import shut_down
from scripts.trials.crash_process import (
    AuditFinding,
    Cut,
    Writer,
    audit,
    audit_command,
    has_started,
    is_ready,
)
from scripts.trials.crash_trace import (
    ACKNOWLEDGED,
    COVERING_WRITE,
    RANDOM,
    RECOVERY,
    CrashTrace,
    TraceKind,
    TraceRecord,
)
from scripts.trials.evidence import Evidence
from scripts.trials.intact import check_again, decided, rehearsed_in
from scripts.trials.kill_trial import head_of
from scripts.trials.progress import Report
from scripts.trials.trial_disk import TrialDisk, workspace
from scripts.trials.trial_spec import TrialSpec

_AFTERLIFE_S = 0.01  # in which a writer may acknowledge what no disk has taken


@dataclass(frozen=True)
class Moment:
    """When to cut: as soon as the trace is so, and up to `delay_s` later."""

    aim: str  # "": what the writer was doing at the cut
    holds: Callable[[TraceRecord], bool]
    delay_s: float = 0.0
    after: int = 0  # the writer stops after this commit, so that silence follows


def moments(rng: random.Random, rehearsal: CrashTrace) -> list[Moment]:
    """Return moments for all aims, given the trace of a run that was not cut."""
    silent = Moment(ACKNOWLEDGED, is_ready, after=rng.randint(6, 45))
    covers = _covers(rehearsal.phases)
    covering = (
        [Moment(COVERING_WRITE, covers)] if any(map(covers, rehearsal.records)) else []
    )
    within = [
        Moment("", _is_in(number), rehearsal.phase_span_s(number))
        for number in range(len(rehearsal.phases))
    ]
    anywhere = [Moment(a, has_started, rehearsal.span_s) for a in (RANDOM, RECOVERY)]
    return [silent, *covering, *within, *anywhere]


def _covers(phases: Sequence[str]) -> Callable[[TraceRecord], bool]:
    number = phases.index("cover") if "cover" in phases else -1
    kind = TraceKind.ACKNOWLEDGED
    return lambda r: r.kind == kind and r.phase == number and bool(r.durable)


def _is_in(phase: int) -> Callable[[TraceRecord], bool]:
    return lambda record: record.kind != TraceKind.HEADER and record.phase == phase


def shutdown_trial(spec: TrialSpec, report: Report) -> dict[str, Any]:
    """Cut at each aim in turn until `spec.states` cuts are made."""
    rng = random.Random(spec.seed)
    done, audits_s = 0, [0.0]
    with workspace(spec) as space:
        disk = TrialDisk(space, spec.fs)
        writer = Writer(spec, disk.database, space / "trace")
        rehearsal = rehearsed_in(disk, spec, writer)
        described = writer.describe()
        evidence = Evidence(str(described["promise"]), spec.seed)
        while done < spec.states:
            for moment in moments(rng, rehearsal)[: spec.states - done]:
                cut = _write_and_cut(writer, disk, moment, rng)
                if moment.aim == RECOVERY:
                    _cut_recovery(spec, disk, cut, rng.random() * audits_s[-1])
                look = partial(_audited, spec, disk, cut, audits_s)
                control = partial(check_again, spec, disk, writer)
                finding = decided(look, disk.keep(), evidence.broken_by, control)
                trace = writer.trace()
                aim = moment.aim or trace.aim_at(cut.cut_ns)
                evidence.note_without_disk(aim, trace.durable_after(cut.cut_end_ns))
                evidence.add(aim, finding, lambda _: "")
                done += 1
                report(done, spec.states)
    rest = {"barriers_per_write": None}
    return {**head_of(described), **evidence.document(), **rest}


def _write_and_cut(
    writer: Writer, disk: TrialDisk, moment: Moment, rng: random.Random
) -> Cut:
    more = [f"--crash_after={moment.after}"] if moment.after else []
    with disk.empty(), writer.running(*more):
        writer.wait_until(moment.holds)
        time.sleep(rng.random() * moment.delay_s)
        cut_ns = time.monotonic_ns()
        shut_down(disk.mount_point)
        end_ns = time.monotonic_ns()
        time.sleep(_AFTERLIFE_S)
    return Cut(writer.trace_path, cut_ns, end_ns)


def _audited(
    spec: TrialSpec, disk: TrialDisk, cut: Cut, audits_s: list[float]
) -> AuditFinding:
    """Mount a disk and audit its database; append how long the audit took."""
    with disk.mounted():
        begun_s = time.monotonic()
        finding = audit(spec, disk.database, cut)
        audits_s.append(time.monotonic() - begun_s)
    return finding


def _cut_recovery(spec: TrialSpec, disk: TrialDisk, cut: Cut, delay_s: float) -> None:
    """Open the database, and cut again while it recovers."""
    with disk.mounted():
        opener = subprocess.Popen(
            audit_command(spec, disk.database, cut),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            time.sleep(delay_s)
            shut_down(disk.mount_point)
        finally:
            opener.kill()
            opener.wait(spec.timeout_s)
