"""How many tests passed, from the JUnit files that test programs write."""

from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree


@dataclass(frozen=True)
class Counts:
    """Numbers of tests."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0

    def __add__(self, other: "Counts") -> "Counts":
        return Counts(
            self.passed + other.passed,
            self.failed + other.failed,
            self.skipped + other.skipped,
        )

    def __str__(self) -> str:
        skipped = f", {self.skipped} skipped" if self.skipped else ""
        return f"{self.passed} passed, {self.failed} failed{skipped}"


def _number(suite: ElementTree.Element, *names: str) -> int:
    return sum(int(suite.get(name, "0")) for name in names)


def read_junit(path: Path) -> Counts:
    """Return the sums over the suites of a JUnit file; zeros without one."""
    if not path.is_file():
        return Counts()
    total = Counts()
    for suite in ElementTree.parse(path).getroot().iter("testsuite"):
        failed = _number(suite, "failures", "errors")
        skipped = _number(suite, "skipped", "disabled")
        tests = _number(suite, "tests")
        total += Counts(tests - failed - skipped, failed, skipped)
    return total
