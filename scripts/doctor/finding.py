"""What the doctor says of one thing: how bad it is, what was found, what to do."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum

from report.terms import numbers

UNKNOWN = "unknown"


class Severity(StrEnum):
    """How bad it is."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at; what is not ok has a remedy."""

    level: Severity
    name: str
    found: str
    remedy: str = ""

    def document(self) -> dict[str, str]:
        """As it is recorded."""
        return {key: str(value) for key, value in asdict(self).items()}

    @classmethod
    def of(cls, document: Mapping[str, str]) -> "Finding":
        """Reads what was recorded."""
        told = {key: document[key] for key in ("name", "found", "remedy")}
        return cls(Severity(document["level"]), **told)


def ok(name: str, found: str) -> Finding:
    """Nothing to do."""
    return Finding(Severity.OK, name, found)


def warn(name: str, found: str, remedy: str) -> Finding:
    """Numbers are worth less."""
    return Finding(Severity.WARN, name, found, remedy)


def fail(name: str, found: str, remedy: str) -> Finding:
    """Numbers are not worth keeping."""
    return Finding(Severity.FAIL, name, found, remedy)


def unknown(name: str, why: str, remedy: str) -> Finding:
    """It could not be found out: never ok."""
    return warn(name, f"{UNKNOWN}: {why}", remedy)


def count(findings: Sequence[Finding], level: Severity) -> int:
    """How many are of a level."""
    return sum(finding.level is level for finding in findings)


def verdict(findings: Sequence[Finding]) -> str:
    """All of them in a few words: "1 failed, 2 warnings"."""
    failed, warned = count(findings, Severity.FAIL), count(findings, Severity.WARN)
    parts = [f"{failed} failed"] if failed else []
    parts += [numbers.count(warned, "warning")] if warned else []
    return ", ".join(parts) or "all ok"
