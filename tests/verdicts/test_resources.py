"""The resources of a repetition, by operation and byte of user data, and its pace."""

import dataclasses
from typing import Any

import numpy as np
import pytest

from report.model.run import Measurement
from report.stats import resources, timeline
from report.verdict.chart_row import of_one_pass
from tests.builders import honest_records
from tests.builders.honest_records import repeated

LINE: Any = {
    "schema": 2,
    "ops": 1000,
    "bytes": 116_000,
    "live_bytes": 58_000,
    "loop_ns": 900_000,
    "flush_ns": 100_000,
    "cpu_user_ns": 1_000_000,
    "cpu_system_ns": 500_000,
    "minor_faults": 50,
    "major_faults": 2,
    "voluntary_switches": 3,
    "involuntary_switches": 4,
    "peak_rss_bytes": 9_000_000,
    "anonymous_rss_bytes": 5_000_000,
    "file_rss_bytes": 4_000_000,
    "read_bytes": 11_600,
    "written_bytes": 232_000,
    "storage_read_bytes": 0,
    "storage_written_bytes": 348_000,
    "disk_bytes": 87_000,
    "peak_disk_bytes": 116_000,
    "deferred": {
        "cpu_ns": 7,
        "read_bytes": 8,
        "written_bytes": 9,
        "storage_written_bytes": 10,
        "barriers": 11,
    },
    "barriers": 12,
    "disturbance": {"device_written_bytes": 13},
    "watch": {
        "samples": 4,
        "peak_disk_bytes": 174_000,
        "peak_anonymous_rss_bytes": 6_000_000,
        "peak_file_rss_bytes": 1_000_000,
        "runner_cpu_ns": 1,
    },
}


def test_each_figure_is_by_operation_or_by_byte() -> None:
    assert resources.resources(LINE) == resources.Resources(
        cpu_user_ns_per_op=1000,
        cpu_system_ns_per_op=500,
        processors=1.5,
        minor_faults_per_op=0.05,
        major_faults_per_op=0.002,
        switches_per_op=0.007,
        peak_rss_bytes=9_000_000,
        anonymous_bytes=6_000_000,
        file_bytes=4_000_000,
        read_per_byte=0.1,
        storage_read_per_byte=0,
        written_per_byte=2,
        storage_written_per_byte=3,
        disk_bytes=87_000,
        peak_disk_bytes=174_000,
        space_amplification=1.5,
        peak_space_amplification=3,
        deferred_cpu_ns=7,
        deferred_written_bytes=9,
        deferred_storage_written_bytes=10,
        barriers=12,
        deferred_barriers=11,
        device_written_bytes=13,
    )


def changed(**changes: Any) -> resources.Resources:
    return resources.resources(LINE | changes)


def test_unknown_values_stay_unknown() -> None:
    assert set(dataclasses.astuple(resources.resources({}))) == {None}
    nothing: Any = dict.fromkeys(LINE)
    blank = resources.resources(nothing)
    assert set(dataclasses.astuple(blank)) == {None}
    assert changed(live_bytes=0).space_amplification is None
    assert changed(watch=None).peak_disk_bytes == 116_000


def test_counters_of_another_window_are_not_shown_next_to_ours() -> None:
    medians = changed(schema=1)
    assert medians.cpu_user_ns_per_op is None
    assert medians.written_per_byte is None
    assert medians.disk_bytes == 87_000


def test_medians_are_over_the_lines_that_have_a_value() -> None:
    records: list[Any] = [{**LINE, "disk_bytes": n} for n in (10, 30, 20)]
    records[0]["deferred"] = None
    medians = resources.medians(records)
    assert medians.disk_bytes == 20
    assert medians.deferred_cpu_ns == 7
    assert set(dataclasses.astuple(resources.medians([]))) == {None}


# Two fast intervals, one slow, one fast.
PACED: Any = {
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
    series = timeline.timeline(PACED)
    assert series is not None
    assert [i.ops_per_sec for i in series.intervals] == [1e10, 1e10, 2.5e9, 1e10]
    assert series.loop_ns == 700
    assert series.median_ops_per_sec == 1e10
    assert series.slowest == timeline.Interval(200, 600, 1000)
    assert series.fastest == timeline.Interval(0, 100, 1000)
    assert series.slowest_share == 0.25


@pytest.mark.parametrize("columns", [1, 2, 3, 7, 10, 64, 1000])
def test_resampling_loses_no_operation(columns: int) -> None:
    series = timeline.timeline(PACED)
    assert series is not None
    rates = series.resampled(columns)
    assert len(rates) == columns
    assert sum(rates) * series.loop_ns / columns / 1e9 == pytest.approx(4000)


def test_resampling_keeps_each_rate_at_its_time() -> None:
    series = timeline.timeline(PACED)
    assert series is not None
    assert series.resampled(7) == pytest.approx([1e10, 1e10, *[2.5e9] * 4, 1e10])


def test_resampling_handles_fractional_edges() -> None:
    points = [[7 * n + 3, n + 1] for n in range(251)]
    series = timeline.timeline({"timeline": points})
    assert series is not None
    for columns in (96, 97, 100, 123):
        rates = series.resampled(columns)
        assert sum(rates) * series.loop_ns / columns / 1e9 == pytest.approx(251)


def slowing(*factors: float) -> Any:
    """Return a line with a pass for each factor: its time is so many times as long.

    In each pass, an operation of the last fifth takes three times as long as before.
    """
    times = np.interp(np.arange(1, 51), [0, 40, 50], [0, 40, 70]) * 1000
    starts = np.cumsum([0, *factors]) * 70_000
    points = [
        [round(start + factor * ns), number * 500 + 10 * (n + 1)]
        for number, (start, factor) in enumerate(zip(starts, factors, strict=False))
        for n, ns in enumerate(times)
    ]
    passes = [{"loop_ns": round(70_000 * factor)} for factor in factors]
    return {"timeline": points, "passes": passes}


def test_the_last_fifth_is_that_of_each_pass() -> None:
    once = slowing(1.0) | {"passes": None}
    assert timeline.ending_ns(once) == pytest.approx(300)
    for passes in (1, 2, 3, 5):
        assert timeline.ending_ns(slowing(*[1.0] * passes)) == pytest.approx(300)
    assert timeline.ending_ns(slowing(1.0, 2.0)) == pytest.approx(450)
    coarse = slowing(1.0, 1.0)
    thinned = coarse["timeline"][9::10]
    assert timeline.ending_ns(coarse | {"timeline": thinned}) == pytest.approx(300)


def test_without_five_intervals_of_each_pass_its_last_fifth_is_unknown() -> None:
    line = slowing(1.0, 1.0)
    points = line["timeline"]
    assert timeline.ending_ns(line | {"timeline": [*points[:50], points[-1]]}) is None
    assert timeline.ending_ns(line | {"timeline": points[24::25]}) is None
    assert timeline.ending_ns(line | {"timeline": []}) is None


def test_stalls_come_longest_first() -> None:
    stalls = timeline.stalls(PACED)
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


@pytest.mark.parametrize("key", ["open_ns", "loop_ns", "settle_ns", "close_ns"])
def test_the_time_of_a_phase_is_that_of_one_pass(key: str) -> None:
    lines = [honest_records.FILL.line, repeated(10, 0.001, "fillrandom").line]
    once, ten_times = (Measurement.of(line) for line in lines)
    assert ten_times.figure(key) == 10 * (once.figure(key) or 0)
    assert of_one_pass([once], key) == of_one_pass([ten_times], key) != 0
