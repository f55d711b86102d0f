"""What a process lost to the machine: the rule, on figures of many machines."""

from typing import Any

import pytest

from scripts.machine.counters import TICK_NS
from scripts.machine.disturbance import WAKE_UP_NS, losses
from tests.builders import synthetic_records
from tests.builders.regime_records import counters

MS, SECOND = 10**6, 10**9
CELL = {"engine": "alpha", "scenario": "baseline", "benchmark": "readrandom"}


def lost(
    timed_ns: int = SECOND, cpu_user_ns: int | None = None, **counters: int | None
) -> dict[str, Any]:
    """Return the losses of a process that had a processor for its own otherwise."""
    user_ns = timed_ns if cpu_user_ns is None else cpu_user_ns
    found = {
        **{"threads": 1, "processors": 2, "run_queue_ns": 0, "time_slices": 0},
        **{"stolen_ns": 0, "throttled_ns": 0, "processors_user_ns": user_ns},
        **counters,
    }
    line: Any = synthetic_records.line(CELL, loop_ns=timed_ns, flush_ns=0, lost=found)
    line["cpu_user_ns"] = user_ns
    return losses(line)


def test_a_process_that_lost_nothing_has_no_marks() -> None:
    assert lost() == {
        "competed_share": 0.0,
        "stolen_share": 0.0,
        "throttled_share": 0.0,
        "marks": [],
    }


def test_a_stolen_processor_of_many_marks_a_thread() -> None:
    found = lost(processors=64, stolen_ns=SECOND)
    assert found["marks"] == ["steal 100 % of its time"]


def test_busy_processors_elsewhere_take_nothing() -> None:
    busy = {"processors": 64, "processors_user_ns": 4 * SECOND}
    assert lost(**busy)["marks"] == []
    # A synchronous engine that is often woken, on processors that slept.
    woken = lost(**busy, time_slices=10_000, run_queue_ns=10_000 * WAKE_UP_NS)
    assert (woken["competed_share"], woken["marks"]) == (0.0, [])


def test_most_of_a_short_loop_is_marked() -> None:
    waited = lost(
        300 * MS,
        cpu_user_ns=60 * MS,
        processors=1,
        run_queue_ns=240 * MS,
        time_slices=80,
        processors_user_ns=300 * MS,
    )
    assert waited["competed_share"] == pytest.approx((240 - 10) / 300, abs=1e-6)
    assert waited["marks"] == ["other programs took 77 % of its time"]
    assert lost(300 * MS, stolen_ns=240 * MS)["marks"] == ["steal 80 % of its time"]


@pytest.mark.parametrize(("ticks", "marked"), [(0, False), (1, True), (2, True)])
def test_a_loop_of_one_tick_is_marked_if_the_counter_shows_it(
    ticks: int, marked: bool
) -> None:
    found = lost(10 * MS, stolen_ns=ticks * TICK_NS)
    assert bool(found["marks"]) == marked
    assert found["stolen_share"] <= 1.0


def test_the_work_of_the_kernel_for_an_engine_is_not_held_against_it() -> None:
    # The journal and the write-back on the only processor: no time in user mode.
    found = lost(
        cpu_user_ns=400 * MS,
        processors=1,
        run_queue_ns=500 * MS,
        time_slices=2_000,
        processors_user_ns=405 * MS,
    )
    assert (found["competed_share"], found["marks"]) == (0.0, [])


def test_threads_that_wait_for_each_other_lose_nothing() -> None:
    # A thread and its compactions on one processor; eight threads on two.
    one = lost(cpu_user_ns=990 * MS, processors=1, run_queue_ns=990 * MS)
    two = lost(
        cpu_user_ns=1_990 * MS,
        threads=8,
        run_queue_ns=6 * SECOND,
        processors_user_ns=2 * SECOND,
    )
    assert (one["marks"], two["marks"]) == ([], [])


def test_others_take_no_more_than_they_used() -> None:
    found = lost(
        cpu_user_ns=900 * MS,
        processors=1,
        run_queue_ns=5 * SECOND,
        processors_user_ns=SECOND,
    )
    assert found["competed_share"] == pytest.approx(0.09)


@pytest.mark.parametrize("waited_ms", [19, 21])
def test_two_percent_is_too_much(waited_ms: int) -> None:
    found = lost(run_queue_ns=waited_ms * MS, processors_user_ns=2 * SECOND)
    assert bool(found["marks"]) == (waited_ms > 20)
    found = lost(throttled_ns=waited_ms * MS)
    assert bool(found["marks"]) == (waited_ms > 20)


def test_with_a_disk_of_its_own_steal_marks_nothing() -> None:
    """It follows the requests of the process; other losses mark as everywhere."""
    line = synthetic_records.line(CELL, loop_ns=SECOND, flush_ns=0)
    line["lost"] = {**line["lost"], "stolen_ns": 300 * MS, "throttled_ns": 0}
    assert losses(line)["marks"] == ["steal 30 % of its time"]
    line["device"] = {"loop": counters(), "settle": None}
    found = losses(line)
    assert (found["stolen_share"], found["marks"]) == (0.3, [])
    line["lost"]["throttled_ns"] = 300 * MS
    assert losses(line)["marks"] == ["stopped by a CPU limit 30 % of its time"]


def test_losses_of_several_threads_are_shared() -> None:
    found = lost(threads=4, stolen_ns=40 * MS, throttled_ns=200 * MS)
    assert (found["stolen_share"], found["throttled_share"]) == (0.01, 0.05)
    assert found["marks"] == ["stopped by a CPU limit 5.0 % of its time"]


def test_the_flush_is_part_of_the_time() -> None:
    line = synthetic_records.line(CELL, loop_ns=SECOND, flush_ns=SECOND)
    line["lost"] = {**line["lost"], "stolen_ns": 30 * MS}
    assert losses(line)["stolen_share"] == 0.015


@pytest.mark.parametrize("counter", ["run_queue_ns", "time_slices", "stolen_ns"])
def test_what_the_kernel_does_not_count_is_unknown(counter: str) -> None:
    unknown: dict[str, Any] = {counter: None}
    found = lost(**unknown)
    name = "stolen_share" if counter == "stolen_ns" else "competed_share"
    assert [key for key, value in found.items() if value is None] == [name]
    assert found["marks"] == []


@pytest.mark.parametrize("record", [{}, {"lost": None}])
def test_an_answer_without_losses_has_no_marks(record: Any) -> None:
    assert losses(record) == {
        "competed_share": None,
        "stolen_share": None,
        "throttled_share": None,
        "marks": [],
    }
