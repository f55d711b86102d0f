"""Executables and processors in a comparison: which changed, and what that means."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from report.formats import compare_text
from report.model.judgement import Verdict
from report.verdict.run_changes import NotComparable, compare
from report.words.compare_rows import note
from tests.builders.two_runs import (
    ALPHA,
    BASE,
    BETA,
    NEW,
    cell,
    compared,
    run,
    scaled,
    unchanged,
)

Document = dict[str, Any]


def first_build(document: Document) -> None:
    """Give all engines the executables of a first build."""
    for engine in document["engines"]:
        engine["binary_sha256"] = "1" * 64


def rebuilt(document: Document) -> None:
    """Change the executable of the first engine."""
    first_build(document)
    engine = document["engines"][0]
    engine["binary_sha256"] = "2" * 64
    engine["describe"] = {**engine["describe"], "version": "1.1"}


def test_executables_may_differ_and_the_header_says_so(tmp_path: Path) -> None:
    base = run(tmp_path / BASE, first_build)
    new = run(tmp_path / NEW, rebuilt, {ALPHA: scaled(0.9)})
    told = dict(compare_text.header(compared(base, new)))
    assert told["alpha"] == "version 1.0 → 1.1, executable 11111111 → 22222222"
    assert "beta-tree" not in told
    assert told["drift"].startswith(
        "4 cells with identical executables changed by 0.0 %"
    )


def test_a_run_on_other_processors_is_refused_and_an_earlier_one_is_not(
    tmp_path: Path,
) -> None:
    def using(cpus: str) -> Callable[[Document], None]:
        return lambda document: document["machine"].update(allowed_cpus=cpus)

    one, both = run(tmp_path / BASE, using("0")), run(tmp_path / NEW, using("0-1"))
    refusal = compare(one, both)
    assert isinstance(refusal, NotComparable)
    (difference,) = map(str, refusal.differences)
    assert difference == "machine: allowed_cpus: 0 in base, 0-1 in new"
    compared(run(tmp_path / "3", unchanged), both)


def test_a_change_of_the_same_executable_is_not_by_its_code(tmp_path: Path) -> None:
    slow = {ALPHA: scaled(0.8), BETA: scaled(0.8)}
    base = run(tmp_path / BASE, first_build)
    new = run(tmp_path / NEW, rebuilt, slow)
    comparison = compared(base, new)
    assert {c.name for c in comparison.of(Verdict.REGRESSED)} == {ALPHA, BETA}
    assert "by its code" not in note(cell(comparison, ALPHA))
    assert "by its code" in note(cell(comparison, BETA))
    command = compare_text.confirming(comparison)
    assert command.startswith("scripts/kvmatrix ab quick --a ")
    assert f"-k {ALPHA}" in command and BETA not in command
    assert comparison.exit_code("regression") == 1
    same = run(tmp_path / "3", first_build, slow)
    assert compared(base, same).exit_code("regression") == 0


def test_a_machine_that_became_slower_is_not_a_slower_build(tmp_path: Path) -> None:
    """The other engine was not rebuilt, and became as much slower."""
    cells = [
        f"{engine}/baseline/{name}"
        for engine in ("alpha", "beta-tree")
        for name in ("readseq", "readrandom", "fillseq", "fillrandom")
    ]
    base = run(tmp_path / BASE, first_build)
    slow = {name: scaled(0.8) for name in cells} | {ALPHA: scaled(0.6)}
    comparison = compared(base, run(tmp_path / NEW, rebuilt, slow))
    assert [c.name for c in comparison.of(Verdict.REGRESSED)] == [ALPHA]
    assert len(comparison.of(Verdict.INCONCLUSIVE)) == 7
    remark = note(cell(comparison, BETA))
    assert "unchanged executables moved by 25 % or more as well" in remark


def test_one_cell_alone_does_not_excuse_itself(tmp_path: Path) -> None:
    """Two of four unchanged cells moved: each is judged against three, not itself."""
    base = run(tmp_path / BASE, first_build)
    other_beta = "beta-tree/baseline/fillseq"
    slow = {BETA: scaled(0.8), other_beta: scaled(0.8)}
    comparison = compared(base, run(tmp_path / NEW, rebuilt, slow))
    assert {c.name for c in comparison.of(Verdict.REGRESSED)} == {BETA, other_beta}


def test_cells_of_a_rebuilt_engine_do_not_excuse_each_other(tmp_path: Path) -> None:
    base = run(tmp_path / BASE, first_build)
    names = ("readseq", "readrandom", "fillseq", "fillrandom")
    slow = {f"alpha/baseline/{name}": scaled(0.8) for name in names}
    comparison = compared(base, run(tmp_path / NEW, rebuilt, slow))
    assert {c.name for c in comparison.of(Verdict.REGRESSED)} == slow.keys()
