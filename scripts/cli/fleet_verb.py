"""kvmatrix fleet: measure the blocks of a run on many machines, and merge them."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import click

from report.model.ab_folder import ab_plan_document
from report.model.plan import started_at
from report.model.plan_document import plan_document
from report.terms import numbers
from report.terms.documents import ResultsError
from scripts.cli.exit_codes import exit_code_of
from scripts.cli.fleet_block import check_words, fleet_block, verb_of
from scripts.cli.merge_verb import merged_ab_folder, merged_run, show_notes
from scripts.cli.session_flow import conclude
from scripts.fleet.block_jobs import (
    JOBS,
    BlockJobs,
    JobsRejected,
    LocalJobs,
    SlurmJobs,
)
from scripts.fleet.block_runs import check_runs
from scripts.fleet.fleet_control import FleetControl
from scripts.fleet.fleet_folder import (
    AB_VERB,
    CONFIRM_VERB,
    CONFIRMATION,
    MACHINES,
    SCREEN,
    Fleet,
    create_fleet,
    find_fleet,
    read_fleet,
)
from scripts.fleet.fleet_plan import planned_blocks, whole_plan
from scripts.fleet.fleet_site import SLURM, FleetSite
from scripts.machine.child_process import Interrupted
from scripts.measure.events import SessionResult
from scripts.measure.runner import Request, open_planner, open_runner
from scripts.planning.engine_choice import finder
from scripts.request import options
from scripts.request.ab_options import AB_SELECTION, AbOptions
from scripts.request.build_folders import BUILDS, BuildFolders, builds_of
from scripts.request.fleet_options import FLEET_OPTIONS, new_fleet, site_of
from scripts.request.selection import RunOptions, read_config, selection_of, suite_of
from scripts.request.shard_options import refuse_no_control
from scripts.request.verb_group import HelpGroup
from scripts.show.ab_view import make_ab_view
from scripts.show.fleet_view import (
    dry_run_text,
    fleet_view,
    interrupted_words,
    resuming,
    suspects_words,
    why_lost,
)
from scripts.show.output import Output, print_note
from scripts.store.folder_lock import sole_user
from scripts.store.own_files import refuse_link, refuse_links, remove
from scripts.store.run_places import CannotStart, RunPlaces, refuse_nothing
from scripts.store.run_store import FLEET

_INCOMPLETE, _NOTHING = 3, 5


@click.group("fleet", cls=HelpGroup, invoke_without_command=True)
@click.pass_context
def fleet(ctx: click.Context) -> None:
    """Measure a run on many machines.

    Every block of the run (one repetition of all engines of a chart; in an A/B run,
    two rounds of a cell) is a job that has a node to itself.  A block whose node is
    lost is queued again.  At the end, the blocks are merged into one run, with the
    machines side by side.

    \b
    Examples:
      scripts/kvmatrix fleet run leveldb-2011 -n 9 --data-dir /local/scratch
      scripts/kvmatrix fleet ab quick --a build/base --b build/release
      scripts/kvmatrix fleet resume 20261121-014500-leveldb-2011-fleet

    \b
    Exit codes: 0 done; 1 a regression (A/B run); 2 wrong usage, invalid configuration,
    damaged files, too little memory or disk space, or a directory that another run is
    using; 3 some cells failed or are missing (all other results are saved), or the run
    is unfinished; 5 nothing could be measured, judged or compared; 130 interrupted.
    """
    if ctx.invoked_subcommand is None:
        raise click.UsageError("VERB is missing; expected run, ab or resume")


fleet.add_command(fleet_block)


@fleet.command("run")
@click.argument("suite")
@FLEET_OPTIONS
@options.SELECTION
@options.stacked(options.STRICT, options.PLACES, options.DEVICES, options.OUTPUT)
@click.pass_context
def fleet_run(
    ctx: click.Context,
    /,
    suite: str,
    *,
    dry_run: bool,
    **given: Any,
) -> None:
    """Measure SUITE on nodes of Slurm, or on this machine.

    Every block is a job.  The results directory must be on a file system that all nodes
    see, and so must the build; --data-dir should be a local disk of each node.  Ctrl-C
    keeps what is finished, and `kvmatrix fleet resume` continues.

    \b
    Examples:
      scripts/kvmatrix fleet run leveldb-2011 -n 9 --data-dir /local/scratch
      scripts/kvmatrix fleet run quick --nodes 4 --slurm partition=short
      scripts/kvmatrix fleet run quick --on local --dry-run

    \b
    Exit codes: 0 done; 2 wrong usage, invalid configuration, damaged files, too little
    memory or disk space, or a directory that another run is using; 3 some cells failed
    or are missing (all other results are saved), or the run is unfinished; 5 nothing
    could be measured; 130 interrupted.
    """
    output, places = Output.of(given), RunPlaces.of(given)
    refuse_no_control(given)
    run_options = RunOptions.of({**given, "shard": (1, 1)})

    def work() -> int:
        config = read_config(places.configs, suite, run_options.engines)
        chosen_suite = suite_of(config, suite)
        find = finder(config, ctx.obj, places.build_dir)
        selection = selection_of(config, chosen_suite, run_options, find)
        request = Request(config, chosen_suite, selection, ctx.meta["command"])
        site = site_of(given, places, None)
        opened = open_planner if dry_run else open_runner
        with opened(places, ctx.obj) as runner:
            plan = whole_plan(runner.plan(request), places.results)
            refuse_nothing(plan, places.build_dir)
            blocks, name = planned_blocks(plan, places.results), f"{suite}-fleet"
            made = new_fleet(request, verb_of("run"), name, places.results, blocks)
            if dry_run:
                click.echo(dry_run_text(made, site, output.as_json))
                return 0
            create_fleet(made, plan_document(plan))
        return _begun_fleet(made, site, places, output)

    sys.exit(exit_code_of(work))


@fleet.command("ab")
@click.argument("suite")
@FLEET_OPTIONS
@AB_SELECTION
@options.stacked(options.DRY_RUN, options.STRICT)
@options.stacked(options.DATA, options.DEVICES, options.RESULTS, options.CONFIGS)
@options.OUTPUT
@click.pass_context
def fleet_ab(
    ctx: click.Context,
    /,
    suite: str,
    *,
    dry_run: bool,
    **given: Any,
) -> None:
    """Compare two builds on nodes of Slurm, or on this machine.

    The blocks of the screen are measured first.  If cells look different, blocks that
    confirm them follow.  Both builds and the results directory must be on a file system
    that all nodes see; --data-dir should be a local disk of each node.

    \b
    Examples:
      scripts/kvmatrix fleet ab quick --a build/base --b build/release
      scripts/kvmatrix fleet ab quick --aa --a build/release --on local --dry-run

    \b
    Exit codes: 0 no regression found; 1 a regression; 2 wrong usage, invalid
    configuration, damaged files, too little memory or disk space, or a directory that
    another run is using; 3 some cells failed or are missing (all other results are
    saved), or the run is unfinished; 5 nothing could be measured, judged or compared;
    130 interrupted.
    """
    output = Output.of(given)

    def work() -> int:
        from scripts.ab.ab_fleet import screen_fleet_blocks
        from scripts.ab.ab_session import session_of

        asked = AbOptions.of(given)
        places = RunPlaces.of(given, asked.builds.a)
        request = asked.request(suite, places.configs, ctx)
        site = site_of(given, places, asked.builds.options)
        opened = open_planner if dry_run else open_runner
        with opened(places, ctx.obj) as side_a:
            view = partial(make_ab_view, output.stderr(), output.quiet)
            session = session_of(side_a, asked.builds.b, view)
            plan = session.plan(request, asked.terms)
            blocks = screen_fleet_blocks(plan, session.forecast(plan))
            name = f"ab-{suite}-fleet"
            made = new_fleet(request, verb_of(AB_VERB), name, places.results, blocks)
            if dry_run:
                click.echo(dry_run_text(made, site, output.as_json))
                return 0
            create_fleet(made, ab_plan_document(plan))
        return _begun_fleet(made, site, places, output)

    sys.exit(exit_code_of(work))


@fleet.command("resume")
@click.argument("name", metavar="FLEET")
@FLEET_OPTIONS
@options.stacked(BUILDS, options.PLACES, options.DEVICES, options.OUTPUT)
def fleet_resume(
    *, name: str, a_dir: Path | None, b_dir: Path | None, **given: Any
) -> None:
    """Measure the missing blocks of FLEET, and merge it.

    FLEET is the name of a fleet in the results directory or a unique prefix of it, a
    path, or @last.  Finished blocks are not measured again.  The folder says what is
    measured; where, and with which builds, is said again, with the options of `fleet
    run` or `fleet ab`.  They may differ from those with which it was begun.  The merged
    run is written to the results directory.

    \b
    Examples:
      scripts/kvmatrix fleet resume @last
      scripts/kvmatrix fleet resume 20261121-0145 --slurm partition=long
      scripts/kvmatrix fleet resume @last --a build/base --b build/release

    \b
    Exit codes: 0 done; 1 a regression (A/B run); 2 wrong usage, invalid configuration,
    damaged files, or a directory that another run is using; 3 some cells failed or are
    missing (all other results are saved), or the run is unfinished; 5 nothing could be
    measured, judged or compared; 130 interrupted.
    """
    output, named = Output.of(given), RunPlaces.of(given)

    def work() -> int:
        found = read_fleet(find_fleet(named.results, name))
        if found.is_confirmation:
            raise ResultsError(f"{found.path}: resume the fleet that it is in")
        check_words(found)
        confirmation = found.path / CONFIRMATION
        refuse_links(found.path, {found.path / JOBS, confirmation / JOBS})
        check_runs(found)
        builds = _builds_of(found, a_dir, b_dir)
        places = replace(named, build_dir=builds.a) if builds else named
        site = site_of(given, places, builds.options if builds else None)
        with sole_user(found.path, "fleet"):
            return _measured_fleet(found, site, places, output)

    sys.exit(exit_code_of(work))


def _builds_of(fleet: Fleet, a: Path | None, b: Path | None) -> BuildFolders | None:
    """Return the builds of an A/B fleet.  Raises click.UsageError or CannotStart."""
    if fleet.is_ab:
        return builds_of(a, b, same=fleet.same_build)
    if a or b:
        remedy = "pass its build with --build-dir"
        raise click.UsageError(f"--a, --b: {fleet.name} is no A/B run; {remedy}")
    return None


def _begun_fleet(
    fleet: Fleet, site: FleetSite, places: RunPlaces, output: Output
) -> int:
    """Measure and merge a new fleet; return the exit code.

    Its folder is removed if Slurm rejects its first jobs: another command begins it.
    """
    with sole_user(fleet.path, "fleet"):
        try:
            return _measured_fleet(fleet, site, places, output)
        except JobsRejected as rejected:
            if not rejected.is_first or any((fleet.path / MACHINES).iterdir()):
                problem = f"{rejected}; continue with:"
                raise CannotStart(problem, 2, resuming(fleet, site)) from None
            shutil.rmtree(fleet.path, ignore_errors=True)
            raise CannotStart(f"{rejected}; nothing was begun or kept") from None


def _measured_fleet(
    fleet: Fleet, site: FleetSite, places: RunPlaces, output: Output
) -> int:
    """Measure what is missing from a fleet and merge it; return the exit code.

    The merged run is in the results directory, wherever the fleet is.
    REQUIRES: the caller is its sole_user().  Raises the errors that exit_code_of()
    handles.
    """
    results, configs = places.results, places.configs
    resume = resuming(fleet, site)
    runs, lost = _measured_blocks(fleet, site, resume, output)
    if not runs:
        reasons = why_lost(fleet, lost)
        raise CannotStart(f"no block could be measured: {reasons}", _NOTHING)
    if not fleet.is_ab:
        since = started_at(fleet.name)
        code = merged_run(runs, results, configs, output, since=since)
    else:
        confirmation = None if lost else _confirmation(fleet, runs, configs, output)
        if confirmation:
            more, lost = _measured_blocks(confirmation, site, resume, output)
            runs += more
        code = _concluded_ab(runs, results, configs, output, resume)
    if lost:
        missing = numbers.count(len(lost), "block")
        print_note(f"missing: {missing}; try again with:", resume)
    return code or (_INCOMPLETE if lost else 0)


def _measured_blocks(
    fleet: Fleet, site: FleetSite, resume: str, output: Output
) -> tuple[list[Path], Mapping[int, str]]:
    """Measure blocks; return the runs of those finished, and why others were given up.

    Raises Interrupted.
    """
    jobs_on = SlurmJobs if site.where == SLURM else LocalJobs
    jobs: BlockJobs = jobs_on(fleet, site)
    view = fleet_view(output.stderr(), fleet, output.quiet)
    control = FleetControl(fleet, jobs, view)
    try:
        control.measure()
    except KeyboardInterrupt:
        kept = interrupted_words(fleet, len(control.done))
        raise Interrupted(f"{kept}; continue with:", resume) from None
    finally:
        view.close()
    return [control.done[block] for block in sorted(control.done)], control.lost


def _confirmation(
    fleet: Fleet, screen: list[Path], configs: Path, output: Output
) -> Fleet | None:
    """Return the fleet that confirms the suspects of a screen; None without any."""
    from report.verdict.ab_judge import load_ab_run
    from report.verdict.ab_verdicts import suspects
    from scripts.ab.ab_fleet import confirmation_fleet_blocks

    path, place = fleet.path / CONFIRMATION, fleet.path / SCREEN
    refuse_link(path)
    if (path / FLEET).is_file():
        return read_fleet(path)
    remove(place)  # of a session that ended here
    place.mkdir()
    merged = merged_ab_folder(screen, place, read_config(configs))
    run = load_ab_run(merged.path)
    blocks = tuple(confirmation_fleet_blocks(run))
    if not output.quiet:
        suspected, cells = len(suspects(run).all), len(run.plan.able)
        print_note(f"note: {suspects_words(suspected, cells, len(blocks))}")
    if not blocks:
        return None
    remove(path)  # without a plan: of a session that ended here
    confirmation = Fleet(path, (CONFIRM_VERB,), blocks)
    create_fleet(confirmation, None)
    return confirmation


def _concluded_ab(
    runs: list[Path], results: Path, configs: Path, output: Output, resume: str
) -> int:
    """Merge the shards of an A/B run, and print the verdict; return the exit code."""
    from report.verdict.ab_judge import load_ab_run
    from scripts.show.ab_outcome import ab_outcome

    merged = merged_ab_folder(runs, results, read_config(configs))
    show_notes(merged)
    run = load_ab_run(merged.path)
    ending = SessionResult(run.plan, merged.path, run.lines)
    return conclude(ending, ab_outcome(ending), output, resume)
