"""The result of one check: its severity, what was found, and the remedy."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum

from report.terms import numbers

UNKNOWN = "unknown"


class Severity(StrEnum):
    """How severe a finding is."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


@dataclass(frozen=True)
class Finding:
    """The result of one check; one that is not ok has a remedy."""

    level: Severity
    name: str
    found: str
    remedy: str = ""

    def document(self) -> dict[str, str]:
        """Return the finding as it is recorded."""
        return {key: str(value) for key, value in asdict(self).items()}

    @classmethod
    def of(cls, document: Mapping[str, str]) -> "Finding":
        """Read a recorded finding."""
        texts = {key: document[key] for key in ("name", "found", "remedy")}
        return cls(Severity(document["level"]), **texts)


def ok(name: str, found: str) -> Finding:
    """Return a finding without anything to do."""
    return Finding(Severity.OK, name, found)


def warn(name: str, found: str, remedy: str) -> Finding:
    """Return a finding that makes results less reliable."""
    return Finding(Severity.WARN, name, found, remedy)


def fail(name: str, found: str, remedy: str) -> Finding:
    """Return a finding with which results are not worth keeping."""
    return Finding(Severity.FAIL, name, found, remedy)


def unknown(name: str, why: str, remedy: str) -> Finding:
    """Return the finding of a check that could not be made: never ok."""
    return warn(name, f"{UNKNOWN}: {why}", remedy)


def count(findings: Sequence[Finding], level: Severity) -> int:
    """Return how many findings are of a level."""
    return sum(finding.level is level for finding in findings)


def verdict(findings: Sequence[Finding]) -> str:
    """Summarize the findings: "1 failed, 2 warnings"."""
    failed, warned = count(findings, Severity.FAIL), count(findings, Severity.WARN)
    parts = [f"{failed} failed"] if failed else []
    parts += [numbers.count(warned, "warning")] if warned else []
    return ", ".join(parts) or "all ok"
