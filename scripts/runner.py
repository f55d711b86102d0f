"""From a request to an ended run: locks, checks, the loop, and what is left behind."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from report.config import Config, SuiteConfig
from report.model.folder import MeasurementFile, load, read_current_plan
from report.model.plan import Plan
from report.model.record import Record
from scripts.board import Board
from scripts.calls import Bench, Exchanged
from scripts.disk import needed_bytes
from scripts.doctor.admission import admit, subject_of
from scripts.doctor.finding import Finding, Level
from scripts.doctor.probes import Progress
from scripts.doctor.screen import summary
from scripts.driver_process import Executor, Interrupted
from scripts.engines import ask_executables, child_environment, find_engines
from scripts.events import Note, RunEnded, RunStarted
from scripts.executable import NOT_BUILT, Stamp, executable_path
from scripts.host import Machine, environment_document, identity, machine_line
from scripts.live import View
from scripts.loop import Loop, Schedule
from scripts.order import missing_turns
from scripts.outside import Outside
from scripts.places import (
    Places,
    Refused,
    new_name,
    refuse_shared_folder,
    refuse_small_disk,
    refuse_small_memory,
    work_folder,
)
from scripts.planning import Selection, make_plan
from scripts.predict import Forecast, load_history
from scripts.reader import SystemReader
from scripts.resume import Changed, changes
from scripts.run_schedule import RunSchedule
from scripts.store import (
    DiskFull,
    RunFolder,
    create_run,
    drop_torn_line,
    sole_user,
)

_BUILT_LATE = "was missing when this run was planned; start a new run to measure it"


@dataclass(frozen=True)
class Ending:
    """How a session ended."""

    plan: Plan
    board: Board
    lines: tuple[Record, ...]
    path: Path
    exit_code: int
    message: str  # why it stopped early, or ""


@dataclass(frozen=True)
class Request:
    """What `run` was asked for."""

    config: Config
    suite: SuiteConfig
    selection: Selection
    command: str


@dataclass
class Runner:
    """The places and the executor of one command, with both locks held."""

    places: Places
    outside: Outside
    executor: Executor
    machine: Machine = field(init=False)
    stamps: dict[str, Stamp | None] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self.machine = Machine(SystemReader(), self.places.data_dir)

    def plan(self, request: Request) -> Plan:
        """The plan of a new run."""
        named = request.selection.engines
        self.stamp(request.config.engines[name].executable for name in named)
        engines = find_engines(
            self.executor,
            self.places.build_dir,
            request.config,
            request.selection.engines,
            self.places.work / "tmp",
        )
        return make_plan(
            new_name(self.places.results, request.suite.name),
            request.command,
            request.config,
            request.suite,
            request.selection,
            engines,
            identity(self.machine),
            ask_executables(self.executor, self.places.build_dir),
        )

    def stamp(self, engines: Iterable[str]) -> None:
        """Stamps the executables: before they are checksummed, never after."""
        for name in engines:
            path = executable_path(self.places.build_dir, name)
            self.stamps[name] = Stamp.of(path)

    def admit(self, plan: Plan, tell: Progress | None) -> dict[str, Any]:
        """environment.json, with what the doctor says before a run.

        With `tell` the run is strict: the doctor measures too, which takes seconds,
        and Unfit is raised if anything failed.
        """

        def stoppable(text: str) -> None:
            self.executor.stop.check()
            if tell:
                tell(text)

        environment = environment_document(
            self.machine, _compilers(plan), child_environment("DATA/tmp")
        )
        subject = subject_of(
            self.machine, environment, plan.engines, needed_bytes(plan)
        )
        probes = self.outside.probes(self.places.work)
        findings = admit(subject, probes, stoppable if tell else None)
        return {**environment, "doctor": [finding.document() for finding in findings]}

    def start(
        self,
        plan: Plan,
        environment: Mapping[str, Any],
        view_of: Callable[[Plan], View],
    ) -> Ending:
        """Makes the run's folder and does all of it."""
        if all(plan.obstacle(cell) for cell in plan.cells):
            reasons = {e.missing for e in plan.engines if e.missing}
            raise Refused("; ".join(["nothing can be measured", *sorted(reasons)]), 5)
        refuse_small_disk(plan, self.places.data_dir)
        refuse_small_memory(plan, environment["memory"]["total_bytes"])
        folder = create_run(self.places.results, plan, environment)
        return self._execute(plan, folder, [], view_of, [doctors_note(environment)])

    def resume(
        self, path: Path, config: Config, view_of: Callable[[Plan], View]
    ) -> Ending:
        """Finishes what is missing of a run.  Raises Changed."""
        plan = read_current_plan(path)
        if changed := self.changes(plan, config):
            raise Changed(changed)
        lines, notes = kept_lines(path, load(path).lines)
        late = self._built_late(plan)
        notes += [Note(f"{name} {_BUILT_LATE}", "warn") for name in late]
        if missing_turns(plan, lines):
            refuse_small_disk(plan, self.places.data_dir)
        return self._execute(plan, RunFolder(path), lines, view_of, notes, late)

    def changes(self, plan: Plan, config: Config) -> list[str]:
        """Return what is no longer as the plan recorded it; stamps the executables."""
        self.stamp(engine.executable for engine in plan.engines)
        machine = identity(self.machine)
        return changes(plan, config, self.places.build_dir, machine)

    def _built_late(self, plan: Plan) -> tuple[str, ...]:
        """The engines that the plan misses and that are there by now."""
        return tuple(
            engine.name
            for engine in plan.engines
            if engine.missing.startswith(NOT_BUILT) and self.stamps[engine.executable]
        )

    def _execute(
        self,
        plan: Plan,
        folder: RunFolder,
        lines: list[Record],
        view_of: Callable[[Plan], View],
        notes: list[Note],
        late: Sequence[str] = (),
    ) -> Ending:
        def begun() -> RunStarted:
            done = tuple(_told(line, late) for line in lines)
            return RunStarted(machine_line(plan.machine), done)

        notes += self.warnings(plan, late)
        with self.loop(folder, lines, view_of(plan)) as loop:
            bench, forecast = self.bench(loop, plan), self.forecast(plan)
            schedule = RunSchedule(plan, bench, forecast, lines)
            code, message = carry_out(loop, schedule, begun(), notes)
        board = Board(plan)
        board.apply(begun())
        if not code and (board.failures() or missing_turns(plan, lines)):
            code = 3
        return Ending(plan, board, tuple(lines), folder.path, code, message)

    def loop(self, folder: RunFolder, lines: list[Record], view: View) -> Loop:
        """Return the loop that adds to these lines of this folder."""
        return Loop(folder, lines, view, self.executor, self.places.work)

    def forecast(self, plan: Plan) -> Forecast:
        """Return the prediction for a plan, from the runs that there are."""
        return Forecast(plan, load_history(self.places.results, plan))

    def bench(self, loop: Loop, plan: Plan) -> Bench:
        """Return where a plan's repetitions are made in a loop."""
        return Bench(
            plan=plan,
            build_dir=self.places.build_dir,
            stamps=self.stamps,
            work=self.places.work,
            executor=self.executor,
            surroundings=self.outside.surroundings(self.machine),
            tick=loop.tick,
            starts=loop.announce,
        )

    def warnings(self, plan: Plan, late: Sequence[str]) -> Iterator[Note]:
        """What people should know of the engines of a plan before it is measured."""
        for engine in plan.engines:
            if engine.name in late:
                continue  # that was said already
            if engine.missing:
                yield Note(f"{engine.name} is missing: {engine.missing}", "warn")
            elif engine.description and engine.description.assertions_live:
                yield Note(f"{engine.name} was built with live assertions", "warn")


def kept_lines(path: Path, file: MeasurementFile) -> tuple[list[Record], list[Note]]:
    """Return the lines of a run that goes on, and a note of one that was torn."""
    notes = []
    if file.torn:
        drop_torn_line(path, file.sound_bytes)
        notes.append(Note("dropped the unfinished last line; it is done again"))
    return [measurement.record for measurement in file.measurements], notes


def carry_out(
    loop: Loop, schedule: Schedule, begun: RunStarted, notes: Iterable[Note]
) -> tuple[int, str]:
    """Do what is missing; return the exit code and why it stopped early."""
    loop.view.show(begun)
    for note in notes:
        loop.view.show(note)
    ending = _outcome_of(loop, schedule)
    loop.view.show(RunEnded(loop.elapsed_s))
    return ending


def doctors_note(environment: Mapping[str, Any]) -> Note:
    """What the doctor said, in one line."""
    findings = [Finding.of(said) for said in environment["doctor"]]
    failed = any(finding.level is Level.FAIL for finding in findings)
    return Note(summary(findings), "warn" if failed else "note")


def _outcome_of(loop: Loop, schedule: Schedule) -> tuple[int, str]:
    try:
        loop.execute(schedule)
    except Interrupted as stop:
        return stop.exit_code, "interrupted"
    except DiskFull as full:
        return 3, f"{full}: free some, then resume"
    except Exchanged as change:
        return 3, str(change)
    return 0, ""


def _told(line: Record, late: Sequence[str]) -> Record:
    """A line as people are told of it; what is on disk stays."""
    if line["status"] == "missing" and line["engine"] in late:
        return {**line, "reason": _BUILT_LATE}
    return line


def _compilers(plan: Plan) -> list[str]:
    builds = [e.description.build for e in plan.engines if e.description]
    return [build["compiler"] for build in builds if "compiler" in build]


@contextmanager
def open_runner(places: Places, outside: Outside) -> Iterator[Runner]:
    """A runner that holds the locks of both folders.

    Raises Refused, Busy or Interrupted.
    """
    refuse_shared_folder(places)
    executor = outside.executor(child_environment(str(places.work / "tmp")))
    with (
        sole_user(places.results, "results folder"),
        sole_user(places.data_dir, "data directory"),
        executor.stop.on_signals(),
        work_folder(places.work),
    ):
        (places.work / "tmp").mkdir(exist_ok=True)
        yield Runner(places, outside, executor)
