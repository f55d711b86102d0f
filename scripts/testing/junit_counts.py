"""Test results, read from the JUnit files that test programs write."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree


@dataclass(frozen=True)
class Case:
    """One test."""

    name: str
    result: str  # passed, failed or skipped
    seconds: float


def counts(cases: Iterable[Case]) -> str:
    """Return the number of tests by result: "3 passed, 0 failed, 1 skipped"."""
    results = [case.result for case in cases]
    skipped = results.count("skipped")
    tail = f", {skipped} skipped" if skipped else ""
    return f"{results.count('passed')} passed, {results.count('failed')} failed{tail}"


def slowest(cases: Iterable[Case], number: int) -> list[Case]:
    """Return the `number` slowest cases, the slowest first."""
    return sorted(cases, key=lambda case: -case.seconds)[:number]


def read_junit(path: Path) -> list[Case]:
    """Return the cases in a JUnit file of pytest, GoogleTest or CTest; [] without it.

    Raises ValueError if the file is not XML.
    """
    if not path.is_file():
        return []
    try:
        root = ElementTree.parse(path).getroot()
        return [_case(element) for element in root.iter("testcase")]
    except ElementTree.ParseError as error:
        raise ValueError(f"{path}: {error}") from None


def _case(element: ElementTree.Element) -> Case:
    group, name = element.get("classname", ""), element.get("name", "")
    failed = any(element.find(tag) is not None for tag in ("failure", "error"))
    skipped = element.find("skipped") is not None or (
        element.get("result") == "suppressed"  # GoogleTest's disabled tests
    )
    result = "failed" if failed else "skipped" if skipped else "passed"
    if group in ("", name):
        title = name
    elif "." in group:  # a module of pytest; make it what pytest accepts as argument
        title = f"{group.replace('.', '/')}.py::{name}"
    else:
        title = f"{group}.{name}"
    return Case(title, result, float(element.get("time") or 0))


def read_ctest(path: Path, folder: Path) -> list[Case]:
    """Return the cases of the executables that CTest ran.

    `path` is CTest's JUnit file, with one case for each executable.  `folder` has
    GoogleTest's, one for each executable; an executable that crashed has none.  An
    executable is a case itself if it has no tests, or if it failed and none of its
    tests did (a leak that a sanitizer reports at exit).
    """
    cases: list[Case] = []
    for executable in read_junit(path):
        tests = read_junit(folder / f"{executable.name}.xml")
        explained = any(test.result == "failed" for test in tests)
        if not tests or (executable.result == "failed" and not explained):
            cases.append(executable)
        cases += [
            Case(f"{executable.name} {test.name}", test.result, test.seconds)
            for test in tests
        ]
    return cases
