"""The resources of one command: its locks, folders, executables and machine."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from report.config.config_types import Config, SuiteConfig
from report.config.toml_table import ConfigError
from report.model.build_facts import harness_line
from report.model.plan import Engine, Plan
from report.model.record import Record
from report.terms.regime import DIRECTORY, Regime
from scripts.basis.system_programs import NEEDED, require
from scripts.doctor.admission import admit, subject_of
from scripts.forecast.prediction import Forecast, load_history
from scripts.machine.checkout import harness_of
from scripts.machine.child_process import Executor
from scripts.machine.host import Machine, environment_document, identity
from scripts.machine.probes import Progress
from scripts.machine.reader import SystemReader
from scripts.machine.system_access import SystemAccess
from scripts.measure.driver_call import RunContext
from scripts.measure.events import Notice, View
from scripts.measure.loop import Loop
from scripts.planning.disk_room import existing_part, needed_bytes
from scripts.planning.engine_program import Runnable, Stamps, program_of
from scripts.planning.executable import NOT_BUILT
from scripts.planning.found_engines import (
    ask_executables,
    child_environment,
    find_engines,
)
from scripts.planning.new_plan import Selection, make_plan
from scripts.planning.process_limits import explained, too_low
from scripts.planning.resume_check import (
    CannotResume,
    changes,
    config_again,
    selection_again,
    still_missing,
)
from scripts.regime.loop_device import DiskError
from scripts.regime.regime_disk import FOLDER
from scripts.regime.regime_site import RegimeError, Sites
from scripts.store.folder_lock import check_usable, sole_user
from scripts.store.known_passports import with_passports
from scripts.store.own_files import WorkFolder, remove_leftover, work_folder
from scripts.store.run_places import (
    ROOT,
    CannotStart,
    LimitTooLow,
    RunPlaces,
    new_name,
    refuse_full_disk,
    refuse_shared_folder,
)
from scripts.store.run_store import RunFolder


@dataclass(frozen=True)
class Request:
    """What to measure in a new run, of one build or two."""

    config: Config
    suite: SuiteConfig
    selection: Selection
    command: str


@dataclass
class Runner:
    """The folders and the executor of one command.

    It holds the locks of both folders, unless it only plans.
    """

    places: RunPlaces
    system: SystemAccess
    executor: Executor
    scratch: WorkFolder  # in the data directory, unless it only plans
    sites: Sites
    machine: Machine = field(init=False)
    stamps: dict[str, Stamps | None] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self.machine = Machine(SystemReader(), existing_part(self.places.data_dir))

    def plan(self, request: Request) -> Plan:
        """Return the plan of a new run.

        Raises CannotStart if a disk is small, or a limit of this process.
        """
        refuse_full_disk(self.places.data_dir)
        name = new_name(self.places.results, request.suite.name)
        try:
            engines = self.found(request.config, request.selection.engines)
            plan = self._planned(name, request, engines)
        except DiskError as error:
            raise CannotStart(str(error)) from None
        if low := list(too_low(plan, self.machine.reader)):
            raise LimitTooLow(low)
        if not plan.cells:
            command = f"scripts/kvmatrix list cells {request.suite.name}"
            raise CannotStart(f"the options select no cell; see: {command}")
        return with_passports(plan, request.config, self.places.results)

    def found(self, config: Config, names: Sequence[str]) -> Sequence[Engine]:
        """Return these engines, described by the executables; stamp those.

        Raises LimitTooLow if one cannot describe itself for that reason.
        """
        self.stamp(config.engines[name] for name in names)
        build, scratch = self.places.build_dir, self.scratch.path / "tmp"
        engines = find_engines(self.executor, build, config, names, scratch)
        if low := list(explained(engines)):
            raise LimitTooLow(low)
        return engines

    def _planned(self, name: str, request: Request, engines: Sequence[Engine]) -> Plan:
        """Return the plan of a request.  Raises ConfigError or DiskError."""
        plan = make_plan(
            name,
            request.command,
            request.config,
            request.suite,
            replace(request.selection, named=self.sites.named),
            engines,
            identity(self.machine),
            self.system.not_durable(self.machine),
            partial(self.system.no_regime, self.machine),
            ask_executables(self.executor, self.places.build_dir),
        )
        return replace(plan, harness=harness_of(ROOT))

    def stamp(self, engines: Iterable[Runnable]) -> None:
        """Record the stamps of the executables.

        REQUIRES: called before they are checksummed, so that a file replaced in
        between is noticed.
        """
        for engine in engines:
            program = program_of(self.places.build_dir, engine)
            self.stamps[engine.executable] = program.stamp()

    def admit(self, plan: Plan, notify: Progress | None) -> dict[str, Any]:
        """Check the machine; return environment.json, with the doctor's findings.

        With `notify` the run is strict: the doctor also runs its measurements, which
        take seconds.  Raises Unfit if any check of a strict run fails.
        """

        def stoppable(text: str) -> None:
            self.executor.stop.check()
            if notify:
                notify(text)

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
        probes = self.system.probes(self.places.work)
        findings = admit(subject, probes, stoppable if notify else None)
        doctor = [finding.document() for finding in findings]
        return {**environment, "doctor": doctor}

    def control(self, plan: Plan) -> dict[str, Any]:
        """Make the disk of a plan's scenarios; return its control for environment.json.

        {} without a disk.  Raises CannotStart.
        """
        try:
            control = self.sites.control(_regimes(plan))
        except (RegimeError, OSError) as error:
            raise CannotStart(
                f"cannot make the disk of the scenarios: {error}"
            ) from None
        return {"file_system_control": control} if control else {}

    def changes(
        self, plan: Plan, config: Config, *, in_order: bool = True
    ) -> list[str]:
        """Return the differences from the plan as recorded; stamp the executables."""
        regimes = map(self.sites.unlike, _regimes(plan))
        unlike = [*dict.fromkeys(filter(None, regimes))]
        try:
            config = config_again(plan, config)
            suite, selection = selection_again(plan, config)
            request = Request(config, suite, selection, plan.command)
            engines = still_missing(plan, self.found(config, selection.engines))
            again = self._planned(plan.run, request, engines)
        except CannotResume as error:
            return [*error.changes, *unlike]
        except (ConfigError, DiskError) as error:
            return unlike or [f"settings: {error}"]
        build = self.places.build_dir
        return [*changes(plan, again, config, build, in_order=in_order), *unlike]

    def built_late(self, plan: Plan) -> tuple[str, ...]:
        """Return the engines that were missing from the plan but exist now."""
        return tuple(
            engine.name
            for engine in plan.engines
            if engine.missing.startswith(NOT_BUILT)
            and self.stamps.get(engine.executable)
        )

    def loop(self, folder: RunFolder, lines: list[Record], view: View) -> Loop:
        """Return a loop that appends to the lines of this folder."""
        machine = partial(identity, self.machine)
        return Loop(folder, lines, view, self.executor, self.scratch, machine)

    def forecast(self, plan: Plan) -> Forecast:
        """Return the predicted time of a plan, from the runs on disk."""
        return Forecast(plan, load_history(self.places.results, plan))

    def context(self, loop: Loop, plan: Plan) -> RunContext:
        """Return the context in which a loop measures a plan."""
        return RunContext(
            plan=plan,
            build_dir=self.places.build_dir,
            stamps=self.stamps,
            scratch=self.scratch,
            sites=self.sites,
            executor=self.executor,
            surroundings=self.system.surroundings(self.machine),
            lines=loop.lines,
            tick=loop.tick,
            starts=loop.announce,
            enters=loop.announce_phase,
        )

    def warnings(self, plan: Plan, late: Sequence[str]) -> Iterator[Notice]:
        """Yield a notice for each missing or unsuitable engine of a plan."""
        for engine in plan.engines:
            if engine.name in late:
                continue  # already reported
            if engine.missing:
                yield Notice(f"{engine.name} is missing: {engine.missing}", "warn")
            elif engine.description and engine.description.assertions_live:
                yield Notice(f"{engine.name} was built with live assertions", "warn")


def refuse_unusable(places: RunPlaces) -> None:
    """Raise CannotStart or ResultsError for folders that cannot be used."""
    refuse_shared_folder(places)
    check_usable(places.results, "results")
    check_usable(places.data_dir, "data")


def _regimes(plan: Plan) -> list[Regime]:
    """Return the regimes in which cells of a plan are measured."""
    return [s.regime for s in plan.scenarios if s.regime and not plan.no_regime]


def other_harness(planned_by: Mapping[str, object]) -> list[Notice]:
    """Return a notice if a run is continued by another commit than planned it."""
    planned, now = harness_line(planned_by), harness_line(harness_of(ROOT))
    if planned == now or not planned:
        return []
    return [Notice(f"planned by {planned}, continued by {now}", "warn")]


def _compilers(plan: Plan) -> list[str]:
    builds = [e.description.build for e in plan.engines if e.description]
    return [build["compiler"] for build in builds if "compiler" in build]


@contextmanager
def open_runner(places: RunPlaces, system: SystemAccess) -> Iterator[Runner]:
    """Yield a runner that holds the locks of both folders.

    Raises CannotStart, MissingProgram, FolderLocked, ResultsError or Interrupted.
    """
    refuse_unusable(places)
    require(NEEDED)
    named = places.named_device()
    executor = system.executor(child_environment(str(places.work / "tmp")))
    with (
        sole_user(places.results, "results"),
        sole_user(places.data_dir, "data"),
        executor.stop.on_signals(),
        work_folder(places.work) as scratch,
        ExitStack() as locks,
    ):
        scratch.fresh("tmp")
        remove_leftover(places.disk_folder)
        if named and named.kind == DIRECTORY and named.path != places.data_dir:
            locks.enter_context(sole_user(named.path, "device"))
            remove_leftover(named.path / FOLDER)
        with closing(Sites(places.disk_folder, named)) as sites:
            yield Runner(places, system, executor, scratch, sites)


@contextmanager
def open_planner(places: RunPlaces, system: SystemAccess) -> Iterator[Runner]:
    """Yield a runner that only plans, even while another one measures.

    It holds no lock, and neither folder is created or changed.  Raises CannotStart,
    MissingProgram, ResultsError or Interrupted.
    """
    refuse_unusable(places)
    require(NEEDED)
    with TemporaryDirectory(prefix="kvmatrix-") as folder:
        work = Path(folder, "work")
        executor = system.executor(child_environment(str(work / "tmp")))
        with executor.stop.on_signals(), work_folder(work) as scratch:
            scratch.fresh("tmp")
            sites = Sites(places.disk_folder, places.named_device())
            yield Runner(places, system, executor, scratch, sites)
