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
    """Return a finding that needs no action."""
    return Finding(Severity.OK, name, found)


def warn(name: str, found: str, remedy: str) -> Finding:
    """Return a warning: results are less reliable."""
    return Finding(Severity.WARN, name, found, remedy)


def fail(name: str, found: str, remedy: str) -> Finding:
    """Return a failure: results are not worth keeping."""
    return Finding(Severity.FAIL, name, found, remedy)


def unknown(name: str, why: str, remedy: str) -> Finding:
    """Return a warning: the check could not be made."""
    return warn(name, f"{UNKNOWN}: {why}", remedy)


def count(findings: Sequence[Finding], level: Severity) -> int:
    """Return the number of findings with this severity."""
    return sum(finding.level is level for finding in findings)


def verdict(findings: Sequence[Finding], *, names_failed: bool = False) -> str:
    """Summarize the findings: "1 check failed (engines), 2 warnings"."""
    failed = [finding.name for finding in findings if finding.level is Severity.FAIL]
    warned = count(findings, Severity.WARN)
    names = f" ({', '.join(failed)})" if names_failed else ""
    parts = [f"{numbers.count(len(failed), 'check')} failed{names}"] if failed else []
    parts += [numbers.count(warned, "warning")] if warned else []
    return ", ".join(parts) or "all ok"
