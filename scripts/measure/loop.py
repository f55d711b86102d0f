"""The loop of a run, of one build or two: what its schedule asks for is measured."""

import shutil
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Self

from report.model.plan import Plan
from report.model.record import AbPlace, Record
from scripts.machine.child_process import Executor, PeriodicCall
from scripts.measure.events import (
    CellProgress,
    Heartbeat,
    RepetitionFinished,
    RepetitionStarted,
    RunProgress,
    View,
)
from scripts.planning.order import ScheduledRepetition
from scripts.store.run_store import RunFolder


@dataclass(frozen=True)
class Finished:
    """One attempt at a repetition, ready to be stored, and what it took."""

    turn: ScheduledRepetition
    line: Record
    seconds: float


@dataclass(frozen=True)
class Task:
    """Repetitions that follow one another on one database: all of one side.

    `place` is the task's position in an A/B run, as its lines record it.
    """

    plan: Plan
    repetitions: Callable[[], Iterator[Finished]]
    obstructed: bool  # its cells cannot run: the lines say why
    place: AbPlace | None = None


class Schedule(ABC):
    """What a run still has to do, and how long that will take."""

    @abstractmethod
    def tasks(self) -> Iterator[Task]:
        """Yield what is missing; one follows when the one before is stored."""

    @abstractmethod
    def stored(self, task: Task, finished: Finished) -> None:
        """Take in a repetition that is on disk."""

    @abstractmethod
    def pace(self) -> RunProgress:
        """Return how far the run is, at no time."""

    def conclude(self) -> None:  # noqa: B027
        """Do what follows the last repetition: nothing, unless it says more."""


@dataclass
class Loop:
    """One execution of a schedule: by the first command, or by `resume` later on."""

    folder: RunFolder
    lines: list[Record]  # all on disk, earlier sessions' included
    view: View
    executor: Executor
    work: Path
    clock: Callable[[], float] = time.monotonic
    _started_s: float = field(init=False, default=0.0)
    _pace: RunProgress = field(init=False, default_factory=RunProgress)
    _task: Task | None = field(init=False, default=None)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.folder.close()
        self.view.close()

    @property
    def tick(self) -> PeriodicCall:
        """What the benches of this loop are to do while a process is measured."""
        return PeriodicCall(self._look, self.view.period_s)

    def execute(self, schedule: Schedule) -> None:
        """Do what is missing.

        Raises Interrupted, DiskFull or Exchanged, all lines kept.
        """
        self._started_s = self.clock()
        self._clean()
        self.work.mkdir(parents=True)
        try:
            for task in schedule.tasks():
                self._task = task
                self._keep_pace(schedule)
                for finished in task.repetitions():
                    self.executor.stop.check()
                    self._store(schedule, task, finished)
            schedule.conclude()
        finally:
            self._clean()

    @property
    def elapsed_s(self) -> float:
        """Seconds since the loop began."""
        return self.clock() - self._started_s

    def _clean(self) -> None:
        if self.work.exists():
            shutil.rmtree(self.work)

    def _store(self, schedule: Schedule, task: Task, finished: Finished) -> None:
        line = finished.line
        if task.place:
            line = {**line, "ab": task.place}
        self.folder.append(line)
        self.lines.append(line)
        schedule.stored(task, replace(finished, line=line))
        self._keep_pace(schedule)
        self.view.show(RepetitionFinished(line, finished.seconds, self._pace))

    def _keep_pace(self, schedule: Schedule) -> None:
        self._pace = replace(schedule.pace(), elapsed_s=self.elapsed_s)

    def announce(self, turn: ScheduledRepetition) -> None:
        """Tell that a process is about to be measured."""
        assert self._task is not None
        plan = self._task.plan
        cell = plan.cells[turn.index]
        benchmark = plan.benchmark(cell)
        assert benchmark is not None
        planned = benchmark.planned_ops(plan.flags(cell))
        place = (cell, turn.repetition, planned, turn.attempt, self._task.place)
        self.view.show(RepetitionStarted(*place))

    def _look(self, _pid: int) -> None:
        """Tell that time passes while a process runs.

        Nothing is predicted here: it is in the measurement.
        """
        try:
            counter = (self.work / "progress").read_bytes()
        except OSError:
            counter = b""
        if len(counter) == 8:
            ops = int.from_bytes(counter, "little")
            self.view.show(CellProgress(ops, self.clock()))
        self.view.show(Heartbeat(self._pace.at(self.elapsed_s)))
