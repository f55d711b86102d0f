"""The machine around a repetition, on synthetic machines."""

from pathlib import Path
from typing import Any

import pytest

from scripts.machine.surroundings import (
    Snapshot,
    load,
    other_load,
    snapshot,
    surroundings,
)
from tests.builders.machines import TextMachine

SECOND_NS = 10**9
PARTITION = "/sys/dev/block/254:1"
PRESSURE = {f"pressure_{kind}_share" for kind in ("cpu", "io", "memory")}
DEVICE = {"device_read_bytes", "device_written_bytes"}


class Busy(TextMachine):
    """A machine with four processors, whose counters a test changes."""

    def __init__(self) -> None:
        super().__init__({})
        for kind in ("cpu", "io", "memory"):
            self.pressure(kind, 0)
        self.disk("/sys/dev/block/254:0", 0, 0)
        self.stat()

    def stat(self, user: int = 1000, irq: int = 0, steal: int = 0) -> None:
        lines = [f"cpu  {user} 0 0 900 10 {irq} 0 {steal} 0 0"]
        self.files["/proc/stat"] = "\n".join(lines + ["cpu0 1 1"] * 4 + ["intr 5"])

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
        return snapshot(self, Path("/data"))


@pytest.fixture
def machine() -> Busy:
    return Busy()


def compared(machine: Busy, before: Snapshot) -> dict[str, Any]:
    """Return the surroundings of one second since `before`."""
    return surroundings(before, machine.take(1))


def unknown(fields: dict[str, Any]) -> set[str]:
    return {name for name, value in fields.items() if value is None}


def test_what_is_shown_of_the_machine(machine: Busy) -> None:
    before = machine.take()
    machine.disk("/sys/dev/block/254:0", 2, 6)
    machine.pressure("cpu", 5000)
    assert compared(machine, before) == {
        "wall_ns": SECOND_NS,
        "pressure_cpu_share": 0.005,
        "pressure_io_share": 0.0,
        "pressure_memory_share": 0.0,
        "device_read_bytes": 1024,
        "device_written_bytes": 3072,
    }


def test_a_kernel_without_pressure(machine: Busy) -> None:
    for kind in ("cpu", "io", "memory"):
        machine.files.pop(f"/proc/pressure/{kind}")
    assert unknown(compared(machine, machine.take())) == PRESSURE


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


def test_no_share_of_a_short_time_exceeds_the_whole(machine: Busy) -> None:
    before = machine.take()
    machine.pressure("cpu", 40_000)
    assert surroundings(before, machine.take(0.03))["pressure_cpu_share"] == 1.0


def test_the_load_of_others_leaves_out_our_own(machine: Busy) -> None:
    before = load(machine)
    machine.now_ns += SECOND_NS
    machine.used_ns += SECOND_NS
    machine.stat(user=1100, irq=40, steal=12)
    found = other_load(before, load(machine))
    assert found == {"steal_share": 0.03, "others_share": 0.1}


def test_hidden_processors_make_the_load_unknown(machine: Busy) -> None:
    machine.files["/proc/stat"] = "intr 5\n"
    assert unknown(other_load(load(machine), load(machine))) == {
        "steal_share",
        "others_share",
    }
