"""The places of one command: its locks, the executables and the machine."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from report.config.config_types import Config, SuiteConfig
from report.model.plan import Plan
from report.model.record import Record
from scripts.doctor.admission import admit, subject_of
from scripts.forecast.prediction import Forecast, load_history
from scripts.machine.child_process import Executor
from scripts.machine.host import Machine, environment_document, identity
from scripts.machine.probes import Progress
from scripts.machine.reader import SystemReader
from scripts.machine.system_access import SystemAccess
from scripts.measure.driver_call import RunContext
from scripts.measure.events import Notice, View
from scripts.measure.loop import Loop
from scripts.planning.disk_room import needed_bytes
from scripts.planning.executable import NOT_BUILT, Stamp, executable_path
from scripts.planning.found_engines import (
    ask_executables,
    child_environment,
    find_engines,
)
from scripts.planning.new_plan import Selection, make_plan
from scripts.planning.resume_check import changes
from scripts.store.run_places import (
    RunPlaces,
    new_name,
    refuse_shared_folder,
    work_folder,
)
from scripts.store.run_store import RunFolder, sole_user


@dataclass(frozen=True)
class Request:
    """What a run of one build or two is to be of."""

    config: Config
    suite: SuiteConfig
    selection: Selection
    command: str


@dataclass
class Runner:
    """The places and the executor of one command, with both locks held."""

    places: RunPlaces
    outside: SystemAccess
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
            self.machine,
            environment,
            plan.engines,
            needed_bytes(plan),
            plan.suite.name,
        )
        probes = self.outside.probes(self.places.work)
        findings = admit(subject, probes, stoppable if tell else None)
        return {**environment, "doctor": [finding.document() for finding in findings]}

    def changes(self, plan: Plan, config: Config) -> list[str]:
        """Return what is no longer as the plan recorded it; stamps the executables."""
        self.stamp(engine.executable for engine in plan.engines)
        machine = identity(self.machine)
        return changes(plan, config, self.places.build_dir, machine)

    def built_late(self, plan: Plan) -> tuple[str, ...]:
        """Return the engines that a plan misses and that are there by now."""
        return tuple(
            engine.name
            for engine in plan.engines
            if engine.missing.startswith(NOT_BUILT) and self.stamps[engine.executable]
        )

    def loop(self, folder: RunFolder, lines: list[Record], view: View) -> Loop:
        """Return the loop that adds to these lines of this folder."""
        return Loop(folder, lines, view, self.executor, self.places.work)

    def forecast(self, plan: Plan) -> Forecast:
        """Return the prediction for a plan, from the runs that there are."""
        return Forecast(plan, load_history(self.places.results, plan))

    def bench(self, loop: Loop, plan: Plan) -> RunContext:
        """Return where a plan's repetitions are made in a loop."""
        return RunContext(
            plan=plan,
            build_dir=self.places.build_dir,
            stamps=self.stamps,
            work=self.places.work,
            executor=self.executor,
            surroundings=self.outside.surroundings(self.machine),
            tick=loop.tick,
            starts=loop.announce,
        )

    def warnings(self, plan: Plan, late: Sequence[str]) -> Iterator[Notice]:
        """What people should know of the engines of a plan before it is measured."""
        for engine in plan.engines:
            if engine.name in late:
                continue  # that was said already
            if engine.missing:
                yield Notice(f"{engine.name} is missing: {engine.missing}", "warn")
            elif engine.description and engine.description.assertions_live:
                yield Notice(f"{engine.name} was built with live assertions", "warn")


def _compilers(plan: Plan) -> list[str]:
    builds = [e.description.build for e in plan.engines if e.description]
    return [build["compiler"] for build in builds if "compiler" in build]


@contextmanager
def open_runner(places: RunPlaces, outside: SystemAccess) -> Iterator[Runner]:
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
