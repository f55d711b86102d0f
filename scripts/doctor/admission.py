"""The doctor before a run and in its own verb."""

import os
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from report.model.plan import Engine
from scripts.doctor.examine import examine, probe
from scripts.doctor.finding import Finding, Severity
from scripts.doctor.finding_text import EXIT_UNFIT, refusal
from scripts.doctor.probe_limits import ProbeResults
from scripts.doctor.subject import Subject
from scripts.machine.host import Machine
from scripts.machine.probes import Probes, Progress
from scripts.planning.process_limits import LowLimit
from scripts.provision.venv import is_current

_ROOT = Path(__file__).resolve().parents[2]
_COUNTING_TOOLS = ("strace", "valgrind")


class Unfit(Exception):
    """A strict run does not start on this machine; `listed` are the reasons."""

    exit_code = EXIT_UNFIT

    def __init__(self, message: str, *listed: str) -> None:
        super().__init__(message)
        self.listed = listed


def subject_of(
    machine: Machine,
    environment: Mapping[str, Any],
    engines: tuple[Engine, ...],
    needed_bytes: float,
    suite: str,
    too_low: tuple[LowLimit, ...] = (),
    on_request: tuple[str, ...] = (),
) -> Subject:
    """Return all that the checks examine; without an engine the need is unknown."""
    known = any(engine.description for engine in engines)
    return Subject(
        machine=machine,
        environment=environment,
        engines=engines,
        needed_bytes=needed_bytes if known else None,
        variables=dict(os.environ),
        gaps=tuple(_gaps()),
        uncounted=tuple(t for t in _COUNTING_TOOLS if shutil.which(t) is None),
        suite=suite,
        is_root=os.geteuid() == 0,
        too_low=too_low,
        on_request=on_request,
    )


def _gaps() -> list[str]:
    """Return what scripts/setup has not installed, or not completely."""
    gaps = []
    requirements = ("requirements.txt", "requirements-dev.txt")
    prefix = Path(sys.prefix)
    if not any(is_current(prefix, _ROOT / "scripts" / name) for name in requirements):
        gaps.append("the Python packages of scripts/requirements.txt")
    return gaps


def full(
    subject: Subject, probes: Probes, progress: Progress
) -> tuple[list[Finding], ProbeResults]:
    """Run every check and every probe."""
    probed = probe(subject.machine, probes, progress)
    return examine(subject, probed), probed


def admit(subject: Subject, probes: Probes, notify: Progress | None) -> list[Finding]:
    """Return the findings that a run records.

    Strict with `notify`: run the probes, too, and raise Unfit if a check failed.
    """
    if notify is None:
        return examine(subject)
    findings, _ = full(subject, probes, notify)
    if any(finding.level is Severity.FAIL for finding in findings):
        raise Unfit(*refusal(findings))
    return findings
