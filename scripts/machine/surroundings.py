"""The machine while a repetition was measured: shown, and a reason for nothing.

Two snapshots are compared: one is taken right before the measured process starts, the
other right after it has ended, so that taking them cannot slow it down.  A value that
cannot be determined is null.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scripts.machine.counters import (
    PRESSURES,
    TICK_NS,
    cpu_ticks,
    device_bytes,
    pressure_us,
)
from scripts.machine.reader import Reader


@dataclass(frozen=True)
class Snapshot:
    """Counters of the machine at one moment."""

    clock_ns: int
    pressure_us: Mapping[str, int | None]  # time in which some task waited
    device_read_bytes: int | None
    device_written_bytes: int | None


def snapshot(reader: Reader, data_dir: Path) -> Snapshot:
    """Read the counters."""
    clock_ns = reader.clock_ns()
    pressure = {kind: pressure_us(reader, kind) for kind in PRESSURES}
    return Snapshot(clock_ns, pressure, *device_bytes(reader, data_dir))


def surroundings(before: Snapshot, after: Snapshot) -> dict[str, Any]:
    """Return the fields of "disturbance" that describe the machine."""
    wall_ns = max(1, after.clock_ns - before.clock_ns)
    return {
        "wall_ns": wall_ns,
        **{f"pressure_{k}_share": _pressure(before, after, k) for k in PRESSURES},
        "device_read_bytes": _difference(
            before.device_read_bytes, after.device_read_bytes
        ),
        "device_written_bytes": _difference(
            before.device_written_bytes, after.device_written_bytes
        ),
    }


@dataclass(frozen=True)
class Load:
    """The processors at one moment, and what the calling thread has used of them."""

    clock_ns: int
    cpus: int | None
    busy_ticks: int | None
    steal_ticks: int | None
    own_ns: int


def load(reader: Reader) -> Load:
    """Read the counters of the processors."""
    return Load(reader.clock_ns(), *cpu_ticks(reader), reader.cpu_ns())


def other_load(before: Load, after: Load) -> dict[str, float | None]:
    """Return the shares of all processors that others had meanwhile."""
    wall_ns = max(1, after.clock_ns - before.clock_ns)
    capacity_ns = wall_ns * before.cpus if before.cpus else None
    steal = _difference(before.steal_ticks, after.steal_ticks)
    busy = _difference(before.busy_ticks, after.busy_ticks)
    own_ns = after.own_ns - before.own_ns
    others_ns = None if busy is None else max(0, busy * TICK_NS - own_ns)
    return {
        "steal_share": _ratio(None if steal is None else steal * TICK_NS, capacity_ns),
        "others_share": _ratio(others_ns, capacity_ns),
    }


def _pressure(before: Snapshot, after: Snapshot, kind: str) -> float | None:
    waited_us = _difference(before.pressure_us[kind], after.pressure_us[kind])
    wall_ns = max(1, after.clock_ns - before.clock_ns)
    return _ratio(None if waited_us is None else waited_us * 1000, wall_ns)


def _difference(before: int | None, after: int | None) -> int | None:
    if before is None or after is None or after < before:
        return None  # a counter that was reset
    return after - before


def _ratio(part: int | None, whole: int | None) -> float | None:
    """Return the ratio; at most 1, because ticks of 10 ms can exceed a short `whole`.

    None if it is unknown.
    """
    return None if part is None or not whole else min(1.0, round(part / whole, 6))
