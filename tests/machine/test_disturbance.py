"""Disturbances of a repetition, on synthetic machines."""

from pathlib import Path
from typing import Any

import pytest

from scripts.machine.disturbance import Snapshot, disturbance, snapshot
from tests.builders.machines import TextMachine

RUNNER, INIT, MAKE = 50, 1, 70
SECOND_NS = 10**9
PARTITION = "/sys/dev/block/254:1"


class Busy(TextMachine):
    """A machine with four processors, a runner and processes that a test adds."""

    def __init__(self) -> None:
        super().__init__({})
        self.ticks = {"user": 1000, "irq": 0, "steal": 0}
        self.process(2, parent=0, kernel=True)
        self.process(INIT, parent=0)
        self.process(RUNNER, parent=INIT)
        for kind in ("cpu", "io", "memory"):
            self.pressure(kind, 0)
        self.disk("/sys/dev/block/254:0", 0, 0)
        self.stat()

    def stat(self, **ticks: int) -> None:
        self.ticks |= ticks
        user, irq, steal = (self.ticks[k] for k in ("user", "irq", "steal"))
        lines = [f"cpu  {user} 0 0 900 10 {irq} 0 {steal} 0 0"]
        self.files["/proc/stat"] = "\n".join(lines + ["cpu0 1 1"] * 4 + ["intr 5"])

    def process(
        self,
        pid: int,
        parent: int,
        ticks: tuple[int, int] = (0, 0),
        kernel: bool = False,
        start: int = 7,
        io: tuple[int, int] | None = (0, 0),
    ) -> None:
        """Add a process; `ticks` are its own and those of children it has reaped."""
        flags = 0x00208040 if kernel else 0x00400100
        user, reaped = ticks
        words = (
            f"S {parent} 1 1 0 -1 {flags} 0 0 0 0 {user} 0 {reaped} 0 20 0 1 0 {start}"
        )
        self.files[f"/proc/{pid}/stat"] = f"{pid} (a) b (c) {words} 0 0\n"
        if io is not None:
            text = f"rchar: 9\nread_bytes: {io[0]}\nwrite_bytes: {io[1]}\n"
            self.files[f"/proc/{pid}/io"] = text

    def end(self, pid: int) -> None:
        self.files.pop(f"/proc/{pid}/stat")
        self.files.pop(f"/proc/{pid}/io", None)

    def pressure(self, kind: str, total_us: int) -> None:
        text = (
            f"some avg10=0.00 avg60=0.00 avg300=0.00 total={total_us}\nfull total=9\n"
        )
        self.files[f"/proc/pressure/{kind}"] = text

    def disk(self, entry: str, read_sectors: int, written_sectors: int) -> None:
        text = f"5 0 {read_sectors} 1 9 0 {written_sectors} 2 0 0 0\n"
        self.files[f"{entry}/stat"] = text

    def take(self, seconds: float = 0) -> Snapshot:
        self.now_ns += round(seconds * SECOND_NS)
        return snapshot(self, Path("/data"), [RUNNER])


@pytest.fixture
def machine() -> Busy:
    return Busy()


def compared(machine: Busy, before: Snapshot, own_bytes: int = 0) -> dict[str, Any]:
    """Return the disturbance of one second since `before`."""
    return disturbance(before, machine.take(1), own_bytes)


def test_a_quiet_machine_has_no_marks(machine: Busy) -> None:
    before = machine.take()
    machine.process(RUNNER, INIT, ticks=(2, 100))  # it has reaped the measured process
    machine.stat(user=1102)
    machine.disk("/sys/dev/block/254:0", 2, 6)
    machine.pressure("cpu", 5000)
    assert compared(machine, before) == {
        "wall_ns": SECOND_NS,
        "steal_share": 0.0,
        "foreign_cpu_share": 0.0,
        "unseen_cpu_share": 0.0,
        "pressure_cpu_share": 0.005,
        "pressure_io_share": 0.0,
        "pressure_memory_share": 0.0,
        "foreign_read_bytes": 0,
        "foreign_written_bytes": 0,
        "device_read_bytes": 1024,
        "device_written_bytes": 3072,
        "marks": [],
    }


def test_steal_marks_above_two_percent(machine: Busy) -> None:
    before = machine.take()
    machine.stat(steal=8)
    assert compared(machine, before)["marks"] == []
    machine.now_ns -= SECOND_NS
    machine.stat(steal=12)
    fields = compared(machine, before)
    assert (fields["steal_share"], fields["marks"]) == (0.03, ["steal 3.0 %"])
    assert fields["unseen_cpu_share"] == 0.0


def test_a_single_tick_of_steal_marks_no_short_repetition(machine: Busy) -> None:
    before = machine.take()
    machine.stat(steal=1)
    fields = disturbance(before, machine.take(0.01), 0)
    assert (fields["steal_share"], fields["marks"]) == (0.25, [])


def test_a_foreign_process_is_a_disturbance(machine: Busy) -> None:
    machine.process(MAKE, INIT, ticks=(500, 0))
    before = machine.take()
    machine.process(MAKE, INIT, ticks=(532, 0))
    machine.stat(user=1032)
    fields = compared(machine, before)
    assert fields["foreign_cpu_share"] == 0.08
    assert fields["unseen_cpu_share"] == 0.0
    assert fields["marks"] == ["other processes 8.0 % of the CPUs"]


def test_a_process_that_started_meanwhile_is_counted_from_its_start(
    machine: Busy,
) -> None:
    before = machine.take()
    machine.stat(user=1040)
    machine.process(MAKE, INIT, ticks=(30, 10))
    assert compared(machine, before)["foreign_cpu_share"] == 0.1


def test_processes_cannot_use_more_than_the_processors_did(machine: Busy) -> None:
    before = machine.take()
    machine.process(MAKE, INIT, ticks=(30, 9000))  # reaped what was never seen
    machine.stat(user=1060)
    fields = compared(machine, before)
    assert fields["foreign_cpu_share"] == 0.15
    assert fields["unseen_cpu_share"] == 0.0


def test_a_reused_pid_is_another_process(machine: Busy) -> None:
    machine.process(MAKE, INIT, ticks=(500, 0), start=7)
    before = machine.take()
    machine.stat(user=1040)
    machine.process(MAKE, INIT, ticks=(40, 0), start=8)
    assert compared(machine, before)["foreign_cpu_share"] == 0.1


def test_short_lived_children_are_counted_with_their_parent(machine: Busy) -> None:
    machine.process(MAKE, INIT, ticks=(1, 100))
    before = machine.take()
    machine.stat(user=1040)
    machine.process(MAKE, INIT, ticks=(1, 140))
    assert compared(machine, before)["foreign_cpu_share"] == 0.1


def test_earlier_time_of_a_process_is_not_counted_at_its_end(machine: Busy) -> None:
    machine.process(MAKE, INIT)
    machine.process(71, MAKE)
    machine.process(72, 71, ticks=(9000, 0))
    before = machine.take()
    machine.stat(user=1400)
    machine.end(72)
    machine.end(71)
    machine.process(MAKE, INIT, ticks=(0, 9004))
    assert compared(machine, before)["foreign_cpu_share"] == 0.01


def test_orphans_of_a_killed_family_are_not_counted_twice(machine: Busy) -> None:
    machine.process(MAKE, INIT)
    machine.process(71, MAKE, ticks=(10, 0))
    machine.process(72, 71, ticks=(9000, 0))
    before = machine.take()
    machine.stat(user=1400)
    machine.end(72)
    machine.end(71)
    machine.process(MAKE, INIT, ticks=(0, 10))  # reaped its child, and init the other
    machine.process(INIT, 0, ticks=(0, 9004))
    assert compared(machine, before)["foreign_cpu_share"] == 0.01


def test_descendants_of_the_runner_are_not_foreign(machine: Busy) -> None:
    before = machine.take()
    machine.process(60, RUNNER, ticks=(5, 0))
    machine.process(61, 60, ticks=(300, 0))
    fields = compared(machine, before)
    assert (fields["foreign_cpu_share"], fields["marks"]) == (0.0, [])


def test_kernel_threads_are_not_foreign_but_unseen(machine: Busy) -> None:
    before = machine.take()
    machine.process(2, parent=0, kernel=True, ticks=(100, 0))
    machine.stat(irq=100)
    fields = compared(machine, before)
    assert (fields["foreign_cpu_share"], fields["unseen_cpu_share"]) == (0.0, 0.25)
    assert fields["marks"] == ["kernel or hidden processes 25 % of the CPUs"]


def test_foreign_bytes_mark_above_a_share_of_our_own(machine: Busy) -> None:
    machine.process(MAKE, INIT, io=(5, 5))
    before = machine.take()
    machine.process(MAKE, INIT, io=(5, 5 + (64 << 20)))
    fields = compared(machine, before, own_bytes=1 << 30)
    assert fields["foreign_written_bytes"] == 64 << 20
    assert fields["marks"] == ["other processes wrote 64 MiB"]
    machine.now_ns -= SECOND_NS
    assert compared(machine, before, own_bytes=2 << 30)["marks"] == []
    machine.process(MAKE, INIT, io=(5, 5 + (7 << 20)))
    assert compared(machine, before)["marks"] == []


def test_memory_pressure_marks_and_the_others_do_not(machine: Busy) -> None:
    before = machine.take()
    for kind in ("cpu", "io", "memory"):
        machine.pressure(kind, 30_000)
    fields = compared(machine, before)
    assert fields["pressure_io_share"] == 0.03
    assert fields["marks"] == ["memory pressure 3.0 %"]


def unknown(fields: dict[str, Any]) -> set[str]:
    return {name for name, value in fields.items() if value is None}


FOREIGN = {"foreign_cpu_share", "foreign_read_bytes", "foreign_written_bytes"}
PRESSURE = {f"pressure_{kind}_share" for kind in ("cpu", "io", "memory")}
DEVICE = {"device_read_bytes", "device_written_bytes"}


def test_hidden_processes_make_foreign_figures_unknown(machine: Busy) -> None:
    machine.listed = [80]  # hidepid=1: listed, not readable
    assert unknown(compared(machine, machine.take())) == FOREIGN
    machine.listed = []
    machine.end(2)  # hidepid=2, or a container: no kernel thread to be seen
    assert unknown(compared(machine, machine.take())) == FOREIGN


def test_partly_visible_disturbances_are_marked(machine: Busy) -> None:
    machine.listed = [80]
    machine.process(MAKE, INIT)
    before = machine.take()
    machine.stat(user=1040)
    machine.process(MAKE, INIT, ticks=(40, 0), io=(0, 9 << 20))
    assert compared(machine, before)["marks"] == [
        "other processes at least 10 % of the CPUs",
        "other processes wrote at least 9 MiB",
    ]


def test_io_of_another_user_makes_bytes_unknown(machine: Busy) -> None:
    machine.files.pop(f"/proc/{INIT}/io")
    fields = compared(machine, machine.take())
    assert unknown(fields) == {"foreign_read_bytes", "foreign_written_bytes"}


def test_a_process_that_ends_while_it_is_read_hides_no_others(machine: Busy) -> None:
    class Ending(Busy):
        """A machine where MAKE ends before its second file, or its first, is read."""

        def __init__(self, last: str) -> None:
            self.last = last
            super().__init__()
            self.process(MAKE, INIT)

        def file(self, path: str) -> str | None:
            if path == f"/proc/{MAKE}/{self.last}":
                self.end(MAKE)
            return super().file(path)

    for last in ("stat", "io"):
        taken = Ending(last).take()
        assert taken.complete
        assert MAKE not in taken.processes


def test_a_kernel_without_pressure_or_steal(machine: Busy) -> None:
    for kind in ("cpu", "io", "memory"):
        machine.files.pop(f"/proc/pressure/{kind}")
    machine.files["/proc/stat"] = "intr 5\n"
    fields = compared(machine, machine.take())
    assert unknown(fields) == PRESSURE | {
        "steal_share",
        "foreign_cpu_share",
        "unseen_cpu_share",
    }


def test_without_a_device_there_are_no_device_bytes(machine: Busy) -> None:
    machine.device = "0:50"  # tmpfs, overlay
    assert unknown(compared(machine, machine.take())) == DEVICE


def test_a_partition_counts_as_its_whole_disk(machine: Busy) -> None:
    machine.device = "254:1"
    machine.files[f"{PARTITION}/partition"] = "1\n"
    machine.disk(PARTITION, 0, 0)
    machine.disk(f"{PARTITION}/..", 0, 0)
    before = machine.take()
    machine.disk(f"{PARTITION}/..", 4, 8)
    fields = compared(machine, before)
    assert (fields["device_read_bytes"], fields["device_written_bytes"]) == (2048, 4096)


def test_every_share_is_of_wall_time_and_all_processors(machine: Busy) -> None:
    machine.process(MAKE, INIT)
    before = machine.take()
    machine.stat(user=1040)
    machine.process(MAKE, INIT, ticks=(40, 0))
    fields = disturbance(before, machine.take(2), 0)
    assert fields["foreign_cpu_share"] == 0.05


def test_no_share_of_a_short_repetition_exceeds_the_whole(machine: Busy) -> None:
    machine.process(MAKE, INIT)
    before = machine.take()
    machine.stat(user=1013)
    machine.process(MAKE, INIT, ticks=(13, 0))
    machine.pressure("cpu", 40_000)
    found = disturbance(before, machine.take(0.03), 0)  # 13 ticks of 10 ms, 4 CPUs
    assert (found["foreign_cpu_share"], found["pressure_cpu_share"]) == (1.0, 1.0)
    assert found["marks"] == ["other processes 100 % of the CPUs"]


def test_the_snapshot_distinguishes_own_from_foreign(machine: Busy) -> None:
    machine.process(60, RUNNER)
    taken = machine.take()
    assert sorted(taken.own_pids) == [RUNNER, 60]
    assert sorted(taken.processes) == [INIT, RUNNER, 60]
