"""Rules of latencies: when there are any, their histograms, and open loops."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise

from report.model.record import Histogram, Record, histogram_of
from report.stats.latency import lower_edge_ns, upper_edge_ns
from report.trust.rule import ONE_CALL_ALONE, Context, Rule

_SATURATED_BELOW = 0.99  # of the offered rate
_SAME = 1e-9  # by how much of itself a rate may be off that is told in digits
_MANY_CALLS = 1000  # whose random gaps are as long as asked, on average
_OFFERED = (0.5, 2.0)  # of the rate that was asked for
# The open loop's own time begins after the loop's, and ends before it.
_MOST_APART_SHARE, _MOST_APART_NS = 0.01, 1_000_000
# Calls are timed by another counter than the loop, and rounded to a nanosecond.
_CLOCKS_AGREE, _ROUNDING_NS = 1.01, 1000
# By how much of itself a latency may lie outside of its bucket: half of a bucket of
# the executable's own unit, which are twice as fine.
_MOST_MOVED = 256


def open_loop(record: Record, context: Context) -> str:
    """It is an open loop if it was asked for a rate, and only then."""
    if (record["open_loop"] is not None) == (context.rate is not None):
        return ""
    what = "a closed loop" if record["open_loop"] is None else "an open loop"
    return f"{what}, asked for a rate of {context.rate}"


def open_loop_rate(record: Record, context: Context) -> str:
    """An open loop has the rate that it was asked for."""
    loop, asked = record["open_loop"], context.rate
    if loop is None or asked is None:
        return ""
    rate = loop["rate_ops_per_sec"]
    is_same = math.isclose(rate, asked, rel_tol=_SAME)
    return "" if is_same else f"a rate of {rate}, asked for {asked}"


def open_loop_offered(record: Record, context: Context) -> str:
    """The calls of an open loop are offered at about its rate."""
    loop, calls = record["open_loop"], context.calls(record)
    if loop is None or calls < _MANY_CALLS:
        return ""
    asked, offered = loop["rate_ops_per_sec"], loop["offered_ops_per_sec"]
    low, high = (share * asked for share in _OFFERED)
    if low <= offered <= high:
        return ""
    return f"{offered:,.0f} a second offered, where {asked:,.0f} were asked for"


def open_loop_achieved(record: Record, context: Context) -> str:
    """An open loop achieves its operations in the time of its loop."""
    loop, loop_ns = record["open_loop"], record["loop_ns"]
    if loop is None:
        return ""
    achieved = loop["achieved_ops_per_sec"]
    if abs(record["ops"] * 1e9 / achieved - loop_ns) <= _most_apart_ns(record):
        return ""
    return f"{achieved:,.0f} a second achieved, which its loop was not"


def open_loop_saturated(record: Record, context: Context) -> str:
    """An open loop is saturated below 99 % of what was offered, and not above."""
    loop = record["open_loop"]
    if loop is None:
        return ""
    offered, achieved = loop["offered_ops_per_sec"], loop["achieved_ops_per_sec"]
    threshold = _SATURATED_BELOW * offered
    on_the_edge = math.isclose(achieved, threshold, rel_tol=_SAME)
    if loop["saturated"] == (achieved < threshold) or on_the_edge:
        return ""
    how = "saturated by" if loop["saturated"] else "kept up with"
    return f"{how} {offered:,.0f} a second at {achieved:,.0f}"


def open_loop_late_starts(record: Record, context: Context) -> str:
    """No more calls of an open loop start late than there are."""
    loop, calls = record["open_loop"], context.calls(record)
    if loop is None or loop["late_starts"] <= calls:
        return ""
    return f"{loop['late_starts']:,} late starts of {calls:,} calls"


def open_loop_lag(record: Record, context: Context) -> str:
    """No call of an open loop starts after the end of the loop."""
    loop = record["open_loop"]
    if loop is None or loop["max_lag_ns"] <= record["loop_ns"] + _most_apart_ns(record):
        return ""
    return "a start later than the end of its loop"


def _most_apart_ns(record: Record) -> float:
    return _MOST_APART_SHARE * float(record["loop_ns"]) + _MOST_APART_NS


def latencies(record: Record, context: Context) -> str:
    """It has latencies if calls were timed and its loop kept up, and only then."""
    asked = context.is_asked_for_latency(record)
    return _presence(record, context, "latency_ns", asked)


def service_times(record: Record, context: Context) -> str:
    """It has service times if it has latencies of an open loop, and only then."""
    asked = context.is_asked_for_latency(record) and context.rate is not None
    return _presence(record, context, "service_ns", asked)


def _presence(record: Record, context: Context, key: str, asked: bool) -> str:
    is_there = histogram_of(record, key) is not None
    if is_there == asked or (not is_there and context.kind == ONE_CALL_ALONE):
        return ""  # the one call is the loop itself
    return f"{key} is {'missing' if asked else 'there unasked'}"


def histogram_count(record: Record, context: Context) -> str:
    """A histogram has one latency of each call."""
    calls = context.calls(record)
    for key, found in _histograms(record):
        if found["count"] != calls:
            return f"{key}: {found['count']:,} latencies of {calls:,} calls"
    return ""


def histogram_buckets(record: Record, context: Context) -> str:
    """The buckets of a histogram add up to its latencies."""
    for key, found in _histograms(record):
        if sum(n for _, n in found["buckets"]) != found["count"]:
            return f"{key}: its buckets do not add up to {found['count']:,}"
    return ""


def histogram_order(record: Record, context: Context) -> str:
    """The buckets of a histogram are in order."""
    for key, found in _histograms(record):
        if any(later[0] <= earlier[0] for earlier, later in pairwise(found["buckets"])):
            return f"{key}: its buckets are not in order"
    return ""


def histogram_least(record: Record, context: Context) -> str:
    """The least latency is in the first bucket.

    It is exact.  A bucket may be the next one to the exact figure's, and each
    figure is rounded to a nanosecond: the loop counts in another unit.
    """
    for key, found in _histograms(record):
        low, first_ns = found["min"], min(edge for edge, _ in found["buckets"])
        after_low = upper_edge_ns(lower_edge_ns(low)) + 1
        if not first_ns <= after_low or low > upper_edge_ns(first_ns):
            return f"{key}: a least latency of {low:,} ns outside of its histogram"
    return ""


def histogram_largest(record: Record, context: Context) -> str:
    """The largest latency is in the last bucket."""
    for key, found in _histograms(record):
        high, last_ns = found["max"], max(edge for edge, _ in found["buckets"])
        if not last_ns <= high <= upper_edge_ns(upper_edge_ns(last_ns) + 1):
            return f"{key}: a largest latency of {high:,} ns outside of its histogram"
    return ""


def histogram_sum(record: Record, context: Context) -> str:
    """The sum of the latencies, which is exact, is one that their buckets can have."""
    for key, found in _histograms(record):
        least = largest = 0
        for lower_ns, count in found["buckets"]:
            upper_ns = upper_edge_ns(lower_ns)
            low = lower_ns - -(-lower_ns // _MOST_MOVED)
            high = upper_ns - -upper_ns // _MOST_MOVED
            least += count * (max(low, found["min"]) - 1)
            largest += count * (min(high, found["max"]) + 1)
        if not least <= found["sum"] <= largest:
            return f"{key}: a sum of {found['sum']:,} ns, which it cannot have"
    return ""


def calls_within_loop(record: Record, context: Context) -> str:
    """Calls take no longer than the loop; those of an open loop wait besides."""
    served = record["service_ns"] or record["latency_ns"]
    if served is None:
        return ""
    loop_ns = record["loop_ns"] * _CLOCKS_AGREE + _ROUNDING_NS
    if served["sum"] <= context.threads * loop_ns + served["count"]:
        return ""
    return f"{served['sum']:,} ns in calls, in a loop of {record['loop_ns']:,} ns"


def service_within_latency(record: Record, context: Context) -> str:
    """A call begins when it is due, or later."""
    latency, service = record["latency_ns"], record["service_ns"]
    if not latency or not service:
        return ""
    if service["sum"] <= latency["sum"] + latency["count"]:
        return ""
    since = f"{latency['sum']:,} ns since the intended starts"
    return f"{since}, and {service['sum']:,} ns since the actual ones"


def _histograms(record: Record) -> Iterator[tuple[str, Histogram]]:
    for key in ("latency_ns", "service_ns"):
        if histogram := histogram_of(record, key):
            yield key, histogram


RULES = tuple(
    Rule(fault, since=2)
    for fault in (
        open_loop,
        open_loop_rate,
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
        histogram_least,
        histogram_largest,
        histogram_sum,
        calls_within_loop,
        service_within_latency,
    )
)
