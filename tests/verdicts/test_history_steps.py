"""Series of a history, their steps, and the states of the steps."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from report.model.history_entry import EntryBuild, HistoryEntry, MedianInterval
from report.model.judgement import Verdict
from report.model.plan import CellName
from report.verdict.history_series import PINNED, series
from report.verdict.history_steps import NEAR, Change, State, judge
from tests.builders import synthetic_history as past

OTHER = CellName("beta", "baseline", "readrandom")
SLOWER = 0.06


def stepped(**options: Any) -> list[HistoryEntry]:
    return past.history(40, effect=past.step_at(30, SLOWER), **options)


def changes(entries: list[HistoryEntry]) -> tuple[Change, ...]:
    judged_series = judge(sorted(entries, key=lambda entry: entry.run))
    return tuple(change for judged in judged_series for change in judged.changes)


def confirming(
    before: int,
    after: int,
    ratio: tuple[float, float, float],
    index: int = 100,
    verdict: Verdict | None = Verdict.REGRESSED,
) -> HistoryEntry:
    """Return an A/B run of two builds of a history, with this interval and verdict."""
    cell = past.entry_cell(past.CELL, 9e4, MedianInterval(*ratio), verdict)
    return past.entry(
        index, [cell], reference=f"binary {before}", binary=f"binary {after}"
    )


def test_one_cell_under_one_condition_is_one_series() -> None:
    all_series = series(past.history(5, [past.CELL, OTHER]))
    assert [s.cell for s in all_series] == [past.CELL, OTHER]
    assert [len(s.points) for s in all_series] == [5, 5]
    assert all_series[0].entries == tuple(past.history(5, [past.CELL, OTHER]))


DIFFERENT: dict[str, Any] = {
    "another machine": lambda e: replace(e, machine={**e.machine, "logical_cpus": 1}),
    "fewer processors": lambda e: replace(
        e, machine={**e.machine, "logical_cpus": 2, "allowed_cpus": "1"}
    ),
    "another method": lambda e: replace(e, method=1),
    "other settings": lambda e: replace(
        e, cells=tuple(replace(c, settings_sha256="6" * 64) for c in e.cells)
    ),
}


@pytest.mark.parametrize("what", DIFFERENT)
def test_changed_conditions_start_a_new_series(what: str) -> None:
    entries = past.history(6)
    all_series = series([*entries[:3], *(DIFFERENT[what](e) for e in entries[3:])])
    assert [len(s.points) for s in all_series] == [3, 3]


def test_limits_that_are_none_continue_the_series_of_earlier_runs() -> None:
    entries = past.history(6)
    limits = {"cpu_quota": "none", "memory_limit_bytes": "none"}
    later = [replace(e, machine={**e.machine, **limits}) for e in entries[3:]]
    (only_series,) = series([*entries[:3], *later])
    assert len(only_series.points) == 6


def test_a_change_of_machine_is_not_a_step() -> None:
    entries = stepped()
    moved = [DIFFERENT["another machine"](entry) for entry in entries[30:]]
    assert changes([*entries[:30], *moved]) == ()


def test_another_seed_or_label_does_not_start_a_new_series() -> None:
    first, *rest = past.history(6)
    (only_series,) = series([replace(first, seed=7, label="", suite="other"), *rest])
    assert len(only_series.points) == 6


def test_a_failed_cell_is_not_a_point() -> None:
    entries = past.history(6)
    failed = replace(entries[2].cells[0], status="error", rate=None)
    entries[2] = replace(entries[2], cells=(failed,))
    (only_series,) = series(entries)
    assert len(only_series.points) == 5


def test_ratios_to_a_pinned_reference_are_a_series() -> None:
    entries = past.history(PINNED, reference="pinned")
    (only_series,) = series(entries)
    assert only_series.is_ratio
    assert only_series.values == tuple(e.cells[0].ratio.median for e in entries)  # type: ignore[union-attr]


def test_ratios_to_changing_references_are_not_compared() -> None:
    cells = [past.entry_cell(past.CELL, 1e5, past.band(1.0))]
    entries = [past.entry(i, cells, reference=f"commit {i}") for i in range(PINNED)]
    (only_series,) = series(entries)
    assert not only_series.is_ratio
    assert only_series.values == (1e5,) * PINNED


def test_another_reference_starts_a_new_series() -> None:
    entries = past.history(12, reference="pinned")
    again = past.history(12, reference="another")[6:]
    assert [len(s.points) for s in series([*entries[:6], *again])] == [6, 6]


def test_a_step_is_nominated_and_not_yet_a_regression() -> None:
    (change,) = changes(stepped())
    assert change.state is State.NOMINATED
    assert change.is_nominated
    assert not change.is_regression
    assert change.verdict == "nominated"
    assert change.before.run == past.run_id(29)
    assert change.after.run == past.run_id(30)


# Builds outside the uncertainty of a step at 30: the nearest one before, the newest.
FAR = (30 - 1 - NEAR, 39)

# Interval of b's rate over a's, verdict -> state of a nominated slowdown.
DECISIONS = {
    "slower": ((0.92, 0.94, 0.96), Verdict.REGRESSED, State.CONFIRMED),
    "slower, to chance": ((0.92, 0.94, 0.96), Verdict.INCONCLUSIVE, State.NOMINATED),
    "an entry of before": ((0.92, 0.94, 0.96), None, State.NOMINATED),
    "the same": ((0.99, 1.0, 1.01), Verdict.UNCHANGED, State.REJECTED),
    "the same, of before": ((0.99, 1.0, 1.01), None, State.NOMINATED),
    "faster": ((1.02, 1.05, 1.08), Verdict.IMPROVED, State.REJECTED),
    "anything": ((0.90, 0.97, 1.05), Verdict.INCONCLUSIVE, State.NOMINATED),
}


@pytest.mark.parametrize("case", DECISIONS)
def test_the_verdict_of_an_ab_run_across_the_step_decides(case: str) -> None:
    (low, middle, high), verdict, state = DECISIONS[case]
    decided = confirming(*FAR, (middle, low, high), verdict=verdict)
    (change,) = changes([*stepped(), decided])
    assert change.state is state
    assert change.decided_by == (None if state is State.NOMINATED else decided)
    assert change.is_regression == (state is State.CONFIRMED)


def test_a_speedup_is_confirmed_as_one() -> None:
    entries = past.history(40, effect=past.step_at(30, -SLOWER))
    faster = confirming(29, 30, (1.06, 1.04, 1.08), verdict=Verdict.IMPROVED)
    (change,) = changes([*entries, faster])
    assert (change.state, change.verdict) == (State.CONFIRMED, "improved")
    assert change.is_improvement
    (change,) = changes([*entries, confirming(*FAR, (0.94, 0.92, 0.96))])
    assert change.state is State.REJECTED


SAME = ((1.0, 0.99, 1.01), 101, Verdict.UNCHANGED)
OPPOSITE = ((1.06, 1.04, 1.08), 101, Verdict.IMPROVED)


@pytest.mark.parametrize("rejecting", [SAME, OPPOSITE])
@pytest.mark.parametrize(
    ("before", "after", "state"),
    [
        (29, 30, State.NOMINATED),
        (26, 34, State.NOMINATED),
        (24, 34, State.NOMINATED),
        (25, 39, State.NOMINATED),
        (24, 35, State.REJECTED),
        (0, 39, State.REJECTED),
    ],
)
def test_only_builds_outside_the_uncertainty_of_a_step_reject_it(
    before: int, after: int, state: State, rejecting: Any
) -> None:
    """The builds next to the estimated place may both have the new level."""
    (change,) = changes([*stepped(), confirming(before, after, *rejecting)])
    assert change.state is state
    old, new = change.compared
    assert (old.run, new.run) == (past.run_id(24), past.run_id(39))
    assert not change.is_narrow


@pytest.mark.parametrize(
    ("after", "later", "state"),
    [(32, 0, State.REJECTED), (32, 7, State.REJECTED), (31, 0, State.NOMINATED)],
)
def test_the_newest_build_rejects_where_the_level_is_short(
    after: int, later: int, state: State
) -> None:
    """That was the newest when the A/B run was made, whatever came later."""
    entries = past.history(33 + later, effect=past.step_at(30, 0.12))
    decided = confirming(24, after, *SAME)
    decided = replace(decided, run=f"{past.run_id(32)}-ab")
    (change,) = changes([*entries, decided])
    assert change.state is state
    assert change.is_narrow is not bool(later)


def test_any_build_before_and_any_after_will_do() -> None:
    (change,) = changes([*stepped(), confirming(12, 38, (0.94, 0.92, 0.96))])
    assert change.state is State.CONFIRMED


@pytest.mark.parametrize(("before", "after"), [(30, 29), (3, 29), (31, 39), (77, 30)])
def test_an_ab_run_of_other_builds_decides_nothing(before: int, after: int) -> None:
    (change,) = changes([*stepped(), confirming(before, after, (0.94, 0.92, 0.96))])
    assert change.state is State.NOMINATED


def with_binary(
    entries: list[HistoryEntry], index: int, word: int
) -> list[HistoryEntry]:
    """Return the history with an executable measured again later."""
    again = past.sha(f"binary {word}")
    engines = {past.CELL.engine: EntryBuild("1.0", again)}
    changed = replace(entries[index], engines=engines)
    return [*entries[:index], changed, *entries[index + 1 :]]


@pytest.mark.parametrize(("index", "word"), [(35, 29), (20, 30)])
def test_a_build_that_made_both_levels_decides_nothing(index: int, word: int) -> None:
    entries = with_binary(stepped(), index, word)
    (change,) = changes([*entries, confirming(29, 30, (0.94, 0.92, 0.96))])
    assert change.state is State.NOMINATED


@pytest.mark.parametrize("what", ["another method", "other settings"])
def test_an_ab_run_of_other_work_decides_nothing(what: str) -> None:
    decided = DIFFERENT[what](confirming(29, 30, (0.94, 0.92, 0.96)))
    (change,) = changes([*stepped(), decided])
    assert change.state is State.NOMINATED


def test_another_machine_may_confirm() -> None:
    decided = DIFFERENT["another machine"](confirming(29, 30, (0.94, 0.92, 0.96)))
    (change,) = changes([*stepped(), decided])
    assert change.state is State.CONFIRMED


def test_the_newest_conclusive_ab_run_decides() -> None:
    ab_runs = [
        confirming(29, 30, (0.94, 0.92, 0.96), 100),
        confirming(*FAR, (1.0, 0.99, 1.01), 101, Verdict.UNCHANGED),
        confirming(29, 30, (0.97, 0.90, 1.05), 102, Verdict.INCONCLUSIVE),
    ]
    (change,) = changes([*stepped(), *ab_runs])
    assert (change.state, change.decided_by) == (State.REJECTED, ab_runs[1])


def test_the_points_of_a_nomination_do_not_confirm_it() -> None:
    """They are ratios to a build of the old level, as a confirmation would be."""
    entries = stepped(reference="binary 0")
    (change,) = changes(entries)
    assert change.series.is_ratio
    assert change.state is State.NOMINATED
    (change,) = changes([*entries, confirming(29, 30, (0.94, 0.92, 0.96))])
    assert change.state is State.CONFIRMED


def test_the_same_build_on_both_sides_is_no_regression() -> None:
    same = {past.CELL.engine: EntryBuild("1.0", past.sha("the same"))}
    entries = [replace(entry, engines=same) for entry in stepped()]
    (change,) = changes(entries)
    assert change.state is State.SAME_BUILD
    assert not change.is_open
    unknown = {past.CELL.engine: EntryBuild("1.0", "")}
    (change,) = changes([replace(entry, engines=unknown) for entry in stepped()])
    assert change.state is State.NOMINATED


def test_a_step_that_goes_back_soon_is_closed() -> None:
    """At the end of a window, where both of its steps can be seen."""
    effect = past.step_at(96, 0.12, 100)
    steps = changes(past.history(160, effect=effect))
    assert [change.state for change in steps] == [State.WENT_AWAY] * 2
    assert not any(change.is_open for change in steps)


def test_a_step_that_goes_half_back_is_not_closed() -> None:
    def effect(index: int, name: CellName) -> float:
        return 0.0 if index < 96 else 0.2 if index < 100 else 0.1

    first, *_ = changes(past.history(160, effect=effect))
    assert first.state is State.NOMINATED
    assert first.ended is None


def test_a_blip_within_a_window_is_nominated_for_as_long_as_it_lasts() -> None:
    effect = past.step_at(30, 0.12, 34)
    (change,) = changes(past.history(34, effect=effect))
    assert change.is_nominated
    assert changes(past.history(60, effect=effect)) == ()


def test_a_fixed_regression_is_closed() -> None:
    entries = past.history(80, effect=past.step_at(30, SLOWER, 60))
    decided = confirming(29, 30, (0.94, 0.92, 0.96), 200)
    first, second = changes([*entries, decided])
    assert first.state is State.CONFIRMED
    assert (first.verdict, first.is_regression) == ("over", False)
    assert first.ended is not None
    assert first.ended.run == past.run_id(60)
    assert (second.state, second.is_open) == (State.MENDED, False)
    (unconfirmed, _) = changes(entries)
    assert unconfirmed.verdict == "over, unconfirmed"


def test_a_gain_larger_than_the_loss_is_an_improvement() -> None:
    def effect(index: int, name: CellName) -> float:
        return 0.0 if index < 30 else 0.06 if index < 60 else -0.06

    _, second = changes(past.history(90, effect=effect))
    assert second.is_improvement


def test_an_ab_run_outweighs_a_step_back() -> None:
    entries = past.history(80, effect=past.step_at(30, SLOWER, 60))
    decided = confirming(59, 60, (1.06, 1.04, 1.08), 200, Verdict.IMPROVED)
    _, second = changes([*entries, decided])
    assert (second.state, second.decided_by) == (State.CONFIRMED, decided)


def test_falling_back_to_an_earlier_level_is_a_regression() -> None:
    def effect(index: int, name: CellName) -> float:
        return 0.06 if 30 <= index < 60 else -0.06 if 60 <= index < 90 else 0.0

    *_, last = changes(past.history(120, effect=effect))
    assert last.is_nominated


def test_losing_an_improvement_is_a_regression() -> None:
    _, second = changes(past.history(90, effect=past.step_at(30, -SLOWER, 60)))
    assert second.is_nominated
