"""What became of tests, from the JUnit files that test programs write."""

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
    """Return the numbers of tests by their result, in the form of pytest."""
    results = [case.result for case in cases]
    skipped = results.count("skipped")
    end = f", {skipped} skipped" if skipped else ""
    return f"{results.count('passed')} passed, {results.count('failed')} failed{end}"


def slowest(cases: Iterable[Case], number: int) -> list[Case]:
    """Return so many cases, the slowest first."""
    return sorted(cases, key=lambda case: -case.seconds)[:number]


def read_junit(path: Path) -> list[Case]:
    """Return the cases of a JUnit file of pytest, GoogleTest or CTest; [] without one.

    Raises ValueError if the file is not one.
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
    bad = any(element.find(tag) is not None for tag in ("failure", "error"))
    unrun = element.find("skipped") is not None or (
        element.get("result") == "suppressed"  # GoogleTest's disabled tests
    )
    result = "failed" if bad else "skipped" if unrun else "passed"
    if group in ("", name):
        shown = name
    elif "." in group:  # a module: pytest's way to name one of its tests
        shown = f"{group.replace('.', '/')}.py::{name}"
    else:
        shown = f"{group}.{name}"
    return Case(shown, result, float(element.get("time") or 0))


def read_ctest(path: Path, folder: Path) -> list[Case]:
    """Return the cases of the executables that CTest ran.

    `path` is what CTest wrote of executables.  `folder` has what GoogleTest wrote of
    the tests in each of them; one that crashed has written nothing.
    """
    found: list[Case] = []
    for executable in read_junit(path):
        tests = read_junit(folder / f"{executable.name}.xml")
        known = any(test.result == "failed" for test in tests)
        if not tests or (executable.result == "failed" and not known):
            found.append(executable)
        found += [
            Case(f"{executable.name} {test.name}", test.result, test.seconds)
            for test in tests
        ]
    return found
