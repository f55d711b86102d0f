"""Latencies of one repetition, from the histogram of its result line.

The executable's histogram is log-linear, with 128 buckets per power of two.  A
percentile is the upper edge of its bucket, or the maximum if that is smaller, as in
recording/histogram.cc.
"""

from __future__ import annotations

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
    """Statistics of one histogram; `at` is by name, None if suppressed."""

    count: int
    min_ns: int
    max_ns: int
    at: Mapping[str, int | None]


def percentiles(latency: Histogram | None) -> Percentiles | None:
    """Return the statistics of latency_ns or service_ns; None without samples."""
    if not latency or not latency["count"]:
        return None
    count = latency["count"]
    return Percentiles(
        count=count,
        min_ns=latency["min"],
        max_ns=latency["max"],
        at={
            name: None if is_suppressed(count, share) else _at(latency, share)
            for name, share in PERCENTILES
        },
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
