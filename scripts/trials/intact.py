"""The control: a driver that fails on a database that nothing has cut is broken itself.

Its answers after a cut say nothing of the cut, so its trial is an error.
"""

import time
from pathlib import Path

from scripts.trials.crash_process import Cut, TrialError, Writer, audit
from scripts.trials.crash_trace import CrashTrace
from scripts.trials.evidence import COMPLETE, outcome_of, sentence_of
from scripts.trials.trial_disk import TrialDisk
from scripts.trials.trial_spec import TrialSpec


def check_intact(spec: TrialSpec, database: Path, writer: Writer) -> None:
    """Audit what a writer has closed.  Raises TrialError unless all of it is there."""
    now_ns = time.monotonic_ns()
    finding = audit(spec, database, Cut(writer.trace_path, now_ns, now_ns))
    outcome, problem = outcome_of(finding), sentence_of(finding)
    written = len(writer.trace().acknowledgements)
    if outcome == COMPLETE and finding.answer["acknowledged"] != written:
        outcome, problem = "another trace", f"{problem}; the writer had {written}"
    if outcome != COMPLETE:
        raise TrialError(
            f"the audit of the intact database: {outcome.replace('_', ' ')}: {problem}"
            " (the driver fails without a cut, so nothing was tried: mend it first)"
        )


def rehearsed_on(disk: TrialDisk, spec: TrialSpec, writer: Writer) -> CrashTrace:
    """Run a writer, uncut, on a new disk; mount that again, and check what is there."""
    with disk.empty():
        trace = writer.rehearse()
    with disk.mounted():
        check_intact(spec, disk.database, writer)
    return trace
