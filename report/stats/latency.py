"""Latencies of repetitions, from the histograms of their result lines.

The executable's histogram is log-linear, with 128 buckets per power of two.  A
percentile is the upper edge of its bucket, or the maximum if that is smaller, as in
recording/histogram.cc.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from dataclasses import dataclass

from report.model.record import Histogram

# Names, and shares in parts of ten thousand.  They are integers because in floating
# point 100,000 * (1 - 0.9999) is less than 10.
PERCENTILES = (
    ("p50", 5000),
    ("p90", 9000),
    ("p99", 9900),
    ("p99.9", 9990),
    ("p99.99", 9999),
)
NAMES = tuple(name for name, _ in PERCENTILES)
_WHOLE = 10000
# With fewer samples above it, the position of a percentile is meaningless.
LEAST_ABOVE = 10
_SUB_BITS = 7  # of LogLinear in common/recording/histogram.h


@dataclass(frozen=True)
class Percentiles:
    """Percentiles by name, None if suppressed: medians over the repetitions.

    `spread` has the highest minus the lowest of each, divided by the median.  The
    extremes and the count are those of all repetitions together; `least` is the count
    of the repetition with the fewest.
    """

    count: int
    least: int
    min_ns: int
    max_ns: int
    at: Mapping[str, float | None]
    spread: Mapping[str, float]


def percentiles(*latencies: Histogram | None) -> Percentiles | None:
    """Return the statistics of latency_ns or service_ns; None without samples.

    A percentile that is suppressed in one repetition is suppressed.
    """
    known = [each for each in latencies if each and each["count"]]
    if not known:
        return None
    at: dict[str, float | None] = {}
    spread: dict[str, float] = {}
    for name, share in PERCENTILES:
        if any(is_suppressed(each["count"], share) for each in known):
            at[name] = None
            continue
        values = [_at(each, share) for each in known]
        middle = statistics.median(values)
        at[name] = middle
        spread[name] = (max(values) - min(values)) / middle if middle else 0.0
    return Percentiles(
        count=sum(each["count"] for each in known),
        least=min(each["count"] for each in known),
        min_ns=min(each["min"] for each in known),
        max_ns=max(each["max"] for each in known),
        at=at,
        spread=spread if len(known) > 1 else {},
    )


def is_suppressed(count: int, share: int) -> bool:
    """Return True if fewer than ten of `count` samples are above a percentile.

    `share` is in parts of ten thousand.
    """
    return count * (_WHOLE - share) < LEAST_ABOVE * _WHOLE


def lower_edge_ns(latency_ns: int) -> int:
    """Return the lower edge of the bucket of a latency."""
    shift = max(0, latency_ns.bit_length() - _SUB_BITS - 1)
    return latency_ns >> shift << shift


def upper_edge_ns(lower_ns: int) -> int:
    """Return the largest latency in the bucket with this lower edge."""
    shift = max(0, lower_ns.bit_length() - _SUB_BITS - 1)
    return lower_ns + (1 << shift) - 1


def _at(latency: Histogram, share: int) -> int:
    rank = -(-latency["count"] * share // _WHOLE)
    seen = 0
    for lower_ns, count in latency["buckets"]:
        seen += count
        if seen >= rank:
            return min(upper_edge_ns(lower_ns), int(latency["max"]))
    return int(latency["max"])
