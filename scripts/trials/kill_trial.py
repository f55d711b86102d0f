"""kill -9: what survives the process, with the machine running on."""

import random
import time
from functools import partial
from itertools import pairwise
from typing import Any

from scripts.trials.crash_process import Cut, Writer, audit, has_started, is_ready
from scripts.trials.crash_trace import CrashTrace, TraceKind
from scripts.trials.evidence import Evidence
from scripts.trials.intact import check_again, decided, rehearsed_in
from scripts.trials.progress import Report
from scripts.trials.trial_disk import TrialFolder
from scripts.trials.trial_spec import TrialSpec

_SILENT, _ANYWHERE, _IN_BATCH = "silent", "anywhere", "in a batch"
_MOST_SILENT_COMMITS = 60  # of a kill right after an acknowledgement


def kill_trial(spec: TrialSpec, report: Report) -> dict[str, Any]:
    """Kill a writer again and again: in silence after a commit, anywhere, in a batch.

    In a batch it ends itself, as only it knows when one begins.
    """
    rng = random.Random(spec.seed)
    place = TrialFolder(spec.folder_path / "database")
    writer = Writer(spec, place.database, spec.folder_path / "trace")
    rehearsal = rehearsed_in(place, spec, writer)
    described = writer.describe()
    evidence = Evidence(str(described["promise"]), spec.seed)
    batches = _batches(rehearsal)
    ways = (_SILENT, _ANYWHERE, _IN_BATCH) if batches else (_SILENT, _ANYWHERE)
    for number in range(spec.states):
        way, more = ways[number % len(ways)], []
        if way == _SILENT:
            more = [f"--crash_after={rng.randint(1, _MOST_SILENT_COMMITS)}"]
        elif way == _IN_BATCH:
            more = [f"--crash_within={rng.choice(batches)}"]
        with place.empty(), writer.running(*more):
            if way == _IN_BATCH:
                writer.wait()
            else:
                writer.wait_until(is_ready if way == _SILENT else has_started)
            if way == _ANYWHERE:
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


def _batches(rehearsal: CrashTrace) -> list[int]:
    """Return the numbers of batches that follow another one, which says how long."""
    begun = [r for r in rehearsal.records if r.kind == TraceKind.COMMIT_BEGINS]
    return [
        later.commit
        for earlier, later in pairwise(begun)
        if earlier.updates > 1 and later.updates > 1
    ]


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
