"""Whether the figures of one ok line agree with one another.

Each rule returns what is wrong as a text, or "".  Lines of schema 1 have none of
the later figures and are judged by those that they have.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from report.cells import KILLED, LATENCY
from report.latency import lower_edge_ns, upper_edge_ns
from report.work import writes

Record = Mapping[str, Any]
Histogram = Mapping[str, Any]

_FULL_SCHEMA = 2
_ONE_BY_ONE = ("read", "write", "delete", "mix")  # the others may be one call
_LEAST_STALL_NS = 100_000_000
_LISTED_STALLS = 100
_MOST_OF_LOOP = 1.01  # calls are timed by another counter than the loop
_LEAST_ACHIEVED = 0.99  # of the offered rate; under it a system is saturated
# The open loop's own time begins after the loop's, and ends before it.
_MOST_APART_SHARE, _MOST_APART_NS = 0.01, 1_000_000
_MANY_CALLS = 1000  # whose random gaps are as long as asked, on average
_OFFERED = (0.5, 2.0)  # of the rate that was asked for
# By how much of itself a latency may lie outside of its bucket: half of a bucket of
# the executable's own unit, which are twice as fine.
_MOST_MOVED = 256


def fault(record: Record, benchmark: Mapping[str, Any]) -> str:
    """The first thing that cannot be true, by what is described of its benchmark."""
    kind = benchmark.get("kind", "")
    found = _counts(record)
    if found or record["schema"] < _FULL_SCHEMA:
        return found
    return (
        _ending(record, writes(benchmark))
        or _timeline(record, kind)
        or _stalls(record)
        or _latency(record, kind)
        or _disk(record)
    )


def _counts(record: Record) -> str:
    ops, planned = record["ops"], record["planned_ops"]
    if ops > planned:
        return f"{ops:,} operations of {planned:,} planned"
    if ops < planned and not record["truncated"]:
        return f"{ops:,} operations of {planned:,} planned, and no time limit"
    if record["loop_ns"] * _threads(record) < ops:
        return f"less than 1 ns for each of {ops:,} operations"
    if record["verified"] and not record["digest"] and not _of_chance(record):
        return "verified without a digest"
    return ""


def _of_chance(record: Record) -> bool:
    """Whether several threads made it a matter of chance what was read."""
    together = _threads(record) > 1 or record.get("writer")
    return record["digest"] is None and bool(together)


def _threads(record: Record) -> int:
    return int(record["options"].get("threads") or 1)


def _ending(record: Record, is_killable: bool) -> str:
    """Every latency repetition that writes ends as kill -9 does, and no other."""
    is_killed = record["ending"] == KILLED
    if is_killed and record["pass"] != LATENCY:
        return "killed in a throughput repetition"
    if is_killed and not is_killable:
        return "killed, although it writes nothing"
    if is_killed and (record["settle_ns"] or record["close_ns"]):
        return "settled or closed after it was killed"
    if not is_killed and record["pass"] == LATENCY and is_killable:
        return "closed, where it was to be killed after its flush"
    return ""


def _timeline(record: Record, kind: str) -> str:
    points: Sequence[Sequence[int]] = record["timeline"]
    if not points:
        return "no timeline" if kind in _ONE_BY_ONE else ""
    for earlier, later in pairwise(points):
        if later[0] <= earlier[0] or later[1] <= earlier[1]:
            return f"its timeline stands still or goes back after {earlier[0]:,} ns"
    end = [record["loop_ns"], record["ops"]]
    if list(points[-1]) != end:
        told = f"{points[-1][0]:,} ns and {points[-1][1]:,} operations"
        return f"its timeline ends at {told}, its loop at {end[0]:,} and {end[1]:,}"
    return ""


def _stalls(record: Record) -> str:
    listed, count = record["stalls"], record["stall_count"]
    if len(listed) != min(count, _LISTED_STALLS):
        return f"{len(listed)} stalls listed of {count}"
    listed_ns = sum(stall["lasted_ns"] for stall in listed)
    is_whole = len(listed) == count
    if record["stalled_ns"] < listed_ns or (
        is_whole and record["stalled_ns"] > listed_ns
    ):
        return f"{record['stalled_ns']:,} ns of stalls, {listed_ns:,} ns listed"
    if record["stalled_ns"] > record["loop_ns"]:
        return "stalled longer than its loop"
    for stall in listed:
        if stall["lasted_ns"] < _LEAST_STALL_NS:
            return f"a stall of {stall['lasted_ns']:,} ns, which is none"
        if stall["at_ns"] + stall["lasted_ns"] > record["loop_ns"]:
            return "a stall beyond the end of its loop"
    return ""


def _latency(record: Record, kind: str) -> str:
    latency, service = record["latency_ns"], record["service_ns"]
    is_open, saturated = record["open_loop"] is not None, False
    if is_open:
        if found := _open_loop(record["open_loop"], record):
            return found
        saturated = record["open_loop"]["saturated"]
        if saturated and (latency or service):
            return "latencies of a saturated open loop"
    if (service is not None) != (is_open and latency is not None):
        return "a service time where there is no open loop, or none where there is"
    if latency is None:
        is_due = record["pass"] == LATENCY and kind in _ONE_BY_ONE
        return (
            "no latencies in its latency repetition" if is_due and not saturated else ""
        )
    # Of an open loop the latencies overlap; what was served did not.
    served = service if service is not None else latency
    if served["sum"] > _MOST_OF_LOOP * record["loop_ns"] * _threads(record):
        return f"{served['sum']:,} ns in calls, in a loop of {record['loop_ns']:,} ns"
    if served["count"] != latency["count"]:
        return "another number of latencies than of service times"
    # Each call begins when it is due, or later.
    if served["sum"] > latency["sum"] + latency["count"]:
        return "a longer time of service than of latency"
    return _histogram(latency, record) or _histogram(served, record)


def _open_loop(told: Mapping[str, Any], record: Record) -> str:
    """How a loop kept to its schedule, beside its own time and calls."""
    asked, offered = told["rate_ops_per_sec"], told["offered_ops_per_sec"]
    achieved, is_behind = told["achieved_ops_per_sec"], told["saturated"]
    if not min(asked, offered, achieved) > 0:
        return "an open loop at no rate"
    if is_behind != (achieved < _LEAST_ACHIEVED * offered):
        how = "saturated by" if is_behind else "kept up with"
        return f"{how} {offered:,.0f} a second at {achieved:,.0f}"
    calls = -(-record["ops"] // (record["options"].get("batch_size") or 1))
    if told["late_starts"] > calls:
        return f"{told['late_starts']:,} late starts of {calls:,} calls"
    low, high = (share * asked for share in _OFFERED)
    if calls >= _MANY_CALLS and not low <= offered <= high:
        return f"{offered:,.0f} a second offered, where {asked:,.0f} were asked for"
    loop_ns = record["loop_ns"]
    slack_ns = _MOST_APART_SHARE * loop_ns + _MOST_APART_NS
    if abs(record["ops"] * 1e9 / achieved - loop_ns) > slack_ns:
        return f"{achieved:,.0f} a second achieved, which its loop was not"
    if told["max_lag_ns"] > loop_ns + slack_ns:
        return "a start later than the end of its loop"
    return ""


def _histogram(found: Histogram, record: Record) -> str:
    count, buckets = found["count"], found["buckets"]
    batch = record["options"].get("batch_size") or 1
    if not count <= record["ops"] <= count * batch:
        return f"{count:,} latencies of {record['ops']:,} operations"
    if sum(n for _, n in buckets) != count:
        return f"{count:,} latencies, another number in the histogram"
    edges = [lower_ns for lower_ns, _ in buckets]
    if any(later <= earlier for earlier, later in pairwise(edges)):
        return "buckets out of order in its histogram"
    return _extremes(found, edges[0], edges[-1]) or _sum(found)


def _extremes(found: Histogram, first_ns: int, last_ns: int) -> str:
    """Least and largest, beside where the first and last bucket begin.

    They are exact.  A bucket may be the next one to the exact figure's, and each
    figure is rounded to a nanosecond: the loop counts in another unit.
    """
    low, high = found["min"], found["max"]
    after_low = upper_edge_ns(lower_edge_ns(low)) + 1
    if not first_ns <= after_low or low > upper_edge_ns(first_ns):
        return f"a least latency of {low:,} ns outside of its histogram"
    if not last_ns <= high <= upper_edge_ns(upper_edge_ns(last_ns) + 1):
        return f"a largest latency of {high:,} ns outside of its histogram"
    return ""


def _sum(found: Histogram) -> str:
    """The sum, which is exact, beside the edges of every bucket."""
    least = largest = 0
    for lower_ns, count in found["buckets"]:
        upper_ns = upper_edge_ns(lower_ns)
        low = lower_ns - -(-lower_ns // _MOST_MOVED)
        high = upper_ns - -upper_ns // _MOST_MOVED
        least += count * (max(low, found["min"]) - 1)
        largest += count * (min(high, found["max"]) + 1)
    if not least <= found["sum"] <= largest:
        return f"a sum of {found['sum']:,} ns, which its latencies cannot have"
    return ""


def _disk(record: Record) -> str:
    if record["peak_disk_bytes"] < record["disk_bytes"]:
        return "less on disk at its peak than at its end"
    return ""
