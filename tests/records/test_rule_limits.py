"""The limits of the rules: values that are just accepted, and just rejected."""

from dataclasses import replace

import pytest

from tests.builders import honest_records, synthetic_records
from tests.builders.honest_records import (
    KILLED,
    OPEN,
    READ,
    SATURATED,
    SLOW,
    TIMED,
    Work,
    inside,
)
from tests.builders.synthetic_records import histogram

OK = ""


def within(**figures: int) -> Work:
    """Return latencies: the first bucket from 8,781,824 on, the last 131,596,288."""
    return inside(TIMED, "latency_ns", **figures)


def opened(**figures: float) -> Work:
    return inside(OPEN, "open_loop", **figures)


def requesting(rate: float) -> Work:
    """Return an open loop of another rate than it was offered."""
    flags = {**OPEN.context.flags, "rate": rate}
    offer = opened(rate_ops_per_sec=rate)
    return replace(offer, context=replace(offer.context, flags=flags))


def pace(achieved: float, base: Work) -> Work:
    """Return an open loop that was offered 1,000 a second."""
    line = synthetic_records.retimed(base.line, round(1e12 / achieved))
    saturated = base is SATURATED
    line = synthetic_records.open_loop(line, saturated)
    rates = {"offered_ops_per_sec": 1000.0, "achieved_ops_per_sec": achieved}
    line["open_loop"] |= {**rates, "rate_ops_per_sec": 1000.0}
    flags = {**base.context.flags, "rate": 1000.0}
    return Work(line, replace(base.context, flags=flags))


def batches(size: int, calls: int) -> Work:
    """Return the latencies of batches."""
    work = honest_records.work("fillseqsync", {"batch_size": size}, 100.0).timed()
    times = synthetic_records.latencies(work.line["loop_ns"], calls)
    return work.changed({"latency_ns": times})


def stalls(total_ns: int, count: int = 101) -> Work:
    """Return a line of eleven seconds with a hundred stalls listed."""
    listed = [{"at_ns": i * 90_000_000, "lasted_ns": 10**8} for i in range(100)]
    line = synthetic_records.retimed(SLOW.line, 11 * 10**9) | {"stalls": listed}
    line |= {"wall_ns": 20 * 10**9, "stall_count": count, "stalled_ns": total_ns}
    return SLOW.changed(line)


def drawn(share: float, theory: float, what: str = "w", **draws: int) -> Work:
    entry = {"what": what, "share": share, "theory": theory, **draws}
    return READ.changed({"shares": [entry]})


def mixed(percent: int, reads: int) -> Work:
    by_type = {"read": reads, "update": 1000 - reads}
    flags = {"readwritepercent": percent}
    return honest_records.work("readrandomwriterandom", flags, ops_by_type=by_type)


def with_writer(per_second: int) -> Work:
    flags = {"writes_per_second": per_second}
    line = honest_records.with_writer(flags, rate_ops_per_sec=float(per_second)).line
    work = honest_records.with_writer(flags, **{**line["writer"], "loop_ns": 10**9})
    return work.changed(synthetic_records.retimed(work.line, work.line["loop_ns"]))


SCANS = "mean scan length, entries"


@pytest.mark.parametrize(
    ("work", "rule"),
    [
        (within(min=8_847_359, sum=10_780_000_000), OK),
        (within(min=8_847_360, sum=10_780_000_000), "histogram-smallest"),
        (within(min=8_716_288), OK),
        (within(min=8_716_287), "histogram-smallest"),
        (within(max=131_596_288), OK),
        (within(max=131_596_287), "histogram-largest"),
        (within(max=132_644_863), OK),
        (within(max=132_644_864), "histogram-largest"),
        (within(sum=10_805_890_570), OK),
        (within(sum=10_805_890_571), "histogram-sum"),
        (within(sum=10_705_496_600), OK),
        (within(sum=10_705_496_599), "histogram-sum"),
        (opened(late_starts=1000), OK),
        (opened(achieved_ops_per_sec=91.7), OK),
        (opened(achieved_ops_per_sec=92.0), "open-loop-achieved"),
        (opened(max_lag_ns=11_110_000_000), OK),
        (opened(max_lag_ns=11_112_000_000), "open-loop-lag"),
        (requesting(110.0), OK),
        (requesting(115.0), "open-loop-offered"),
        (requesting(75.0), OK),
        (requesting(70.0), "open-loop-offered"),
        (pace(990.0, OPEN), OK),
        (pace(989.9, OPEN), "open-loop-saturated"),
        (pace(989.9, SATURATED), OK),
        (pace(990.1, SATURATED), "open-loop-saturated"),
        (batches(100, 10), OK),
        (batches(99, 10), "histogram-count"),
        (stalls(10**10 + 10**8), OK),
        (stalls(10**10 // 2), "stalls-sum"),
        (stalls(10**10, count=100), OK),
        (drawn(1, 1), OK),
        (drawn(0.6, 0.5), OK),
        (drawn(0.67, 0.5), "shares"),
        (drawn(1, 0.5, draws=40), OK),
        (drawn(0.7, 0.1, draws=99), "shares"),
        (drawn(0.67, 0.5, draws=10**6), "shares"),
        (drawn(430.5, 400, "mean value size, bytes"), OK),
        (drawn(9e3, 1e4, SCANS), OK),
        (drawn(10_001, 1e4, SCANS), "shares-range"),
        (mixed(90, 900), OK),
        (mixed(90, 800), "types-shares"),
        (mixed(100, 1000), OK),
        (mixed(100, 999), "types-shares"),
        (mixed(0, 0), OK),
        (with_writer(200), OK),
        (with_writer(196), "writer-pace"),
        (KILLED.changed({"latency_ns": histogram(1000, 9_500_000)}), OK),
    ],
)
def test_rules_have_these_tolerances(work: Work, rule: str) -> None:
    assert honest_records.rejecting_rules(work) == ([rule] if rule else [])
