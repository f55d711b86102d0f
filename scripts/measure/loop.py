"""The loop of a run, of one build or two: measures what its schedule yields."""

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Self

from report.model.plan import CellName, Plan
from report.model.record import AbPlace, Record
from scripts.machine.child_process import Executor, PeriodicCall
from scripts.measure.driver_call import operations_counted
from scripts.measure.events import (
    CellProgress,
    Heartbeat,
    Notice,
    PhaseStarted,
    RepetitionFinished,
    RepetitionStarted,
    RunProgress,
    View,
)
from scripts.planning.order import (
    MOST_IN_VAIN,
    ONE_OF,
    ScheduledRepetition,
    can_be_retried,
    is_retried,
)
from scripts.planning.resume_check import machine_differences
from scripts.store.own_files import WorkFolder
from scripts.store.run_store import RunFolder

BUSY = (
    f"the machine is always busy: {MOST_IN_VAIN} retries in a row were disturbed, too;"
    f" from now on, one of {ONE_OF} disturbed repetitions is retried; kvmatrix doctor"
    " shows the cause"
)


class CanaryFailed(Exception):
    """An engine failed in what a machine of a run of many measures first."""

    def __init__(self, failure: str) -> None:
        super().__init__(
            f"the canary failed, so this machine is not used: {failure}; measure the"
            " shard on another, in another results directory"
        )


class MachineChanged(Exception):
    """The machine is no longer the one that the run recorded."""

    def __init__(self, differences: Sequence[str]) -> None:
        super().__init__(
            "the machine changed during the run, and a run cannot mix results of two"
            f" machines; the last repetition is dropped: {'; '.join(differences)}"
        )


@dataclass(frozen=True)
class Finished:
    """One attempt at a repetition, ready to be stored, and its duration."""

    scheduled: ScheduledRepetition
    line: Record
    seconds: float


@dataclass(frozen=True)
class Task:
    """Consecutive repetitions that share one database, all of one side.

    `place` is the task's position in an A/B run, as its lines record it.
    """

    plan: Plan
    repetitions: Callable[[], Iterator[Finished]]
    obstructed: bool  # its cells cannot run; the lines say why
    place: AbPlace | None = None


class Schedule(ABC):
    """The remaining work of a run, and its predicted time."""

    @abstractmethod
    def tasks(self) -> Iterator[Task]:
        """Yield the missing tasks; each is stored before the next is requested."""

    @abstractmethod
    def stored(self, task: Task, finished: Finished) -> None:
        """Record that a repetition is on disk."""

    @abstractmethod
    def pace(self) -> RunProgress:
        """Return the progress of the run; the caller fills in `elapsed_s`."""

    @abstractmethod
    def forecast_s(self) -> float:
        """Return the seconds of what is left, which may be guessed."""


@dataclass
class Loop:
    """One execution of a schedule, by the first command or by `resume`."""

    folder: RunFolder
    lines: list[Record]  # all on disk, including those of earlier sessions
    view: View
    executor: Executor
    scratch: WorkFolder
    machine: Callable[[], Mapping[str, object]]  # returns its identity now
    clock: Callable[[], float] = time.monotonic
    _started_s: float = field(init=False, default=0.0)
    _pace: RunProgress = field(init=False, default_factory=RunProgress)
    _task: Task | None = field(init=False, default=None)
    _is_busy_noted: bool = field(init=False, default=False)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.folder.close()
        self.view.close()

    @property
    def tick(self) -> PeriodicCall:
        """The call that reports progress while a process runs."""
        return PeriodicCall(self._look, self.view.period_s)

    def execute(self, schedule: Schedule) -> None:
        """Measure everything that is missing.

        Raises Interrupted, DiskFull, CanaryFailed, ExecutableChanged, MachineChanged or
        WorkFolderLost; stored lines are kept.  Raises RunFolderLost if they are not.
        """
        self._started_s = self.clock()
        self.scratch.empty()
        for task in schedule.tasks():
            self._task = task
            self._keep_pace(schedule)
            self.folder.check()
            for finished in task.repetitions():
                self.executor.stop.check()
                self._check_machine(task.plan)
                self._store(schedule, task, finished)
        self.folder.check()

    @property
    def elapsed_s(self) -> float:
        """Seconds since the loop began."""
        return self.clock() - self._started_s

    def _check_machine(self, plan: Plan) -> None:
        """Raise MachineChanged unless `resume` could go on with the plan here."""
        if found := machine_differences(plan.machine, self.machine()):
            raise MachineChanged(found)

    def _store(self, schedule: Schedule, task: Task, finished: Finished) -> None:
        line = finished.line
        if task.place and "ab" not in line:
            line = {**line, "ab": task.place}
        self.folder.append(line)
        self.lines.append(line)
        self._note_busy(task.plan)
        schedule.stored(task, replace(finished, line=line))
        self._keep_pace(schedule)
        self.view.show(RepetitionFinished(line, finished.seconds, self._pace))

    def _note_busy(self, plan: Plan) -> None:
        """Say once that disturbed repetitions are no longer retried."""
        gives_up = can_be_retried(plan, self.lines[-1])
        if gives_up and not is_retried(plan, self.lines) and not self._is_busy_noted:
            self._is_busy_noted = True
            self.view.show(Notice(BUSY, "warn"))

    def _keep_pace(self, schedule: Schedule) -> None:
        self._pace = replace(schedule.pace(), elapsed_s=self.elapsed_s)

    def announce(self, scheduled: ScheduledRepetition) -> None:
        """Show that a process is about to be measured."""
        assert self._task is not None
        plan = self._task.plan
        cell = plan.cells[scheduled.index]
        benchmark = plan.benchmark(cell)
        assert benchmark is not None
        flags = plan.flags(cell)
        planned = 0 if benchmark.ends_by_time(flags) else benchmark.planned_ops(flags)
        place = (
            cell,
            scheduled.repetition,
            planned,
            scheduled.attempt,
            self._task.place,
        )
        self.view.show(RepetitionStarted(*place))

    def announce_phase(
        self, cell: CellName, repetition: int, text: str, planned_ops: int
    ) -> None:
        """Show that something begins that is not measured."""
        self.view.show(PhaseStarted(cell, repetition, text, planned_ops))

    def _look(self, _pid: int) -> None:
        """Show the progress of a running process.

        This runs during the measurement, so it must be cheap: no predictions here.
        """
        if ops := operations_counted(self.scratch.path):
            self.view.show(CellProgress(ops, self.clock()))
        self.view.show(Heartbeat(self._pace.at(self.elapsed_s)))
