"""kill -9: what survives the process, with the machine running on."""

import random
import time
from functools import partial
from typing import Any

from scripts.trials.crash_process import Cut, Writer, audit, has_started, is_ready
from scripts.trials.evidence import Evidence
from scripts.trials.intact import check_again, decided, rehearsed_in
from scripts.trials.progress import Report
from scripts.trials.trial_disk import TrialFolder
from scripts.trials.trial_spec import TrialSpec

_MOST_SILENT_COMMITS = 60  # of a kill right after an acknowledgement


def kill_trial(spec: TrialSpec, report: Report) -> dict[str, Any]:
    """Kill a writer again and again; half of the times in silence after a commit."""
    rng = random.Random(spec.seed)
    place = TrialFolder(spec.folder_path / "database")
    writer = Writer(spec, place.database, spec.folder_path / "trace")
    rehearsal = rehearsed_in(place, spec, writer)
    described = writer.describe()
    evidence = Evidence(str(described["promise"]), spec.seed)
    for number in range(spec.states):
        silent = number % 2 == 0
        after = f"--crash_after={rng.randint(1, _MOST_SILENT_COMMITS)}"
        with place.empty(), writer.running(*([after] if silent else [])):
            writer.wait_until(is_ready if silent else has_started)
            if not silent:
                time.sleep(rng.random() * rehearsal.span_s)
            cut_ns = time.monotonic_ns()
        end_ns = time.monotonic_ns()
        trace = writer.trace()
        cut = Cut(writer.trace_path, cut_ns, end_ns)
        look = partial(audit, spec, place.database, cut)
        control = partial(check_again, spec, place, writer)
        finding = decided(look, place.keep(), evidence.broken_by, control)
        evidence.add(trace.aim_at(cut_ns), finding, lambda _: "")
        report(number + 1, spec.states)
    return {**head_of(described), **evidence.document(), "barriers_per_write": None}


def head_of(described: dict[str, Any]) -> dict[str, Any]:
    """Return what a writer said of itself, as fields of a record."""
    return {
        "documented": {
            "promise": described["promise"],
            "source": described.get("source", ""),
        },
        "version": described.get("version", ""),
        "mixes_durability": bool(described.get("mixes_durability")),
    }
