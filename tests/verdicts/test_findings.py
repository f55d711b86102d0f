"""Findings about work outside the timed loop, above and below their thresholds."""

from pathlib import Path
from typing import Any

import pytest

from report.terms.rulebook import BENCHMARKS
from report.trust.judge import load_run
from report.verdict import comparison
from report.verdict.eligibility import LEAST_TIMED_NS
from report.verdict.rate_findings import (
    MOST_OWED,
    findings,
    over_budget,
    own_bytes,
    reopen_ns,
)
from tests.builders import synthetic_records, synthetic_run
from tests.places import ROOT

pytestmark = pytest.mark.usefixtures("ranked_short_cells")

FRESH = BENCHMARKS["fillseq"]
FILLED = BENCHMARKS["overwrite"]
READS = BENCHMARKS["readseq"]
CELL = {"engine": "alpha", "scenario": "baseline", "benchmark": "fillseq"}
TIMED_NS = 250_000_000
LEAST_NS = 250_000_000


def line(timed_ns: int = TIMED_NS, **changes: Any) -> Any:
    """Return a line with this loop and flush."""
    record = synthetic_records.line(CELL, 1, 1000 * 1e9 / timed_ns, 0)
    assert record["loop_ns"] + record["flush_ns"] == timed_ns
    assert record["flush_ns"] > 0
    return record | changes


def texts_of(
    *lines: Any, benchmark: Any = FRESH, held_bytes: int = 0
) -> tuple[str, ...]:
    return findings(lines, benchmark, held_bytes=held_bytes)


def unsettled(timed_ns: int = TIMED_NS, **changes: Any) -> Any:
    """Return a line of an engine that has not claimed to be idle, and owes nothing."""
    return line(timed_ns, settle_ns=0, **changes)


def reopened(open_ns: int | None) -> Any:
    return {"audit": {"status": "ok", "open_ns": open_ns}}


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("close_ns", "closing took 8.10× the timed work"),
        ("open_ns", "opening a new database took 8.10× the timed work"),
    ],
)
def test_work_in_open_and_close_is_reported(key: str, text: str) -> None:
    assert texts_of(line(**{key: 2_025_000_000})) == (text,)
    assert texts_of(unsettled(**{key: TIMED_NS + 1})) != ()
    assert texts_of(unsettled(**{key: TIMED_NS})) == ()


@pytest.mark.parametrize("key", ["close_ns", "open_ns"])
def test_a_quarter_of_a_second_is_not_a_finding(key: str) -> None:
    assert texts_of(unsettled(1_000_000, **{key: LEAST_NS})) == ()
    assert texts_of(unsettled(1_000_000, **{key: LEAST_NS + 1})) != ()
    ten: dict[str, Any] = {"passes": [{}] * 10}
    assert texts_of(unsettled(1_000_000, **{key: 10 * LEAST_NS}, **ten)) == ()
    assert texts_of(unsettled(1_000_000, **{key: 10 * LEAST_NS + 1}, **ten)) != ()


def test_reopening_what_was_closed_is_reported() -> None:
    texts = ("reopening took 2.00× the timed work",)
    assert texts_of(line(**reopened(2 * TIMED_NS))) == texts
    assert texts_of(unsettled(**reopened(TIMED_NS))) == ()
    assert texts_of(line(**reopened(None))) == ()
    assert texts_of(line(audit=None)) == ()
    assert texts_of(unsettled(1_000_000, **reopened(LEAST_NS))) == ()


def test_reopening_may_replay_what_was_held_in_memory() -> None:
    for long in (
        line(live_bytes=1000, bytes=1000, **reopened(2 * TIMED_NS)),
        settled(live_bytes=10_000, bytes=10_000, **reopened(4 * OWED_NS)),
    ):
        assert texts_of(long, held_bytes=1999) != ()
        assert texts_of(long, held_bytes=2000) == ()


def test_reopening_after_a_kill_is_recovery_and_not_a_finding() -> None:
    killed = line(ending="killed", **reopened(2 * TIMED_NS))
    assert texts_of(killed) == ()
    assert reopen_ns([killed]) is None
    assert reopen_ns([line(**reopened(7))]) == 7


FINISHED_NS = 2 * LEAST_TIMED_NS
OWED_NS = round(MOST_OWED * FINISHED_NS)


def settled(finished_ns: int = FINISHED_NS, **changes: Any) -> Any:
    """Return a line of an engine that claims to be idle after this time."""
    idle: Any = {"open_ns": 0, "close_ns": 0, "audit": None}
    return line(settle_ns=finished_ns - TIMED_NS, **idle | changes)


@pytest.mark.parametrize("benchmark", [FRESH, FILLED])
def test_work_that_settling_leaves_is_reported(benchmark: Any) -> None:
    def texts(**changes: Any) -> tuple[str, ...]:
        return texts_of(settled(**changes), benchmark=benchmark)

    text = "owes work after settling: closing and reopening took 10 % of the time"
    assert texts(close_ns=2 * OWED_NS) == (f"{text} until then",)
    assert texts(**reopened(2 * OWED_NS)) == (f"{text} until then",)
    assert texts(close_ns=OWED_NS) == texts(**reopened(OWED_NS)) == ()
    assert texts(close_ns=OWED_NS, **reopened(1)) != ()
    assert texts(close_ns=OWED_NS + 1, **reopened(None)) != ()


def test_an_opening_that_is_as_long_as_the_one_before_owes_nothing() -> None:
    opened: Any = {"open_ns": OWED_NS}
    assert texts_of(settled(**opened, **reopened(2 * OWED_NS))) == ()
    assert texts_of(settled(**opened, **reopened(2 * OWED_NS + 1))) != ()
    assert texts_of(settled(**opened, close_ns=OWED_NS + 1, **reopened(0))) != ()


def test_less_than_the_shortest_ranked_work_counts_as_that() -> None:
    owed_ns = round(MOST_OWED * LEAST_TIMED_NS)
    assert texts_of(settled(TIMED_NS + 1, close_ns=owed_ns)) == ()
    assert texts_of(settled(TIMED_NS + 1, close_ns=owed_ns + 1)) != ()


def test_only_an_engine_that_has_claimed_to_be_idle_owes_work() -> None:
    owing = settled(close_ns=2 * OWED_NS)
    assert texts_of(owing) != ()
    assert texts_of(owing | {"settle_ns": 0}) == ()
    assert texts_of(owing | {"settle_ns": None}) == ()
    for benchmark in (READS, BENCHMARKS["readwhilewriting"], None):
        assert texts_of(owing, benchmark=benchmark) == ()


def test_work_is_owed_in_every_repetition_and_reported_once() -> None:
    owing = settled(close_ns=2 * OWED_NS)
    assert texts_of(owing, owing, settled()) == ()
    (text,) = texts_of(owing, settled(close_ns=4 * OWED_NS))
    assert "took 10 %" in text
    (text,) = texts_of(settled(close_ns=2 * FINISHED_NS))
    assert text == "closing took 8.00× the timed work"


@pytest.mark.parametrize("benchmark", [FILLED, READS, None])
def test_opening_a_prepared_database_may_take_long(benchmark: Any) -> None:
    slow = line(open_ns=8 * TIMED_NS, close_ns=8 * TIMED_NS)
    assert texts_of(slow, benchmark=benchmark) == ("closing took 8.00× the timed work",)


def test_waiting_for_keys_of_other_threads_is_reported() -> None:
    """The share is of the time of all threads."""
    loop_ns = line()["loop_ns"]
    threads: Any = {"ops_by_thread": [500, 500]}
    assert texts_of(line(**threads, claim_wait_ns=loop_ns // 50)) == ()
    waits = line(**threads, claim_wait_ns=loop_ns // 10)
    text = "threads waited 5.0% of the time for keys that others wrote"
    assert texts_of(waits) == (text,)
    assert texts_of(waits, line(**threads)) == ()


def test_a_promise_without_barriers_is_reported() -> None:
    few = line(promise="loses nothing acknowledged", barriers=3)
    text = "promises to lose nothing, with 3 barriers for 1,000 writes"
    assert texts_of(few) == (text,)
    assert texts_of(few, line()) == ()


def test_work_after_settling_is_reported() -> None:
    assert texts_of(line(idle_cpu_ns=2_000_000)) == ()
    text = "still works after settling: 2.30 ms of processor time in 10.0 ms"
    assert texts_of(line(idle_cpu_ns=2_300_000)) == (text,)
    assert texts_of(line(idle_cpu_ns=2_000_001)) != ()
    assert texts_of(line(idle_cpu_ns=None)) == ()
    least = line(idle_cpu_ns=2_500_000)
    assert "2.50 ms of" in texts_of(least, line(idle_cpu_ns=9_000_000))[0]


def test_work_that_begins_late_is_reported_by_a_long_watch() -> None:
    def watched(cpu_ns: int) -> Any:
        return line(idle_ns=500_000_000, idle_cpu_ns=cpu_ns)

    text = "still works after settling: 485 ms of processor time in 500 ms"
    assert texts_of(watched(485_000_000), line(), line()) == (text,)
    assert texts_of(watched(100_000_000), line()) == ()
    assert texts_of(watched(100_000_001), line()) != ()
    assert texts_of(watched(0), line(idle_cpu_ns=9_000_000)) != ()
    assert texts_of(watched(485_000_000), watched(0)) == ()


@pytest.mark.parametrize(
    ("key", "much"),
    [("close_ns", 9 * TIMED_NS), ("open_ns", 9 * TIMED_NS), ("idle_cpu_ns", 9 * 10**6)],
)
def test_a_finding_must_appear_in_every_repetition(key: str, much: int) -> None:
    slow = line(**{key: much})
    assert texts_of(slow, slow, line()) == ()
    assert len(texts_of(slow, slow, slow)) == 1


def test_the_least_of_the_repetitions_is_reported() -> None:
    lines = (line(close_ns=n * TIMED_NS) for n in (9, 3, 5))
    assert texts_of(*lines) == ("closing took 3.00× the timed work",)


def test_everything_is_reported() -> None:
    worst = line(open_ns=10**9, close_ns=10**9, idle_cpu_ns=10**7, **reopened(10**9))
    assert len(texts_of(worst)) == 4
    assert findings([], FRESH) == ()


MIB = 1 << 20
# 100 bytes of 116 are the value, half of which is random.
DUE_BYTES = round(MIB * 100 / 116 / 2)


def held(disk_bytes: int, live_bytes: int = MIB, **options: Any) -> Any:
    """Return a line of a database of this size."""
    sizes = {"key_size": 16, "value_size": 100, "compression_ratio": 0.5}
    return line(disk_bytes=disk_bytes, live_bytes=live_bytes, options=sizes | options)


def test_less_on_disk_than_can_be_compressed_is_reported() -> None:
    text = "only 4 KiB on disk for at least 441 KiB of incompressible data"
    assert texts_of(held(4096)) == (text,)
    assert texts_of(held(DUE_BYTES // 2 + 1)) == ()
    assert len(texts_of(held(DUE_BYTES // 2 - 1))) == 1
    assert texts_of(held(0)) != ()
    assert texts_of(held(4096, MIB - 1)) == (), "within a page or a log"
    assert texts_of(held(4096), held(4096), held(MIB)) == (), "in every repetition"
    assert texts_of(held(4096), held(4096, 0)) == ()


def test_the_compressibility_of_the_values_is_considered() -> None:
    disk_bytes = DUE_BYTES // 2 + 1
    assert texts_of(held(disk_bytes, compression_ratio=0.25)) == ()
    assert texts_of(held(disk_bytes, compression_ratio=1.0)) != ()
    assert texts_of(held(disk_bytes, value_size=1000)) != ()
    assert texts_of(held(4096, compression_ratio=0.0)) == ()
    older = line(disk_bytes=0, live_bytes=MIB, options={"num": 1000})
    assert texts_of(older) == (), "an older line"
    assert texts_of(line(disk_bytes=0, live_bytes=None)) == ()


def test_an_engine_that_stores_nothing_has_no_space_finding() -> None:
    assert findings([held(0)], FRESH, stores=False) == ()


def used(peak_bytes: int | None, watched_bytes: int | None = None) -> Any:
    """Return a line of a process with this much anonymous memory."""
    watch = {"peak_anonymous_rss_bytes": watched_bytes}
    return line(anonymous_rss_bytes=peak_bytes, watch=watch)


FLOOR = [used(2 * MIB)]
GIVEN_BYTES = 4 * MIB
ALLOWED_BYTES = 6 * MIB  # a quarter and 1 MiB more


def test_memory_that_was_not_given_and_can_hold_the_data_is_reported() -> None:
    def texts(*lines: Any, floor: Any = FLOOR, data: int = MIB) -> tuple[str, ...]:
        used_bytes = own_bytes(lines, floor)
        return over_budget(used_bytes, GIVEN_BYTES, data) if used_bytes else ()

    most = 2 * MIB + ALLOWED_BYTES
    text = "over its budget: 6.5 MiB of memory for 4 MiB of cache and buffers"
    assert texts(used(most + MIB // 2)) == (text,)
    assert texts(used(MIB, most + MIB // 2)) == (text,), "the peak counts"
    assert texts(used(most)) == ()
    assert texts(used(most + 1)) != ()
    assert texts(used(9 * most), used(most)) == (), "in every repetition"
    assert texts(used(most + 1), floor=[used(MIB), used(3 * MIB)]) == ()
    assert texts(used(9 * most), floor=()) == (), "without a floor"
    assert texts(used(9 * most), used(None)) == (), "unknown"
    assert texts(used(9 * most), floor=[used(None)]) == ()
    assert texts(used(14 * MIB), data=8 * MIB) != (), "8 MiB more hold it"
    assert texts(used(14 * MIB), data=8 * MIB + 1) == ()


def test_a_row_is_compared_with_its_floor(tmp_path: Path) -> None:
    plan = synthetic_run.plan()
    lines = synthetic_run.lines(plan)
    heavy = {("alpha", "fillrandsync"), ("floor", "fillseqsync")}
    for record in lines:
        if (record["engine"], record["benchmark"]) in heavy:
            record["anonymous_rss_bytes"] = 64 * MIB
    run = load_run(synthetic_run.write_run(tmp_path, plan, lines))
    rows = [(c, row) for c in comparison.compare(run).charts for row in c.all_rows]
    shown = {(row.engine.name, c.benchmark): row.findings for c, row in rows}
    (text,) = shown.pop(("alpha", "fillrandsync"))
    assert text.startswith("over its budget: 56 MiB of memory for ")
    assert set(shown.values()) == {()}


def timed(timed_ns: int, **changes: Any) -> Any:
    """Return a latency repetition of this time."""
    return line(timed_ns, **changes) | {"pass": "latency", "ending": "killed"}


def test_an_engine_that_is_faster_while_timed_is_reported() -> None:
    lines = [line(2 * TIMED_NS), line(3 * TIMED_NS)]
    texts = ("2.50× as fast while each call was timed",)
    assert findings(lines, FRESH, [timed(TIMED_NS * 4 // 5)]) == texts
    assert findings(lines, FRESH, [timed(TIMED_NS)]) == ()
    assert findings(lines, FRESH, [timed(TIMED_NS - 1000)]) != ()
    assert findings([line(LEAST_NS)], FRESH, [timed(LEAST_NS // 3)]) != ()
    short = [line(LEAST_NS - 1000)]
    assert findings(short, FRESH, [timed(LEAST_NS // 3)]) == ()


def test_other_work_and_another_pace_are_not_compared() -> None:
    lines = [line(4 * TIMED_NS)]
    assert findings(lines, FRESH, [timed(TIMED_NS)]) != ()
    assert findings(lines, FRESH, [timed(TIMED_NS, ops=250)]) == ()
    assert findings(lines, FRESH, [timed(TIMED_NS, open_loop={"late_starts": 0})]) == ()


@pytest.mark.parametrize(
    ("benchmark", "stores", "starts"),
    [
        ("fillrandsync", True, ["20× as fast while each call was timed"]),
        ("fillseqsync", True, ["only 1 B on disk for at least 441 KiB of inc"]),
        ("fillseqsync", False, []),
    ],
)
def test_a_row_shows_what_its_lines_show(
    tmp_path: Path, benchmark: str, stores: bool, starts: list[str]
) -> None:
    plan = synthetic_run.plan()
    plan["engines"][0]["describe"]["stores"] = stores
    lines = synthetic_run.lines(plan)
    for record in lines:
        if record["engine"] != "alpha" or record["benchmark"] != benchmark:
            continue
        if benchmark == "fillseqsync":
            ratio = {"compression_ratio": 0.5}
            record |= {"live_bytes": 1 << 20, "disk_bytes": 1}
            record |= {"options": record["options"] | ratio}
        elif record["pass"] == "latency":
            record |= {"flush_ns": record["flush_ns"] // 22}
            record |= synthetic_records.retimed(record, record["loop_ns"] // 22)
    run = load_run(synthetic_run.write_run(tmp_path, plan, lines))
    rows = [row for _, row in comparison.compare(run).ranked_rows if row.findings]
    shown = [text for row in rows for text in row.findings]
    assert len(shown) == len(starts)
    assert all(text.startswith(due) for text, due in zip(shown, starts, strict=True))


def test_a_finding_is_next_to_a_rate_and_removes_nothing(tmp_path: Path) -> None:
    plan = synthetic_run.plan()
    lines = synthetic_run.lines(plan)
    for record in lines:
        if record["engine"] == "alpha" and record["benchmark"] == "fillrandsync":
            record["close_ns"] *= 0 if record["pass"] == "latency" else 10**6
    run = load_run(synthetic_run.write_run(tmp_path, plan, lines))
    compared = comparison.compare(run)
    shown = [(r.engine.name, r.findings) for _, r in compared.ranked_rows if r.findings]
    assert shown == [("alpha", ("closing took 49× the timed work",))]
    assert {row.status for _, row in compared.ranked_rows} == {"ok"}
    assert compared.standings[0].won == compared.charts


def test_the_first_committed_run_has_no_finding() -> None:
    run = load_run(ROOT / "results/20261121-022802-leveldb-2011")
    charts = comparison.compare(run).charts
    rows = [row for chart in charts for row in (*chart.rows, *chart.unranked)]
    assert len([row for row in rows if row.summary]) == 83
    assert {row.findings for row in rows} == {()}
