"""kvmatrix fleet: measure the blocks of a run on many machines, and merge them."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import click

from report.model.ab_folder import ab_plan_document
from report.model.plan import started_at
from report.model.plan_document import plan_document
from report.terms import numbers
from scripts.cli.exit_codes import exit_code_of, outcome_of
from scripts.cli.merge_verb import merged_ab_folder, merged_run, show_notes
from scripts.cli.session_flow import conclude
from scripts.fleet.block_jobs import (
    BlockJobs,
    JobsRejected,
    LocalJobs,
    SlurmJobs,
    node_name,
)
from scripts.fleet.fleet_control import FleetControl
from scripts.fleet.fleet_folder import (
    AB_VERB,
    CONFIRMATION,
    FLEET,
    MACHINES,
    SCREEN,
    SLURM,
    Fleet,
    create_fleet,
    find_fleet,
    read_fleet,
    write_fleet,
)
from scripts.fleet.fleet_plan import planned_blocks, whole_plan
from scripts.fleet.job_report import report_line
from scripts.fleet.node_block import measure_block
from scripts.machine.child_process import Interrupted
from scripts.machine.system_access import SystemAccess
from scripts.measure.events import SessionResult
from scripts.measure.runner import Request, open_runner
from scripts.planning.engine_choice import finder
from scripts.request import options
from scripts.request.ab_options import AB_SELECTION, AbOptions
from scripts.request.fleet_options import FLEET_OPTIONS, OTHER_SITE, FleetSite, moved
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
from scripts.store.run_places import CannotStart, RunPlaces, refuse_nothing
from scripts.store.run_store import sole_user

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
        site = FleetSite.of(given)
        with open_runner(places, ctx.obj) as runner:
            plan = whole_plan(runner.plan(request), places.results)
            refuse_nothing(plan, places.build_dir)
            blocks = planned_blocks(plan, places.results)
            builds = {"--build-dir": places.build_dir}
            made = site.fleet(request, f"{suite}-fleet", places, builds, blocks)
            if dry_run:
                click.echo(dry_run_text(made, output.as_json))
                return 0
            create_fleet(made, plan_document(plan))
        return _begun_fleet(made, places.configs, output)

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
        site = FleetSite.of(given)
        with open_runner(places, ctx.obj) as side_a:
            view = partial(make_ab_view, output.stderr(), output.quiet)
            session = session_of(side_a, asked.builds.b, view)
            plan = session.plan(request, asked.terms)
            blocks = screen_fleet_blocks(plan, session.forecast(plan))
            builds = asked.builds.options
            made = site.fleet(request, f"ab-{suite}-fleet", places, builds, blocks)
            if dry_run:
                click.echo(dry_run_text(made, output.as_json))
                return 0
            create_fleet(made, ab_plan_document(plan))
        return _begun_fleet(made, places.configs, output)

    sys.exit(exit_code_of(work))


@fleet.command("resume")
@click.argument("name", metavar="FLEET")
@OTHER_SITE
@options.stacked(options.RESULTS, options.CONFIGS, options.OUTPUT)
def fleet_resume(
    *, name: str, results_dir: Path, configs_dir: Path, **given: Any
) -> None:
    """Measure the missing blocks of FLEET, and merge it.

    FLEET is the name of a fleet in the results directory or a unique prefix of it, a
    path, or @last.  Finished blocks are not measured again.  --on, --nodes and --slurm
    replace those of the fleet; all its options of sbatch are replaced together.

    \b
    Examples:
      scripts/kvmatrix fleet resume @last
      scripts/kvmatrix fleet resume 20261121-0145 --slurm partition=long

    \b
    Exit codes: 0 done; 1 a regression (A/B run); 2 wrong usage, invalid configuration,
    damaged files, or a directory that another run is using; 3 some cells failed or are
    missing (all other results are saved), or the run is unfinished; 5 nothing could be
    measured, judged or compared; 130 interrupted.
    """
    output = Output.of(given)

    def work() -> int:
        found = read_fleet(find_fleet(results_dir, name))
        with sole_user(found.path, "fleet"):
            made = moved(found, given)
            if made != found:
                write_fleet(made)
            return _measured_fleet(made, configs_dir, output)

    sys.exit(exit_code_of(work))


@fleet.command("block", hidden=True)
@click.argument("path", type=options.FOLDER)
@click.argument("block", type=int)
@click.pass_obj
def fleet_block(system: SystemAccess, path: Path, block: int) -> None:
    """Measure one block of a fleet on this node, and print how that ended."""
    sys.exit(exit_code_of(lambda: _measured_block(system, path, block)))


def _measured_block(system: SystemAccess, path: Path, block: int) -> int:
    """Run the command of a block; print how it ended, and return 0."""

    def run(words: Sequence[str]) -> tuple[int, str]:
        return outcome_of(lambda: _executed(words, system))

    outcome = 0, ""

    def work() -> int:
        nonlocal outcome
        outcome = measure_block(read_fleet(path), block, run)
        return 0

    code, message = outcome_of(work)
    click.echo(report_line(node_name(), *((code, message) if code else outcome)))
    return 0


def _executed(words: Sequence[str], system: SystemAccess) -> int:
    """Run a `kvmatrix` command in this process; return its exit code."""
    from scripts.cli.verbs import main

    try:
        main([*words], prog_name="kvmatrix", obj=system, standalone_mode=False)
    except SystemExit as ended:
        return int(ended.code or 0)
    except click.ClickException as error:
        error.show()
        return error.exit_code
    return 0


def _begun_fleet(fleet: Fleet, configs: Path, output: Output) -> int:
    """Measure and merge a new fleet; return the exit code.

    Its folder is removed if Slurm rejects its first jobs: another command begins it.
    """
    with sole_user(fleet.path, "fleet"):
        try:
            return _measured_fleet(fleet, configs, output)
        except JobsRejected as rejected:
            if not rejected.is_first or any((fleet.path / MACHINES).iterdir()):
                problem = f"{rejected}; continue with:\n  {resuming(fleet)}"
                raise CannotStart(problem) from None
            shutil.rmtree(fleet.path, ignore_errors=True)
            raise CannotStart(f"{rejected}; nothing was begun or kept") from None


def _measured_fleet(fleet: Fleet, configs: Path, output: Output) -> int:
    """Measure what is missing from a fleet and merge it; return the exit code.

    REQUIRES: the caller is its sole_user().  Raises the errors that exit_code_of()
    handles.
    """
    results = fleet.path.absolute().parent
    resume = resuming(fleet)
    runs, lost = _measured_blocks(fleet, resume, output)
    if not runs:
        reasons = why_lost(fleet, lost)
        raise CannotStart(f"no block could be measured: {reasons}", _NOTHING)
    if fleet.words[0] != AB_VERB:
        since = started_at(fleet.name)
        code = merged_run(runs, results, configs, output, since=since)
    else:
        confirmation = None if lost else _confirmation(fleet, runs, configs, output)
        if confirmation:
            more, lost = _measured_blocks(confirmation, resume, output)
            runs += more
        code = _concluded_ab(runs, results, configs, output, resume)
    if lost:
        missing = numbers.count(len(lost), "block")
        print_note(f"missing: {missing}; try again with:\n  {resume}")
    return code or (_INCOMPLETE if lost else 0)


def _measured_blocks(
    fleet: Fleet, resume: str, output: Output
) -> tuple[list[Path], Mapping[int, str]]:
    """Measure blocks; return the runs of those finished, and why others were given up.

    Raises Interrupted.
    """
    jobs: BlockJobs = SlurmJobs(fleet) if fleet.where == SLURM else LocalJobs(fleet)
    view = fleet_view(output.stderr(), fleet, output.quiet)
    control = FleetControl(fleet, jobs, view)
    try:
        control.measure()
    except KeyboardInterrupt:
        kept = interrupted_words(fleet, len(control.done))
        problem = f"{kept}; continue with:\n  {resume}"
        raise Interrupted(problem) from None
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
    if (path / FLEET).is_file():
        begun = read_fleet(path)
        return replace(begun, where=fleet.where, nodes=fleet.nodes, slurm=fleet.slurm)
    shutil.rmtree(place, ignore_errors=True)  # of a session that ended here
    place.mkdir()
    merged = merged_ab_folder(screen, place, read_config(configs))
    run = load_ab_run(merged.path)
    blocks = tuple(confirmation_fleet_blocks(run))
    if not output.quiet:
        suspected, cells = len(suspects(run).all), len(run.plan.able)
        print_note(f"note: {suspects_words(suspected, cells, len(blocks))}")
    if not blocks:
        return None
    words = ("resume", str(merged.path.absolute()))
    confirmation = replace(fleet, path=path, words=words, blocks=blocks)
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
