"""Latencies of one repetition, from the histogram of its result line.

The executable's histogram is log-linear: 128 buckets to each power of two.  A
percentile is the upper edge of its bucket, or the maximum if that is smaller, as
recording/histogram.cc has it.  Everything is None or "" of a line without latencies.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from report.model.record import Histogram

# Name and share in parts of ten thousand: whole numbers, since 100,000 * (1 -
# 0.9999) is less than 10 in floating point.
PERCENTILES = (
    ("p50", 5000),
    ("p90", 9000),
    ("p99", 9900),
    ("p99.9", 9990),
    ("p99.99", 9999),
)
NAMES = tuple(name for name, _ in PERCENTILES)
_WHOLE = 10000
# Fewer samples than this above a percentile say nothing of where it lies.
LEAST_ABOVE = 10
_SUB_BITS = 7  # kSubBits of common/recording/histogram.h


@dataclass(frozen=True)
class Percentiles:
    """Figures of one histogram; `at` is by name, None where suppressed."""

    count: int
    min_ns: int
    max_ns: int
    at: Mapping[str, int | None]


def percentiles(latency: Histogram | None) -> Percentiles | None:
    """The figures of a line's latency_ns or service_ns; None of no samples."""
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
    """Whether fewer than ten of `count` samples lie above the percentile.

    `share` is in parts of ten thousand.
    """
    return count * (_WHOLE - share) < LEAST_ABOVE * _WHOLE


def lower_edge_ns(latency_ns: int) -> int:
    """Where the bucket begins that counts this latency."""
    shift = max(0, latency_ns.bit_length() - _SUB_BITS - 1)
    return latency_ns >> shift << shift


def upper_edge_ns(lower_ns: int) -> int:
    """The largest latency that is counted in the bucket that begins here."""
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
