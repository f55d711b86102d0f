import dataclasses
from pathlib import Path
from typing import Any

import pytest

from report.gate.gate_evidence import gate_from_ab
from report.gate.gate_github import annotations
from report.gate.gate_text import lines
from report.gate.gate_verdict import Gate, GateOutcome, gated
from report.model.judgement import Judgement, Verdict
from report.verdict.ab_judge import load_ab_run
from report.verdict.ab_verdicts import judge
from report.words.verdict_rows import Kind, VerdictRow, with_judgement
from tests.builders import synthetic_ab
from tests.builders.synthetic_ab import count_line


def judgement(verdict: Verdict = Verdict.INCONCLUSIVE, **more: object) -> Judgement:
    typical = Judgement(verdict, 0.01, -0.02, 0.04, 0.95, 0.3, 0.7, 8)
    return dataclasses.replace(typical, **more)  # type: ignore[arg-type]


def gated_row(cell_judgement: Judgement, unseen: float | None) -> VerdictRow:
    row = VerdictRow(Kind.CELL, "a/b/c", cell_judgement.verdict, cell_judgement.reason)
    return gated(with_judgement(row, cell_judgement, unseen))


def test_cells_that_could_hide_ten_percent_are_not_gated() -> None:
    assert gated_row(judgement(), 0.1).outcome == GateOutcome.INCONCLUSIVE
    vague = gated_row(judgement(), 0.12)
    assert (vague.outcome, vague.judged) == (GateOutcome.NOT_GATED, False)
    assert "a slowdown of up to 12 % could have been missed" in vague.remark
    assert gated_row(judgement(), None).outcome == GateOutcome.NOT_GATED
    assert Gate("new", "base", "rule", (vague,)).exit_code() == 5
    assert "12 %" in Gate("new", "base", "rule", (vague,)).no_verdict_reason
    unchanged = gated_row(judgement(Verdict.UNCHANGED), 0.12)
    assert (unchanged.outcome, unchanged.judged) == (GateOutcome.UNCHANGED, True)


def test_an_unconfirmed_slowdown_is_reported_as_unseen() -> None:
    slower = gated_row(judgement(log_shift=0.3, log_high=0.33), 0.05)
    assert slower.outcome == GateOutcome.NOT_GATED
    assert slower.unseen == pytest.approx(0.35, abs=0.001)


@pytest.mark.parametrize("verdict", list(Verdict))
def test_without_an_interval_nothing_is_gated(verdict: Verdict) -> None:
    row = gated_row(judgement(verdict, log_low=None, log_high=None), 0.01)
    assert (row.outcome, row.judged) == (GateOutcome.NOT_GATED, False)
    assert row.remark


def test_counts_are_not_counted_as_judged_cells() -> None:
    same = VerdictRow(Kind.COUNT, "a/b/c write_calls", GateOutcome.UNCHANGED)
    timed = dataclasses.replace(same, kind=Kind.CELL)
    assert Gate("new", "base", "rule", (same, timed)).judged == 1


CELL_A = synthetic_ab.CELLS[0]


def counted(folder: Path, counts: list[dict[str, object]]) -> Gate:
    path = synthetic_ab.write_ab_run(folder / synthetic_ab.AB_RUN_ID, counts=counts)
    return gate_from_ab(judge(load_ab_run(path)))


def test_a_count_that_is_not_gated_is_shown_with_its_reason(tmp_path: Path) -> None:
    counts = [
        count_line(CELL_A, side, i, num=1000 if side == "a" else 1001)
        for i in range(1, 4)
        for side in "ab"
    ]
    decision = counted(tmp_path, counts)
    [shown] = [r for r in decision.rows if r.name == f"{CELL_A} instructions"]
    assert (shown.outcome, shown.judged) == (GateOutcome.NOT_GATED, False)
    assert "same work" in shown.remark
    assert decision.exit_code() == 0


def test_a_side_b_that_cannot_be_counted_any_more_has_failed(tmp_path: Path) -> None:
    nothing: dict[str, Any] = {"ops": None, "instructions": None}
    broken = {"status": "error", "reason": "it ended with signal 11", **nothing}
    counts = [
        count_line(CELL_A, "a"),
        count_line(CELL_A, "b", **broken),
    ]
    decision = counted(tmp_path / "b", counts)
    [failed] = decision.of(GateOutcome.FAILED)
    assert (failed.kind, failed.name) == (Kind.COUNT, f"{CELL_A} counts")
    assert "signal 11" in failed.remark
    assert decision.exit_code() == 3
    both = [count_line(CELL_A, side, **broken) for side in "ab"]
    gate = counted(tmp_path / "both", both)
    assert not gate.of(GateOutcome.FAILED)
    assert len([x for x in lines(gate, 0) if " instructions " in x.text]) == 1
    [warning] = annotations(gate, 0)
    assert f"3 rows to check::{CELL_A} instructions: side a: it ended" in warning


def test_an_interrupted_ab_run_is_incomplete(tmp_path: Path) -> None:
    path = synthetic_ab.write_ab_run(tmp_path / "ab", effects={CELL_A: 0.1}, confirm=())
    run = load_ab_run(path)
    assert run.unfinished
    decision = gate_from_ab(judge(run), lambda name: name != CELL_A)
    assert decision.unfinished
    assert decision.exit_code() == 3
