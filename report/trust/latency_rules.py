"""Rules about latencies: when they are present, their histograms, and open loops."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise

from report.model.record import Histogram, Record, histogram_of
from report.stats.latency import lower_edge_ns, upper_edge_ns
from report.trust.rule import ONE_CALL_ALONE, Context, Rule

_SATURATED_BELOW = 0.99  # of the offered rate
_SAME = 1e-9  # relative tolerance for rates that were written in decimal
# A schedule of many calls has the requested rate, within a tenth or the standard
# deviations of its random gaps that one run in 500 million exceeds.
_MANY_CALLS, _MOST_OFF, _MOST_SIGMAS = 1000, 0.1, 6.0
# An open loop starts its own clock after the loop's and stops it earlier.
_MAX_GAP_SHARE, _MAX_GAP_NS = 0.01, 1_000_000
# Calls are timed by a different counter from the loop's, and rounded to a nanosecond.
_CLOCKS_AGREE, _ROUNDING_NS = 1.01, 1000
# A latency may lie outside its bucket by this fraction of its value: the executable
# counts clock ticks, in buckets twice as fine, and converts the middle of each to ns.
_MOST_MOVED = 256


def open_loop(record: Record, context: Context) -> str:
    """Check that a loop is open if and only if a rate was requested."""
    if (record["open_loop"] is not None) == bool(context.pace):
        return ""
    what = "a closed loop" if record["open_loop"] is None else "an open loop"
    return f"{what}, but the requested pace is {dict(context.pace) or None}"


def open_loop_rate(record: Record, context: Context) -> str:
    """Check that the recorded rate of an open loop is the requested one."""
    loop, pace = record["open_loop"], context.pace
    if loop is None or not pace:
        return ""
    rate, most = loop["rate_ops_per_sec"], loop.get("max_ops_per_sec") or math.nan
    expected = pace["rate"] if "rate" in pace else pace["rate_share"] * most
    is_same = math.isclose(rate, expected, rel_tol=_SAME)
    return "" if is_same else f"a rate of {rate}, expected {expected}"


def open_loop_max(record: Record, context: Context) -> str:
    """Check that the rate of a warm-up is possible, and known if a share is offered."""
    loop, pace = record["open_loop"], context.pace
    if loop is None:
        return ""
    most, is_share = loop.get("max_ops_per_sec"), "rate_share" in pace
    if (most is not None) != is_share:
        return f"a warm-up at {most} ops/s, but the requested pace is {dict(pace)}"
    done = sum(record.get("warmup_ops_by_thread") or ())
    possible = done / (context.benchmark.warmup_s(context.flags) or math.inf)
    if most is None or most <= possible * (1 + _SAME):
        return ""
    return f"a warm-up at {most:,.0f} ops/s, but only {done:,} operations in it"


def open_loop_offered(record: Record, context: Context) -> str:
    """Check that an open loop offers calls at about the requested rate."""
    loop, calls = record["open_loop"], context.calls(record)
    if loop is None or calls < _MANY_CALLS:
        return ""
    rate, offered = loop["rate_ops_per_sec"], loop["offered_ops_per_sec"]
    # Each thread of earlier executables had a schedule of its own.
    slack = max(_MOST_OFF, _MOST_SIGMAS * math.sqrt(context.threads / calls))
    if math.isclose(offered, rate, rel_tol=slack):
        return ""
    return f"{offered:,.0f} ops/s offered, but {rate:,.0f} requested"


def open_loop_achieved(record: Record, context: Context) -> str:
    """Check that the achieved rate of an open loop fits its operations and its time."""
    loop, loop_ns = record["open_loop"], record["loop_ns"]
    if loop is None:
        return ""
    achieved = loop["achieved_ops_per_sec"]
    if abs(record["ops"] * 1e9 / achieved - loop_ns) <= _max_gap_ns(record):
        return ""
    return f"{achieved:,.0f} ops/s achieved, which does not fit the time of the loop"


def open_loop_saturated(record: Record, context: Context) -> str:
    """Check that an open loop is saturated if and only if it achieves under 99 %."""
    loop = record["open_loop"]
    if loop is None:
        return ""
    offered, achieved = loop["offered_ops_per_sec"], loop["achieved_ops_per_sec"]
    threshold = _SATURATED_BELOW * offered
    on_the_edge = math.isclose(achieved, threshold, rel_tol=_SAME)
    if loop["saturated"] == (achieved < threshold) or on_the_edge:
        return ""
    how = "saturated" if loop["saturated"] else "not saturated"
    return f"{how}, with {achieved:,.0f} of {offered:,.0f} offered ops/s achieved"


def open_loop_late_starts(record: Record, context: Context) -> str:
    """Check that an open loop has no more late starts than calls."""
    loop, calls = record["open_loop"], context.calls(record)
    if loop is None or loop["late_starts"] <= calls:
        return ""
    return f"{loop['late_starts']:,} late starts, but only {calls:,} calls"


def open_loop_lag(record: Record, context: Context) -> str:
    """Check that no call of an open loop starts after the end of the loop."""
    loop = record["open_loop"]
    if loop is None or loop["max_lag_ns"] <= record["loop_ns"] + _max_gap_ns(record):
        return ""
    return "a call starts after the end of the loop"


def _max_gap_ns(record: Record) -> float:
    return _MAX_GAP_SHARE * float(record["loop_ns"]) + _MAX_GAP_NS


def latencies(record: Record, context: Context) -> str:
    """Check that only unsaturated loops with timed calls have latencies, and all do."""
    is_expected = context.is_asked_for_latency(record)
    return _presence(record, context, "latency_ns", is_expected)


def service_times(record: Record, context: Context) -> str:
    """Check that an open loop has service times if and only if it has latencies."""
    is_expected = context.is_asked_for_latency(record) and bool(context.pace)
    return _presence(record, context, "service_ns", is_expected)


def _presence(record: Record, context: Context, key: str, is_expected: bool) -> str:
    is_there = histogram_of(record, key) is not None
    if is_there == is_expected or (not is_there and context.kind == ONE_CALL_ALONE):
        return ""  # the single call is the loop itself
    return f"{key} is {'missing' if is_expected else 'present, but was not requested'}"


def histogram_count(record: Record, context: Context) -> str:
    """Check that a histogram has one latency for each call."""
    calls = context.calls(record)
    for key, histogram in _histograms(record):
        if histogram["count"] != calls:
            return f"{key}: {histogram['count']:,} latencies for {calls:,} calls"
    return ""


def histogram_buckets(record: Record, context: Context) -> str:
    """Check that the buckets of a histogram add up to its count."""
    for key, histogram in _histograms(record):
        if sum(n for _, n in histogram["buckets"]) != histogram["count"]:
            return f"{key}: the buckets do not add up to {histogram['count']:,}"
    return ""


def histogram_order(record: Record, context: Context) -> str:
    """Check that the buckets of a histogram are in ascending order."""
    for key, histogram in _histograms(record):
        if any(
            later[0] <= earlier[0] for earlier, later in pairwise(histogram["buckets"])
        ):
            return f"{key}: the buckets are not in ascending order"
    return ""


def histogram_smallest(record: Record, context: Context) -> str:
    """Check that the smallest latency is in the first bucket.

    The smallest latency is exact.  Its bucket may be off by one, and both are rounded
    to a nanosecond, because the executable counts in ticks.
    """
    for key, histogram in _histograms(record):
        low, first_ns = histogram["min"], min(edge for edge, _ in histogram["buckets"])
        after_low = upper_edge_ns(lower_edge_ns(low)) + 1
        if not first_ns <= after_low or low > upper_edge_ns(first_ns):
            return f"{key}: the smallest latency, {low:,} ns, is outside the buckets"
    return ""


def histogram_largest(record: Record, context: Context) -> str:
    """Check that the largest latency is in the last bucket."""
    for key, histogram in _histograms(record):
        high, last_ns = histogram["max"], max(edge for edge, _ in histogram["buckets"])
        if not last_ns <= high <= upper_edge_ns(upper_edge_ns(last_ns) + 1):
            return f"{key}: the largest latency, {high:,} ns, is outside the buckets"
    return ""


def histogram_sum(record: Record, context: Context) -> str:
    """Check that the exact sum of the latencies is possible for their buckets."""
    for key, histogram in _histograms(record):
        least = largest = 0
        for lower_ns, count in histogram["buckets"]:
            upper_ns = upper_edge_ns(lower_ns)
            low = lower_ns - -(-lower_ns // _MOST_MOVED)
            high = upper_ns - -upper_ns // _MOST_MOVED
            least += count * (max(low, histogram["min"]) - 1)
            largest += count * (min(high, histogram["max"]) + 1)
        if not least <= histogram["sum"] <= largest:
            return (
                f"{key}: a sum of {histogram['sum']:,} ns is impossible for the buckets"
            )
    return ""


def calls_within_loop(record: Record, context: Context) -> str:
    """Check that each thread spends no more time in calls than in the loop.

    The latencies of an open loop include waiting, so its service times are used.
    """
    served = record["service_ns"] or record["latency_ns"]
    if served is None:
        return ""
    loop_ns = record["loop_ns"] * _CLOCKS_AGREE + _ROUNDING_NS
    if served["sum"] <= context.threads * loop_ns + served["count"]:
        return ""
    return f"{served['sum']:,} ns in calls, but the loop took {record['loop_ns']:,} ns"


def service_within_latency(record: Record, context: Context) -> str:
    """Check that calls do not begin before they are due."""
    latency, service = record["latency_ns"], record["service_ns"]
    if not latency or not service:
        return ""
    if service["sum"] <= latency["sum"] + latency["count"]:
        return ""
    intended = f"{latency['sum']:,} ns from the intended starts"
    return f"{intended}, but {service['sum']:,} ns from the actual ones"


def _histograms(record: Record) -> Iterator[tuple[str, Histogram]]:
    for key in ("latency_ns", "service_ns"):
        if histogram := histogram_of(record, key):
            yield key, histogram


RULES = tuple(
    Rule(fault, since=2)
    for fault in (
        open_loop,
        open_loop_rate,
        open_loop_max,
        open_loop_offered,
        open_loop_achieved,
        open_loop_saturated,
        open_loop_late_starts,
        open_loop_lag,
        latencies,
        service_times,
        histogram_count,
        histogram_buckets,
        histogram_order,
        histogram_smallest,
        histogram_largest,
        histogram_sum,
        calls_within_loop,
        service_within_latency,
    )
)
