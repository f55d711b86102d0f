"""A run of one build: the missing repetitions, in the recorded order."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from report.config.config_types import Config
from report.model.plan import CANARY, Plan
from report.model.plan_document import plan_document
from report.model.record import Record
from report.model.run_folder import load, read_current_plan
from scripts.forecast.prediction import Forecast
from scripts.machine.probes import Progress
from scripts.measure.driver_call import RunContext
from scripts.measure.events import Notice, RunProgress
from scripts.measure.loop import CanaryFailed, Finished, Loop, Schedule, Task
from scripts.measure.repetition import task_of
from scripts.measure.runner import other_harness
from scripts.measure.session import RecordedSession, Session
from scripts.planning.canary import canary_failure
from scripts.planning.order import (
    ScheduledRepetition,
    is_retried,
    missing_repetitions,
)
from scripts.store.run_places import (
    refuse_nothing,
    refuse_small_disk,
    refuse_small_memory,
)

_BUILT_LATE = "was missing when this run was planned; start a new run to measure it"

_MERGED = (
    "it was merged from shards; resume the shard that is unfinished, or measure the one"
    " that is missing (run --shard), and merge again"
)


@dataclass
class RunSchedule(Schedule):
    """The repetitions of a plan that are not on disk yet."""

    plan: Plan
    context: RunContext
    forecast: Forecast
    lines: Sequence[Record]  # all on disk, of this session, too
    _spent_s: float = field(init=False, default=0.0)  # predicted time of what is done
    _left: list[ScheduledRepetition] = field(init=False, default_factory=list)

    def tasks(self) -> Iterator[Task]:
        """Yield the units with missing repetitions."""
        missing = missing_repetitions(self.plan, self.lines)
        self._left = [
            scheduled for _, repetitions in missing for scheduled in repetitions
        ]
        for unit, repetitions in missing:
            if self.plan.pass_of(unit.repetition) != CANARY:
                self._check_canary()
            pending = [
                scheduled for scheduled in repetitions if scheduled in self._left
            ]
            if pending:
                yield task_of(self.context, pending)

    def forecast_s(self) -> float:
        """Return the seconds of what is left, which may be guessed."""
        cells = self.plan.cells
        return sum(
            self.forecast.seconds(scheduled)
            for _, unit in missing_repetitions(self.plan, self.lines)
            for scheduled in unit
            if not self.plan.obstacle(cells[scheduled.index])
        )

    def _check_canary(self) -> None:
        """Raise CanaryFailed if an engine failed in what is measured first."""
        if failure := canary_failure(self.plan, self.lines):
            raise CanaryFailed(failure)

    def stored(self, task: Task, finished: Finished) -> None:
        """Record that a repetition, or an attempt at one, is on disk."""
        is_final = not is_retried(self.plan, self.lines)
        if not task.obstructed:
            if is_final:
                self._spent_s += self.forecast.seconds(finished.scheduled)
            self.forecast.learn(finished.scheduled, finished.seconds)
        if is_final:
            self._left = [t for t in self._left if not _is_settled(t, finished)]

    def pace(self) -> RunProgress:
        """Return the time left and the share done."""
        predicted = sum(self.forecast.seconds(scheduled) for scheduled in self._left)
        whole = self._spent_s + predicted
        share_done = self._spent_s / whole if whole else 1.0
        return RunProgress(
            left_s=self.forecast.left_s(self._left), share_done=share_done
        )


def _is_settled(scheduled: ScheduledRepetition, finished: Finished) -> bool:
    if scheduled.index != finished.scheduled.index:
        return False
    unsupported = finished.line["status"] == "unsupported"
    return unsupported or scheduled.repetition == finished.scheduled.repetition


@dataclass
class RunSession(Session[Plan]):
    """A run of one build; `late` engines were built after it was planned.

    `repeat_disturbed` takes the place of the retries that a resumed run began with.
    """

    late: tuple[str, ...] = ()
    repeat_disturbed: int | None = None

    def admit(self, plan: Plan, notify: Progress | None) -> dict[str, Any]:
        """Check the machine and return environment.json: see Runner.admit()."""
        return self.runner.admit(plan, notify)

    def check_can_start(self, plan: Plan, environment: Mapping[str, Any]) -> None:
        """Raise CannotStart if nothing is measurable or memory or disk is short."""
        refuse_nothing(plan, self.runner.places.build_dir)
        self.refuse_small_disk(plan)
        refuse_small_memory(plan, environment["memory"]["total_bytes"])

    def refuse_small_disk(self, plan: Plan) -> None:
        """Raise CannotStart if the data directory has too little space."""
        refuse_small_disk(plan, self.runner.places.data_dir)

    def control(self, plan: Plan) -> dict[str, Any]:
        """Return what the file system of the scenarios' disk writes by itself."""
        return self.runner.control(plan)

    def plan_documents(self, plan: Plan) -> dict[str, dict[str, Any]]:
        """Return the plan as run.json."""
        return {"run": plan_document(plan)}

    def recorded(self, path: Path, config: Config) -> RecordedSession[Plan]:
        """Return the state of a run on disk; note the engines that were built late."""
        plan = read_current_plan(path)
        changes = self.runner.changes(plan, config)
        if self.repeat_disturbed is not None:
            suite = replace(plan.suite, repeat_disturbed=self.repeat_disturbed)
            plan = replace(plan, suite=suite)
        if plan.machines:
            changes = [_MERGED]
        lines = load(path).lines
        self.late = self.runner.built_late(plan)
        records = [m.record for m in lines.measurements]
        return RecordedSession(
            plan, lines, changes, not missing_repetitions(plan, records)
        )

    def warnings(self, plan: Plan) -> list[Notice]:
        """Return notices about missing, late and unsuitable engines."""
        late = [Notice(f"{name} {_BUILT_LATE}", "warn") for name in self.late]
        return [
            *late,
            *other_harness(plan.harness),
            *self.runner.warnings(plan, self.late),
        ]

    def schedule(self, plan: Plan, loop: Loop) -> Schedule:
        """Return the schedule of what is left."""
        context, forecast = self.runner.context(loop, plan), self.runner.forecast(plan)
        return RunSchedule(plan, context, forecast, loop.lines)

    def displayed(self, line: Record) -> Record:
        """Return a line with the current reason why its engine is missing."""
        if line["status"] == "missing" and line["engine"] in self.late:
            return {**line, "reason": _BUILT_LATE}
        return line
