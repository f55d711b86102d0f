"""Every check matters: without it a lie goes through, or a test fails.

Each mutation removes one check from the source.  The lies or the tests that depend on
the check run against the changed source; if none goes wrong, the mutation's test fails.
"""

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.faults.harness import (
    EXECUTABLES,
    Verdicts,
    obstacle,
    problem_of,
    run_family,
)
from tests.faults.mutations import Mutation, load_mutations
from tests.faults.patched import exit_code_of
from tests.faults.table import FAMILIES, Case, Family, load_family
from tests.faults.toolchain import Change, Toolchain
from tests.faults.watched import watched_files
from tests.places import BUILD, ROOT

MUTATIONS = load_mutations()
DRAWN = 10  # mutations that the gate tries in addition to those the change touches
FAMILIES_BY_NAME = {name: load_family(name) for name in FAMILIES}
CASES = {c.cell: c for family in FAMILIES_BY_NAME.values() for c in family.cases}
TOOLCHAIN = Toolchain(ROOT, BUILD)
SOME_RED = 1  # the exit code of pytest


@pytest.mark.parametrize(
    "mutation",
    [
        pytest.param(
            mutation,
            id=mutation.name,
            marks=pytest.mark.night(*watched_files(mutation), drawn=DRAWN),
        )
        for mutation in MUTATIONS
    ],
)
def test_without_it_something_turns_red(
    mutation: Mutation, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    change = Change(mutation.file, mutation.apply())
    if mutation.test:
        expect_red = expect_red_pytest if mutation.of_python else expect_red_gtest
        expect_red(mutation, change, tmp_path)
        return
    for family in families_of(mutation):
        if reason := obstacle(family, tmp_path):
            pytest.skip(reason)
    executables = EXECUTABLES
    if not mutation.of_python:
        executables = mutated_executables(mutation, change, tmp_path)
    for family in families_of(mutation):
        folder = tmp_path / family.name
        folder.mkdir()
        verdicts = verdicts_with(change, family, folder, executables)
        for case in family.cases:
            expect_let_through(mutation, case, verdicts)


def families_of(mutation: Mutation) -> list[Family]:
    """Return the families with only the cases that the mutation lets through."""
    some = (family.only(set(mutation.lets)) for family in FAMILIES_BY_NAME.values())
    return [family for family in some if family.cases]


def verdicts_with(
    change: Change, family: Family, folder: Path, executables: Path
) -> Verdicts:
    """Return the verdicts on a family, with the change if it is of Python."""
    answer = folder / "verdicts.json"

    def work() -> int:
        from tests.faults.harness import run_family

        verdicts = run_family(family, folder, executables)
        answer.write_text(json.dumps(verdicts))
        return 0

    if not change.file.endswith(".py"):
        return run_family(family, folder, executables)
    assert exit_code_of(change, work) == 0
    verdicts: Verdicts = json.loads(answer.read_text())
    return verdicts


def expect_let_through(mutation: Mutation, case: Case, verdicts: Verdicts) -> None:
    """Check that a lie goes through: it is ok, or only a second check sees it."""
    message = f"{mutation.name} changes nothing for {case.cell}: {verdicts[case.cell]}"
    assert problem_of(case, verdicts), message
    verdict = verdicts[case.cell]
    if mutation.backed_by:
        assert mutation.backed_by in verdict["reason"], message
    else:
        assert (verdict["written"], verdict["shown"]) == ("ok", "ok"), message


def mutated_executables(mutation: Mutation, change: Change, folder: Path) -> Path:
    """Return a folder with the lying executables for the mutation's lies."""
    target = folder / "mutated"
    for engine in {s.engine for f in families_of(mutation) for s in f.scenarios}:
        path = TOOLCHAIN.link(
            f"tests/db_bench_{engine}", change, folder / engine, mutation.units
        )
        target.mkdir(exist_ok=True)
        path.rename(target / path.name)
    return target


def expect_red_gtest(mutation: Mutation, change: Change, folder: Path) -> None:
    (source,), tests = mutation.test_sources, mutation.test.partition(":")[2]
    path = TOOLCHAIN.link_test(source, change, folder, mutation.units)
    command = [str(path), f"--gtest_filter={tests}"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert "[ RUN      ]" in done.stdout, f"there is no {mutation.test}"
    assert done.returncode != 0, f"{mutation.test} is not red without {mutation.name}"


def expect_red_pytest(mutation: Mutation, change: Change, folder: Path) -> None:
    code = run_tests(change, mutation.test.split(), folder)
    assert code == SOME_RED, f"{mutation.test} is not red without {mutation.name}"


def run_tests(change: Change | None, words: Sequence[str], folder: Path) -> int:
    """Return the exit code of pytest with the change, up to the first failed test."""
    quiet = ("-qx", "-p", "no:cacheprovider", "-p", "no:xdist", "--tb=short")
    places = (f"--rootdir={ROOT}", f"--basetemp={folder / 'inner'}")
    return exit_code_of(
        change, lambda: pytest.main([*quiet, *places, *(str(ROOT / w) for w in words)])
    )


@pytest.mark.night("tests/faults")
def test_all_is_green_where_nothing_is_changed(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    named = {word for m in MUTATIONS if m.of_python for word in m.test.split()}
    assert run_tests(None, sorted(named), tmp_path) == 0


def test_every_lie_is_guarded() -> None:
    guarded = {cell.split("/")[0] for m in MUTATIONS for cell in m.lets}
    scenarios = {case.scenario for case in CASES.values()}
    assert scenarios - guarded == set()


def test_every_case_that_a_mutation_lets_through_exists() -> None:
    assert {cell for m in MUTATIONS for cell in m.lets} <= CASES.keys()


def test_a_mutation_is_tried_again_if_a_file_that_it_depends_on_differs() -> None:
    (of_lies,) = (m for m in MUTATIONS if m.name == "gets-are-not-checked")
    expected = {
        *("common/loops/read_loop.cc", "common/loops/read_loop.h", "common/driver.h"),
        *("tests/faults/gets.toml", "tests/faults/drivers"),
        "tests/faults/mutations/loops.toml",
    }
    assert expected <= set(watched_files(of_lies))
    for mutation in MUTATIONS:
        files = set(watched_files(mutation))
        assert {mutation.file, mutation.table, *mutation.test_sources} <= files
        if (
            mutation.of_python
            and "from report.model.run import" in (ROOT / mutation.file).read_text()
        ):
            assert "report/model/run.py" in files, mutation.name


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda m: m.name)
def test_the_text_that_it_changes_is_there_once(mutation: Mutation) -> None:
    assert mutation.apply() != (ROOT / mutation.file).read_text()
