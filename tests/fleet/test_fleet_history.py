"""Histories of several machines: a step is seen on two, or it is local."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from report.model.history_entry import HistoryEntry, MedianInterval
from report.model.judgement import Verdict
from report.verdict.history_steps import Change, State, judge
from report.verdict.new_history_entry import entries_of
from tests.builders import synthetic_history as past
from tests.fleet.many_machines import (
    CONTROL,
    content,
    make_site,
    many_machines_run,
    merge,
    three_shards,
)
from tests.support.command_line import call
from tests.support.resealed import edit_lines, edit_plan

SLOWER = 0.08
POINTS, STEP = 40, 30


def history_of(
    machine: str, shift: float, seed: int, first: int = 0
) -> list[HistoryEntry]:
    """Return the history of a machine with a step of this size, from a point on."""
    effect = past.step_at(STEP, shift)
    return [
        replace(
            entry, run=f"{entry.run}.{machine}", machine={**entry.machine, "m": machine}
        )
        for entry in past.history(POINTS, effect=effect, seed=seed)[first:]
    ]


def changes(*histories: Sequence[HistoryEntry]) -> list[Change]:
    entries = sorted((e for of in histories for e in of), key=lambda e: e.run)
    return [change for of in judge(entries) for change in of.changes]


def test_a_step_on_two_machines_is_nominated() -> None:
    found = changes(history_of("a", SLOWER, 1), history_of("b", SLOWER, 2))
    assert [c.state for c in found] == [State.NOMINATED] * 2
    assert [c.seen_on for c in found] == [2, 2]


def test_a_step_on_one_of_two_machines_is_local() -> None:
    (change,) = changes(history_of("a", SLOWER, 1), history_of("b", 0.0, 2))
    assert (change.state, change.verdict) == (State.LOCAL, "local")
    assert not change.is_open and not change.is_nominated


def test_a_step_on_two_of_three_machines_is_nominated() -> None:
    found = changes(
        *(
            history_of(m, s, n)
            for n, (m, s) in enumerate((("a", SLOWER), ("b", SLOWER), ("c", 0.0)))
        )
    )
    assert {c.state for c in found} == {State.NOMINATED}


def test_the_other_direction_is_another_step() -> None:
    found = changes(history_of("a", SLOWER, 1), history_of("b", -SLOWER, 2))
    assert {c.state for c in found} == {State.LOCAL}


@pytest.mark.parametrize("first", [STEP, STEP - 2])
def test_a_machine_that_could_not_see_it_says_nothing(first: int) -> None:
    """It has measured too few builds of before the step."""
    (change,) = changes(history_of("a", SLOWER, 1), history_of("b", 0.0, 2, first))
    assert change.state is State.NOMINATED


def test_an_ab_run_decides_whatever_machines_see() -> None:
    cell = past.entry_cell(
        past.CELL, 9e4, MedianInterval(0.92, 0.90, 0.94), Verdict.REGRESSED
    )
    before, after = f"binary {STEP - 1}", f"binary {STEP}"
    decided = past.entry(100, [cell], reference=before, binary=after)
    found = changes(history_of("a", SLOWER, 1), history_of("b", 0.0, 2), [decided])
    assert [c.state for c in found] == [State.CONFIRMED]


@pytest.mark.usefixtures("ranked_short_cells")
def test_a_run_of_many_machines_has_an_entry_of_each(tmp_path: Path) -> None:
    machines = ["m-a", "m-b"] * 3
    rates = {"m-a": 1e-6, "m-b": 2e-6}
    times = {
        name: [[rates[m] for m in machines]] for name in ("alpha", "beta", CONTROL)
    }
    entries = entries_of(many_machines_run(times, machines, tmp_path), "abc")
    assert [entry.run.rpartition(".")[2] for entry in entries] == ["m-a", "m-b"]
    assert [entry.machine["machine"] for entry in entries] == ["m-a", "m-b"]
    medians = [entry.cells[0].rate for entry in entries]
    assert [round(m.median, -3) if m else 0 for m in medians] == [1e6, 5e5]
    assert {entry.cells[0].n for entry in entries} == {3}


def test_measurements_are_added_once(tmp_path: Path) -> None:
    """Under whichever name they were merged, and with whichever others."""
    lab = make_site(tmp_path)
    folders = three_shards(lab)
    first, again = merge(lab, *folders), merge(lab, *reversed(folders))
    edit_plan(again, lambda plan: plan.update(run=f"{plan['run']}-2"))
    edit_lines(
        again / "measurements.jsonl",
        lambda lines: [line.update(run=f"{line['run']}-2") for line in lines],
    )
    at = ["--history-dir", str(tmp_path / "history")]
    assert call(["history", "add", str(first), *at]).returncode == 0
    stored = content(tmp_path / "history")
    assert len(stored) == 3
    done = call(["history", "add", str(again), *at])
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("(already there)") == 3
    assert content(tmp_path / "history") == stored
    labelled = call(["history", "add", str(again), "--label", "new", *at])
    assert labelled.returncode == 2
    assert "has these results, without a label" in labelled.stderr


def test_history_add_adds_each_machine(tmp_path: Path) -> None:
    lab = make_site(tmp_path)
    merged = merge(lab, *three_shards(lab))
    words = ["history", "add", str(merged), "--history-dir", str(tmp_path / "history")]
    done = call(words)
    assert done.returncode == 0, done.stderr
    names = sorted(path.name for path in (tmp_path / "history").glob("*.json"))
    assert [name.removesuffix(".json")[-3:] for name in names] == ["m-1", "m-2", "m-3"]
    refused = call(["check", str(merged), "--against", "history", *words[3:]])
    assert refused.returncode == 2
    assert "is a run of 3 machines" in refused.stderr
