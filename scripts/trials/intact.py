"""The control: a driver that fails on a database that nothing has cut is broken itself.

Its answers after a cut say nothing of the cut, so its trial is an error.  So is that of
a driver that answers differently when it opens the same bytes again.
"""

import time
from collections.abc import Callable, Collection
from dataclasses import replace
from pathlib import Path

from report.terms import numbers
from scripts.trials.crash_process import (
    AuditFinding,
    Cut,
    TrialError,
    Writer,
    audit,
)
from scripts.trials.crash_trace import CrashTrace
from scripts.trials.evidence import COMPLETE, outcome_of, sentence_of
from scripts.trials.trial_disk import TrialPlace
from scripts.trials.trial_spec import TrialSpec

_LOOKS = 3  # at a state that breaks a promise
_FEW = "first:5"
# What commits nothing at a level: see common/crash/phases.h.
_NOTHING = {True: "cover:1", False: "read:1"}  # by whether each commit is durable


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
            f" (after {numbers.count(written, 'commit')}: the driver fails without a"
            " cut, so nothing was tried: mend it first)"
        )


def check_small(spec: TrialSpec, place: TrialPlace, writer: Writer) -> None:
    """Check databases without an entry and with a few, as a cut may leave them.

    `writer` has written at the same level.  Raises TrialError if the driver fails.
    """
    written = writer.trace().acknowledgements
    is_durable = all(record.durable for record in written[:1])
    for phases in (_NOTHING[is_durable], _FEW):
        mine = replace(spec, phases=phases)
        trace = writer.trace_path.with_name("small")
        rehearsed_once(place, mine, Writer(mine, place.database, trace))


def rehearsed_in(place: TrialPlace, spec: TrialSpec, writer: Writer) -> CrashTrace:
    """Run a writer, uncut, in a new place, and check what is there, also of small ones.

    Raises TrialError if the driver fails.
    """
    trace = rehearsed_once(place, spec, writer)
    check_small(spec, place, writer)
    return trace


def rehearsed_once(place: TrialPlace, spec: TrialSpec, writer: Writer) -> CrashTrace:
    """Run a writer, uncut, in a new place, and check what is there.

    Raises TrialError if the driver fails.
    """
    with place.empty():
        trace = writer.rehearse()
    with place.mounted():  # again
        check_intact(spec, place.database, writer)
    return trace


def confirmed(
    look: Callable[[], AuditFinding],
    restore: Callable[[], None],
    faults: Callable[[AuditFinding], Collection[str]],
) -> AuditFinding:
    """Return what an audit finds; one that finds a fault is repeated.

    `restore` puts back the bytes that the first audit has opened, as each audit changes
    them.  Raises TrialError unless the faults are the same each time.
    """
    finding = look()
    for _ in range(_LOOKS - 1 if faults(finding) else 0):
        restore()
        again = look()
        if faults(again) != faults(finding):
            raise TrialError(
                f"the driver answers differently from the same bytes:"
                f" {sentence_of(finding)}; and then: {sentence_of(again)}"
                " (that is no evidence of what a cut does: mend it first)"
            )
    return finding
