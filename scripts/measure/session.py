"""A session: starts or resumes a run, of one build or two, and finishes it."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic

from report.config.config_types import Config
from report.model.build_facts import machine_words
from report.model.record import LINES, Record
from report.model.run_folder import MeasurementFile
from scripts.doctor.finding import Finding, Severity
from scripts.doctor.finding_text import summary
from scripts.machine.child_process import INTERRUPTED, Interrupted
from scripts.machine.probes import Progress
from scripts.measure.driver_call import ExecutableChanged
from scripts.measure.events import Notice, P, RunEnded, RunStarted, SessionResult, View
from scripts.measure.loop import CanaryFailed, Loop, MachineChanged, Schedule
from scripts.measure.runner import Runner
from scripts.planning.disk_room import DiskFull
from scripts.planning.resume_check import CannotResume
from scripts.store.own_files import WorkFolderLost, refuse_links
from scripts.store.run_store import RunFolder, create_folder, drop_torn_line


@dataclass(frozen=True)
class RecordedSession(Generic[P]):
    """The state on disk of a run to be resumed."""

    plan: P
    lines: MeasurementFile
    changes: Sequence[str]  # differences from the plan as recorded
    is_complete: bool  # nothing is left to measure


@dataclass
class Session(ABC, Generic[P]):
    """One session of a run; `runner` holds the locks of its folders."""

    runner: Runner
    view_of: Callable[[P], View]  # makes the view that shows the progress
    _is_noted: bool = field(init=False, default=False)  # the doctor's note was shown

    @abstractmethod
    def admit(self, plan: P, notify: Progress | None) -> dict[str, Any]:
        """Check the machine and return environment.json: see Runner.admit()."""

    @abstractmethod
    def check_can_start(self, plan: P, environment: Mapping[str, Any]) -> None:
        """Raise CannotStart if nothing is measurable or memory or disk is short."""

    @abstractmethod
    def refuse_small_disk(self, plan: P) -> None:
        """Raise CannotStart if the data directory has too little space."""

    @abstractmethod
    def control(self, plan: P) -> dict[str, Any]:
        """Return what the environment has of the scenarios' disk, which is made now.

        Raises CannotStart.
        """

    @abstractmethod
    def plan_documents(self, plan: P) -> dict[str, dict[str, Any]]:
        """Return the documents that hold the plan, by name."""

    @abstractmethod
    def recorded(self, path: Path, config: Config) -> RecordedSession[P]:
        """Return the state of a run on disk.  Raises ResultsError if damaged."""

    @abstractmethod
    def warnings(self, plan: P) -> list[Notice]:
        """Return what the user should know before the run is measured."""

    @abstractmethod
    def schedule(self, plan: P, loop: Loop) -> Schedule:
        """Return the schedule of what is left after the lines of the loop."""

    def displayed(self, line: Record) -> Record:
        """Return a line as it is displayed; the line on disk does not change."""
        return line

    def start(self, plan: P, environment: Mapping[str, Any]) -> SessionResult[P]:
        """Create the folder of a new run and measure all of it.  Raises CannotStart."""
        self.check_can_start(plan, environment)
        environment = {**environment, **self.control(plan)}
        documents = {"environment": environment, **self.plan_documents(plan)}
        folder = create_folder(self.runner.places.results, plan.run, documents)
        notes = [] if self._is_noted else [doctors_note(environment)]
        self._is_noted = True
        return self._execute(plan, folder, [], notes)

    def resume(
        self, path: Path, config: Config, check: Callable[[P], None] | None = None
    ) -> SessionResult[P]:
        """Measure what is missing from a run.  Raises CannotResume or CannotStart.

        `check` is called with the plan before anything is measured or changed.
        """
        refuse_links(path)
        recorded, notes = self.recorded(path, config), []
        lines = [measurement.record for measurement in recorded.lines.measurements]
        if recorded.is_complete and not recorded.lines.torn:
            done = tuple(map(self.displayed, lines))
            warnings = tuple(note.text for note in self.warnings(recorded.plan))
            return SessionResult(
                recorded.plan, path, done, was_complete=True, warnings=warnings
            )
        if recorded.changes:
            raise CannotResume([*recorded.changes])
        if check:
            check(recorded.plan)
        if recorded.lines.torn:
            drop_torn_line(path / LINES, recorded.lines.valid_bytes)
            text = "dropped the incomplete last line; repeating its measurement"
            notes.append(Notice(text))
        if not recorded.is_complete:
            self.refuse_small_disk(recorded.plan)
        return self._execute(recorded.plan, RunFolder(path), lines, notes)

    def _execute(
        self, plan: P, folder: RunFolder, lines: list[Record], notes: list[Notice]
    ) -> SessionResult[P]:
        done = tuple(map(self.displayed, lines))
        machine = machine_words(plan.machine, with_device=True)
        with self.runner.loop(folder, lines, self.view_of(plan)) as loop:
            schedule = self.schedule(plan, loop)
            loop.view.show(RunStarted(machine, done, schedule.forecast_s()))
            for note in (*notes, *self.warnings(plan)):
                loop.view.show(note)
            code, message = _outcome_of(loop, schedule)
            folder.check()
            loop.view.show(RunEnded(loop.elapsed_s))
        return SessionResult(
            plan, folder.path, tuple(map(self.displayed, lines)), code, message
        )


def doctors_note(environment: Mapping[str, Any]) -> Notice:
    """Return the doctor's findings, in one line."""
    findings = [Finding.of(document) for document in environment["doctor"]]
    failed = any(finding.level is Severity.FAIL for finding in findings)
    return Notice(summary(findings), "warn" if failed else "note")


def _outcome_of(loop: Loop, schedule: Schedule) -> tuple[int, str]:
    """Measure what is missing; return the exit code and why it stopped early."""
    try:
        loop.execute(schedule)
    except Interrupted:
        return INTERRUPTED, "interrupted"
    except DiskFull as full:
        return 3, f"{full}; free some space"
    except CanaryFailed as failure:
        return 4, str(failure)
    except (ExecutableChanged, MachineChanged, WorkFolderLost) as change:
        return 3, str(change)
    return 0, ""
