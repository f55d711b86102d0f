"""Record a writer, take each flush away in turn, and print what the audit reports.

    python -m tests.durability.flush_removal PROGRAM BLOCK_LOG FOLDER [FLAG ...]

Runs as root in namespaces of its own.
"""

import json
import sys
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from pathlib import Path

from scripts.trials.block_log import LoggedWrite
from scripts.trials.crash_process import Cut, audit
from scripts.trials.crash_trace import CrashTrace, TraceKind
from scripts.trials.disk_image import DiskImage
from scripts.trials.evidence import COMPLETE, outcome_of
from scripts.trials.log_trial import recorded
from scripts.trials.trial_disk import TrialDisk, workspace
from scripts.trials.trial_spec import LOG, TrialSpec

_PHASES = "first:5,single:40,batch:4,growth:10,close:10"


def uncovering(log: Sequence[LoggedWrite], trace: CrashTrace) -> Iterator[int]:
    """Yield each flush without which a durable commit would not have been safe.

    It is the last flush before an acknowledgement, it is within the commit, and the
    disk was written between it and the flush before.
    """
    times = [entry.at_ns for entry in log]
    begun = {
        r.commit: r.at_ns for r in trace.records if r.kind == TraceKind.COMMIT_BEGINS
    }
    for record in trace.acknowledgements:
        flush = bisect_right(times, record.at_ns) - 1
        while flush >= 0 and log[flush].patch is not None:
            flush -= 1
        is_of_commit = flush > 0 and times[flush] > begun[record.commit]
        if is_of_commit and record.durable and log[flush - 1].patch is not None:
            yield flush


def main(program: str, block_log: str, folder: str, *flags: str) -> None:
    """Try each flush, with it and without it."""
    spec = TrialSpec(
        *("test/durable", "test", LOG, "ext4", 0, 0, 1, program, block_log),
        *(("--durability=durable", *flags), 60.0, "", folder, _PHASES),
    )
    answer: dict[str, dict[str, object]] = {}
    with workspace(spec) as space:
        writer, log = recorded(spec, space)
        flushes = sorted(set(uncovering(log, writer.trace())))
        for name, is_removed in (("untouched", False), ("removed", True)):
            missed = []
            for flush in flushes:
                cut = _cut_after(log, flush, writer.trace_path)
                kept = _flushed(log, flush, is_removed)
                if _outcome(spec, space, log[:kept], cut) == COMPLETE:
                    missed.append(flush)
            tried = len(flushes)
            reported = tried - len(missed)
            answer[name] = {"tried": tried, "reported": reported, "missed": missed}
    print(json.dumps(answer))


def _cut_after(log: Sequence[LoggedWrite], flush: int, trace: Path) -> Cut:
    """Return a cut before the disk did anything after a flush."""
    is_last = flush + 1 == len(log)
    end_ns = log[flush].at_ns + 1 if is_last else log[flush + 1].at_ns
    return Cut(trace, end_ns - 1, end_ns)


def _flushed(log: Sequence[LoggedWrite], flush: int, is_removed: bool) -> int:
    """Return how many entries the last flush that was performed covers."""
    if not is_removed:
        return flush
    return max(n for n in range(flush) if log[n].patch is None)


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
