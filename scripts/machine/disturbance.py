"""Other activity on the machine while a repetition was measured.

Two snapshots are compared: one is taken right before the measured process starts, the
other right after it has ended, so that taking them cannot slow it down.  A value that
cannot be determined is null.  A repetition with any mark was disturbed.
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from report.terms import numbers
from scripts.machine.counters import (
    PRESSURES,
    TICK_NS,
    Process,
    cpu_ticks,
    descends,
    device_bytes,
    pressure_us,
    user_processes,
)
from scripts.machine.reader import Reader


@dataclass(frozen=True)
class Limit:
    """An amount is marked above `share` of the whole if it is at least `least`."""

    share: float
    least: int  # in the unit of the whole


# Shares of wall time x CPUs, or of the bytes moved by the measured process (R54).  The
# least amounts keep a tick of the clock (10 ms) or a page from marking a short
# repetition.
STEAL_NS = Limit(0.02, 20_000_000)
FOREIGN_CPU_NS = Limit(0.05, 50_000_000)
UNSEEN_CPU_NS = Limit(0.20, 50_000_000)  # includes the kernel's work for the engine
FOREIGN_BYTES = Limit(0.05, 8 << 20)
MEMORY_PRESSURE_SHARE = 0.01
_INIT = 1  # becomes the parent of orphans


@dataclass(frozen=True)
class Snapshot:
    """Counters of the machine at one moment."""

    clock_ns: int
    cpus: int | None
    busy_ticks: int | None
    steal_ticks: int | None
    pressure_us: Mapping[str, int | None]  # time in which some task waited
    device_read_bytes: int | None
    device_written_bytes: int | None
    processes: Mapping[int, Process]  # user processes only
    own_pids: frozenset[int]  # the processes of the measurement; others are foreign
    complete: bool  # True if no process of the machine is hidden


def snapshot(reader: Reader, data_dir: Path, roots: Collection[int]) -> Snapshot:
    """Read the counters; processes other than `roots` and descendants are foreign."""
    clock_ns = reader.clock_ns()
    cpus, busy, steal = cpu_ticks(reader)
    pressure = {kind: pressure_us(reader, kind) for kind in PRESSURES}
    read_bytes, written_bytes = device_bytes(reader, data_dir)
    processes, complete = user_processes(reader)
    return Snapshot(
        clock_ns=clock_ns,
        cpus=cpus,
        busy_ticks=busy,
        steal_ticks=steal,
        pressure_us=pressure,
        device_read_bytes=read_bytes,
        device_written_bytes=written_bytes,
        processes=processes,
        own_pids=frozenset(pid for pid in processes if descends(pid, roots, processes)),
        complete=complete,
    )


def disturbance(
    before: Snapshot, after: Snapshot, own_storage_bytes: int
) -> dict[str, Any]:
    """Return the "disturbance" object of the result line.

    `own_storage_bytes` is what the measured process itself read and wrote.  That
    process is in neither snapshot; the kernel adds its usage to its parent's.
    """
    wall_ns = max(1, after.clock_ns - before.clock_ns)
    capacity_ns = wall_ns * before.cpus if before.cpus else None
    cpu_ns = _cpu_ns(before, after)
    moved_bytes = {
        "read": _foreign(before, after, lambda p: p.read_bytes),
        "written": _foreign(before, after, lambda p: p.written_bytes),
    }
    pressure = {kind: _pressure(before, after, kind, wall_ns) for kind in PRESSURES}
    marks = [
        *_cpu_marks(cpu_ns, capacity_ns),
        *_byte_marks(moved_bytes, own_storage_bytes),
        *_memory_marks(pressure["memory"]),
    ]
    read_bytes = _difference(before.device_read_bytes, after.device_read_bytes)
    written_bytes = _difference(before.device_written_bytes, after.device_written_bytes)
    return {
        "wall_ns": wall_ns,
        **{f"{name}_share": _ratio(t.exact, capacity_ns) for name, t in cpu_ns.items()},
        **{f"pressure_{kind}_share": share for kind, share in pressure.items()},
        **{f"foreign_{name}_bytes": t.exact for name, t in moved_bytes.items()},
        "device_read_bytes": read_bytes,
        "device_written_bytes": written_bytes,
        "marks": marks,
    }


@dataclass(frozen=True)
class Tally:
    """A sum, or a lower bound of it if some of the processes are hidden."""

    seen: int
    whole: bool

    @property
    def exact(self) -> int | None:
        """The sum; None if only a lower bound is known."""
        return self.seen if self.whole else None

    def text(self, shown: str) -> str:
        """Return the formatted sum, marked if it is a lower bound."""
        return shown if self.whole else f"at least {shown}"


def _cpu_ns(before: Snapshot, after: Snapshot) -> dict[str, Tally]:
    """Return the CPU time that did not go to the measured work, by where it went."""
    steal = _difference(before.steal_ticks, after.steal_ticks)
    busy = _difference(before.busy_ticks, after.busy_ticks)
    used = _growth(before, after, lambda p: p.cpu_ticks, after.processes).seen
    unseen = None if busy is None else max(0, busy - used)
    foreign = _foreign(before, after, lambda p: p.cpu_ticks)
    if busy is not None:  # some processes cannot use more than all of them did
        foreign = Tally(min(foreign.seen, busy), foreign.whole)
    return {
        "steal": Tally((steal or 0) * TICK_NS, steal is not None),
        "foreign_cpu": Tally(foreign.seen * TICK_NS, foreign.whole),
        "unseen_cpu": Tally((unseen or 0) * TICK_NS, unseen is not None),
    }


Usage = Callable[[Process], int | None]


def _foreign(before: Snapshot, after: Snapshot, usage: Usage) -> Tally:
    """Return what foreign processes used."""
    foreign = after.processes.keys() - after.own_pids
    tally = _growth(before, after, usage, foreign)
    return Tally(tally.seen, tally.whole and before.complete and after.complete)


def _growth(
    before: Snapshot, after: Snapshot, usage: Usage, pids: Collection[int]
) -> Tally:
    """Return what these processes of `after` used since `before`.

    The usage of a process that ended is added to the process that reaped it, including
    what it had used by `before`.  That part is subtracted.
    """
    grown: dict[int, int] = {}
    whole = True
    for pid in pids:
        now, then = usage(after.processes[pid]), 0
        if _survived(pid, before, after):
            earlier = usage(before.processes[pid])
            now, then = (None, 0) if earlier is None else (now, earlier)
        whole = whole and now is not None
        grown[pid] = max(0, (now or 0) - then)
    for process in _ended(before, after):
        # Which ancestor reaped it is unknown: subtract from the nearest ones first.
        excess = usage(process) or 0
        for reaper in _reapers(process, before, after):
            part = min(excess, grown.get(reaper, 0))
            grown[reaper] = grown.get(reaper, 0) - part
            excess -= part
    return Tally(sum(grown.values()), whole)


def _survived(pid: int, before: Snapshot, after: Snapshot) -> bool:
    then, now = before.processes.get(pid), after.processes.get(pid)
    return bool(then and now and then.start_ticks == now.start_ticks)


def _ended(before: Snapshot, after: Snapshot) -> Iterator[Process]:
    for pid, process in before.processes.items():
        if not _survived(pid, before, after):
            yield process


def _reapers(process: Process, before: Snapshot, after: Snapshot) -> Iterator[int]:
    """Yield who may have reaped it: surviving ancestors, nearest first, then init."""
    pid = process.parent
    for _ in before.processes:  # bounded: a pid reused meanwhile can close a cycle
        if pid in (0, _INIT) or pid not in before.processes:
            break
        if _survived(pid, before, after):
            yield pid
        pid = before.processes[pid].parent
    yield _INIT


def _difference(before: int | None, after: int | None) -> int | None:
    if before is None or after is None or after < before:
        return None  # a counter that was reset
    return after - before


def _ratio(part: int | None, whole: int | None) -> float | None:
    """Return the ratio; at most 1, because ticks of 10 ms can exceed a short `whole`.

    None if it is unknown.
    """
    return None if part is None or not whole else min(1.0, round(part / whole, 6))


def _pressure(
    before: Snapshot, after: Snapshot, kind: str, wall_ns: int
) -> float | None:
    waited_us = _difference(before.pressure_us[kind], after.pressure_us[kind])
    return _ratio(None if waited_us is None else waited_us * 1000, wall_ns)


def _cpu_marks(cpu_ns: Mapping[str, Tally], capacity_ns: int | None) -> Iterator[str]:
    texts = {
        "steal": (STEAL_NS, "steal {}"),
        "foreign_cpu": (FOREIGN_CPU_NS, "other processes {} of the CPUs"),
        "unseen_cpu": (UNSEEN_CPU_NS, "kernel or hidden processes {} of the CPUs"),
    }
    for name, (limit, text) in texts.items():
        lost = cpu_ns[name]
        if capacity_ns and limit.least <= lost.seen > limit.share * capacity_ns:
            share = _ratio(lost.seen, capacity_ns) or 0.0
            yield text.format(lost.text(numbers.percent(share)))


def _byte_marks(moved: Mapping[str, Tally], own_storage_bytes: int) -> Iterator[str]:
    limit = max(FOREIGN_BYTES.least, FOREIGN_BYTES.share * own_storage_bytes)
    if sum(tally.seen for tally in moved.values()) > limit:
        verbs = {"read": "read", "written": "wrote"}
        parts = [
            f"{verbs[name]} {tally.text(numbers.size(tally.seen))}"
            for name, tally in moved.items()
            if tally.seen
        ]
        yield f"other processes {' and '.join(parts)}"


def _memory_marks(share: float | None) -> Iterator[str]:
    if share is not None and share > MEMORY_PRESSURE_SHARE:
        yield f"memory pressure {numbers.percent(share)}"
