"""Whether what an answer says of its pace can be true: rate over time and latencies."""

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any

from scripts.figures import Expected, Impossible, Record, check_count

_MOST_POINTS, _LEAST_POINTS = 256, 100
_STALL_NS = 100_000_000
_STALLS_LISTED = 100
_SATURATED_BELOW = 0.99
# Latencies are taken in ticks of another clock than the loop's: 1 % between the two,
# and what the rounding of a sum and of a bucket's edge may make of it.
_CLOCKS_AGREE = 1.01
_ROUNDING_NS = 1000
_BUCKET_WIDTH = 1.02


def check_pace(expected: Expected, record: Record) -> None:
    """Raises Impossible for a timeline, stalls or latencies that cannot be."""
    _check_timeline(expected, record)
    _check_stalls(record)
    _check_open_loop(expected, record)
    saturated = bool(record["open_loop"] and record["open_loop"]["saturated"])
    asked = expected.latency and not saturated
    _check_latency("latency_ns", asked, expected, record)
    _check_latency("service_ns", asked and expected.rate is not None, expected, record)
    if record["service_ns"] and record["latency_ns"]:
        _check_waiting(record["latency_ns"], record["service_ns"])


def _check_timeline(expected: Expected, record: Record) -> None:
    points, ops, loop_ns = record["timeline"], record["ops"], record["loop_ns"]
    if expected.kind == "compact":
        if points:
            raise Impossible("a timeline of one operation")
        return
    before = (0, 0)
    for point in points:
        now = _pair("timeline", point)
        if now[0] <= before[0] or now[1] <= before[1]:
            raise Impossible(f"timeline: {list(now)} after {list(before)}")
        before = now
    if before[1] != ops or not _close(before[0], loop_ns):
        raise Impossible(f"timeline ends at {list(before)}, not at {[loop_ns, ops]}")
    calls = _calls(expected, record)
    least = _LEAST_POINTS if calls >= _MOST_POINTS else 1
    if not least <= len(points) <= _MOST_POINTS:
        raise Impossible(f"a timeline of {len(points)} intervals for {calls} calls")


def _check_stalls(record: Record) -> None:
    stalls, count = record["stalls"], record["stall_count"]
    if len(stalls) != min(count, _STALLS_LISTED):
        raise Impossible(f"{len(stalls)} stalls listed of {count}")
    listed_ns = 0
    for stall in stalls:
        if not isinstance(stall, dict):
            raise Impossible(f"stalls: {stall!r}")
        at_ns = check_count("stalls.at_ns", stall.get("at_ns"))
        lasted_ns = check_count("stalls.lasted_ns", stall.get("lasted_ns"))
        if lasted_ns < _STALL_NS or at_ns + lasted_ns > _roughly(record["loop_ns"]):
            raise Impossible(f"a stall of {lasted_ns} ns at {at_ns} ns")
        listed_ns += lasted_ns
    total_ns = record["stalled_ns"]
    all_listed = count <= _STALLS_LISTED
    if total_ns < listed_ns or (all_listed and total_ns != listed_ns):
        raise Impossible(f"stalled for {total_ns} ns, of which {listed_ns} ns listed")
    if total_ns > _roughly(record["loop_ns"]):
        raise Impossible(f"stalled for {total_ns} ns of {record['loop_ns']} ns")


def _check_open_loop(expected: Expected, record: Record) -> None:
    found = record["open_loop"]
    if (found is not None) != (expected.rate is not None):
        what = "a closed loop" if found is None else "an open loop"
        raise Impossible(f"{what}, asked for a rate of {expected.rate}")
    if found is None or expected.rate is None:
        return
    asked, offered, achieved = (
        _rate(f"{name}_ops_per_sec", found) for name in ("rate", "offered", "achieved")
    )
    if not math.isclose(asked, expected.rate, rel_tol=1e-9):
        raise Impossible(f"a rate of {asked}, asked for {expected.rate}")
    if check_count("late_starts", found.get("late_starts")) > record["ops"]:
        raise Impossible(f"{found['late_starts']} late starts of {record['ops']}")
    check_count("max_lag_ns", found.get("max_lag_ns"))
    threshold = _SATURATED_BELOW * offered
    on_the_edge = math.isclose(achieved, threshold, rel_tol=1e-9)
    if found.get("saturated") is not (achieved < threshold) and not on_the_edge:
        shares = f"{achieved:.0f} of {offered:.0f} operations per second"
        raise Impossible(f"saturated is {found.get('saturated')!r} at {shares}")


def _check_latency(key: str, asked: bool, expected: Expected, record: Record) -> None:
    found = record[key]
    if found is None and expected.kind == "compact":
        return  # its one call is the loop itself
    if (found is not None) != asked:
        raise Impossible(f"{key} is {'missing' if asked else 'there unasked'}")
    if found is None:
        return
    count = check_count(f"{key}.count", found.get("count"))
    calls = _calls(expected, record)
    if count != calls:
        raise Impossible(f"{key}: {count} latencies of {calls} calls")
    least_ns, most_ns, sum_ns = (
        check_count(f"{key}.{name}", found.get(name)) for name in ("min", "max", "sum")
    )
    buckets = _buckets(key, found.get("buckets"))
    if sum(number for _, number in buckets) != count:
        raise Impossible(f"{key}: its buckets do not add up to {count}")
    low, high = buckets[0][0], buckets[-1][0]
    fits = _near(low, least_ns) and _near(high, most_ns)
    floor_ns = sum(lower * number for lower, number in buckets)
    if not fits or not _summed(floor_ns, sum_ns, count):
        told = f"min {least_ns}, max {most_ns} and sum {sum_ns}"
        raise Impossible(f"{key}: {told} do not fit the buckets")
    if not count * least_ns <= sum_ns + count <= count * (most_ns + 2):
        raise Impossible(f"{key}: a sum of {sum_ns} ns for {count} latencies")
    waits = key == "latency_ns" and expected.rate is not None
    if not waits and sum_ns > expected.threads * _roughly(record["loop_ns"]) + count:
        loop_ns = record["loop_ns"]
        raise Impossible(f"{key}: {sum_ns} ns in a loop of {loop_ns} ns")


def _check_waiting(latency: Mapping[str, Any], service: Mapping[str, Any]) -> None:
    """A call takes no longer than the time since it was due."""
    if latency["sum"] < service["sum"]:
        since = f"{latency['sum']} ns since the intended starts"
        raise Impossible(f"{since}, and {service['sum']} ns since the actual ones")


def _buckets(key: str, value: Any) -> list[tuple[int, int]]:
    """[lower edge in ns, samples], ascending, none of them empty."""
    if not isinstance(value, list) or not value:
        raise Impossible(f"{key}.buckets is {value!r}"[:100])
    buckets = [_pair(f"{key}.buckets", item) for item in value]
    rising = all(a < b for (a, _), (b, _) in itertools.pairwise(buckets))
    if not rising or any(number < 1 for _, number in buckets):
        raise Impossible(f"{key}: its buckets are not in order, or empty")
    return buckets


def _pair(name: str, value: Any) -> tuple[int, int]:
    if not isinstance(value, Sequence) or len(value) != 2:
        raise Impossible(f"{name}: {value!r}"[:100])
    return check_count(name, value[0]), check_count(name, value[1])


def _rate(name: str, found: Mapping[str, Any]) -> float:
    value: Any = found.get(name)
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not 0 < float(value) < math.inf:
        raise Impossible(f"open_loop.{name} is {value!r}")
    return float(value)


def _calls(expected: Expected, record: Record) -> int:
    """Calls on the engine: each thread makes batches of its own."""
    parts = record["ops_by_thread"] if expected.batch_size > 1 else None
    return sum(math.ceil(n / expected.batch_size) for n in parts or [record["ops"]])


def _roughly(ns: int) -> float:
    return ns * _CLOCKS_AGREE + _ROUNDING_NS


def _close(one_ns: int, other_ns: int) -> bool:
    return abs(one_ns - other_ns) <= other_ns * (_CLOCKS_AGREE - 1) + _ROUNDING_NS


def _near(lower_ns: int, sample_ns: int) -> bool:
    """Whether a sample can be in the bucket that begins there."""
    return lower_ns <= sample_ns * _BUCKET_WIDTH + 2 and (
        sample_ns <= lower_ns * _BUCKET_WIDTH + 2
    )


def _summed(floor_ns: int, sum_ns: int, count: int) -> bool:
    """Whether samples in buckets with these lower edges can have that sum."""
    slack = 2 * count
    return floor_ns <= sum_ns * _BUCKET_WIDTH + slack and (
        sum_ns <= floor_ns * _BUCKET_WIDTH + slack
    )
