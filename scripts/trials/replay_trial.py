"""Opening the database of a reproducer again."""

import json
from typing import Any

from scripts.trials.crash_process import Cut, audit
from scripts.trials.evidence import outcome_of, sentence_of
from scripts.trials.log_trial import logged
from scripts.trials.progress import Report
from scripts.trials.reproducer import read_members
from scripts.trials.trial_disk import TrialDisk, workspace
from scripts.trials.trial_spec import TrialSpec


def replay_trial(spec: TrialSpec, report: Report) -> dict[str, Any]:
    """Rebuild the disk of the file `spec.reproducers`, and audit the database on it."""
    members = read_members(spec.reproducers_path)
    description = json.loads(members["cut.json"])
    with workspace(spec) as space:
        (space / "disk.log").write_bytes(members["disk.log"])
        trace = space / "trace"
        trace.write_bytes(members["trace"])
        cut = Cut(trace, int(description["cut_ns"]), int(description["cut_end_ns"]))
        disk = TrialDisk(space, spec.fs)
        disk.write(e.patch for e in logged(space / "disk.log") if e.patch is not None)
        with disk.mounted():
            finding = audit(spec, disk.database, cut)
        report(1, 1)
    return {"outcome": outcome_of(finding), "found": sentence_of(finding)}
