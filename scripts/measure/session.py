"""A session of a run, of one build or two: from its plan, or its folder, to its end."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic

from report.config.config_types import Config
from report.model.record import LINES, Record
from report.model.run_folder import MeasurementFile
from scripts.doctor.finding import Finding, Severity
from scripts.doctor.finding_text import summary
from scripts.machine.child_process import Interrupted
from scripts.machine.host import machine_line
from scripts.machine.probes import Progress
from scripts.measure.driver_call import ExecutableChanged
from scripts.measure.events import Notice, P, RunEnded, RunStarted, SessionResult, View
from scripts.measure.loop import Loop, Schedule
from scripts.measure.runner import Runner
from scripts.planning.disk_room import DiskFull
from scripts.planning.resume_check import CannotResume
from scripts.store.run_store import RunFolder, create_folder, drop_torn_line


@dataclass(frozen=True)
class RecordedSession(Generic[P]):
    """What is there of a run that goes on."""

    plan: P
    lines: MeasurementFile
    changes: Sequence[str]  # what is no longer as the plan recorded it
    is_whole: bool  # whether nothing is left to be measured


@dataclass
class Session(ABC, Generic[P]):
    """What a command measures; `runner` holds the locks of its folders."""

    runner: Runner
    view_of: Callable[[P], View]  # what shows the progress of a plan

    @abstractmethod
    def admit(self, plan: P, tell: Progress | None) -> dict[str, Any]:
        """Return environment.json, with what the doctor says: see Runner.admit()."""

    @abstractmethod
    def refuse(self, plan: P, environment: Mapping[str, Any]) -> None:
        """Raise Refused if a new run would measure nothing, or has no room."""

    @abstractmethod
    def refuse_small_disk(self, plan: P) -> None:
        """Raise Refused if the data directory has no room for what is left."""

    @abstractmethod
    def documents(self, plan: P) -> dict[str, dict[str, Any]]:
        """Return the documents that hold the plan, by name."""

    @abstractmethod
    def kept(self, path: Path, config: Config) -> RecordedSession[P]:
        """Return what is there of a run.  Raises ResultsError if it cannot go on."""

    @abstractmethod
    def warnings(self, plan: P) -> list[Notice]:
        """Return what people should know before it is measured."""

    @abstractmethod
    def schedule(self, plan: P, loop: Loop) -> Schedule:
        """Return what is left to be measured after the lines of the loop."""

    def told(self, line: Record) -> Record:
        """Return a line as people are told of it; what is on disk stays."""
        return line

    def start(self, plan: P, environment: Mapping[str, Any]) -> SessionResult[P]:
        """Make the folder of a new run and do all of it.  Raises Refused."""
        self.refuse(plan, environment)
        documents = {"environment": environment, **self.documents(plan)}
        folder = create_folder(self.runner.places.results, plan.run, documents)
        return self._execute(plan, folder, [], [doctors_note(environment)])

    def resume(self, path: Path, config: Config) -> SessionResult[P]:
        """Finish what is missing of a run.  Raises Changed."""
        kept, notes = self.kept(path, config), []
        if kept.changes:
            raise CannotResume([*kept.changes])
        if kept.lines.torn:
            drop_torn_line(path / LINES, kept.lines.sound_bytes)
            notes.append(Notice("dropped the unfinished last line; it is done again"))
        if not kept.is_whole:
            self.refuse_small_disk(kept.plan)
        lines = [measurement.record for measurement in kept.lines.measurements]
        return self._execute(kept.plan, RunFolder(path), lines, notes)

    def _execute(
        self, plan: P, folder: RunFolder, lines: list[Record], notes: list[Notice]
    ) -> SessionResult[P]:
        done = tuple(map(self.told, lines))
        begun = RunStarted(machine_line(plan.machine), done)
        with self.runner.loop(folder, lines, self.view_of(plan)) as loop:
            schedule = self.schedule(plan, loop)
            loop.view.show(begun)
            for note in (*notes, *self.warnings(plan)):
                loop.view.show(note)
            code, message = _outcome_of(loop, schedule)
            loop.view.show(RunEnded(loop.elapsed_s))
        return SessionResult(
            plan, folder.path, tuple(map(self.told, lines)), code, message
        )


def doctors_note(environment: Mapping[str, Any]) -> Notice:
    """Return what the doctor said, in one line."""
    findings = [Finding.of(said) for said in environment["doctor"]]
    failed = any(finding.level is Severity.FAIL for finding in findings)
    return Notice(summary(findings), "warn" if failed else "note")


def _outcome_of(loop: Loop, schedule: Schedule) -> tuple[int, str]:
    """Do what is missing; return the exit code and why it stopped early."""
    try:
        loop.execute(schedule)
    except Interrupted as stop:
        return stop.exit_code, "interrupted"
    except DiskFull as full:
        return 3, f"{full}: free some, then resume"
    except ExecutableChanged as change:
        return 3, str(change)
    return 0, ""
