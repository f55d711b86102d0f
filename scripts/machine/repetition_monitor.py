"""What is seen of a measured process and of the machine around it, from outside."""

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from report.model.record import Record
from scripts.machine import disturbance
from scripts.machine.child_process import PeriodicCall
from scripts.machine.process_sampler import ProcessPeaks
from scripts.machine.reader import Reader

SAMPLE_PERIOD_S = 0.1
_OWN_STORAGE = ("storage_read_bytes", "storage_written_bytes")


class ProcessSampler(Protocol):
    """Samples one process and its database."""

    def sample(self) -> None:
        """Looks once."""

    def document(self) -> dict[str, Any]:
        """What was seen: the line's "watch"."""


class MachineMonitor(Protocol):
    """The machine that is measured on, as far as it can disturb."""

    def snapshot(self) -> Any:
        """Its counters now."""

    def disturbance(
        self, before: Any, after: Any, own_storage_bytes: int
    ) -> dict[str, Any]:
        """The line's "disturbance", from two snapshots."""

    def watch(self, pid: int, database: Path) -> ProcessSampler:
        """Begins to watch a process."""


@dataclass(frozen=True)
class SystemMonitor:
    """This machine."""

    reader: Reader
    data_dir: Path
    own: Collection[int]  # processes that belong to the measuring

    def snapshot(self) -> disturbance.Snapshot:
        """Its counters now."""
        return disturbance.snapshot(self.reader, self.data_dir, self.own)

    def disturbance(
        self,
        before: disturbance.Snapshot,
        after: disturbance.Snapshot,
        own_storage_bytes: int,
    ) -> dict[str, Any]:
        """The line's "disturbance", from two snapshots."""
        return disturbance.disturbance(before, after, own_storage_bytes)

    def watch(self, pid: int, database: Path) -> ProcessSampler:
        """Begins to watch a process."""
        return ProcessPeaks(pid, database, self.reader)


class RepetitionMonitor:
    """Observes one measured process from its start to its end."""

    def __init__(self, surroundings: MachineMonitor, database: Path) -> None:
        self._surroundings, self._database = surroundings, database
        self._before: Any = None
        self._after: Any = None
        self._watcher: ProcessSampler | None = None
        self.tick = PeriodicCall(self._look, SAMPLE_PERIOD_S)

    def begin(self) -> None:
        """The process is about to start."""
        self._before = self._surroundings.snapshot()

    def end(self) -> None:
        """The process has ended, and its parent has reaped it."""
        self._after = self._surroundings.snapshot()

    def _look(self, pid: int) -> None:
        if self._watcher is None:
            self._watcher = self._surroundings.watch(pid, self._database)
        self._watcher.sample()

    def fields(self, record: Record) -> dict[str, Any]:
        """The line's own keys, given what the process says of itself.

        A process that ended before the first sample was not watched.
        """
        disturbed = self._surroundings.disturbance(
            self._before, self._after, _own_storage_bytes(record)
        )
        watched = self._watcher.document() if self._watcher else None
        return {"disturbance": disturbed, "watch": watched}


def _own_storage_bytes(record: Record) -> int:
    """What the measured process read from storage and wrote there, as it says."""
    found = [record.get(key) for key in _OWN_STORAGE]
    deferred = record.get("deferred")
    if isinstance(deferred, dict):  # a failed answer may have anything in its place
        found.append(deferred.get("storage_written_bytes"))
    return sum(number for number in found if type(number) is int)
