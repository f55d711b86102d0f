"""Cells that are not ranked: too short, too small, or of different work."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from report.model.plan import CellName
from report.model.run import Cell, Measurement
from report.terms.rulebook import BENCHMARKS
from report.trust.judge import load_run
from report.verdict import comparison, eligibility
from report.words import remarks as told
from report.words import sentences
from tests.builders import synthetic_records, synthetic_run

NAME = CellName("alpha", "baseline", "readrandom")
LONG_NS = 500_000_000
CACHE: Any = {"cache_size": 1 << 20, "key_size": 16, "value_size": 100, "num": 100}


def cell_of(timed_ns: int = LONG_NS, **changed: Any) -> Cell:
    """Return a cell of two repetitions of this length, with 2 MiB of entries."""
    more = {"live_bytes": 2 << 20, **changed}
    rate = synthetic_records.OPS * 1e9 / timed_ns
    lines = [synthetic_records.line(asdict(NAME), n, rate, **more) for n in (1, 2)]
    return Cell(NAME, tuple(map(Measurement.of, lines)))


def why(cell: Cell, benchmark: str = "readrandom", **flags: Any) -> str:
    return eligibility.obstacle(cell, BENCHMARKS[benchmark], {**CACHE, **flags})


def test_half_a_second_of_timed_work_is_enough() -> None:
    assert why(cell_of()) == ""
    assert why(cell_of(LONG_NS - 1)) == "only 500 ms of timed work"
    assert why(cell_of(14_000_000)) == "only 14.0 ms of timed work"


@pytest.mark.parametrize(("requests", "enough"), [(499, False), (500, True)])
def test_many_requests_to_a_disk_of_its_own_are_enough(
    requests: int, enough: bool
) -> None:
    """However fast that disk answers them."""
    loop = dict.fromkeys(("reads", "writes", "flushes"), 0)
    loop |= {"reads": requests, "read_bytes": requests << 17, "written_bytes": 0}
    short = cell_of(LONG_NS // 2, device={"loop": loop, "settle": None})
    assert (why(short) == "") is enough


@pytest.mark.parametrize(("live", "ranked"), [(1 << 20, False), (1 << 20 | 1, True)])
def test_data_must_exceed_cache_and_buffers(live: int, ranked: bool) -> None:
    text = "" if ranked else "only 1 MiB of data for 1 MiB of cache and buffers"
    assert why(cell_of(live_bytes=live)) == text
    halves: Any = {"cache_size": 1 << 19, "write_buffer_size": 1 << 19}
    assert why(cell_of(live_bytes=live), **halves) == text


def test_a_chart_that_compares_memory_is_judged_although_the_data_fit() -> None:
    cell = cell_of(live_bytes=1 << 20)
    assert eligibility.obstacle(cell, BENCHMARKS["readrandom"], CACHE, True) == ""
    short = cell_of(LONG_NS - 1, live_bytes=1 << 20)
    assert eligibility.obstacle(short, BENCHMARKS["readrandom"], CACHE, True) != ""


def test_the_cache_is_the_one_in_force() -> None:
    """A scenario may leave its size to the executable."""
    cell = cell_of(live_bytes=1 << 20, options={"cache_size_bytes": 2 << 20})
    text = "only 1 MiB of data for 2 MiB of cache and buffers"
    assert why(cell, cache_size=0) == why(cell, cache_size=4 << 20) == text


def test_data_are_what_was_written_or_what_is_there() -> None:
    """An overwritten key leaves one entry; after deletes nothing is left."""
    small = cell_of(live_bytes=1000, bytes=2 << 20)
    assert why(small, "overwrite") == ""
    assert why(small, "readrandom") != ""
    assert why(cell_of(live_bytes=0, bytes=0), "deleteseq") != ""
    assert why(cell_of(live_bytes=0, bytes=0), "deleteseq", num=10_000) == ""
    assert why(cell_of(live_bytes=None)) == ""


def test_writes_that_go_to_the_device_need_no_more_data_than_a_cache_holds() -> None:
    little = cell_of(live_bytes=1000, bytes=1000)
    assert why(little, "fillrandom") != ""
    assert why(little, "fillrandsync") == ""
    assert why(little, "fillrandom", durability="consistent") != ""  # few may wait


def test_a_chart_in_which_one_cell_is_too_short_ranks_nobody(tmp_path: Path) -> None:
    """Otherwise the fastest engine would be the one that is left out."""
    flags = {**synthetic_run.FLAGS, "cache_size": 1000}
    rates = ("baseline", "Baseline", {"readrandom": 1000.0})
    plan = synthetic_run.plan(synthetic_run.ENGINES[:2], [rates], flags=flags)
    speeds = {"alpha": 4000.0, "beta-tree": 1000.0}
    lines = synthetic_run.lines_of(
        plan,
        lambda cell, n: synthetic_records.line(cell, n, speeds[cell["engine"]] + n),
    )
    run = load_run(synthetic_run.write_run(tmp_path, plan, lines))
    (chart,) = comparison.compare(run).charts
    assert not chart.accepted
    assert [row.unranked for row in chart.rows] == [
        "only 250 ms of timed work",
        "Alpha has only 250 ms of timed work",
    ]
    assert all(row.summary and row.off_best is None for row in chart.rows)
    sentence = ": none with a winner, 1 in which nobody is ranked."
    assert sentence in sentences.verdict_rest(comparison.compare(run))


@pytest.mark.parametrize(("speed", "ranked"), [(900.0, True), (1900.0, False)])
def test_a_cell_with_too_large_a_cache_is_missed_only_if_it_is_the_fastest(
    tmp_path: Path, speed: float, ranked: bool
) -> None:
    """Beta has a cache that holds all of its data."""
    flags = {**synthetic_run.FLAGS, "cache_size": 1000}
    rates = ("baseline", "Baseline", {"readrandom": 1000.0})
    engines = synthetic_run.ENGINES[:3]
    plan = synthetic_run.plan(engines, [rates], flags=flags)
    of_engines = plan["scenarios"][0]["flags"]
    of_engines["beta-tree"] = {**of_engines["beta-tree"], "cache_size": 1 << 30}
    speeds = {"alpha": 1500.0, "beta-tree": speed, "gamma": 1000.0}
    lines = synthetic_run.lines_of(
        plan,
        lambda cell, n: synthetic_records.line(cell, n, speeds[cell["engine"]] + n),
    )
    run = load_run(synthetic_run.write_run(tmp_path, plan, lines))
    (chart,) = comparison.compare(run).charts
    assert bool(chart.accepted) == ranked
    assert chart.rows[1].unranked and chart.rows[1].off_best is None
    if ranked:
        assert [*chart.accepted[0].medians_ns] == ["alpha", "gamma"]


def test_a_fill_that_the_time_limit_ended_is_not_ranked(tmp_path: Path) -> None:
    """Gamma was stopped in this scenario; what it wrote says nothing of the rest."""
    run = load_run(synthetic_run.write_varied(tmp_path))
    reason = "only 1,000 of 5,000 entries"
    stopped = CellName("gamma", "sync", "fillseqsync")
    assert eligibility.unranked(run, "sync", "fillseqsync")["gamma"] == reason
    (cell,) = (cell for cell in run.cells.values() if cell.name == stopped)
    assert why(cell, "overwrite", cache_size=0) != reason


@pytest.mark.parametrize(("writes", "ranked"), [(109, True), (111, False), (5, False)])
def test_writers_next_to_readers_must_do_the_same_work(
    tmp_path: Path, writes: int, ranked: bool
) -> None:
    flags = {**synthetic_run.FLAGS, "cache_size": 1000}
    rates = ("baseline", "Baseline", {"readwhilewriting": 1000.0})
    plan = synthetic_run.plan(synthetic_run.ENGINES[:2], [rates], flags=flags)
    plan["suite"]["latency_repetitions"] = 0
    per_engine = {"alpha": writes, "beta-tree": 100}
    lines = synthetic_run.lines_of(
        plan,
        lambda cell, n: synthetic_records.with_writer(
            synthetic_records.line(cell, n, 1000.0 + n), per_engine[cell["engine"]]
        ),
    )
    run = load_run(synthetic_run.write_run(tmp_path, plan, lines))
    (chart,) = comparison.compare(run).charts
    assert bool(chart.accepted) is ranked
    assert all(
        row.summary and (row.off_best is not None) is ranked for row in chart.rows
    )
    reason = "the writers next to the readers did different work"
    texts = [told.notes(row) for row in chart.rows]
    assert all((f"not ranked: {reason}" in text) is not ranked for text in texts)
    if not ranked:
        assert sentences.chart_verdict(chart) == f"No engine is ranked: {reason}"


FLOOR_NS = 100_000
CHEAP = "cheaper than the disk: a durable write in {}, a sync in 100 µs"


def durable_cell(
    benchmark: str, *commit_ns: float, floor_ns: int | None = FLOOR_NS, **changed: Any
) -> Cell:
    """Return a cell with a line for each time per operation."""
    name = CellName("alpha", "baseline", benchmark)
    flags = {"sync": True, **changed.pop("options", {})}
    lines = [
        synthetic_records.line(asdict(name), n, options=flags)
        | {"loop_ns": round(ns * synthetic_records.OPS), "sync_floor_ns": floor_ns}
        | changed
        for n, ns in enumerate(commit_ns, 1)
    ]
    return Cell(name, tuple(map(Measurement.of, lines)))


def cheap(cell: Cell) -> str:
    benchmark = BENCHMARKS[cell.name.benchmark]
    return eligibility.cheaper_than_disk(cell, benchmark, FLOOR_NS)


def test_a_durable_write_needs_half_of_the_time_of_a_sync_at_least() -> None:
    assert cheap(durable_cell("fillrandsync", 50_000)) == ""
    text = CHEAP.format("49.9 µs")
    assert cheap(durable_cell("fillrandsync", 49_900)) == text


def test_the_median_decides_whether_writes_are_cheap() -> None:
    """As it decides the rate: one honest repetition does not make up for two."""
    assert cheap(durable_cell("fillrandsync", 1_000, 50_000, 50_000)) == ""
    text = CHEAP.format("2.00 µs")
    assert cheap(durable_cell("fillrandsync", 1_000, 2_000, 50_000)) == text


def test_a_batch_is_one_commit() -> None:
    batch = {"batch_size": 100}
    assert cheap(durable_cell("fillrandom", 500, options=batch)) == ""
    assert cheap(durable_cell("fillrandom", 499, options=batch)) != ""


def test_threads_may_share_a_sync() -> None:
    """Four threads: each waits 50 us, and together they need 12.5 us per write."""
    four = {"threads": 4}
    assert cheap(durable_cell("fillrandom", 12_500, options=four)) == ""
    assert cheap(durable_cell("fillrandom", 12_400, options=four)) != ""


def test_reads_of_a_mix_need_no_sync() -> None:
    """Of a thousand operations a tenth writes: 5 us per operation are 50 us a write."""
    mixed: Any = {"ops_by_type": {"read": 900, "update": 100}}
    assert cheap(durable_cell("ycsba", 5_000, **mixed)) == ""
    assert cheap(durable_cell("ycsba", 4_900, **mixed)) != ""
    only_reads: Any = {"ops_by_type": {"read": 1000, "update": 0}}
    assert cheap(durable_cell("ycsba", 1, **only_reads)) == ""
    deletes: Any = {"ops_by_type": {"read": 0, "delete": 1000}}
    assert cheap(durable_cell("mix", 1, **deletes)) == ""


def test_writes_next_to_readers_are_not_judged_by_the_rate_of_the_readers() -> None:
    assert cheap(durable_cell("readwhilewriting", 1_000)) == ""


def test_without_the_cost_of_a_sync_nothing_is_cheap() -> None:
    assert cheap(durable_cell("fillrandsync", 1, floor_ns=None)) == ""
    assert cheap(durable_cell("fillrandsync", 1, floor_ns=0)) == ""
    old = durable_cell("fillrandsync", 1)
    for m in old.repetitions:
        del m.record["sync_floor_ns"]
    assert cheap(old) == ""


def synchronous(
    tmp_path: Path, barriers: Sequence[int] = (synthetic_records.OPS,), **floors_ns: int
) -> comparison.Chart:
    """Return a chart of three engines: 500 us, 950 us and 1.9 ms for each write.

    `barriers` are those of alpha, which is the fastest: in each repetition, or in all.
    """
    flags = {**synthetic_run.FLAGS, "cache_size": 1000}
    rates = ("baseline", "Baseline", {"fillrandsync": 1000.0})
    plan = synthetic_run.plan(synthetic_run.ENGINES[:3], [rates], flags=flags)
    speeds = {"alpha": 1900.0, "beta-tree": 1000.0, "gamma": 500.0}

    def line(cell: Any, n: int) -> Any:
        measured = synthetic_records.line(cell, n, speeds[cell["engine"]] + n)
        if floor_ns := floors_ns.get(cell["engine"].replace("-", "_"), 1_100_000):
            measured["sync_floor_ns"] = floor_ns
        promise = {"promise": "loses nothing acknowledged"}
        count = barriers[(n - 1) % len(barriers)]
        is_alpha = cell["engine"] == "alpha"
        kept = {"barriers": count if is_alpha else synthetic_records.OPS}
        return measured | promise | kept

    lines = synthetic_run.lines_of(plan, line)
    run = load_run(synthetic_run.write_run(tmp_path, plan, lines))
    (chart,) = comparison.compare(run).charts
    return chart


def test_an_engine_that_is_cheaper_than_the_disk_has_no_rank(tmp_path: Path) -> None:
    chart = synchronous(tmp_path)
    alpha, *others = sorted(chart.rows, key=lambda row: row.engine.name)
    assert alpha.unranked.startswith("cheaper than the disk: a durable write in 499 ")
    assert alpha.unranked.endswith(", a sync in 1.10 ms")
    assert not alpha.lead(alpha.accepted) and alpha.off_best is None
    assert [row.unranked for row in others] == ["", ""]
    assert [ranking.winner for ranking in chart.accepted] == ["beta-tree"]
    assert f"not ranked: {alpha.unranked}" in told.notes(alpha)


def test_the_quickest_sync_of_a_chart_is_the_floor_of_all(tmp_path: Path) -> None:
    """After the repetitions of alpha, the disk was busy."""
    chart = synchronous(tmp_path, alpha=9_000_000, gamma=900_000)
    assert [row.unranked for row in chart.rows] == ["", "", ""]


def test_an_engine_without_a_floor_of_its_own_is_not_judged(tmp_path: Path) -> None:
    chart = synchronous(tmp_path, alpha=0)
    assert [row.unranked for row in chart.rows] == ["", "", ""]


def test_an_engine_with_fewer_barriers_than_durable_writes_has_no_rank(
    tmp_path: Path,
) -> None:
    """A floor of 900 us leaves room for one commit in two without its sync."""
    chart = synchronous(tmp_path, [synthetic_records.OPS // 2], gamma=900_000)
    alpha, *others = sorted(chart.rows, key=lambda row: row.engine.name)
    text = "promises to lose nothing, with 500 barriers for 1,000 writes"
    assert alpha.unranked == text
    assert text in alpha.findings
    assert [row.unranked for row in others] == ["", ""]
    assert [ranking.winner for ranking in chart.accepted] == ["beta-tree"]


@pytest.mark.parametrize("barriers", [(0, 0, 1000), (1000, 1000, 0)])
def test_a_repetition_with_enough_barriers_does_not_make_up_for_another(
    tmp_path: Path, barriers: tuple[int, ...]
) -> None:
    """It has no rank, though the finding is of what happens every time."""
    chart = synchronous(tmp_path, barriers, gamma=900_000)
    alpha = next(row for row in chart.rows if row.engine.name == "alpha")
    assert "with 0 barriers for 1,000 writes" in alpha.unranked
    assert alpha.findings == ()
    assert [ranking.winner for ranking in chart.accepted] == ["beta-tree"]


def promising(barriers: int | None, **changed: Any) -> Any:
    """Return a line of 1,000 operations of which none may be lost."""
    record = synthetic_records.line(asdict(CellName("a", "b", "fillseq")), 1)
    options = {**record["options"], **changed.pop("options", {})}
    promise = {"promise": "loses nothing acknowledged", "barriers": barriers}
    return {**record, **promise, "options": options, **changed}


def few(line: Any, benchmark: str = "fillseq") -> str:
    return eligibility.too_few_barriers(line, BENCHMARKS[benchmark])


def test_each_durable_write_needs_a_barrier() -> None:
    text = "promises to lose nothing, with {} barriers for 1,000 writes"
    for too_few in (0, 334, 500, 999):
        assert few(promising(too_few)) == text.format(too_few)
    assert few(promising(1000)) == ""
    assert few(promising(None)) == "", "unknown"
    assert few(promising(3, promise="may lose the newest")) == ""
    assert few(promising(3), benchmark="readseq") == ""


def test_a_barrier_can_serve_a_batch_and_one_write_of_each_thread() -> None:
    batch: Any = {"options": {"batch_size": 100}}
    assert few(promising(10, **batch)) == ""
    assert few(promising(9, **batch)) != ""
    four: Any = {"options": {"threads": 4}}
    assert few(promising(250, **four)) == ""
    assert few(promising(249, **four)) != ""


def test_each_write_of_a_mix_needs_a_barrier() -> None:
    """Its deletes may be of absent keys, which leave nothing to write."""
    types: Any = {"ops_by_type": {"read": 600, "update": 300, "delete": 100}}
    assert few(promising(300, **types), benchmark="mix") == ""
    text = "promises to lose nothing, with 299 barriers for 300 writes"
    assert few(promising(299, **types), benchmark="mix") == text


def test_each_delete_that_removes_an_entry_needs_a_barrier() -> None:
    """Of 1,000 entries of 116 bytes, some are left."""
    sizes = {"num": 1000, "key_size": 16, "value_size": 100}
    for left in (0, 368):
        gone: Any = {"live_bytes": left * 116, "options": sizes}
        assert few(promising(1000 - left, **gone), benchmark="deleterandom") == ""
        assert few(promising(999 - left, **gone), benchmark="deleterandom") != ""
    drawn: Any = {"options": {**sizes, "value_size_distribution_type": "uniform"}}
    assert few(promising(0, live_bytes=0, **drawn), benchmark="deleterandom") == ""
