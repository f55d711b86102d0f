"""`check --against history`: the detector nominates, an A/B run decides."""

import dataclasses
import math
from collections.abc import Sequence

import pytest

from report.gate.gate_history import LATER, RECENT, gate_from_history, smallest_visible
from report.gate.gate_verdict import Gate, GateOutcome
from report.model.history_entry import HistoryEntry, MedianInterval
from report.model.judgement import Verdict
from report.model.plan import CellName
from report.verdict.history_steps import judge
from report.words.verdict_rows import Kind
from tests.builders.synthetic_history import (
    Effect,
    commit,
    entry,
    entry_cell,
    history,
    run_id,
    step_at,
)

CELLS = tuple(CellName("alpha", "baseline", name) for name in ("fillseq", "readseq"))


def against_history(entries: Sequence[HistoryEntry], threshold: float = 0.05) -> Gate:
    return gate_from_history(entries[-1], entries[:-1], threshold)


SLOW = step_at(12, 0.2)
SINCE = f"since {commit(12)} ({run_id(12)}), before it {commit(11)} ({run_id(11)})"


def test_a_step_of_the_history_is_nominated_with_the_command_that_decides() -> None:
    result = against_history(history(15, CELLS, SLOW))
    [slower] = result.of(GateOutcome.NOMINATED)
    assert (slower.name, slower.remark) == ("alpha/baseline/fillseq", SINCE)
    assert slower.change == pytest.approx(math.exp(-0.2) - 1, abs=0.01)
    assert result.hints == (
        f"scripts/kvmatrix ab quick --a BUILD_OF_{commit(6)}"
        f" --b BUILD_OF_{commit(14)} -k alpha/baseline/fillseq",
    )
    assert not result.of(GateOutcome.REGRESSED)
    assert result.exit_code() == 1
    assert result.exit_code("never") == 0
    assert against_history(history(15, CELLS)).exit_code() == 0


def test_cells_that_changed_with_one_build_are_confirmed_by_one_command() -> None:
    both: Effect = lambda index, cell: 0.2 if index >= 12 else 0.0  # noqa: E731
    [command] = against_history(history(15, CELLS, both)).hints
    assert command.endswith("-k alpha/baseline/fillseq -k alpha/baseline/readseq")


def test_one_slow_run_is_neither_a_step_nor_a_pass() -> None:
    result = against_history(history(13, CELLS, SLOW))
    [slow] = result.of(GateOutcome.NOT_GATED)
    assert slow.name == "alpha/baseline/fillseq"
    assert "a step needs two runs" in slow.remark
    assert slow.unseen == pytest.approx(math.expm1(0.2), abs=0.03)
    assert result.exit_code() == 0
    assert result.exit_code("inconclusive") == 1


def decided(verdict: Verdict) -> HistoryEntry:
    """Return an A/B run of the builds that the gate names, later than all runs."""
    cell = entry_cell(CELLS[0], 8e4, MedianInterval(0.82, 0.8, 0.84), verdict)
    return entry(20, [cell], reference="binary 6", binary="binary 14")


@pytest.mark.parametrize(
    ("verdict", "outcome", "code"),
    [
        (Verdict.REGRESSED, GateOutcome.REGRESSED, 1),
        (Verdict.UNCHANGED, GateOutcome.INCONCLUSIVE, 0),
        (Verdict.INCONCLUSIVE, GateOutcome.NOMINATED, 1),
    ],
)
def test_an_ab_run_in_the_history_decides(
    verdict: Verdict, outcome: GateOutcome, code: int
) -> None:
    *older, new = history(15, CELLS, SLOW)
    result = gate_from_history(new, [*older, new, decided(verdict)], 0.05)
    outcomes = {row.name: row.outcome for row in result.rows}
    assert outcomes["alpha/baseline/fillseq"] is outcome
    assert result.exit_code() == code
    assert bool(result.hints) is (outcome is GateOutcome.NOMINATED)


def test_a_step_below_the_threshold_fails_nothing() -> None:
    entries = history(40, CELLS, step_at(30, 0.04))
    assert against_history(entries, 0.02).exit_code() == 1
    assert against_history(entries, 0.05).exit_code() == 0


def test_a_step_up_fails_nothing() -> None:
    result = against_history(history(15, CELLS, step_at(12, -0.2)))
    [faster] = result.of(GateOutcome.IMPROVED)
    assert (faster.remark, result.exit_code(), result.hints) == (SINCE, 0, ())


def test_a_speed_up_does_not_hide_a_remaining_slowdown() -> None:
    both: Effect = lambda index, cell: 0.3 * (index >= 12) - 0.1 * (index >= 18)  # noqa: E731
    result = against_history(history(26, CELLS[:1], both))
    assert [row.outcome for row in result.rows] == [GateOutcome.NOMINATED]


def test_a_rare_outlier_does_not_hide_steps_of_a_long_series() -> None:
    wild: Effect = lambda index, cell: 0.4 * (index in (10, 33))  # noqa: E731
    result = against_history(history(50, CELLS, wild))
    assert {row.outcome for row in result.rows} == {GateOutcome.UNCHANGED}


def test_an_old_step_is_the_new_base() -> None:
    for later, code in ((RECENT, 1), (RECENT + 1, 0)):
        entries = history(12 + later, CELLS, SLOW)
        assert against_history(entries).exit_code() == code


def test_later_runs_are_not_points() -> None:
    entries = history(20, CELLS, SLOW)
    result = gate_from_history(entries[12], entries, 0.05)
    assert not result.of(GateOutcome.NOMINATED)
    assert gate_from_history(entries[14], entries, 0.05).of(GateOutcome.NOMINATED)


def test_a_series_that_hides_a_tenth_is_not_gated() -> None:
    noisy = against_history(history(15, CELLS, noise=0.08))
    assert {row.outcome for row in noisy.rows} == {GateOutcome.NOT_GATED}
    assert "could have been missed" in noisy.no_verdict_reason
    assert noisy.exit_code() == 5
    some = against_history(history(30, CELLS, noise=0.025))
    assert {row.outcome for row in some.rows} == {GateOutcome.INCONCLUSIVE}
    assert some.exit_code() == 0


@pytest.mark.parametrize("points", [6, 12, 40])
def test_a_step_of_the_reported_smallest_size_is_found(points: int) -> None:
    """LATER runs on, nearly always: the spread is that of few points."""
    seen = 0
    for seed in range(40):
        before = history(points, seed=seed, noise=0.02)
        visible = smallest_visible(judge(before)[0])
        slow = step_at(points, math.log1p(visible))
        after = judge(history(points + LATER, effect=slow, seed=seed, noise=0.02))[0]
        seen += any(change.is_nominated for change in after.changes)
    assert seen >= 32


def test_ratios_are_judged_as_ratios() -> None:
    result = against_history(history(15, CELLS, SLOW, reference="pinned"))
    [slower] = result.of(GateOutcome.NOMINATED)
    assert slower.name == "alpha/baseline/fillseq"


def test_short_histories_and_other_machines_are_not_a_base() -> None:
    young = against_history(history(5, CELLS))
    assert young.exit_code() == 5
    assert young.exit_code(allow_no_base=True) == 0
    assert "4 earlier runs" in young.no_verdict_reason
    entries = history(13, CELLS)
    moved = dataclasses.replace(entries[-1], machine={"logical_cpus": 64})
    found = gate_from_history(moved, entries[:-1], 0.05)
    assert found.exit_code(allow_no_base=True) == 5
    assert "machine" in found.no_verdict_reason


def test_a_run_without_any_rate_never_passes() -> None:
    entries = history(3, CELLS)
    cells = tuple(
        dataclasses.replace(cell, status="error", rate=None, n=0)
        for cell in entries[-1].cells
    )
    broken = dataclasses.replace(entries[-1], cells=cells)
    for before in (entries[:-1], []):
        result = gate_from_history(broken, before, 0.05)
        assert result.exit_code(allow_no_base=True) == 5


def test_a_cell_of_the_history_must_be_present_and_ok() -> None:
    entries = history(13, (*CELLS, CellName("beta", "x", "readseq")))
    cells = entries[-1].cells
    failed = dataclasses.replace(cells[1], status="wrong", rate=None, n=0)
    now = dataclasses.replace(entries[-1], cells=(cells[0], failed))
    result = gate_from_history(now, entries[:-1], 0.05)
    assert [r.name for r in result.of(GateOutcome.FAILED)] == ["alpha/baseline/readseq"]
    assert [r.name for r in result.of(GateOutcome.MISSING)] == ["beta/x/readseq"]
    assert result.exit_code() == 3


def test_a_vanished_cell_stays_missing_for_recent_runs() -> None:
    both = history(50, (*CELLS, CellName("beta", "x", "readseq")))

    def gone_from(start: int) -> Gate:
        without = [dataclasses.replace(e, cells=e.cells[:2]) for e in both[start:]]
        return against_history([*both[:start], *without])

    result = gone_from(50 - RECENT)
    assert [r.name for r in result.of(GateOutcome.MISSING)] == ["beta/x/readseq"]
    assert gone_from(50 - RECENT - 1).exit_code() == 0


def test_an_unfinished_run_does_not_pass() -> None:
    *older, new = history(13, CELLS)
    assert gate_from_history(new, older, 0.05, unfinished=True).exit_code() == 3


def test_a_cell_whose_settings_changed_is_reported() -> None:
    entries = history(13, CELLS)
    changed = dataclasses.replace(entries[-1].cells[0], settings_sha256="6" * 64)
    now = dataclasses.replace(entries[-1], cells=(changed, entries[-1].cells[1]))
    [row] = gate_from_history(now, entries[:-1], 0.05).of(GateOutcome.UNCOMPARED)
    assert row.alert
    assert "settings changed and it was gated before" in row.remark
    [young] = gate_from_history(now, entries[:4], 0.05).rows[:1]
    assert not young.alert


def test_a_new_cell_has_no_base_and_fails_nothing() -> None:
    entries = history(13, CELLS)
    extra = entry_cell(CellName("alpha", "x", "readseq"), 10.0)
    now = dataclasses.replace(entries[-1], cells=(*entries[-1].cells, extra))
    found = gate_from_history(now, entries[:-1], 0.05)
    [new] = found.of(GateOutcome.UNCOMPARED)
    assert "0 earlier runs; at least 5 are needed" in new.remark
    assert found.exit_code() == 0


@pytest.mark.parametrize("fact", ["kernel", "cpu_model", "mount_options"])
@pytest.mark.parametrize("first", [12, 8])
def test_the_history_of_an_updated_machine_is_still_a_base(
    fact: str, first: int
) -> None:
    """From the first night on, with the boundary shown."""
    entries = [
        dataclasses.replace(
            e,
            machine={**e.machine, "mount_options": "rw"}
            | ({fact: "9"} if i >= first else {}),
        )
        for i, e in enumerate(history(13, CELLS))
    ]
    result = against_history(entries)
    assert result.exit_code() == 0
    is_new_level = fact == "cpu_model" and first == 12
    assert bool(result.of(GateOutcome.INCONCLUSIVE)) is is_new_level
    [boundary] = result.notes
    assert fact in boundary and entries[first].run in boundary


def measured(shifts: dict[str, float], count: int = 15) -> list[HistoryEntry]:
    """Return a history in which measures of a cell change in the last two runs."""
    entries = []
    for i, e in enumerate(history(count, CELLS)):
        costs = {"cpu_ns_per_op": 900.0 * (1 + 0.004 * (i % 3)), "barriers": 25.0}
        costs |= {"written_bytes": 1e6, "write_calls": 0.0}
        costs |= {k: v for k, v in shifts.items() if i >= count - 2}
        measures = {k: MedianInterval(v, v, v) for k, v in costs.items()}
        first = dataclasses.replace(e.cells[0], measures=measures)
        entries.append(dataclasses.replace(e, cells=(first, *e.cells[1:])))
    return entries


@pytest.mark.parametrize(
    ("shifts", "outcome"),
    [
        ({}, None),
        ({"barriers": 28.0}, GateOutcome.NOMINATED),
        ({"written_bytes": 1.006e6}, GateOutcome.NOMINATED),
        ({"written_bytes": 1.004e6}, None),
        ({"written_bytes": 0.98e6}, GateOutcome.IMPROVED),
        ({"write_calls": 7.0}, GateOutcome.NOMINATED),
        ({"cpu_ns_per_op": 1050.0}, GateOutcome.NOMINATED),
        ({"cpu_ns_per_op": 930.0}, None),
    ],
)
def test_processor_time_and_counts_are_judged(
    shifts: dict[str, float], outcome: GateOutcome | None
) -> None:
    """A count by its own floor, processor time by the threshold of times."""
    result = against_history(measured(shifts))
    rows = [row for row in result.rows if row.kind in (Kind.COUNT, Kind.CPU)]
    assert len(rows) == 4
    found = {row.name.split(" ")[1]: row for row in rows}
    changed = result.of(GateOutcome.NOMINATED, GateOutcome.IMPROVED)
    assert [row.name.split(" ")[1] for row in changed] == (
        list(shifts) if outcome else []
    )
    assert all(found[name].outcome is outcome for name in shifts if outcome)
    assert result.exit_code() == (1 if outcome is GateOutcome.NOMINATED else 0)


def test_an_ab_run_decides_on_a_count_by_its_own_verdict() -> None:
    *older, new = measured({"barriers": 28.0})
    for verdict, outcome in (
        ("more", GateOutcome.REGRESSED),
        ("same", GateOutcome.UNCHANGED),
    ):
        run = decided(Verdict.UNCHANGED)
        cell = dataclasses.replace(run.cells[0], verdicts={"barriers": verdict})
        decisive = dataclasses.replace(run, cells=(cell,))
        rows = gate_from_history(new, [*older, new, decisive], 0.05).rows
        [row] = [row for row in rows if row.name.endswith("barriers")]
        assert row.outcome is outcome


def test_entries_without_counts_begin_no_history_of_them() -> None:
    """They are those of earlier versions: nothing is missing, and nothing judged."""
    new = measured({})[-1]
    before = history(15, CELLS)[:-1]
    result = gate_from_history(new, before, 0.05)
    assert {row.kind for row in result.rows} == {Kind.CELL}
    assert result.exit_code() == 0
