"""The plan: units, order, seeds, cells that cannot run, and run.json and back."""

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from report.model.plan import repetition_seed
from report.model.plan_document import plan_document, plan_of
from report.terms.documents import validate
from scripts.planning.disk_room import (
    ENTRY_OVERHEAD_BYTES,
    PEAK_FACTOR,
    cell_bytes,
    database_bytes,
    needed_bytes,
)
from scripts.planning.order import (
    missing_repetitions,
    scheduled_repetitions,
)
from tests.builders.simple_plans import FLAGS, engine, line, plan


def test_every_cell_is_scheduled_once_per_repetition() -> None:
    run_plan = plan([engine("a"), engine("b")], repetitions=4)
    repetitions = Counter((u.repetition, i) for u in run_plan.order for i in u.cells)
    assert repetitions == {(r, i): 1 for r in range(1, 5) for i in range(8)}


def test_the_latency_repetition_is_a_round_of_its_own_after_the_others() -> None:
    run_plan = plan([engine("a"), engine("b")], repetitions=2, latency=True)
    rounds = [group.repetition for group in run_plan.order]
    assert rounds == sorted(rounds) and set(rounds) == {1, 2, 3}
    assert [run_plan.is_latency(r) for r in (1, 2, 3)] == [False, False, True]
    orders = [[u.cells for u in run_plan.order if u.repetition == r] for r in (1, 2, 3)]
    assert orders[2] not in orders[:2]


def test_a_rate_is_of_benchmarks_of_many_calls() -> None:
    flags: dict[str, Any] = {"a": {**FLAGS, "rate": 5.0}, "b": FLAGS}
    run_plan = plan([engine("a"), engine("b")], flags=flags, latency=True)
    paces = {str(cell): run_plan.pace(cell) for cell in run_plan.cells}
    assert paces["a/base/fillseq"] == paces["a/base/readrandom"] == {"rate": 5.0}
    assert paces["a/base/readseq"] == paces["b/base/fillseq"] == {}


def test_a_share_is_of_benchmarks_that_warm_up() -> None:
    shared = {**FLAGS, "warmup": 2.0, "rate_share": 0.5}
    cold = {**FLAGS, "rate_share": 0.5}
    flags: dict[str, Any] = {"a": shared, "b": cold}
    run_plan = plan([engine("a"), engine("b")], flags=flags, latency=True)
    paces = {str(cell): run_plan.pace(cell) for cell in run_plan.cells}
    assert paces["a/base/readrandom"] == {"rate_share": 0.5}
    assert paces["a/base/fillseq"] == paces["a/base/readseq"] == {}
    assert paces["b/base/readrandom"] == {}


def test_reads_of_one_engine_share_a_unit_and_writes_stand_alone() -> None:
    run_plan = plan([engine("a"), engine("b")], repetitions=1)
    for group in run_plan.order:
        cells = [run_plan.cells[i] for i in group.cells]
        assert len({c.engine for c in cells}) == 1
        reads = [c.benchmark.startswith("read") for c in cells]
        assert reads in ([True, True], [False])


def test_reads_under_other_flags_do_not_share_a_database() -> None:
    flags = {"a": FLAGS, "b": {**FLAGS, "cache_size": 1}}
    run_plan = plan([engine("a"), engine("b")], flags=flags, repetitions=1)
    assert len(run_plan.order) == 6


def test_the_engines_of_a_chart_follow_each_other_in_every_round() -> None:
    """Only the reads come together, because they share databases."""
    run_plan = plan([engine(name) for name in "abcd"], repetitions=3)
    for repetition in (1, 2, 3):
        benchmarks = [
            {run_plan.cells[i].benchmark for i in unit.cells}
            for unit in run_plan.order
            if unit.repetition == repetition
        ]
        blocks = [benchmarks[i] for i in range(0, len(benchmarks), 4)]
        assert benchmarks == [block for block in blocks for _ in range(4)]
        assert sorted(map(len, blocks)) == [1, 1, 2]


def test_charts_of_engines_that_share_differently_are_in_one_block() -> None:
    """One engine reads both charts from one database, the other cannot do one."""
    engines = [engine("a"), engine("b", unsupported={"readseq": "no order"})]
    run_plan = plan(engines, repetitions=1)
    names = [
        {run_plan.cells[i].benchmark.startswith("read") for i in unit.cells}
        for unit in run_plan.order[1:]
    ]
    reads = [i for i, name in enumerate(names) if name == {True}]
    assert len(reads) == 2
    assert reads[1] == reads[0] + 1


def test_the_order_is_decided_by_the_seed() -> None:
    engines = [engine(name) for name in "abcd"]
    orders = [plan(engines, seed=seed).order for seed in (5, 5, 6)]
    assert orders[0] == orders[1] != orders[2]


def test_each_repetition_has_an_order_of_its_own_over_all_engines() -> None:
    run_plan = plan([engine(name) for name in "abcd"], repetitions=3)
    orders = []
    for repetition in (1, 2, 3):
        units = [u for u in run_plan.order if u.repetition == repetition]
        orders.append([run_plan.cells[u.cells[0]].engine for u in units])
        assert orders[-1] != sorted(orders[-1])
    assert orders[0] != orders[1] != orders[2]


def test_the_seed_of_a_repetition_never_changes_meaning() -> None:
    assert repetition_seed(301, 1) == 1_688_499_109
    assert len({repetition_seed(301, r) for r in range(1, 1000)}) == 999
    assert all(0 < repetition_seed(s, 1) < 2**31 for s in range(1000))


def test_cells_that_cannot_run_come_first_and_once() -> None:
    engines = [engine("a", unsupported={"readseq": "no order"}), engine("b", "gone")]
    run_plan = plan(engines, exclude={"b": "not this one"}, repetitions=3)
    obstacles = {str(c): run_plan.obstacle(c) for c in run_plan.cells}
    assert obstacles["a/base/readseq"] == ("unsupported", "no order")
    assert obstacles["b/base/fillseq"] == ("excluded", "not this one")
    first, *others = run_plan.order
    assert {run_plan.obstacle(run_plan.cells[i]) is None for i in first.cells} == {
        False
    }
    assert all(
        run_plan.obstacle(run_plan.cells[i]) is None for u in others for i in u.cells
    )


def test_a_missing_engine_and_an_unknown_benchmark_are_named() -> None:
    run_plan = plan([engine("a"), engine("b", "not built")], benchmarks=("fillnew",))
    assert run_plan.obstacle(run_plan.cells[1]) == ("missing", "not built")
    status, reason = run_plan.obstacle(run_plan.cells[0]) or ("", "")
    assert status == "unsupported" and "does not have" in reason


def test_run_json_passes_its_schema_and_reads_back_the_same() -> None:
    twin = replace(engine("a"), name="a-control", role="control", twin_of="a")
    run_plan = plan([engine("a"), engine("b", "gone"), twin], latency=True)
    document = json.loads(json.dumps(plan_document(run_plan)))
    validate(document, "run", "run.json")
    assert plan_of(document, Path()) == run_plan


def test_missing_repetitions_keep_the_order_and_their_numbers() -> None:
    run_plan = plan([engine("a")], repetitions=2)
    everything = [
        scheduled
        for _, repetitions in scheduled_repetitions(run_plan)
        for scheduled in repetitions
    ]
    done = [line(run_plan.cells[t.index], t.repetition) for t in everything[:3]]
    missing = [
        scheduled
        for _, repetitions in missing_repetitions(run_plan, done)
        for scheduled in repetitions
    ]
    assert missing == everything[3:]


@pytest.mark.parametrize(
    ("lines", "attempts"),
    [
        ([{"marks": ["m"]}], [2, 1]),
        ([{"marks": ["m"]}, {"attempt": 2}], [1]),
        ([{"marks": ["m"]}, {"attempt": 2, "marks": ["m"]}], [3, 1]),
        ([{"marks": ["m"], "attempt": a} for a in (1, 2, 3)], [1]),
        ([{"marks": ["m"], "status": "error"}], [1]),
        ([{"marks": []}], [1]),
    ],
)
def test_a_disturbed_repetition_continues_with_its_next_attempt(
    lines: list[dict[str, Any]], attempts: list[int]
) -> None:
    run_plan = plan([engine("a")], benchmarks=("fillseq",), repetitions=2)
    done = [line(run_plan.cells[0], **changed) for changed in lines]
    missing = [
        scheduled
        for _, repetitions in missing_repetitions(run_plan, done)
        for scheduled in repetitions
    ]
    assert [scheduled.attempt for scheduled in missing] == attempts


def test_unsupported_once_is_settled_for_all_repetitions() -> None:
    run_plan = plan([engine("a")], repetitions=3)
    cell = run_plan.cells[2]
    missing = missing_repetitions(run_plan, [line(cell, 1, None, "unsupported")])
    assert all(
        run_plan.cells[t.index] != cell
        for _, repetitions in missing
        for t in repetitions
    )
    missing = missing_repetitions(run_plan, [line(cell, 1, None, "error")])
    again = [
        t
        for _, repetitions in missing
        for t in repetitions
        if run_plan.cells[t.index] == cell
    ]
    assert len(again) == 2


@pytest.mark.parametrize(
    ("benchmark", "entries", "value_size", "databases"),
    [
        ("fillseq", 1000, 100, 1),
        ("readseq", 1000, 100, 2),
        ("fill100K", 10, 100_000, 1),
    ],
)
def test_the_disk_of_a_cell_is_its_entries_and_the_prepared_copy(
    benchmark: str, entries: int, value_size: int, databases: int
) -> None:
    run_plan = plan([engine("a")], benchmarks=(benchmark,))
    entry_bytes = 16 + value_size + ENTRY_OVERHEAD_BYTES
    size = PEAK_FACTOR * databases * entries * entry_bytes
    assert cell_bytes(run_plan, 0) == size < needed_bytes(run_plan)


def test_entries_of_a_few_bytes_need_more_than_three_times_their_size() -> None:
    flags = {**FLAGS, "key_size": 8, "value_size": 4}
    assert database_bytes(flags, 300_000, 0) > 30.2e6  # measured with SQLite
