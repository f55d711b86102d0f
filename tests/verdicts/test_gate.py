import copy
import dataclasses
from pathlib import Path

import pytest

from report.gate.gate_evidence import (
    LEAST_CONFIDENCE,
    gate_from_ab,
    gate_from_comparison,
)
from report.gate.gate_text import conclusion
from report.gate.gate_verdict import Gate, GateOutcome
from report.stats.two_run_decision import Limits
from report.trust.judge import load_run
from report.verdict import run_changes
from report.verdict.ab_judge import load_ab_run
from report.verdict.ab_verdicts import judge
from report.words.verdict_rows import Kind, VerdictRow
from tests.builders import synthetic_ab, synthetic_records, synthetic_run


def row(outcome: GateOutcome) -> VerdictRow:
    return VerdictRow(Kind.CELL, "a/b/c", outcome, change=-0.1)


def gate(*rows: VerdictRow, **more: object) -> Gate:
    return Gate("new", "base", "rule", rows, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("rows", "code"),
    [
        ((row(GateOutcome.UNCHANGED),), 0),
        ((row(GateOutcome.IMPROVED),), 0),
        ((row(GateOutcome.INCONCLUSIVE),), 0),
        ((row(GateOutcome.REGRESSED), row(GateOutcome.FAILED)), 1),
        ((row(GateOutcome.NOMINATED), row(GateOutcome.MISSING)), 1),
        ((row(GateOutcome.UNCHANGED), row(GateOutcome.FAILED)), 3),
        ((row(GateOutcome.UNCHANGED), row(GateOutcome.MISSING)), 3),
        ((row(GateOutcome.NOT_GATED),), 5),
        ((row(GateOutcome.FAILED),), 5),
        ((), 5),
    ],
)
def test_the_exit_code_is_that_of_the_most_severe_outcome(
    rows: tuple[VerdictRow, ...], code: int
) -> None:
    assert gate(*rows).exit_code() == code


def test_a_gate_that_judged_nothing_passes_only_without_a_base_and_if_allowed() -> None:
    blank = row(GateOutcome.UNCOMPARED)
    assert gate(blank, no_base=True).exit_code() == 5
    assert gate(blank, no_base=True).exit_code(allow_no_base=True) == 0
    assert gate(blank).exit_code(allow_no_base=True) == 5
    regressed = gate(row(GateOutcome.REGRESSED), no_base=True)
    assert regressed.exit_code(allow_no_base=True) == 1


@pytest.mark.parametrize(
    ("rows", "unfinished"),
    [
        ((row(GateOutcome.FAILED),), False),
        ((row(GateOutcome.MISSING),), False),
        ((row(GateOutcome.UNCOMPARED),), True),
    ],
)
def test_a_missing_base_excuses_no_failure(
    rows: tuple[VerdictRow, ...], unfinished: bool
) -> None:
    decision = gate(*rows, no_base=True, unfinished=unfinished)
    assert decision.exit_code() == 5
    assert decision.exit_code(allow_no_base=True) == 3


def test_the_failing_outcomes_can_be_chosen_except_failures() -> None:
    unsure, slower = row(GateOutcome.INCONCLUSIVE), row(GateOutcome.REGRESSED)
    assert gate(unsure).exit_code("inconclusive") == 1
    assert gate(slower).exit_code("never") == 0
    assert gate(slower, row(GateOutcome.FAILED)).exit_code("never") == 3
    assert gate(row(GateOutcome.NOT_GATED)).exit_code("never") == 5
    vague = row(GateOutcome.NOT_GATED)
    assert gate(row(GateOutcome.UNCHANGED), vague).exit_code("inconclusive") == 1
    assert gate(row(GateOutcome.UNCHANGED), unfinished=True).exit_code() == 3


def test_an_ab_run_is_judged_by_its_own_rule(tmp_path: Path) -> None:
    slow = {name: 0.1 for name in synthetic_ab.CELLS if name.startswith("alpha/")}
    result = judge(load_ab_run(synthetic_ab.write_ab_run(tmp_path, effects=slow)))
    decision = gate_from_ab(result)
    cpu = {f"{name} cpu_ns_per_op" for name in slow}
    assert {r.name for r in decision.of(GateOutcome.REGRESSED)} == {*slow, *cpu}
    assert decision.exit_code() == result.exit_code == 1
    slower = next(r for r in decision.rows if r.name in slow)
    assert slower.base
    assert slower.new
    assert slower.change == pytest.approx(slower.new / slower.base - 1, abs=0.02)


def test_only_the_chosen_cells_of_an_ab_run_decide(tmp_path: Path) -> None:
    slow, chosen = synthetic_ab.CELLS[:2]
    path = synthetic_ab.write_ab_run(tmp_path / "ab", effects={slow: 0.1})
    decision = gate_from_ab(judge(load_ab_run(path)), lambda name: name == chosen)
    assert {r.name.split()[0] for r in decision.rows} == {chosen}
    assert decision.exit_code() == 0


def test_a_failed_cell_of_an_ab_run_is_incomplete(tmp_path: Path) -> None:
    broken = synthetic_ab.CELLS[1]
    path = synthetic_ab.write_ab_run(
        tmp_path / "ab", failures={broken: ("b", "wrong", "3 entries differ")}
    )
    result = judge(load_ab_run(path))
    decision = gate_from_ab(result)
    assert decision.exit_code() == result.exit_code == 3
    [failed] = decision.of(GateOutcome.FAILED)
    assert failed.name == broken
    assert "3 entries differ" in failed.remark


def test_runs_without_a_common_cell_are_not_compared(tmp_path: Path) -> None:
    plan = synthetic_run.plan(repetitions=4)
    runs = []
    for number, cell in enumerate(plan["cells"][:2]):
        narrow = {**plan, "cells": [cell], "order": [[r, [0]] for r in range(1, 5)]}
        path = synthetic_run.write_run(tmp_path / str(number), narrow)
        runs.append(load_run(path))
    decision = gate_from_comparison(run_changes.compare(runs[0], runs[1]))
    assert decision.exit_code() == 5
    assert decision.common_reason == "the runs have no cell in common"


def test_different_answers_to_the_same_work_are_a_failure(tmp_path: Path) -> None:
    plan = synthetic_run.plan(repetitions=4)
    base = synthetic_run.lines(plan)
    changed = [
        {**record, "digest": "0" * 16} if record["benchmark"] == "fillseq" else record
        for record in base
    ]
    runs = [
        load_run(synthetic_run.write_run(tmp_path / name, plan, lines))
        for name, lines in (("base", base), ("new", changed))
    ]
    decision = gate_from_comparison(run_changes.compare(runs[0], runs[1]))
    assert "digests" in decision.of(GateOutcome.FAILED)[0].remark
    assert decision.exit_code() == 3


def compared(folder: Path, slower: float, repetitions: int = 4, lost: str = "") -> Gate:
    """Return two runs compared: one benchmark is slower, one has no result any more."""
    plan = synthetic_run.plan(repetitions=repetitions)
    base = synthetic_run.lines(plan)
    new = []
    for line in base:
        name = {key: line[key] for key in ("engine", "scenario", "benchmark")}
        if line["benchmark"] == lost and line["engine"] == "alpha":
            if line["repetition"] == 1:
                new.append(synthetic_records.failure(name, "wrong", "it lost entries"))
        elif line["benchmark"] == "fillseq":
            new.append(synthetic_records.retimed(line, int(line["loop_ns"] * slower)))
        else:
            new.append(line)
    rebuilt = copy.deepcopy(plan)
    for engine in rebuilt["engines"]:
        engine["binary_sha256"] = "9" * 64
    runs = (
        load_run(synthetic_run.write_run(folder / "base", plan, base)),
        load_run(synthetic_run.write_run(folder / "new", rebuilt, new)),
    )
    limits = Limits(least_confidence=LEAST_CONFIDENCE)
    return gate_from_comparison(run_changes.compare(*runs, limits))


def test_cells_slower_by_more_than_the_threshold_regress(tmp_path: Path) -> None:
    decision = compared(tmp_path, 1.2)
    assert {r.name for r in decision.of(GateOutcome.REGRESSED)} == {
        f"{engine}/baseline/fillseq{what}"
        for engine in ("alpha", "beta-tree", "gamma", "floor")
        for what in ("", " cpu_ns_per_op")
    }
    assert decision.exit_code() == 1
    assert compared(tmp_path / "same", 1.0).exit_code() == 0


def test_three_repetitions_are_too_few_for_a_gate_whatever_they_show(
    tmp_path: Path,
) -> None:
    found = compared(tmp_path, 1.5, repetitions=3)
    assert found.judged == 0
    assert found.exit_code() == 5
    assert "repetitions" in found.no_verdict_reason


def test_a_cell_that_is_no_longer_ok_is_a_failure(tmp_path: Path) -> None:
    decision = compared(tmp_path, 1.0, lost="fillrandom")
    [failed] = decision.of(GateOutcome.FAILED)
    assert failed.name == "alpha/baseline/fillrandom"
    assert "it lost entries" in failed.remark
    assert decision.exit_code() == 3


def test_cells_of_one_run_alone_are_missing_or_have_no_base(tmp_path: Path) -> None:
    plan, part = (synthetic_run.plan(repetitions=4) for _ in range(2))
    gone, never = part["cells"].pop(), part["cells"][0]
    lines = [x for x in synthetic_run.lines(plan) if x | never != x]
    whole, partial = (
        load_run(synthetic_run.write_run(tmp_path / "whole", plan, lines)),
        load_run(
            synthetic_run.write_run(
                tmp_path / "part", part, [x for x in lines if x | gone != x]
            )
        ),
    )
    decision = gate_from_comparison(run_changes.compare(whole, partial))
    [missing] = decision.of(GateOutcome.MISSING)
    assert "/".join(never.values()) not in {row.name for row in decision.rows}
    back = gate_from_comparison(run_changes.compare(partial, whole))
    [added] = back.of(GateOutcome.UNCOMPARED)
    assert missing.name == added.name == "/".join(gone.values())
    assert added.note == "only in new"


def test_runs_of_two_machines_are_not_compared(tmp_path: Path) -> None:
    plan = synthetic_run.plan(repetitions=4)
    other_plan = {**plan, "machine": {"id": "another"}}
    runs = (
        load_run(synthetic_run.write_run(tmp_path / "base", plan)),
        load_run(synthetic_run.write_run(tmp_path / "new", other_plan)),
    )
    found = gate_from_comparison(run_changes.compare(runs[0], runs[1]))
    assert found.exit_code(allow_no_base=True) == 5
    assert "another" in found.differences[0]


def test_a_whole_engine_is_not_enough_to_pass() -> None:
    """All cells of an engine together can hide a slowdown of one."""
    whole = VerdictRow(Kind.ENGINE, "a", GateOutcome.INCONCLUSIVE, unseen=0.099)
    vague = dataclasses.replace(row(GateOutcome.NOT_GATED), note="too noisy")
    decision = gate(vague, whole)
    assert decision.exit_code() == 5
    sentence = "not passed: no cell's time is gated: a/b/c: too noisy"
    assert conclusion(decision, 5) == sentence
    assert gate(vague, whole, row(GateOutcome.UNCHANGED)).exit_code() == 0
    slower = dataclasses.replace(whole, outcome=GateOutcome.REGRESSED)
    assert gate(vague, slower).exit_code() == 1


def test_a_regression_in_an_unfinished_run_says_that_it_is_unfinished() -> None:
    more = VerdictRow(Kind.COUNT, "a/b/c write_calls", GateOutcome.REGRESSED)
    sentence = "not passed: 1 regression; the run is unfinished"
    assert conclusion(gate(more, unfinished=True), 1) == sentence
    assert conclusion(gate(more), 1) == "not passed: 1 regression"


def test_counts_that_are_the_same_are_not_enough_to_pass() -> None:
    same = VerdictRow(Kind.COUNT, "a/b/c write_calls", GateOutcome.UNCHANGED)
    more = dataclasses.replace(same, outcome=GateOutcome.REGRESSED)
    assert gate(same).exit_code() == 5
    assert gate(more).exit_code() == 1
    assert gate(same, row(GateOutcome.UNCHANGED)).exit_code() == 0
