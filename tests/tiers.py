"""The tests of the gate, and those that it leaves to the night.

`@pytest.mark.night(*paths)` marks a test that the gate runs only if the change touches
one of the paths, which are files or folders relative to the repository, or the test's
own file, or what that file imports of tests/ and not all tests share.  Without paths,
it runs at night alone.  Of the tests with `drawn=N`, for which only the paths count,
the gate runs N more, which the hash of the commit chooses.

Without `--gate` and `--night`, every test that pytest is asked for is run.
"""

import ast
import json
import random
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

import pytest

from scripts.testing.changed_files import (
    LEFT,
    ChangedFiles,
    head,
    read_change,
    seed_of,
)
from tests.places import ROOT

# Rules that are simulated: their error rates change only with these files.
simulation = pytest.mark.night(
    "report/stats", "report/verdict", "report/model/ab_rule.py"
)
_SHARED = ("tests/builders/", "tests/support/", "tests/fake_drivers/")


@cache
def fresh_seed(*words: object) -> int:
    """Return a seed that differs from commit to commit, and for other words."""
    return seed_of(head(ROOT), *words)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options with which scripts/test chooses tests."""
    group = parser.getgroup("tiers")
    group.addoption(
        "--gate",
        type=Path,
        metavar="CHANGE",
        help="run what the gate runs for the change in this file",
    )
    group.addoption(
        "--night",
        type=Path,
        metavar="CHANGE",
        help="run only what the gate leaves out for the change in this file",
    )


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> None:
    """Leave out the tests of the other tier."""
    path = config.getoption("--gate") or config.getoption("--night")
    if not path:
        return
    _check_paths(items, config.rootpath)
    left = set(left_to_the_night(items, read_change(path)))
    if not config.getoption("--gate"):
        left = {item for item in items if item not in left}
    elif _is_first_worker(config):
        _note_left(left, config.rootpath, path.with_name(LEFT))
    config.hook.pytest_deselected(items=[item for item in items if item in left])
    items[:] = [item for item in items if item not in left]


def _is_first_worker(config: pytest.Config) -> bool:
    return getattr(config, "workerinput", {"workerid": "gw0"})["workerid"] == "gw0"


def _check_paths(items: Iterable[pytest.Item], root: Path) -> None:
    """Raise UsageError for a path that does not exist: no change could touch it."""
    named: dict[str, str] = {}
    for item in items:
        for mark in item.iter_markers("night"):
            named |= dict.fromkeys(mark.args, item.nodeid)
    for path, test in named.items():
        if not (root / path).exists():
            raise pytest.UsageError(f"{test}: night: no such file or folder: {path}")


def _note_left(left: Iterable[pytest.Item], root: Path, path: Path) -> None:
    """Add the number of tests of each folder to those that earlier steps have left."""
    folders = Counter(json.loads(path.read_text()) if path.exists() else {})
    folders.update(str(item.path.parent.relative_to(root)) for item in left)
    path.write_text(json.dumps(folders))


def left_to_the_night(
    items: Sequence[pytest.Item], change: ChangedFiles
) -> list[pytest.Item]:
    """Return the tests that the gate does not run for a change."""
    left = [item for item in items if _is_of_the_night(item, change)]
    drawable = sorted(
        (item for item in left if _drawn(item)), key=lambda item: item.nodeid
    )
    if drawable:
        number = min(_drawn(drawable[0]), len(drawable))
        source = random.Random(seed_of(change.commit, "drawn"))
        drawn = set(source.sample(drawable, number))
        left = [item for item in left if item not in drawn]
    return left


def _is_of_the_night(item: pytest.Item, change: ChangedFiles) -> bool:
    marks = list(item.iter_markers("night"))
    return bool(marks) and not any(change.touches(_paths(item, mark)) for mark in marks)


def _paths(item: pytest.Item, mark: pytest.Mark) -> list[str]:
    """Return the paths that a change must touch for the gate to run the test."""
    if not mark.args or "drawn" in mark.kwargs:
        return [*mark.args]
    root = item.config.rootpath
    return [*mark.args, *own_files(root, str(item.path.relative_to(root)))]


@cache
def own_files(root: Path, test_file: str) -> frozenset[str]:
    """Return a test's file and what it imports of tests/, but not what all share."""
    found, ahead = {test_file}, [test_file]
    while ahead:
        for file in imported_by(root, ahead.pop()) - found:
            if file.startswith("tests/") and not file.startswith(_SHARED):
                found.add(file)
                ahead.append(file)
    return frozenset(found)


@cache
def imported_by(root: Path, file: str) -> frozenset[str]:
    """Return the modules of the repository that a Python file imports itself."""
    if not file.endswith(".py"):
        return frozenset()
    found: set[str] = set()
    for node in ast.walk(ast.parse((root / file).read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{a.name}" for a in node.names)}
    files = (f"{module.replace('.', '/')}.py" for module in found)
    return frozenset(file for file in files if (root / file).is_file())


def _drawn(item: pytest.Item) -> int:
    return max(mark.kwargs.get("drawn", 0) for mark in item.iter_markers("night"))
