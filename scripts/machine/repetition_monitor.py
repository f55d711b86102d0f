"""Observation of a measured process and of the machine, from outside the process."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from report.model.record import Record
from scripts.machine import surroundings
from scripts.machine.child_process import PeriodicCall
from scripts.machine.course import Course
from scripts.machine.disturbance import losses
from scripts.machine.process_sampler import ProcessPeaks
from scripts.machine.reader import Reader

SAMPLE_PERIOD_S = 0.1


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

    def disturbance(self, before: Any, after: Any, record: Record) -> dict[str, Any]:
        """Return the "disturbance" object of the result line.

        `record` is the valid answer of the process, or empty.
        """

    def watch(self, pid: int, database: Path) -> ProcessSampler:
        """Return a sampler of a process and its database."""


@dataclass(frozen=True)
class SystemMonitor:
    """This machine."""

    reader: Reader
    data_dir: Path

    def snapshot(self) -> surroundings.Snapshot:
        """Read the machine's counters."""
        return surroundings.snapshot(self.reader, self.data_dir)

    def disturbance(
        self,
        before: surroundings.Snapshot,
        after: surroundings.Snapshot,
        record: Record,
    ) -> dict[str, Any]:
        """Return the "disturbance" object of the result line."""
        return {**surroundings.surroundings(before, after), **losses(record)}

    def watch(self, pid: int, database: Path) -> ProcessSampler:
        """Return a sampler of a process and its database."""
        return ProcessPeaks(pid, database, self.reader)


class RepetitionMonitor:
    """The observation of one measured process, from its start to its end.

    Call begin(), run the process with `tick`, then call end() and fields().
    """

    def __init__(self, machine: MachineMonitor, database: Path) -> None:
        self._machine, self._database = machine, database
        self._before: Any = None
        self._after: Any = None
        self._sampler: ProcessSampler | None = None
        self._course: Course | None = None
        self._regime_fields: dict[str, Any] = {}
        self.tick = PeriodicCall(self._sample, SAMPLE_PERIOD_S)

    def begin(self, course: Course | None = None) -> None:
        """Take the first snapshot; call right before the process starts.

        A process with a regime has a course.
        """
        self._course = course
        self._before = self._machine.snapshot()

    def end(self) -> None:
        """Take the second snapshot; call once the parent has reaped the process."""
        self._after = self._machine.snapshot()
        if self._course:
            self._regime_fields = self._course.fields()

    def _sample(self, pid: int) -> None:
        if self._sampler is None:
            self._sampler = self._machine.watch(pid, self._database)
        self._sampler.sample()
        if self._course:
            self._course.sample()

    def fields(self, record: Record) -> dict[str, Any]:
        """Return the fields of the result line that were observed.

        They are "disturbance" and "watch", and with a regime "course" and "memory".
        `record` is the valid answer of the process, or empty.  All but "disturbance"
        are null if the process ended before the first sample.
        """
        disturbed = self._machine.disturbance(self._before, self._after, record)
        watch = self._sampler.document() if self._sampler else None
        return {"disturbance": disturbed, "watch": watch, **self._regime_fields}
