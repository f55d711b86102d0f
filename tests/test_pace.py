"""Rate over time, latencies, open loops, ends by kill -9: what cannot be is wrong."""

import json
from dataclasses import replace
from typing import Any

import pytest

from scripts.answer import judge
from scripts.driver_process import Outcome
from tests import records
from tests.answers import DEFERRED, EXPECTED, honest, verdict
from tests.records import histogram, timeline


def pace(**changed: Any) -> dict[str, Any]:
    """An honest line of a latency repetition, with changes."""
    return {"latency_ns": histogram(100, 40), **changed}


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"ending": "killed"}, "ending is 'killed', asked for 'closed'"),
        ({"ending": None}, "ending is None"),
        ({"live_bytes": -1}, "live_bytes is -1"),
        ({"anonymous_rss_bytes": -4096}, "anonymous_rss_bytes is -4096"),
        ({"file_rss_bytes": 1.5}, "file_rss_bytes is 1.5"),
        ({"peak_disk_bytes": 4}, "peak_disk_bytes 4 below disk_bytes 5"),
        ({"storage_read_bytes": None}, "storage_read_bytes is None"),
        ({"idle_cpu_ns": "0"}, "idle_cpu_ns is '0'"),
        ({"deferred": None}, "deferred is None"),
        ({"deferred": {**DEFERRED, "cpu_ns": -1}}, "deferred.cpu_ns is -1"),
        ({"deferred": {}}, "deferred.cpu_ns is None"),
        ({"timeline": None}, "timeline is None"),
        ({"timeline": []}, "timeline ends at [0, 0]"),
        ({"timeline": [[2500, 50], [5000, 99]]}, "timeline ends at [5000, 99]"),
        ({"timeline": [[2500, 50], [9000, 100]]}, "timeline ends at [9000, 100]"),
        ({"timeline": [[2500, 50], [2500, 60], [5000, 100]]}, "after [2500, 50]"),
        ({"timeline": [[2500, 50], [2600, 50], [5000, 100]]}, "after [2500, 50]"),
        ({"timeline": [[0, 1], [5000, 100]]}, "after [0, 0]"),
        ({"timeline": [[5000]]}, "timeline: [5000]"),
        ({"stall_count": 1}, "0 stalls listed of 1"),
        ({"stalled_ns": 1}, "stalled for 1 ns, of which 0 ns listed"),
        (
            {"stalls": [{"at_ns": 0, "lasted_ns": 99}], "stall_count": 1},
            "a stall of 99 ns",
        ),
        (
            {"stalls": [{"at_ns": 0, "lasted_ns": 10**8}], "stall_count": 1},
            "a stall of 100000000 ns at 0 ns",
        ),
        ({"stalls": [7], "stall_count": 1}, "stalls: 7"),
        (pace(), "latency_ns is there unasked"),
        ({"service_ns": histogram(100, 40)}, "service_ns is there unasked"),
        ({"latency_ns": []}, "latency_ns is []"),
        ({"open_loop": {}}, "an open loop, asked for a rate of None"),
    ],
)
def test_an_impossible_state_or_pace_is_wrong(
    changed: dict[str, Any], told: str
) -> None:
    found = verdict(**changed)
    assert found.status == "wrong"
    assert told in found.reason


def test_stalls_last_no_longer_than_the_loop() -> None:
    slow: dict[str, Any] = {"loop_ns": 150_000_000, "timeline": [[150_000_000, 100]]}
    stall = {"at_ns": 0, "lasted_ns": 120_000_000}
    outcome = Outcome("0", 10**9, "")
    once: dict[str, Any] = {
        "stalls": [stall],
        "stall_count": 1,
        "stalled_ns": 120_000_000,
    }
    assert verdict(outcome, **slow, **once).ok
    twice: dict[str, Any] = {
        "stalls": [stall] * 2,
        "stall_count": 2,
        "stalled_ns": 240_000_000,
    }
    told = "stalled for 240000000 ns of 150000000 ns"
    assert told in verdict(outcome, **slow, **twice).reason


LATENCY = replace(EXPECTED, latency=True)


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({}, "latency_ns is missing"),
        (pace(latency_ns=histogram(99, 40)), "99 latencies of 100 calls"),
        (pace(latency_ns=histogram(100, 80)), "8000 ns in a loop of 5000 ns"),
        (
            pace(latency_ns={**histogram(100, 40), "buckets": [[40, 99]]}),
            "do not add up to 100",
        ),
        (
            pace(latency_ns={**histogram(100, 40), "buckets": [[40, 50], [40, 50]]}),
            "not in order",
        ),
        (
            pace(latency_ns={**histogram(100, 40), "buckets": [[30, 0], [40, 100]]}),
            "or empty",
        ),
        (pace(latency_ns={**histogram(100, 40), "buckets": []}), "buckets is []"),
        (pace(latency_ns={**histogram(100, 40), "min": 20}), "do not fit the buckets"),
        (pace(latency_ns={**histogram(100, 40), "max": 80}), "do not fit the buckets"),
        (pace(latency_ns={**histogram(100, 40), "sum": 99}), "do not fit the buckets"),
        (
            pace(latency_ns={**histogram(100, 100), "sum": 9850}),
            "a sum of 9850 ns for 100 latencies",
        ),
        (pace(latency_ns={**histogram(100, 40), "count": True}), "count is True"),
        (pace(service_ns=histogram(100, 40)), "service_ns is there unasked"),
    ],
)
def test_impossible_latencies_are_wrong(changed: dict[str, Any], told: str) -> None:
    assert verdict(expected=LATENCY, **pace()).ok
    found = verdict(expected=LATENCY, **changed)
    assert found.status == "wrong"
    assert told in found.reason


def test_batches_are_calls_of_their_own() -> None:
    batches = replace(LATENCY, batch_size=30)
    assert verdict(expected=batches, latency_ns=histogram(4, 40)).ok
    assert verdict(expected=batches, **pace()).status == "wrong"


def test_a_long_loop_has_a_hundred_intervals_at_least() -> None:
    loop: dict[str, Any] = {"ops": 1000, "found": 1000, "loop_ns": 50_000}
    long = replace(EXPECTED, planned_ops=1000)
    loop["planned_ops"] = 1000
    assert verdict(expected=long, timeline=timeline(50_000, 1000), **loop).ok
    coarse = [[500 * i, 10 * i] for i in range(2, 101)]
    found = verdict(expected=long, timeline=coarse, **loop)
    assert "a timeline of 99 intervals for 1000 calls" in found.reason
    fine = [[i * 50, i] for i in range(1, 300)] + [[50_000, 1000]]
    assert verdict(expected=long, timeline=fine, **loop).status == "wrong"


def test_compact_is_one_call_without_a_timeline() -> None:
    compact = replace(LATENCY, kind="compact", planned_ops=1)
    one: dict[str, Any] = {"ops": 1, "planned_ops": 1, "found": 0, "loop_ns": 5000}
    assert verdict(expected=compact, timeline=[], **one).ok
    told = verdict(expected=compact, timeline=[[5000, 1]], **one).reason
    assert "a timeline of one operation" in told


OPEN = replace(LATENCY, rate=1000.0)
LOOP = {
    "rate_ops_per_sec": 1000,
    "offered_ops_per_sec": 990.5,
    "achieved_ops_per_sec": 989.0,
    "late_starts": 3,
    "max_lag_ns": 80,
    "saturated": False,
}


def opened(**changed: Any) -> dict[str, Any]:
    """An honest open loop, whose calls waited longer than the loop lasted."""
    return {
        "latency_ns": histogram(100, 90),
        "service_ns": histogram(100, 40),
        "open_loop": {**LOOP, **changed},
    }


def test_an_open_loop_counts_the_time_that_calls_waited() -> None:
    assert verdict(expected=OPEN, **opened()).ok


def test_a_saturated_open_loop_has_no_latencies() -> None:
    full = opened(achieved_ops_per_sec=900.0, saturated=True)
    none = {"latency_ns": None, "service_ns": None}
    assert verdict(expected=OPEN, **{**full, **none}).ok
    assert "there unasked" in verdict(expected=OPEN, **full).reason


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({**opened(), "open_loop": None}, "a closed loop, asked for a rate of 1000"),
        (opened(rate_ops_per_sec=999), "a rate of 999.0, asked for 1000"),
        (opened(rate_ops_per_sec=True), "rate_ops_per_sec is True"),
        (opened(offered_ops_per_sec=-1), "offered_ops_per_sec is -1"),
        (opened(achieved_ops_per_sec=None), "achieved_ops_per_sec is None"),
        (opened(late_starts=101), "101 late starts of 100"),
        (opened(max_lag_ns=-1), "max_lag_ns is -1"),
        (opened(saturated=True), "saturated is True at 989 of 990"),
        (opened(achieved_ops_per_sec=900.0), "saturated is False at 900 of 990"),
        ({**opened(), "service_ns": None}, "service_ns is missing"),
        ({**opened(), "service_ns": histogram(100, 80)}, "in a loop of 5000 ns"),
        ({**opened(), "latency_ns": histogram(100, 30)}, "since the intended starts"),
    ],
)
def test_an_impossible_open_loop_is_wrong(changed: dict[str, Any], told: str) -> None:
    found = verdict(expected=OPEN, **changed)
    assert found.status == "wrong"
    assert told in found.reason


KILLED = replace(LATENCY, kind="write", killed=True)
DEAD = Outcome("signal 9", 10_000_000, "")


def dead(**changed: Any) -> dict[str, Any]:
    """Return an honest line of a process that died with its database open."""
    return {**records.killed(honest()), **pace(), **changed}


def test_a_process_that_was_to_be_killed_is_ok_if_it_was() -> None:
    assert verdict(outcome=DEAD, expected=KILLED, **dead()).ok


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"ending": "closed"}, "ending is 'closed', asked for 'killed'"),
        ({"settle_ns": 1}, "settle_ns is 1 in a process that was killed"),
        ({"close_ns": 1}, "close_ns is 1"),
        ({"idle_cpu_ns": 1}, "idle_cpu_ns is 1"),
        ({"deferred": {**DEFERRED}}, "deferred.cpu_ns is 5"),
    ],
)
def test_a_killed_process_leaves_nothing_for_later(
    changed: dict[str, Any], told: str
) -> None:
    found = verdict(outcome=DEAD, expected=KILLED, **{**dead(), **changed})
    assert found.status == "wrong"
    assert told in found.reason


@pytest.mark.parametrize(
    ("exit_text", "end", "told"),
    [
        ("0", b"\n", "ended with exit code 0, asked to end with signal 9 (SIGKILL)"),
        ("signal 15", b"\n", "crashed: signal 15 (SIGTERM)"),
        ("signal 9", b"", "half a measurement"),
        ("signal 9", b"\n{}\n", "2 measurements"),
    ],
)
def test_any_other_end_of_it_is_an_error(exit_text: str, end: bytes, told: str) -> None:
    answer = json.dumps(honest(**dead())).encode() + end
    found = judge(KILLED, Outcome(exit_text, 10_000_000, ""), answer)
    assert found.status == "error"
    assert told in found.reason


def test_a_kill_that_nobody_asked_for_is_a_crash() -> None:
    found = verdict(outcome=DEAD)
    assert (found.status, found.reason) == ("error", "crashed: signal 9 (SIGKILL)")


def test_what_failed_before_it_could_be_killed_says_so() -> None:
    failed = {**dead(), "status": "wrong", "reason": "a get is absent"}
    found = verdict(outcome=Outcome("1", 1, ""), expected=KILLED, **failed)
    assert (found.status, found.reason) == ("wrong", "a get is absent")
