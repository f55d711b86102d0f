"""Opening the database of a reproducer again."""

import json
from typing import Any

from scripts.trials.block_log import read_log
from scripts.trials.crash_process import Cut, audit
from scripts.trials.evidence import outcome_of, sentence_of
from scripts.trials.progress import Report
from scripts.trials.reproducer import read_members
from scripts.trials.trial_disk import TrialDisk, workspace
from scripts.trials.trial_spec import TrialSpec


def replay_trial(spec: TrialSpec, report: Report) -> dict[str, Any]:
    """Rebuild the disk of the file `spec.reproducers`, and audit the database on it."""
    members = read_members(spec.reproducers_path)
    description = json.loads(members["cut.json"])
    with workspace(spec) as space:
        trace = space / "trace"
        trace.write_bytes(members["trace"])
        cut = Cut(trace, int(description["cut_ns"]), int(description["cut_end_ns"]))
        disk = TrialDisk(space, spec.fs)
        log = read_log(members["disk.log"])
        disk.write(entry.patch for entry in log if entry.patch is not None)
        with disk.mounted():
            finding = audit(spec, disk.database, cut)
        report(1, 1)
    return {"outcome": outcome_of(finding), "found": sentence_of(finding)}
