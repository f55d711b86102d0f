"""Rates over the time of a loop, and stalls."""

from typing import Any

import pytest

from report.stats import timeline

# Two fast intervals, one slow, one fast.
LINE: Any = {
    "timeline": [[100, 1000], [200, 2000], [600, 3000], [700, 4000]],
    "stall_count": 3,
    "stalled_ns": 90,
    "stalls": [
        {"at_ns": 10, "lasted_ns": 20},
        {"at_ns": 300, "lasted_ns": 50},
        {"at_ns": 400, "lasted_ns": 20},
    ],
}


def test_each_interval_has_its_rate() -> None:
    series = timeline.timeline(LINE)
    assert series is not None
    assert [i.ops_per_sec for i in series.intervals] == [1e10, 1e10, 2.5e9, 1e10]
    assert series.loop_ns == 700
    assert series.median_ops_per_sec == 1e10
    assert series.slowest == timeline.Interval(200, 600, 1000)
    assert series.fastest == timeline.Interval(0, 100, 1000)
    assert series.slowest_share == 0.25


@pytest.mark.parametrize("columns", [1, 2, 3, 7, 10, 64, 1000])
def test_resampling_loses_no_operation(columns: int) -> None:
    series = timeline.timeline(LINE)
    assert series is not None
    rates = series.resampled(columns)
    assert len(rates) == columns
    assert sum(rates) * series.loop_ns / columns / 1e9 == pytest.approx(4000)


def test_resampling_keeps_each_rate_at_its_time() -> None:
    series = timeline.timeline(LINE)
    assert series is not None
    assert series.resampled(7) == pytest.approx([1e10, 1e10, *[2.5e9] * 4, 1e10])


def test_resampling_handles_fractional_edges() -> None:
    points = [[7 * n + 3, n + 1] for n in range(251)]
    series = timeline.timeline({"timeline": points})
    assert series is not None
    for columns in (96, 97, 100, 123):
        rates = series.resampled(columns)
        assert sum(rates) * series.loop_ns / columns / 1e9 == pytest.approx(251)


def test_stalls_come_longest_first() -> None:
    stalls = timeline.stalls(LINE)
    assert stalls is not None
    assert (stalls.count, stalls.stalled_ns) == (3, 90)
    assert [(s.at_ns, s.lasted_ns) for s in stalls.longest] == [
        (300, 50),
        (10, 20),
        (400, 20),
    ]


def test_older_lines_have_no_timeline_and_no_stalls() -> None:
    lines: list[Any] = [{}, {"timeline": None, "stall_count": None}, {"timeline": []}]
    for line in lines:
        assert timeline.timeline(line) is None
        assert timeline.stalls(line) is None
