"""Record a writer, take each flush away in turn, and print what the audit reports.

    python -m tests.durability.flush_removal PROGRAM BLOCK_LOG FOLDER [FLAG ...]

Runs as root in namespaces of its own.
"""

import json
import sys
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from scripts.trials.block_log import LoggedWrite
from scripts.trials.crash_process import Cut, audit
from scripts.trials.crash_trace import CrashTrace, TraceKind, TraceRecord
from scripts.trials.disk_image import DiskImage
from scripts.trials.evidence import COMPLETE, outcome_of
from scripts.trials.log_trial import recorded
from scripts.trials.trial_disk import TrialDisk, workspace
from scripts.trials.trial_spec import LOG, TrialSpec

PHASES = "first:5,single:50,batch:4,growth:10,settle:5,compact:5,close:10"


@dataclass(frozen=True)
class Removal:
    """A flush that is taken away, and the acknowledgement that it covered."""

    flush: int  # its index in the log
    before: int  # the index of the flush before it
    acknowledged: TraceRecord

    def name(self, trace: CrashTrace) -> str:
        """Return a name for people."""
        record = self.acknowledged
        phase = trace.phases[record.phase]
        return f"entry {self.flush} of the log: commit {record.commit}, phase {phase}"


def removals(log: Sequence[LoggedWrite], trace: CrashTrace) -> Iterator[Removal]:
    """Yield each flush whose removal uncovers an acknowledged durable write.

    It is the last flush before the acknowledgement, and it was completed after the
    commit had begun; between it and the flush before, the commit has written.  Other
    flushes cover no acknowledgement: those of making, mounting and unmounting a file
    system, and those that a commit follows by another.
    """
    times = [entry.at_ns for entry in log]
    flushes = [index for index, entry in enumerate(log) if entry.patch is None]
    begun = {
        r.commit: r.at_ns for r in trace.records if r.kind == TraceKind.COMMIT_BEGINS
    }
    for record in trace.acknowledgements:
        ended = bisect_right(times, record.at_ns)
        number = bisect_right(flushes, ended - 1) - 1
        if not record.durable or number < 1:
            continue
        flush, before = flushes[number], flushes[number - 1]
        began = max(before + 1, bisect_right(times, begun[record.commit]))
        if began < flush:
            yield Removal(flush, before, record)


def main(program: str, block_log: str, folder: str, *flags: str) -> None:
    """Try each flush, with it and without it."""
    spec = TrialSpec(
        *("test/durable", "test", LOG, "ext4", 0, 0, 1, (program,), block_log),
        *(("--durability=durable", *flags), 60.0, "", folder, PHASES),
    )
    with workspace(spec) as space:
        writer, log = recorded(spec, space)
        trace = writer.trace()
        answer: dict[str, list[str]] = {"tried": [], "alarms": [], "missed": []}
        for removal in removals(log, trace):
            name, at_ns = removal.name(trace), removal.acknowledged.at_ns
            cut = Cut(writer.trace_path, at_ns, at_ns + 1)
            answer["tried"].append(name)
            if _outcome(spec, space, log[: removal.flush], cut) != COMPLETE:
                answer["alarms"].append(name)
            if _outcome(spec, space, log[: removal.before], cut) == COMPLETE:
                answer["missed"].append(name)
    print(json.dumps(answer))


def _outcome(spec: TrialSpec, space: Path, log: Sequence[LoggedWrite], cut: Cut) -> str:
    image = DiskImage()
    for entry in log:
        if entry.patch is not None:
            image.apply(entry.patch)
    disk = TrialDisk(space, spec.fs)
    disk.write(image.runs())
    with disk.mounted():
        return outcome_of(audit(spec, disk.database, cut))


if __name__ == "__main__":
    main(*sys.argv[1:])
