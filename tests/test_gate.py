import dataclasses
from pathlib import Path

import pytest

from report.cells import CellName
from report.regressions import comparing
from report.regressions.ab_results import load_ab_run
from report.regressions.ab_verdicts import judge
from report.regressions.deciding import Limits
from report.regressions.gate import Gate, Kind, Outcome, Row
from report.regressions.gate_sources import (
    LEAST_CONFIDENCE,
    of_ab,
    of_comparison,
    of_window,
)
from report.regressions.history_entries import Band, Entry
from report.results import load_run
from tests import records, synthetic, synthetic_ab, synthetic_history


def row(outcome: Outcome, *, judged: bool = True) -> Row:
    return Row(Kind.CELL, "a/b/c", outcome, judged, change=-0.1)


def gate(*rows: Row, **more: object) -> Gate:
    return Gate("new", "base", "rule", rows, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("rows", "code"),
    [
        ((row(Outcome.UNCHANGED),), 0),
        ((row(Outcome.IMPROVED),), 0),
        ((row(Outcome.INCONCLUSIVE),), 0),
        ((row(Outcome.REGRESSED), row(Outcome.FAILED, judged=False)), 1),
        ((row(Outcome.UNCHANGED), row(Outcome.FAILED, judged=False)), 3),
        ((row(Outcome.UNCHANGED), row(Outcome.MISSING, judged=False)), 3),
        ((row(Outcome.INCONCLUSIVE, judged=False),), 5),
        ((row(Outcome.FAILED, judged=False),), 5),
        ((), 5),
    ],
)
def test_the_exit_code_is_that_of_the_gravest(rows: tuple[Row, ...], code: int) -> None:
    assert gate(*rows).exit_code() == code


def test_a_gate_that_judged_nothing_passes_only_without_a_base_and_if_allowed() -> None:
    blank = row(Outcome.UNCOMPARED, judged=False)
    assert gate(blank, no_base=True).exit_code() == 5
    assert gate(blank, no_base=True).exit_code(allow_no_base=True) == 0
    assert gate(blank).exit_code(allow_no_base=True) == 5
    regressed = gate(row(Outcome.REGRESSED), no_base=True)
    assert regressed.exit_code(allow_no_base=True) == 1


@pytest.mark.parametrize(
    ("rows", "unfinished"),
    [
        ((row(Outcome.FAILED, judged=False),), False),
        ((row(Outcome.MISSING, judged=False),), False),
        ((row(Outcome.UNCOMPARED, judged=False),), True),
    ],
)
def test_a_missing_base_excuses_no_failure(
    rows: tuple[Row, ...], unfinished: bool
) -> None:
    found = gate(*rows, no_base=True, unfinished=unfinished)
    assert found.exit_code() == 5
    assert found.exit_code(allow_no_base=True) == 3


def test_what_fails_the_gate_can_be_chosen_and_failures_remain() -> None:
    unsure, slower = row(Outcome.INCONCLUSIVE), row(Outcome.REGRESSED)
    assert gate(unsure).exit_code("inconclusive") == 1
    assert gate(slower).exit_code("never") == 0
    assert gate(slower, row(Outcome.FAILED)).exit_code("never") == 3
    assert gate(row(Outcome.INCONCLUSIVE, judged=False)).exit_code("never") == 5
    vague = row(Outcome.NOT_GATED, judged=False)
    assert gate(row(Outcome.UNCHANGED), vague).exit_code("inconclusive") == 1
    assert gate(row(Outcome.UNCHANGED), unfinished=True).exit_code() == 3


def test_an_ab_run_is_judged_by_its_own_rule(tmp_path: Path) -> None:
    slow = {name: 0.1 for name in synthetic_ab.CELLS if name.startswith("alpha/")}
    result = judge(load_ab_run(synthetic_ab.write_ab_run(tmp_path, effects=slow)))
    found = of_ab(result)
    assert {r.name for r in found.of(Outcome.REGRESSED)} == set(slow)
    assert found.exit_code() == result.exit_code == 1
    slower = next(r for r in found.rows if r.name in slow)
    assert slower.base
    assert slower.new
    assert slower.change == pytest.approx(slower.new / slower.base - 1, abs=0.02)


def test_of_an_ab_run_only_the_chosen_cells_decide(tmp_path: Path) -> None:
    slow, other = synthetic_ab.CELLS[:2]
    path = synthetic_ab.write_ab_run(tmp_path / "ab", effects={slow: 0.1})
    found = of_ab(judge(load_ab_run(path)), lambda name: name == other)
    assert {r.name.split()[0] for r in found.rows} == {other}
    assert found.exit_code() == 0


def test_a_failed_cell_of_an_ab_run_is_incomplete(tmp_path: Path) -> None:
    broken = synthetic_ab.CELLS[1]
    path = synthetic_ab.write_ab_run(
        tmp_path / "ab", failures={broken: ("b", "wrong", "3 entries differ")}
    )
    result = judge(load_ab_run(path))
    found = of_ab(result)
    assert found.exit_code() == result.exit_code == 3
    [failed] = found.of(Outcome.FAILED)
    assert failed.name == broken
    assert "3 entries differ" in failed.reason


def test_two_answers_to_the_same_work_are_a_failure(tmp_path: Path) -> None:
    plan = synthetic.plan(repetitions=4)
    base = synthetic.lines(plan)
    other = [
        {**one, "digest": "0" * 16} if one["benchmark"] == "fillseq" else one
        for one in base
    ]
    runs = [
        load_run(synthetic.write_run(tmp_path / name, plan, lines))
        for name, lines in (("base", base), ("new", other))
    ]
    found = of_comparison(comparing.compare(runs[0], runs[1]))
    assert "digests" in found.of(Outcome.FAILED)[0].reason
    assert found.exit_code() == 3


def compared(folder: Path, slower: float, repetitions: int = 4, lost: str = "") -> Gate:
    """Two runs: one benchmark is slower in the new one, one has lost its answer."""
    plan = synthetic.plan(repetitions=repetitions)
    base = synthetic.lines(plan)
    new = []
    for line in base:
        name = {key: line[key] for key in ("engine", "scenario", "benchmark")}
        if line["benchmark"] == lost and line["engine"] == "alpha":
            if line["repetition"] == 1:
                new.append(records.failure(name, "wrong", "it lost entries"))
        elif line["benchmark"] == "fillseq":
            new.append(records.retimed(line, int(line["loop_ns"] * slower)))
        else:
            new.append(line)
    runs = (
        load_run(synthetic.write_run(folder / "base", plan, base)),
        load_run(synthetic.write_run(folder / "new", plan, new)),
    )
    limits = Limits(least_confidence=LEAST_CONFIDENCE)
    return of_comparison(comparing.compare(*runs, limits))


def test_of_two_runs_what_is_slower_by_more_than_the_threshold(tmp_path: Path) -> None:
    found = compared(tmp_path, 1.2)
    assert {r.name for r in found.of(Outcome.REGRESSED)} == {
        f"{engine}/baseline/fillseq"
        for engine in ("alpha", "beta-tree", "gamma", "floor")
    }
    assert found.exit_code() == 1
    assert compared(tmp_path / "same", 1.0).exit_code() == 0


def test_three_repetitions_are_too_few_for_a_gate_whatever_they_show(
    tmp_path: Path,
) -> None:
    found = compared(tmp_path, 1.5, repetitions=3)
    assert found.judged == 0
    assert found.exit_code() == 5
    assert "repetitions" in found.why_nothing


def test_a_cell_that_was_ok_and_is_not_any_more_is_a_failure(tmp_path: Path) -> None:
    found = compared(tmp_path, 1.0, lost="fillrandom")
    [failed] = found.of(Outcome.FAILED)
    assert failed.name == "alpha/baseline/fillrandom"
    assert "it lost entries" in failed.reason
    assert found.exit_code() == 3


def test_runs_of_two_machines_are_not_compared(tmp_path: Path) -> None:
    plan = synthetic.plan(repetitions=4)
    other = {**plan, "machine": {"id": "another"}}
    runs = (
        load_run(synthetic.write_run(tmp_path / "base", plan)),
        load_run(synthetic.write_run(tmp_path / "new", other)),
    )
    found = of_comparison(comparing.compare(*runs))
    assert found.exit_code(allow_no_base=True) == 5
    assert "another" in found.why_nothing


CELLS = tuple(CellName("alpha", "baseline", name) for name in ("fillseq", "readseq"))


def windowed(entries: list[Entry], window: int = 12, threshold: float = 0.05) -> Gate:
    return of_window(entries[-1], entries[:-1], window, threshold)


def test_a_run_out_of_the_ordinary_is_a_regression() -> None:
    slow = synthetic_history.step_at(12, 0.2)
    found = windowed(synthetic_history.history(13, CELLS, slow))
    [slower] = found.of(Outcome.REGRESSED)
    assert slower.name == "alpha/baseline/fillseq"
    assert found.exit_code() == 1
    assert windowed(synthetic_history.history(13, CELLS)).exit_code() == 0


def test_ratios_are_judged_as_ratios() -> None:
    slow = synthetic_history.step_at(12, 0.2)
    found = windowed(synthetic_history.history(13, CELLS, slow, reference="pinned"))
    [slower] = found.of(Outcome.REGRESSED)
    assert slower.unit == "of the reference's rate"
    assert slower.base == pytest.approx(1.0, abs=0.02)


def test_the_interval_of_a_ratio_is_not_that_of_repetitions() -> None:
    *older, new = synthetic_history.history(13, CELLS, reference="pinned")
    slow = dataclasses.replace(new.cells[0], ratio=Band(0.8, 0.7, 1.05))
    new = dataclasses.replace(new, cells=(slow, *new.cells[1:]))
    found = of_window(new, older, 12, 0.05)
    assert [r.name for r in found.of(Outcome.REGRESSED)] == [str(slow.name)]


def test_the_window_is_the_last_runs_before_this_one() -> None:
    slow = synthetic_history.step_at(8, 0.2)  # long ago: the last five are as slow
    entries = synthetic_history.history(14, CELLS, slow)
    assert windowed(entries, window=5).exit_code() == 0

    def restless(index: int, cell: CellName) -> float:
        return 0.2 if index == 16 else (index % 3) * 0.3 if index < 8 else 0.0

    calm = synthetic_history.history(17, CELLS, restless)
    wide = windowed(calm, window=16)
    assert wide.exit_code() == 5
    assert "could go unseen" in wide.why_nothing
    assert windowed(calm, window=8).exit_code() == 1
    later = of_window(entries[8], entries, 8, 0.05)
    assert [r.name for r in later.of(Outcome.REGRESSED)] == ["alpha/baseline/fillseq"]


def test_a_young_history_is_no_base_and_that_of_another_machine_no_excuse() -> None:
    young = windowed(synthetic_history.history(5, CELLS))
    assert young.exit_code() == 5
    assert young.exit_code(allow_no_base=True) == 0
    assert "4 earlier runs" in young.why_nothing
    entries = synthetic_history.history(13, CELLS)
    moved = dataclasses.replace(entries[-1], machine={"cpu_model": "another"})
    found = of_window(moved, entries[:-1], 12, 0.05)
    assert found.exit_code(allow_no_base=True) == 5
    assert "machine" in found.why_nothing


def test_a_run_without_any_rate_never_passes() -> None:
    entries = synthetic_history.history(3, CELLS)
    cells = tuple(
        dataclasses.replace(cell, status="error", rate=None, n=0)
        for cell in entries[-1].cells
    )
    broken = dataclasses.replace(entries[-1], cells=cells)
    for before in (entries[:-1], []):
        found = of_window(broken, before, 12, 0.05)
        assert found.exit_code(allow_no_base=True) == 5


def test_a_cell_that_the_history_has_must_be_there_and_ok() -> None:
    entries = synthetic_history.history(13, (*CELLS, CellName("beta", "x", "readseq")))
    cells = entries[-1].cells
    failed = dataclasses.replace(cells[1], status="wrong", rate=None, n=0)
    now = dataclasses.replace(entries[-1], cells=(cells[0], failed))
    found = of_window(now, entries[:-1], 12, 0.05)
    assert [r.name for r in found.of(Outcome.FAILED)] == ["alpha/baseline/readseq"]
    assert [r.name for r in found.of(Outcome.MISSING)] == ["beta/x/readseq"]
    assert found.exit_code() == 3


def test_what_vanished_stays_missing_as_long_as_the_window_has_it() -> None:
    both = synthetic_history.history(13, (*CELLS, CellName("beta", "x", "readseq")))
    without = [dataclasses.replace(e, cells=e.cells[:2]) for e in both[10:]]
    entries = [*both[:10], *without]
    found = windowed(entries)
    assert [r.name for r in found.of(Outcome.MISSING)] == ["beta/x/readseq"]
    forgotten = windowed(
        [*both[:7], *(dataclasses.replace(e, cells=e.cells[:2]) for e in both[7:])],
        window=5,
    )
    assert forgotten.exit_code() == 0


def test_an_unfinished_run_does_not_pass_a_window() -> None:
    *older, new = synthetic_history.history(13, CELLS)
    assert of_window(new, older, 12, 0.05, unfinished=True).exit_code() == 3


def test_a_cell_whose_settings_changed_is_told() -> None:
    entries = synthetic_history.history(13, CELLS)
    changed = dataclasses.replace(entries[-1].cells[0], settings_sha256="6" * 64)
    now = dataclasses.replace(entries[-1], cells=(changed, entries[-1].cells[1]))
    [told] = of_window(now, entries[:-1], 12, 0.05).of(Outcome.UNCOMPARED)
    assert told.alert
    assert "settings changed, it was gated before" in told.reason
    [young] = of_window(now, entries[:4], 12, 0.05).rows[:1]
    assert not young.alert


def test_cells_that_are_judged_need_no_excuse_of_a_young_history() -> None:
    def restless(index: int, cell: CellName) -> float:
        return (index % 3) * 0.3

    entries = synthetic_history.history(13, CELLS, restless)
    other = [dataclasses.replace(e, suite="other") for e in entries[:9]]
    found = windowed([*other, *entries[9:]])
    assert not found.no_base
    assert found.exit_code(allow_no_base=True) == 5


def test_a_new_cell_has_no_base_and_fails_nothing() -> None:
    entries = synthetic_history.history(13, CELLS)
    extra = synthetic_history.entry_cell(CellName("alpha", "x", "readseq"), 10.0)
    now = dataclasses.replace(entries[-1], cells=(*entries[-1].cells, extra))
    found = of_window(now, entries[:-1], 12, 0.05)
    [new] = found.of(Outcome.UNCOMPARED)
    assert "0 of at least 5" in new.reason
    assert found.exit_code() == 0


def test_counts_that_are_the_same_are_not_enough_to_pass() -> None:
    same = Row(Kind.COUNT, "a/b/c write_calls", Outcome.UNCHANGED, judged=True)
    more = dataclasses.replace(same, outcome=Outcome.REGRESSED)
    assert gate(same).exit_code() == 5
    assert gate(more).exit_code() == 1
    assert gate(same, row(Outcome.UNCHANGED)).exit_code() == 0
