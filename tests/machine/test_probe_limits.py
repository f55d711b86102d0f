"""The doctor's findings on synthetic times of the probes."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from scripts.doctor.examine import probe
from scripts.doctor.finding import Severity
from scripts.doctor.probe_limits import drift_share, lost_share
from scripts.machine.host import Machine
from scripts.machine.probes import Progress
from tests.builders.machines import TextMachine
from tests.builders.patients import GOOD, QUEUE, QUIET, STEADY, finding, subject

UNIT_NS = 50_000


def sync_finding(least_ns: int, **machine: Any) -> tuple[str, str]:
    times = [least_ns, *[least_ns + 50_000] * 99]
    result = finding("fsync", subject(**machine), replace(STEADY, overwrites_ns=times))
    return str(result.level), result.found


def test_a_sync_that_takes_5_microseconds_reaches_no_disk() -> None:
    level, found = sync_finding(5_000)
    assert (level, "does not reach a disk" in found) == ("fail", True)
    assert "minimum 5.00 µs, median 55.0 µs" in found


def test_a_quick_sync_is_doubted_and_a_slow_one_believed() -> None:
    assert sync_finding(9_999)[0] == "fail"
    assert sync_finding(10_000)[0] == "warn"
    assert sync_finding(49_999)[0] == "warn"
    assert sync_finding(50_000)[0] == "ok"


def test_a_finding_about_sync_in_a_guest_mentions_the_host() -> None:
    assert "host" in sync_finding(80_000, hypervisor="kvm")[1]
    assert "host" not in sync_finding(80_000)[1]


def test_a_disk_that_turns_cannot_sync_in_less_than_a_turn() -> None:
    turning = {f"{QUEUE}/rotational": "1"}
    level, text = sync_finding(300_000, changes=turning)
    assert (level, "less than one rotation" in text) == ("warn", True)
    assert sync_finding(8_000_000, changes=turning)[0] == "ok"
    # A guest's disk says so without turning.
    assert sync_finding(300_000, changes=turning, hypervisor="kvm")[0] == "ok"
    assert sync_finding(30_000, changes=turning, hypervisor="kvm")[0] == "warn"


def test_uneven_reads() -> None:
    uneven = replace(STEADY, reads_ns=[80_000] * 80 + [900_000] * 20)
    assert finding("disk reads", subject(), uneven).level is Severity.WARN
    one_late = replace(STEADY, reads_ns=[80_000] * 99 + [900_000])
    assert finding("disk reads", subject(), one_late).level is Severity.OK


def work(gaps: int, gap_ns: int) -> list[int]:
    """Return the times of a second of work with evenly spaced gaps."""
    units = [UNIT_NS] * 20_000
    for place in range(0, gaps * 10, 10):
        units[place] += gap_ns
    return units


def test_lost_time_is_the_gaps_above_ten_microseconds() -> None:
    assert lost_share([UNIT_NS] * 100) == 0
    assert lost_share(work(1000, 9_000)) == 0
    assert lost_share(work(100, 1_000_000)) == pytest.approx(0.1 / 1.1)


def test_a_gap_is_no_drift() -> None:
    assert drift_share(work(100, 1_000_000)) == 0


def test_drift_is_between_tenths_of_a_second() -> None:
    slow = [UNIT_NS] * 10_000 + [UNIT_NS * 11 // 10] * 10_000
    assert drift_share(slow) == pytest.approx(0.1, rel=0.15)
    some_slow = [UNIT_NS * 2, *[UNIT_NS] * 9] * 2_000
    assert drift_share(some_slow) == 0


@pytest.mark.parametrize(
    ("units", "level"),
    [
        ([UNIT_NS] * 100_000, "ok"),
        (work(150, 100_000), "ok"),  # 1.5 %
        (work(300, 100_000), "warn"),
        (work(1500, 100_000), "fail"),
        ([UNIT_NS] * 10_000 + [UNIT_NS * 107 // 100] * 10_000, "warn"),
        ([UNIT_NS] * 10_000 + [UNIT_NS * 3 // 2] * 10_000, "fail"),
    ],
)
def test_the_noise_floor(units: Sequence[int], level: str) -> None:
    result = finding("noise floor", subject(), replace(STEADY, work_ns=units))
    assert str(result.level) == level, result


def meanwhile(**figures: Any) -> tuple[str, str]:
    probed = replace(STEADY, meanwhile={**QUIET, **figures})
    result = finding("quiet", subject(), probed)
    return str(result.level), result.found


def test_others_during_the_probes_are_a_warning() -> None:
    level, text = meanwhile()
    assert level == "ok"
    assert text.startswith("steal 0.0 %, other processes and the kernel 0.1 %")
    assert meanwhile(others_share=0.08)[0] == "warn"
    assert meanwhile(steal_share=0.03)[0] == "warn"
    assert meanwhile(others_share=0.3)[0] == "fail"
    assert meanwhile(others_share=None)[0] == "warn"


@pytest.mark.parametrize("name", ["fsync", "disk reads", "noise floor"])
def test_failed_probes_are_unknown(name: str) -> None:
    nothing = replace(STEADY, overwrites_ns=(), reads_ns=(), work_ns=())
    result = finding(name, subject(), nothing)
    assert (result.level, result.found[:9]) == (Severity.WARN, "unknown: ")
    document = nothing.document()
    assert {k for k, v in document.items() if v is None} == {
        "overwrite_fdatasync_ns",
        "disk_read_ns",
        "work_unit_ns",
        "lost_share",
        "drift_share",
    }


def test_figures_are_nearest_ranks() -> None:
    probed = replace(STEADY, overwrites_ns=list(range(100, 0, -1)))
    assert probed.document()["overwrite_fdatasync_ns"] == {
        "count": 100,
        "min": 1,
        "max": 100,
        "p50": 50,
        "p90": 90,
        "p99": 99,
    }


class Busy:
    """Probes that need no time, on a machine where another process works meanwhile."""

    def __init__(self, reader: TextMachine) -> None:
        self.reader = reader

    def overwrites_ns(self) -> Sequence[int]:
        return [1]

    def reads_ns(self) -> Sequence[int]:
        return [2]

    def work_ns(self, progress: Progress) -> Sequence[int]:
        progress("work")
        self.reader.now_ns += 10**9
        self.reader.files["/proc/stat"] = (
            "cpu  70 0 10 7000 5 0 0 0 0 0\n" + "cpu0 1\n" * 4
        )
        return [3]


def test_others_are_measured_only_around_the_work_probe() -> None:
    reader = TextMachine(GOOD)
    steps: list[str] = []
    probed = probe(Machine(reader, Path("/data")), Busy(reader), steps.append)
    assert (probed.overwrites_ns, probed.reads_ns, probed.work_ns) == ([1], [2], [3])
    assert probed.meanwhile["others_share"] == 0.15
    assert steps == ["4 KiB writes and reads", "work"]
