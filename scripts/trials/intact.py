"""The control: a driver that fails on a database that nothing has cut is broken itself.

Its answers after a cut say nothing of the cut, so its trial is an error.  A state after
a cut that breaks a promise is audited again, as a driver may fail now and then.
"""

import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from pathlib import Path

from report.terms import numbers
from scripts.trials.crash_process import (
    AuditFinding,
    Cut,
    DriverFails,
    Writer,
    audit,
)
from scripts.trials.crash_trace import CrashTrace
from scripts.trials.evidence import COMPLETE, outcome_of, sentence_of
from scripts.trials.trial_disk import TrialPlace
from scripts.trials.trial_spec import TrialSpec

_LOOKS = 3  # at a state that breaks a promise
_CONTROLS = 10  # audits of an intact database, if those of a state differ
_FEW = "first:5"
# What commits nothing at a level: see common/crash/phases.h.
_NOTHING = {True: "cover:1", False: "read:1"}  # by whether each commit is durable


def check_intact(spec: TrialSpec, database: Path, writer: Writer) -> None:
    """Audit what a writer has closed.  Raises DriverFails unless all of it is there."""
    now_ns = time.monotonic_ns()
    finding = audit(spec, database, Cut(writer.trace_path, now_ns, now_ns))
    outcome, problem = outcome_of(finding), sentence_of(finding)
    written = len(writer.trace().acknowledgements)
    if outcome == COMPLETE and finding.answer["acknowledged"] != written:
        outcome, problem = "another trace", f"{problem}; the writer had {written}"
    if outcome != COMPLETE:
        raise DriverFails(
            f"the audit of the intact database: {outcome.replace('_', ' ')}: {problem}"
            f" (after {numbers.count(written, 'commit')}: the driver fails without a"
            " cut, so nothing was tried: mend it first)"
        )


def check_small(spec: TrialSpec, place: TrialPlace, writer: Writer) -> None:
    """Check databases without an entry and with a few, as a cut may leave them.

    `writer` has written at the same level.  Raises DriverFails if the driver fails.
    """
    written = writer.trace().acknowledgements
    is_durable = all(record.durable for record in written[:1])
    for phases in (_NOTHING[is_durable], _FEW):
        mine = replace(spec, phases=phases)
        trace = writer.trace_path.with_name("small")
        rehearsed_once(place, mine, Writer(mine, place.database, trace))


def rehearsed_in(place: TrialPlace, spec: TrialSpec, writer: Writer) -> CrashTrace:
    """Run a writer, uncut, in a new place, and check what is there, also of small ones.

    Raises DriverFails if the driver fails.
    """
    trace = rehearsed_once(place, spec, writer)
    check_small(spec, place, writer)
    return trace


def rehearsed_once(place: TrialPlace, spec: TrialSpec, writer: Writer) -> CrashTrace:
    """Run a writer, uncut, in a new place, and check what is there.

    Raises DriverFails if the driver fails.
    """
    with place.empty():
        trace = writer.rehearse()
    with place.mounted():  # again
        check_intact(spec, place.database, writer)
    return trace


def check_again(spec: TrialSpec, place: TrialPlace, writer: Writer) -> None:
    """Audit an intact database many times.  Raises DriverFails unless all is well.

    For a driver that fails now and then; `writer` keeps its trace.
    """
    own = Writer(spec, place.database, writer.trace_path.with_name("again"))
    with place.empty():
        own.rehearse()
    restore = place.keep()
    for _ in range(_CONTROLS):
        restore()
        with place.mounted():
            check_intact(spec, place.database, own)


Look = Callable[[], AuditFinding]
Faults = Callable[[AuditFinding], Collection[str]]


def findings_of(
    look: Look, restore: Callable[[], None], faults: Faults
) -> list[AuditFinding]:
    """Return what an audit finds, and if that is a fault, what two more find.

    `restore` puts back the bytes that the first audit has opened, as each audit changes
    them.
    """
    findings = [look()]
    while faults(findings[0]) and len(findings) < _LOOKS:
        restore()
        findings.append(look())
    return findings


def differ(findings: Sequence[AuditFinding], faults: Faults) -> bool:
    """Return whether audits of the same bytes have found different faults."""
    return any(faults(other) != faults(findings[0]) for other in findings)


def decided(
    look: Look, restore: Callable[[], None], faults: Faults, control: Callable[[], None]
) -> AuditFinding | None:
    """Return what audits of a state find; None if they differ.

    Then `control` decides whether the driver is to blame: engines have races, too.
    """
    findings = findings_of(look, restore, faults)
    if not differ(findings, faults):
        return findings[0]
    control()
    return None
