"""Amplification, limiters, steady states and warming, from synthetic lines."""

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from report.stats import device_use, limiter, loop_course, steady_state
from report.stats.steady_state import Shape, Window
from scripts.machine.course import COLUMNS
from scripts.regime.loop_device import disk_counts
from tests.builders.honest_records import FILL, MIX, READ, WITH_WRITER
from tests.builders.regime_records import counters

ENTRY = 116
SECOND_NS = 10**9


def changed(line: Any, **changes: Any) -> Any:
    """Return a line with changes."""
    return {**line, **changes}


def use_of(line: Any, settle: Any = None, **loop: int) -> device_use.DeviceUse:
    device = {"loop": counters(**loop), "settle": settle}
    found = device_use.device_use(changed(line, device=device))
    assert found is not None
    return found


def test_flushes_that_a_kernel_does_not_count_are_unknown() -> None:
    """They were added to the stat file after the other fields."""
    old, new = (disk_counts(" ".join(map(str, range(n)))) for n in (15, 17))
    assert old is not None and old.flushes is None and old.read_bytes == 2 * 512
    assert new is not None and new.flushes == 15


def test_a_line_without_a_disk_has_no_use() -> None:
    assert device_use.device_use(READ.line) is None
    assert device_use.device_use(changed(READ.line, device=None)) is None
    assert device_use.medians([READ.line]) is None


def test_reads_are_related_to_what_they_returned() -> None:
    use = use_of(READ.line, reads=1500, read_bytes=1000 * ENTRY * 40)
    assert use.reads_per_op == 1.5
    assert use.read_bytes_per_op == ENTRY * 40
    assert use.read_amplification == 40
    assert use.write_amplification is None
    assert use.debt is None


def test_writes_are_related_to_what_was_accepted() -> None:
    accepted = FILL.line["bytes"]
    later = counters(written_bytes=accepted)
    use = use_of(FILL.line, later, written_bytes=3 * accepted, flushes=7)
    assert use.accepted_write_amplification == 3
    assert use.write_amplification == 4
    assert use.debt == 1
    assert use.flushes == 7
    assert use.read_amplification is None


def test_the_writes_of_a_mix_have_the_size_of_all_entries() -> None:
    updates = MIX.line["ops_by_type"]["update"]
    device = {"loop": counters(), "settle": counters()}
    accepted, returned = device_use.user_bytes(changed(MIX.line, device=device))
    assert accepted == updates * ENTRY
    assert returned == MIX.line["bytes"] - accepted


def test_next_to_a_writer_its_bytes_are_the_accepted_ones() -> None:
    accepted, returned = device_use.user_bytes(WITH_WRITER.line)
    assert accepted == WITH_WRITER.line["writer"]["bytes"]
    assert returned == WITH_WRITER.line["bytes"]


def timed(elapsed_ms: int, cpu_ms: int, **loop: int) -> Any:
    """Return a line of one thread with these times."""
    line = READ.line | {"loop_ns": elapsed_ms * 10**6, "flush_ns": 0}
    line |= {"cpu_user_ns": cpu_ms * 10**6, "cpu_system_ns": 0}
    return line | (
        {"device": {"loop": counters(**loop), "settle": None}} if loop else {}
    )


@pytest.mark.parametrize(
    ("line", "name"),
    [
        (timed(1000, 900), limiter.PROCESSOR),
        (timed(1000, 100), limiter.WAITING),
        (timed(1000, 300, busy_ms=600, read_ms=600), limiter.READS),
        (timed(1000, 300, busy_ms=900, read_ms=10, write_ms=5000), limiter.WRITES),
        (timed(1000, 100, busy_ms=900, flush_ms=800, write_ms=100), limiter.FLUSHES),
        (timed(1000, 100, busy_ms=400, read_ms=400), limiter.WAITING),
        (timed(1000, 800, busy_ms=900, read_ms=450, write_ms=450), limiter.PROCESSOR),
        (timed(1000, 100) | {"barriers": None}, limiter.UNKNOWN),
        (timed(1000, 900) | {"barriers": None}, limiter.PROCESSOR),
        (timed(1000, 100) | {"barriers": 900, "sync_floor_ns": 10**6}, limiter.FLUSHES),
        (timed(1000, 100) | {"barriers": 300, "sync_floor_ns": 10**6}, limiter.WAITING),
    ],
)
def test_the_largest_share_of_the_time_names_the_limiter(line: Any, name: str) -> None:
    found = limiter.limiter(line)
    assert found is not None
    assert found.name == name
    assert limiter.median([line, line, line]) == found


def windows(
    rates: Sequence[float], written: Sequence[float] = ()
) -> tuple[Window, ...]:
    """Return windows of these rates and write amplifications."""
    pairs = itertools.zip_longest(rates, written, fillvalue=4.0)
    return tuple(
        Window(i * SECOND_NS, (i + 1) * SECOND_NS, rate, amplification)
        for i, (rate, amplification) in enumerate(pairs)
    )


def judged(
    rates: Sequence[float], written: Sequence[float] = ()
) -> steady_state.SteadyState:
    return steady_state.steady_state(windows(rates, written), len(rates))


# Within 1 %, without a trend.
NOISE = [1.0, 1.01, 0.99, 1.0, 1.005, 0.995, 1.01, 0.99, 1.0, 1.005]
LEVEL = [100.0] * 7


def test_the_last_five_windows_decide_after_six_flat_ones() -> None:
    assert not judged(LEVEL[:5]).is_steady
    state = judged(LEVEL)
    assert state.is_steady and state.ops_per_sec == 100
    assert [w.start_ns for w in state.steady] == [i * SECOND_NS for i in range(2, 7)]
    assert not judged([*LEVEL, 130.0, 70.0]).is_steady


def test_the_steady_rate_is_that_of_the_last_windows_together() -> None:
    """Each has as many operations: their mean time counts, not their mean rate."""
    last, at_ns = [], 10 * SECOND_NS
    for rate in (90.0, 108.0, 100.0, 92.0, 106.0):
        end_ns = at_ns + round(SECOND_NS * 100 / rate)
        last.append(Window(at_ns, end_ns, rate, 4.0))
        at_ns = end_ns
    state = steady_state.steady_state([*windows([r * 100 for r in NOISE]), *last], 8)
    assert state.ops_per_sec == pytest.approx(5 / sum(1 / w.ops_per_sec for w in last))


@pytest.mark.parametrize("count", [6, 7, 10, 20, 40])
@pytest.mark.parametrize("step", [0.976, 1 / 0.976])
def test_a_rate_that_moves_slowly_is_not_steady(count: int, step: float) -> None:
    """By less in five windows than a level may, and in twenty by 38 %."""
    rates = [100 * step**k for k in range(count)]
    assert steady_state.is_level(rates[-5:])
    state = judged(rates)
    assert not state.is_steady
    moving = (Shape.SLOWING_DOWN if step < 1 else Shape.WARMING_UP, Shape.UNSETTLED)
    assert state.shape in moving


def test_a_change_more_than_six_windows_ago_is_the_transient() -> None:
    """What an engine did at first is neither ranked nor a reason not to rank."""
    state = judged([200.0] * 4 + [r * 100 for r in NOISE])
    assert state.shape is Shape.FLAT_AT_LAST
    assert state.ops_per_sec == pytest.approx(100, rel=0.01)
    assert not judged([200.0] * 4 + [r * 100 for r in NOISE[:5]]).is_steady


def test_noise_of_a_tenth_is_seldom_steady() -> None:
    """Of the rate and of the write amplification: in 6 of 100 loops."""
    random = np.random.default_rng(7)
    passed = [
        judged(*(100 + 10 * random.standard_normal((2, 7)))).is_steady
        for _ in range(500)
    ]
    assert np.mean(passed) < 0.1


def test_rate_and_write_amplification_must_both_be_level() -> None:
    level, rising = [100.0] * 20, [float(100 + 20 * i) for i in range(20)]
    falling = [4.0 / (1 + i) for i in range(20)]
    assert judged(level).is_steady
    assert not judged(rising).is_steady
    assert not judged(level, falling).is_steady
    assert judged([*rising[:10], *level]).is_steady


@pytest.mark.parametrize(
    ("values", "level"),
    [
        ([100, 109, 91, 100, 100], True),  # a range of 18 %
        ([100, 111, 89, 100, 100], False),  # 22 %
        ([100, 102, 104, 106, 108], True),  # a drift of 8 %
        ([95, 98, 101, 104, 107], False),  # 12 %, in a range of 12 %
        ([0, 0, 0, 0, 0], False),
    ],
)
def test_level_is_a_small_range_and_a_small_drift(
    values: list[float], level: bool
) -> None:
    assert steady_state.is_level(values) is level


@pytest.mark.parametrize(
    ("rates", "shape"),
    [
        (NOISE * 2, Shape.FLAT),
        ([r * 50 for r in NOISE] + [r * 100 for r in NOISE], Shape.FLAT_AT_LAST),
        ([r * 50 for r in NOISE] + [r * 100 for r in NOISE[:5]], Shape.WARMING_UP),
        ([r * 100 for r in NOISE] + [r * 50 for r in NOISE[:5]], Shape.SLOWING_DOWN),
        (
            [r * 50 for r in NOISE]
            + [r * 100 for r in NOISE]
            + [r * 70 for r in NOISE[:5]],
            Shape.UNSETTLED,
        ),
        ([r * 100 for r in NOISE] * 2 + [50.0] * 3, Shape.UNSETTLED),
        (NOISE[:5], Shape.UNKNOWN),
        ([0.0, *NOISE], Shape.UNSETTLED),
    ],
)
def test_the_shape_follows_from_the_change_points(
    rates: list[float], shape: Shape
) -> None:
    assert steady_state.shape_of(windows(rates)) is shape


def course(ops: Sequence[int], written: Sequence[int]) -> dict[str, list[int]]:
    """Return the course of samples ten per second."""
    times = [i * SECOND_NS // 10 for i in range(len(ops))]
    return {
        "elapsed_ns": times,
        "ops": list(ops),
        "device_written_bytes": list(written),
    }


def test_windows_begin_with_the_first_operation() -> None:
    """What is written while the database is opened belongs to no window."""
    ops = [0, 0, 0, 100, 200, 300, 300, 400]
    written = [9, 99, 1000, 1200, 1400, 1600, 1600, 2000]
    first, second = steady_state.windows_of(course(ops, written), 200, 1.0)
    assert (first.start_ns, first.end_ns) == (2 * 10**8, 4 * 10**8)
    assert first.ops_per_sec == 1000
    assert first.write_amplification == 2
    assert second.end_ns == 7 * 10**8
    assert second.write_amplification == 3


@pytest.mark.parametrize("ops", [[0, 0], [0, 100, 199], [0]])
def test_less_than_a_window_is_none(ops: list[int]) -> None:
    assert steady_state.windows_of(course(ops, [0] * len(ops)), 200, 1.0) == ()


@pytest.mark.parametrize(
    ("ops", "windows", "steady_after"),
    [(10_000, 10, 5), (17_000, 17, 12), (27_000, 9, 12)],
)
def test_a_line_has_windows_of_its_data(
    ops: int, windows: int, steady_after: float
) -> None:
    """A mix of half writes needs twice as many operations for a window.

    A longer loop has longer windows, not more of them.
    """
    options = {**MIX.line["options"], "num": 500}
    steps = [*range(0, ops + 1, 100)]
    line = changed(
        MIX.line,
        ops=ops,
        ops_by_type={"read": ops // 2, "update": ops // 2},
        options=options,
        device={"loop": counters(), "settle": counters()},
        course=course(steps, [n * ENTRY for n in steps]),
    )
    state = steady_state.of_record(line)
    assert state is not None
    assert state.rewrites == ops / 1000
    assert len(state.windows) == windows
    assert state.windows[0].write_amplification == pytest.approx(2.0)
    assert state.is_steady
    assert state.steady_after == steady_after
    assert steady_state.of_record(READ.line) is None


def test_reads_are_warm_once_they_have_nearly_their_last_rate() -> None:
    """A third of the loop at a tenth of the rate, then warm."""
    line = READ.line | {"timeline": [[20, 20], [60, 420]], "open_ns": 5}
    found = loop_course.warming(line)
    assert found is not None
    assert found.warm_ns == pytest.approx(20)
    assert found.warm_ops == pytest.approx(20e-0)
    assert found.open_ns == 5
    rising = [[n, n * n] for n in range(1, 61)]
    never = loop_course.warming(READ.line | {"timeline": rising})
    assert never is not None
    assert never.warm_ns is None


@pytest.mark.parametrize("changes", [{"live_bytes": 0}, {"options": {"num": 1}}])
def test_extreme_counts_cost_neither_an_exception_nor_memory(
    changes: dict[str, Any],
) -> None:
    ops = [0, 10**9, 10**18]
    course = {name: ops for name in COLUMNS} | {"elapsed_ns": [0, 10**9, 2 * 10**9]}
    line = changed(FILL.line, course=course, ops=10**18, **changes)
    parts = loop_course.parts_of(line, 10**9)
    assert {part.space_amplification is None for part in parts} == {
        not line["live_bytes"]
    }
    found = steady_state.of_record(line)
    assert found is None or not found.is_steady
