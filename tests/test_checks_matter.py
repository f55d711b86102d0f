"""Every check matters: without it a lie goes through, or a test turns red.

Each mutation takes one check out of the source.  What must then go wrong is run
against the changed source; if nothing goes wrong, the mutation's test fails.
"""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.lab import ROOT
from tests.lies.harness import BUILD, EXECUTABLES, Verdicts, problem_of, run_family
from tests.lies.mutations import Mutation, load_mutations
from tests.lies.table import FAMILIES, Case, Family, load_family
from tests.lies.toolchain import Change, Toolchain

MUTATIONS = load_mutations()
FAMILIES_BY_NAME = {name: load_family(name) for name in FAMILIES}
CASES = {c.cell: c for family in FAMILIES_BY_NAME.values() for c in family.cases}
COPIED = ("scripts", "report", "tests")
TOOLCHAIN = Toolchain(ROOT, BUILD)


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda m: m.name)
def test_without_it_something_turns_red(mutation: Mutation, tmp_path: Path) -> None:
    tree, executables = ROOT, EXECUTABLES
    if mutation.of_python:
        tree = patched_tree(mutation, tmp_path)
        if mutation.test:
            return expect_red_pytest(mutation, tree)
    elif mutation.test:
        return expect_red_gtest(mutation, tmp_path)
    else:
        executables = mutated_executables(mutation, tmp_path)
    for family in families_of(mutation):
        folder = tmp_path / family.name
        folder.mkdir()
        found = run_family(family, folder, tree=tree, executables=executables)
        for case in family.cases:
            expect_let_through(mutation, case, found)


def families_of(mutation: Mutation) -> list[Family]:
    """What must be run, and no more."""
    some = (family.only(set(mutation.lets)) for family in FAMILIES_BY_NAME.values())
    return [family for family in some if family.cases]


def expect_let_through(mutation: Mutation, case: Case, found: Verdicts) -> None:
    """The test of the lie would be red: it is ok, or only a second check sees it."""
    told = f"{mutation.name} changes nothing for {case.cell}: {found[case.cell]}"
    assert problem_of(case, found), told
    verdict = found[case.cell]
    if mutation.backed_by:
        assert mutation.backed_by in verdict["reason"], told
    else:
        assert (verdict["written"], verdict["shown"]) == ("ok", "ok"), told


def mutated_executables(mutation: Mutation, folder: Path) -> Path:
    """A folder with the lying executables that the mutation's lies need."""
    change = Change(mutation.file, mutation.apply())
    target = folder / "mutated"
    for engine in {s.engine for f in families_of(mutation) for s in f.scenarios}:
        path = TOOLCHAIN.link(
            f"tests/db_bench_{engine}", change, folder / engine, mutation.units
        )
        target.mkdir(exist_ok=True)
        path.rename(target / path.name)
    return target


def patched_tree(mutation: Mutation, folder: Path) -> Path:
    """A copy of the Python packages and their tests, with the mutation."""
    tree = copied_tree(folder)
    (tree / mutation.file).write_text(mutation.apply())
    return tree


def copied_tree(folder: Path) -> Path:
    """A copy of the packages and of the tests; all else is where it was."""
    tree = folder / "tree"
    for name in COPIED:
        shutil.copytree(ROOT / name, tree / name)
    for path in ROOT.iterdir():
        if path.name not in COPIED:
            (tree / path.name).symlink_to(path)
    return tree


def expect_red_gtest(mutation: Mutation, folder: Path) -> None:
    binary, _, tests = mutation.test.partition(":")
    change = Change(mutation.file, mutation.apply())
    path = TOOLCHAIN.link(f"tests/{binary}", change, folder, mutation.units)
    command = [str(path), f"--gtest_filter={tests}"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert "[ RUN      ]" in done.stdout, f"there is no {mutation.test}"
    assert done.returncode != 0, f"{mutation.test} is not red without {mutation.name}"


def expect_red_pytest(mutation: Mutation, tree: Path) -> None:
    done = pytest_in(tree, *mutation.test.split())
    told = f"{mutation.test} is not red without {mutation.name}: {done.stdout[-2000:]}"
    assert done.returncode == 1, told


def pytest_in(tree: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """The tests of `words`, up to the first that fails; 1: one has failed."""
    command = [sys.executable, "-m", "pytest", "-qx", "-p", "no:cacheprovider", *words]
    return subprocess.run(command, cwd=tree, capture_output=True, text=True)


def test_all_is_green_where_nothing_is_changed(tmp_path: Path) -> None:
    named = {word for m in MUTATIONS if m.of_python for word in m.test.split()}
    done = pytest_in(copied_tree(tmp_path), *sorted(named))
    assert done.returncode == 0, done.stdout


def test_every_lie_is_guarded() -> None:
    guarded = {cell.split("/")[0] for m in MUTATIONS for cell in m.lets}
    told = {case.scenario for case in CASES.values()}
    assert told - guarded == set()


def test_every_case_that_a_mutation_lets_through_exists() -> None:
    assert {cell for m in MUTATIONS for cell in m.lets} <= CASES.keys()


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda m: m.name)
def test_the_text_that_it_changes_is_there_once(mutation: Mutation) -> None:
    assert mutation.apply() != (ROOT / mutation.file).read_text()
