"""Figures of one line that cannot all be true."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from report import consistency
from tests import records
from tests.places import ROOT

Line = dict[str, Any]
WRITE = {"engine": "alpha", "scenario": "sync", "benchmark": "fillseqsync"}
READ = {"engine": "alpha", "scenario": "baseline", "benchmark": "readseq"}
STALL_NS = 300_000_000


def throughput(cell: dict[str, str] = WRITE) -> Line:
    """Ten seconds of a thousand operations."""
    return records.line(cell, 1, 100.0, 0)


def latency(cell: dict[str, str] = READ) -> Line:
    return records.latency_of(throughput(cell), 4)


def fault(line: Line) -> str:
    writes = line["benchmark"].startswith("fill")
    return consistency.fault(line, {"kind": "write" if writes else "read"})


@pytest.mark.parametrize(
    "line",
    [
        throughput(),
        throughput(READ),
        latency(),
        latency(WRITE),
        records.with_stall(throughput(), 10**9, STALL_NS),
        records.open_loop(latency(), saturated=False),
        records.open_loop(latency(), saturated=True),
        records.retimed({**throughput(), "planned_ops": 1}, 10**9, 1),
    ],
)
def test_an_honest_line_has_no_fault(line: Line) -> None:
    assert fault(line) == ""


def moved(at: int, point: list[int]) -> Callable[[Line], None]:
    """Puts another point into the timeline."""

    def change(line: Line) -> None:
        line["timeline"][at] = point

    return change


def changed(**values: Any) -> Callable[[Line], None]:
    return lambda line: line.update(values)


def histogram(**values: Any) -> Callable[[Line], None]:
    return lambda line: line["latency_ns"].update(values)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (moved(4, [1, 50]), "stands still or goes back"),
        (moved(4, [475_000_000, 40]), "stands still or goes back"),
        (moved(4, [475_000_000, 39]), "stands still or goes back"),
        (moved(-1, [9_499_999_999, 1000]), "its timeline ends at 9,499,999,999 ns"),
        (moved(-1, [9_500_000_000, 999]), "its timeline ends at"),
        (changed(timeline=[]), "no timeline"),
        (changed(ending="killed"), "killed in a throughput repetition"),
        (changed(peak_disk_bytes=131071), "less on disk at its peak"),
        (changed(stall_count=1), "0 stalls listed of 1"),
        (changed(stalled_ns=1), "1 ns of stalls, 0 ns listed"),
    ],
)
def test_a_throughput_line_that_contradicts_itself(
    change: Callable[[Line], None], told: str
) -> None:
    line = json.loads(json.dumps(throughput()))
    change(line)
    assert told in fault(line)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"stalled_ns": STALL_NS - 1}, "ns listed"),
        ({"stalled_ns": STALL_NS + 1}, "ns listed"),
        ({"stalls": [], "stall_count": 0}, "0 ns listed"),
        ({"stalls": [{"at_ns": 0, "lasted_ns": 99_999_999}]}, "ns listed"),
        (
            {
                "stalls": [{"at_ns": 0, "lasted_ns": 99_999_999}],
                "stalled_ns": 99_999_999,
            },
            "a stall of 99,999,999 ns, which is none",
        ),
        (
            {"stalls": [{"at_ns": 9_200_000_001, "lasted_ns": STALL_NS}]},
            "beyond the end",
        ),
        (
            {
                "stalls": [{"at_ns": 0, "lasted_ns": 9_500_000_001}],
                "stalled_ns": 9_500_000_001,
            },
            "stalled longer than its loop",
        ),
    ],
)
def test_stalls_that_cannot_have_been(changes: Line, told: str) -> None:
    line = records.with_stall(throughput(), 10**9, STALL_NS)
    assert told in fault({**line, **changes})


def test_a_hundred_stalls_are_listed_and_all_are_counted() -> None:
    stalls = [{"at_ns": i * 90_000_000, "lasted_ns": 10**8} for i in range(100)]
    line = throughput() | {"stalls": stalls, "stall_count": 101}
    assert "ns listed" in fault({**line, "stalled_ns": 10**10 // 2})
    assert "longer than its loop" in fault({**line, "stalled_ns": 10**10})
    line = records.retimed(line, 11 * 10**9)
    assert fault({**line, "stalled_ns": 10**10 + 10**8}) == ""
    assert "100 stalls listed of 99" in fault({**line, "stall_count": 99})


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (changed(latency_ns=None), "no latencies"),
        (histogram(count=999), "999 latencies of 1,000 operations"),
        (histogram(count=1001), "1,001 latencies of 1,000 operations"),
        (histogram(sum=11_110_000_001), "ns in calls, in a loop of 11,000,000,000"),
        (histogram(min=1), "a least latency of 1 ns"),
        (histogram(min=10**7), "a least latency of 10,000,000 ns"),
        (histogram(max=10**7), "a largest latency"),
        (histogram(max=2 * 10**8), "a largest latency"),
        (histogram(sum=10_830_000_000), "a sum of 10,830,000,000 ns"),
        (histogram(sum=8_799_998_999), "a sum of 8,799,998,999 ns"),
        (histogram(buckets=[[8781824, 1000]]), "a largest latency"),
        (lambda m: m["latency_ns"]["buckets"].reverse(), "buckets out of order"),
        (lambda m: m["latency_ns"]["buckets"][0].__setitem__(1, 899), "another number"),
        (changed(service_ns=records.latencies(10**9, 1000)), "no open loop"),
    ],
)
def test_a_histogram_that_contradicts_its_line(
    change: Callable[[Line], None], told: str
) -> None:
    line = json.loads(json.dumps(latency()))
    change(line)
    assert told in fault(line)


# The first bucket is from 8,781,824 on, the last from 131,596,288 on.
@pytest.mark.parametrize(
    ("figures", "is_sound"),
    [
        ({"min": 8_847_359, "sum": 10_780_000_000}, True),
        ({"min": 8_847_360}, False),
        ({"min": 8_716_288}, True),
        ({"min": 8_716_287}, False),
        ({"max": 131_596_288}, True),
        ({"max": 131_596_287}, False),
        ({"max": 132_644_863}, True),
        ({"max": 132_644_864}, False),
        ({"sum": 10_805_890_570}, True),
        ({"sum": 10_805_890_571}, False),
        ({"sum": 10_705_496_600}, True),
        ({"sum": 10_705_496_599}, False),
    ],
)
def test_exact_figures_may_round_into_the_next_bucket(
    figures: dict[str, int], is_sound: bool
) -> None:
    line = latency()
    line["latency_ns"] = {**line["latency_ns"], **figures}
    assert (fault(line) == "") == is_sound


@pytest.mark.parametrize(("batch", "told"), [(99, "10 latencies of 1,000"), (100, "")])
def test_a_batch_is_one_latency(batch: int, told: str) -> None:
    line = latency(WRITE)
    line |= {"latency_ns": records.latencies(line["loop_ns"], 10)}
    assert told in fault(line | {"options": {"num": 1000, "batch_size": batch}})


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"ending": "closed"}, "closed, where it was to be killed"),
        ({"settle_ns": 1}, "settled or closed after it was killed"),
        ({"close_ns": 1}, "settled or closed after it was killed"),
    ],
)
def test_a_writing_latency_repetition_ends_with_a_kill(
    changes: Line, told: str
) -> None:
    assert told in fault({**latency(WRITE), **changes})


def test_nothing_else_ends_with_a_kill() -> None:
    assert "writes nothing" in fault({**latency(READ), "ending": "killed"})


@pytest.mark.parametrize(
    ("achieved", "told"), [(990.0, ""), (989.9, "kept up with 1,000 a second at 990")]
)
def test_an_open_loop_that_fell_behind_is_saturated(achieved: float, told: str) -> None:
    line = records.retimed(latency(), round(1e12 / achieved))
    line = records.open_loop(line, saturated=False)
    rates = {"offered_ops_per_sec": 1000.0, "achieved_ops_per_sec": achieved}
    line["open_loop"] |= rates
    assert fault(line) == told
    line["open_loop"]["saturated"] = True
    line |= {"latency_ns": None, "service_ns": None}
    assert fault(line) == ("" if told else "saturated by 1,000 a second at 990")


@pytest.mark.parametrize(
    ("figures", "told"),
    [
        ({"late_starts": 1000}, ""),
        ({"late_starts": 1001}, "1,001 late starts of 1,000 calls"),
        ({"rate_ops_per_sec": 181.0}, ""),
        ({"rate_ops_per_sec": 183.0}, "91 a second offered, where 183 were asked"),
        ({"rate_ops_per_sec": 45.0}, "91 a second offered, where 45 were asked"),
        ({"achieved_ops_per_sec": 91.7}, ""),
        ({"achieved_ops_per_sec": 92.0}, "92 a second achieved"),
        ({"achieved_ops_per_sec": 0.0}, "at no rate"),
        ({"max_lag_ns": 11_112_000_000}, "a start later than the end"),
    ],
)
def test_figures_of_an_open_loop(figures: Line, told: str) -> None:
    line = records.open_loop(latency(), saturated=False)
    line["open_loop"] |= figures
    found = fault(line)
    assert told in found if told else found == ""


def test_a_call_of_an_open_loop_begins_when_it_is_due_or_later() -> None:
    line = records.open_loop(latency(), saturated=False)
    half = records.latencies(line["loop_ns"] // 2, 1000)
    assert fault({**line, "service_ns": half}) == ""
    assert "longer time of service" in fault({**line, "latency_ns": half})


def test_a_saturated_open_loop_has_no_latencies() -> None:
    line = records.open_loop(latency(), saturated=True)
    line["latency_ns"] = latency()["latency_ns"]
    assert "latencies of a saturated open loop" in fault(line)


def test_latencies_of_an_open_loop_overlap_and_its_calls_do_not() -> None:
    line = records.open_loop(latency(), saturated=False)
    queued = records.latencies(100 * line["loop_ns"], 1000)
    assert fault({**line, "latency_ns": queued}) == ""
    assert "ns in calls" in fault({**line, "service_ns": queued})
    assert "service time" in fault({**line, "service_ns": None})
    fewer = records.latencies(line["loop_ns"], 900)
    assert "another number of latencies" in fault({**line, "service_ns": fewer})


def test_one_call_needs_neither_timeline_nor_latencies() -> None:
    line = {**latency(READ), "timeline": [], "latency_ns": None}
    assert consistency.fault(line, {"kind": "compact"}) == ""
    assert fault(line) == "no timeline"


def test_a_line_of_schema_1_is_judged_by_what_it_has() -> None:
    path = ROOT / "results/20261121-022802-leveldb-2011/measurements.jsonl"
    lines = [json.loads(text) for text in path.read_text().splitlines()]
    assert {fault(line) for line in lines if line["status"] == "ok"} == {""}
