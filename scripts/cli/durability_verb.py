"""kvmatrix durability: what survives when the power is cut."""

import shlex
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any

import click

from report.config.config_types import Config
from report.config.durability_suite import (
    DEFAULT_SUITE,
    FILE_SYSTEMS,
    METHODS,
    MOST_STATES,
    DurabilitySuite,
    durability_suites,
    read_durability_suite,
)
from report.config.durability_table import LEVEL
from report.config.toml_table import unknown
from report.durability.durability_plan import DurabilityPlan
from report.model.plan import Engine
from scripts.cli.exit_codes import exit_code_of
from scripts.durability.durability_session import (
    BLOCK_LOG,
    DurabilitySession,
    environment_of,
)
from scripts.durability.engine_settings import settings_of
from scripts.durability.replay import check_flags, description_of, replay
from scripts.durability.requisites import makeable, requisites
from scripts.durability.trial_plan import planned_trials
from scripts.machine.checkout import harness_of
from scripts.machine.host import identity
from scripts.machine.system_access import SystemAccess
from scripts.measure.runner import Runner, open_planner, open_runner
from scripts.planning.engine_choice import Found, finder
from scripts.request import options
from scripts.request.option_types import ChoiceType, IntegerType, suite_name
from scripts.request.selection import chosen_engines, note_left_out, read_config
from scripts.show.durability_outcome import UNFIT, conclude_durability
from scripts.show.durability_view import (
    dry_run_document,
    dry_run_lines,
    progress_view,
)
from scripts.show.output import Output, print_note, say, say_json
from scripts.store.run_places import (
    ROOT,
    CannotStart,
    RunPlaces,
    new_name,
    refuse_full_disk,
    why_missing,
)
from scripts.trials.trial_spec import KILL, LOG, SHUTDOWN

_STATES = IntegerType(1, MOST_STATES)


@click.command("durability")
@click.argument("suite", default=DEFAULT_SUITE)
@options.ENGINES
@click.option(
    "--setting",
    "settings",
    multiple=True,
    metavar="GLOB",
    help="Try only settings (ENGINE/SETTING) that match, e.g. --setting '*/durable'.",
)
@click.option(
    "--method",
    "methods",
    multiple=True,
    type=ChoiceType(METHODS),
    help="Cut only in this way, e.g. --method log; may be repeated.  kill: kill -9."
    "  shutdown: shut the file system down.  log: record all writes and flushes, and"
    " try each disk that a cut could leave.  full: fill the disk.",
)
@click.option(
    "--fs",
    "file_systems",
    multiple=True,
    type=ChoiceType(FILE_SYSTEMS),
    help="Use only this file system, e.g. --fs ext4; may be repeated.",
)
@click.option(
    "--states",
    type=_STATES,
    help="Try this many disks of each recorded log, e.g. --states 60, and a few more of"
    f" power cuts while it recovers.  [default: the suite's; {_STATES.accepted}]",
)
@options.SEED
@options.DRY_RUN
@click.option(
    "--replay",
    "replay_file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Only open the database of a reproducer again, and print what is in it.",
)
@options.stacked(options.PLACES, options.OUTPUT)
@click.pass_context
def durability(
    ctx: click.Context,
    /,
    suite: str,
    *,
    engines: tuple[str, ...],
    settings: tuple[str, ...],
    methods: tuple[str, ...],
    file_systems: tuple[str, ...],
    states: int | None,
    seed: int,
    dry_run: bool,
    replay_file: Path | None,
    **given: Any,
) -> None:
    """Cut the power, and find out what each engine's acknowledgement is worth.

    Each engine is tried with each of its settings that bear on durability.  A process
    writes to a database and records what was acknowledged.  The power of its disk is
    cut at moments that are known to be dangerous, and a fresh process compares what is
    left with what was acknowledged.  As root, the disks are file systems of their own
    on loop devices that nothing else can see; otherwise only kill -9 is possible.
    SUITE is a file of configs/durability/, or a suite of `kvmatrix run`, of which the
    durability of each row is tried.  `kvmatrix resume` continues an interrupted run.

    \b
    Examples:
      scripts/kvmatrix durability --dry-run
      scripts/kvmatrix durability -e leveldb,sqlite3 --method log
      scripts/kvmatrix durability smoke
      scripts/kvmatrix durability --replay results/RUN/reproducers/FILE

    \b
    Exit codes: 0 done, whatever was found (--replay: the same was found again); 1
    --replay found something else; 2 wrong usage, invalid configuration, damaged files,
    or a directory that another run is using; 3 a trial failed or an engine is missing
    (all other results are saved), or the run is unfinished; 4 the power cannot be cut
    here; 5 nothing could be tried; 130 interrupted.
    """
    output, places = Output.of(given), RunPlaces.of(given)
    wanted = _Wanted(suite, engines, settings, methods, file_systems, states, seed)

    def work() -> int:
        if replay_file:
            return _replay(replay_file, places, ctx.obj, output)
        opened = open_planner if dry_run else open_runner
        with opened(places, ctx.obj) as runner:
            config = read_config(places.configs, suite, engines)
            find = finder(config, ctx.obj, places.build_dir)
            plan = _plan(runner, config, wanted, find, ctx.meta["command"])
            _note_missing(plan)
            if dry_run:
                return _show_plan(plan, output)
            return _perform(runner, config, plan, output)

    sys.exit(exit_code_of(work))


@dataclass(frozen=True)
class _Wanted:
    """The options that select what is tried."""

    suite: str
    engines: tuple[str, ...]
    settings: tuple[str, ...]
    methods: tuple[str, ...]
    file_systems: tuple[str, ...]
    states: int | None
    seed: int

    def applied(self, suite: DurabilitySuite) -> DurabilitySuite:
        """Return a suite with what the options replace."""
        return replace(
            suite,
            settings=self.settings or suite.settings,
            methods=self.methods or suite.methods,
            file_systems=self.file_systems or suite.file_systems,
            states=self.states or suite.states,
        )


def _plan(
    runner: Runner,
    config: Config,
    wanted: _Wanted,
    find: Callable[[], Found],
    command: str,
) -> DurabilityPlan:
    """Return the plan.  Raises CannotStart if nothing can be tried."""
    refuse_full_disk(runner.places.data_dir)
    rates = config.suites.get(wanted.suite)
    suite = wanted.applied(_suite(config, runner.places.configs, wanted.suite))
    choice = chosen_engines(wanted.engines or ["default"], config, rates, find)
    if wanted.engines:
        note_left_out(choice, config, find)
    engines = [find()[name] for name in choice.usable]
    missing = {engine.name: engine.missing for engine in engines if engine.missing}
    settings = settings_of(config, engines, suite.settings)
    if not settings:
        raise CannotStart(_why_nothing(engines, suite, runner.places.build_dir), 5)
    block_log = runner.places.build_dir / BLOCK_LOG
    if not wanted.file_systems:
        suite = _without_absent(suite)
    impossible = requisites(suite.methods, suite.file_systems, block_log)
    if wanted.methods and any(impossible.values()):
        first, *others = _why(impossible)
        raise CannotStart(first, UNFIT, *others)
    trials = planned_trials(settings, suite, impossible, wanted.seed)
    return DurabilityPlan(
        run=new_name(runner.places.results, f"durability-{suite.name}"),
        command=command,
        suite=suite.name,
        title=suite.title,
        seed=wanted.seed,
        settings=tuple(setting.planned() for setting in settings),
        trials=tuple(trials),
        requisites=impossible,
        binaries={e.name: e.binary_sha256 for e in engines},
        machine=identity(runner.machine),
        missing=missing,
        harness=harness_of(ROOT),
    )


def _without_absent(suite: DurabilitySuite) -> DurabilitySuite:
    """Return a suite without the file systems that cannot be made here; name those."""
    if not {*suite.methods} & {SHUTDOWN, LOG}:
        return suite
    why = makeable(suite.file_systems)
    for name, problem in why.items():
        if problem:
            print_note(f"warning: {name} is left out: {problem}")
    return replace(suite, file_systems=tuple(n for n in why if not why[n]))


def _suite(config: Config, folder: Path, name: str) -> DurabilitySuite:
    """Return a suite of durability; one of rates has the trials of the default one."""
    own = durability_suites(folder)
    if name in own:
        return read_durability_suite(folder, name)
    if name in config.broken_suites:
        raise config.broken_suites[name]
    rates = config.suites[suite_name(name, [*own, *config.suites])]
    whole = read_durability_suite(folder, DEFAULT_SUITE)
    levels = {
        str(config.scenarios[scenario].flags.get(LEVEL, "buffered"))
        for scenario in rates.scenarios
    } | {"durable"}
    rows = config.rows(rates.scenarios, config.default_engines(rates))
    engines = [config.engines[row] for row in chain.from_iterable(rows.values())]
    of_rows = {
        f"{name}/{engine.flags[LEVEL]}"
        for engine in engines
        if LEVEL in engine.flags
        for name in (engine.name, engine.executable)
    }
    globs = {f"*/{level}" for level in levels} | of_rows
    settings = tuple(sorted(globs | _settings_of_rows(config, rows, levels)))
    return replace(whole, name=rates.name, title=rates.title, settings=settings)


def _settings_of_rows(
    config: Config, rows: Mapping[str, Collection[str]], levels: Collection[str]
) -> set[str]:
    """Return the further settings at these levels whose flags a row has."""
    return {
        f"{engine.executable}/{name}"
        for scenario, engines in rows.items()
        for engine in (config.engines[row] for row in engines)
        for name, of in config.engines[engine.executable].durability_settings.items()
        if (level := of[LEVEL]) in levels
        and {
            **engine.flags,
            **config.scenarios[scenario].settings.get(engine.name, {}),
            LEVEL: level,
        }.items()
        >= of.items()
    }


def _why_nothing(
    engines: Sequence[Engine], suite: DurabilitySuite, build_dir: Path
) -> str:
    """Return why no setting can be tried."""
    reasons = why_missing(engines, "--build-dir", build_dir)
    if not reasons:
        reasons = [f"no setting matches {', '.join(suite.settings)}; see --dry-run"]
    return "; ".join(["nothing can be tried", *reasons])


def _why(impossible: Mapping[str, str]) -> list[str]:
    """Return a line for each method that is impossible here."""
    return [f"{method}: {why}" for method, why in impossible.items() if why]


def _note_missing(plan: DurabilityPlan) -> None:
    for engine, why in plan.missing.items():
        print_note(f"warning: {engine} is missing: {why}")


def _show_plan(plan: DurabilityPlan, output: Output) -> int:
    if output.as_json:
        say_json(dry_run_document(plan))
    else:
        say(*dry_run_lines(plan))
    return UNFIT if any(plan.requisites.values()) else 0


def _perform(
    runner: Runner, config: Config, plan: DurabilityPlan, output: Output
) -> int:
    """Perform the trials of a new run; return the exit code."""
    _note_impossible(plan)
    if not plan.trials:
        raise CannotStart("the power cannot be cut here; nothing was tried", UNFIT)
    with progress_view(output.stderr(), output.quiet, plan.trials) as show:
        session = DurabilitySession(runner, config, show)
        ending = session.start(plan, environment_of(runner))
    return conclude_durability(ending, output, runner.places)


def _note_impossible(plan: DurabilityPlan) -> None:
    for line in _why(plan.requisites):
        print_note(f"warning: not possible here: {line}")
    if not any(plan.requisites.values()):
        return
    tried = [method for method, why in plan.requisites.items() if not why]
    words = f"only {', '.join(tried)} is tried" if tried else "nothing is left"
    if not {*tried} - {KILL}:
        words += "; what a power cut does stays as documented"
    print_note(f"warning: {words}")


def _replay(file: Path, places: RunPlaces, system: SystemAccess, output: Output) -> int:
    """Open the database of a reproducer again; return the exit code."""
    document = description_of(file)
    config = read_config(places.configs)
    if document["engine"] not in config.engines:
        raise CannotStart(unknown("engine", document["engine"], config.engines))
    found = finder(config, system, places.build_dir)()
    engine = found[document["engine"]]
    if engine.missing:
        reasons = why_missing([engine], "--build-dir", places.build_dir)
        raise CannotStart("; ".join(reasons), 5)
    check_flags(document, engine)
    needed = requisites(("shutdown",), (document["fs"],), places.build_dir)
    if needed["shutdown"]:
        raise CannotStart(needed["shutdown"], UNFIT)
    with open_runner(places, system) as runner:
        work, stop = runner.scratch.fresh("trials"), runner.executor.stop
        result = replay(file, document, engine, places.build_dir, work, stop)
    if output.as_json:
        answer = {"outcome": result.outcome, "found": result.found}
        say_json({**answer, "same": result.is_same})
    else:
        words = shlex.join(document["flags"])
        say(f"{document['setting']} on {document['fs']}: {words}")
        say(f"then  {document['outcome']}: {document['found']}")
        say(f"now   {result.outcome}: {result.found}")
    return 0 if result.is_same else 1
