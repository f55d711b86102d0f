"""Observation of a measured process and of the machine, from outside the process."""

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
    """Samples of one process and its database."""

    def sample(self) -> None:
        """Take one sample."""

    def document(self) -> dict[str, Any]:
        """Return the "watch" object of the result line."""


class MachineMonitor(Protocol):
    """The machine as a possible source of disturbance."""

    def snapshot(self) -> Any:
        """Read the machine's counters."""

    def disturbance(
        self, before: Any, after: Any, own_storage_bytes: int
    ) -> dict[str, Any]:
        """Return the "disturbance" object of the result line, from two snapshots."""

    def watch(self, pid: int, database: Path) -> ProcessSampler:
        """Return a sampler of a process and its database."""


@dataclass(frozen=True)
class SystemMonitor:
    """This machine."""

    reader: Reader
    data_dir: Path
    own_pids: Collection[int]  # these processes and their descendants do not disturb

    def snapshot(self) -> disturbance.Snapshot:
        """Read the machine's counters."""
        return disturbance.snapshot(self.reader, self.data_dir, self.own_pids)

    def disturbance(
        self,
        before: disturbance.Snapshot,
        after: disturbance.Snapshot,
        own_storage_bytes: int,
    ) -> dict[str, Any]:
        """Return the "disturbance" object of the result line, from two snapshots."""
        return disturbance.disturbance(before, after, own_storage_bytes)

    def watch(self, pid: int, database: Path) -> ProcessSampler:
        """Return a sampler of a process and its database."""
        return ProcessPeaks(pid, database, self.reader)


class RepetitionMonitor:
    """The observation of one measured process, from its start to its end.

    Call begin(), run the process with `tick`, then call end() and fields().
    """

    def __init__(self, surroundings: MachineMonitor, database: Path) -> None:
        self._surroundings, self._database = surroundings, database
        self._before: Any = None
        self._after: Any = None
        self._sampler: ProcessSampler | None = None
        self.tick = PeriodicCall(self._sample, SAMPLE_PERIOD_S)

    def begin(self) -> None:
        """Take the first snapshot; call right before the process starts."""
        self._before = self._surroundings.snapshot()

    def end(self) -> None:
        """Take the second snapshot; call once the parent has reaped the process."""
        self._after = self._surroundings.snapshot()

    def _sample(self, pid: int) -> None:
        if self._sampler is None:
            self._sampler = self._surroundings.watch(pid, self._database)
        self._sampler.sample()

    def fields(self, record: Record) -> dict[str, Any]:
        """Return the "disturbance" and "watch" objects of the result line.

        `record` is the answer of the process, which contains its own I/O.  "watch" is
        null if the process ended before the first sample.
        """
        disturbed = self._surroundings.disturbance(
            self._before, self._after, _own_storage_bytes(record)
        )
        watch = self._sampler.document() if self._sampler else None
        return {"disturbance": disturbed, "watch": watch}


def _own_storage_bytes(record: Record) -> int:
    """Return the bytes that the process reports to have read and written."""
    counts = [record.get(key) for key in _OWN_STORAGE]
    deferred = record.get("deferred")
    if isinstance(deferred, dict):  # a failed answer may have anything in its place
        counts.append(deferred.get("storage_written_bytes"))
    return sum(count for count in counts if type(count) is int)
