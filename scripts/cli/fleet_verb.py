"""kvmatrix fleet: measure the blocks of a run on many machines, and merge them."""

from __future__ import annotations

import io
import shlex
import sys
from contextlib import redirect_stderr
from pathlib import Path
from typing import Any

import click

from report.model.plan import started_at
from scripts.cli.exit_codes import exit_code_of
from scripts.cli.merge_verb import merged_run
from scripts.fleet.block_jobs import BlockJobs, LocalJobs, SlurmJobs, node_name
from scripts.fleet.fleet_control import FleetControl, report_line
from scripts.fleet.fleet_folder import (
    FLEET,
    SLURM,
    Fleet,
    create_fleet,
    read_fleet,
)
from scripts.fleet.fleet_plan import planned_blocks, whole_plan
from scripts.fleet.node_block import words_of_block
from scripts.machine.child_process import INTERRUPTED
from scripts.machine.system_access import SystemAccess
from scripts.measure.runner import Request, open_runner
from scripts.planning.engine_choice import finder
from scripts.request import options
from scripts.request.fleet_options import FLEET_OPTIONS, slurm_options, where_of
from scripts.request.option_types import HelpGroup
from scripts.request.selection import RunOptions, read_config, selection_of, suite_of
from scripts.request.shard_options import refuse_no_control
from scripts.show.fleet_view import fleet_lines, fleet_view
from scripts.show.output import Output, print_error, print_note, shown
from scripts.store.run_places import RunPlaces, new_name, refuse_nothing
from scripts.store.run_store import sole_user

_INCOMPLETE = 3


@click.group("fleet", cls=HelpGroup, invoke_without_command=True)
@click.pass_context
def fleet(ctx: click.Context) -> None:
    """Measure a run on many machines.

    Every block of the run (one repetition of all engines of a chart) is a job that
    has a node to itself.  A block whose node is lost is queued again.  At the end, the
    blocks are merged into one run, with the machines side by side.

    \b
    Examples:
      scripts/kvmatrix fleet run leveldb-2011 -n 9 --data-dir /local/scratch
      scripts/kvmatrix fleet resume 20261121-014500-leveldb-2011-fleet

    \b
    Exit codes: 0 done; 2 wrong usage, invalid configuration, damaged files, too little
    memory or disk space, or a directory that another run is using; 3 some cells failed
    or are missing (all other results are saved), or the run is unfinished; 5 nothing
    could be measured; 130 interrupted.
    """
    if ctx.invoked_subcommand is None:
        raise click.UsageError("VERB is missing; expected run or resume")


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
    where: str,
    nodes: int,
    slurm: tuple[str, ...],
    dry_run: bool,
    **given: Any,
) -> None:
    """Measure SUITE, block by block, on nodes of Slurm or on this machine.

    The results directory must be on a file system that all nodes see, and so must
    the build; --data-dir should be a local disk of each node.  Ctrl-C cancels what is
    queued and keeps what is finished; `kvmatrix fleet resume` continues.

    \b
    Examples:
      scripts/kvmatrix fleet run leveldb-2011 -n 9 --data-dir /local/scratch
      scripts/kvmatrix fleet run quick --nodes 4 --slurm partition=short
      scripts/kvmatrix fleet run quick --on local --dry-run

    \b
    Exit codes: 0 done; 2 wrong usage, invalid configuration, damaged files, too little
    memory or disk space, or a directory that another run is using; 3 some cells failed
    or are missing (all other results are saved), or the run is unfinished; 4 the
    machine is unfit (--strict); 5 nothing could be measured; 130 interrupted.
    """
    output, places = Output.of(given), RunPlaces.of(given)
    refuse_no_control(given)
    run_options = RunOptions.of({**given, "shard": (1, 1)})

    def work() -> int:
        config = read_config(places.configs, suite, run_options.engines)
        chosen_suite = suite_of(config, suite)
        find = finder(config, ctx.obj, places.build_dir)
        selection = selection_of(config, chosen_suite, run_options, find)
        command = ctx.meta["command"]
        request = Request(config, chosen_suite, selection, command)
        options_of_sbatch, chosen_where = slurm_options(slurm), where_of(where)
        with open_runner(places, ctx.obj) as runner:
            plan = whole_plan(runner.plan(request), places.results)
            refuse_nothing(plan, places.build_dir)
            made = Fleet(
                path=places.results / new_name(places.results, f"{suite}-fleet"),
                words=tuple(shlex.split(command)[3:]),
                blocks=tuple(planned_blocks(plan, places.results)),
                places=_options_of(places),
                where=chosen_where,
                nodes=nodes,
                slurm=options_of_sbatch,
            )
            if dry_run:
                click.echo("\n".join(fleet_lines(made)))
                return 0
            create_fleet(made, plan)
        return _measured(made, places, output)

    sys.exit(exit_code_of(work))


@fleet.command("resume")
@click.argument("name", metavar="FLEET")
@options.stacked(options.RESULTS, options.CONFIGS, options.OUTPUT)
def fleet_resume(
    *, name: str, results_dir: Path, configs_dir: Path, **given: Any
) -> None:
    """Measure the missing blocks of FLEET, and merge it.

    FLEET is the name of a fleet in the results directory, or a path.  Finished blocks
    are not measured again.

    \b
    Example:
      scripts/kvmatrix fleet resume 20261121-014500-leveldb-2011-fleet

    \b
    Exit codes: 0 done; 2 wrong usage, invalid configuration, damaged files, or a
    directory that another run is using; 3 some cells failed or are missing (all other
    results are saved), or the run is unfinished; 5 nothing could be measured; 130
    interrupted.
    """
    output = Output.of(given)

    def work() -> int:
        candidates = (results_dir / name, Path(name))
        path = next((p for p in candidates if (p / FLEET).is_file()), None)
        if path is None:
            problem = f"FLEET: no {FLEET} in {results_dir / name}"
            raise click.UsageError(f"{problem}; expected the name of a fleet")
        made = read_fleet(path)
        places = RunPlaces(
            configs=configs_dir,
            results=path.absolute().parent,
            build_dir=Path(made.places["--build-dir"]),
            data_dir=Path(made.places["--data-dir"]),
        )
        return _measured(made, places, output)

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
    from scripts.cli.verbs import main

    fleet = read_fleet(path)
    if not 1 <= block <= len(fleet.blocks):
        raise click.UsageError(f"BLOCK: expected 1 to {len(fleet.blocks)}, not {block}")
    words, said, code = words_of_block(fleet, block), io.StringIO(), 0
    if words:
        with redirect_stderr(said):
            try:
                main(words, prog_name="kvmatrix", obj=system, standalone_mode=False)
            except SystemExit as ended:
                code = int(ended.code or 0)
            except click.ClickException as error:
                error.show()
                code = error.exit_code
    text = said.getvalue()
    click.echo(text, err=True, nl=False)
    _, _, problem = text.rpartition("kvmatrix: ")  # begins the message of an error
    message = " ".join(problem.split()) if code else ""
    click.echo(report_line(node_name(), code, message))
    return 0


def _options_of(places: RunPlaces) -> dict[str, str]:
    """Return the directories of a command, which every node uses, by option."""
    found = {
        "--data-dir": places.data_dir,
        "--build-dir": places.build_dir,
        "--configs-dir": places.configs,
        "--device": places.device,
        "--format-device": places.format_device,
    }
    return {name: str(path.absolute()) for name, path in found.items() if path}


def _measured(made: Fleet, places: RunPlaces, output: Output) -> int:
    """Measure what is missing from a fleet and merge it; return the exit code."""
    jobs: BlockJobs = SlurmJobs(made) if made.where == SLURM else LocalJobs(made)
    resume = f"scripts/kvmatrix fleet resume {shlex.quote(shown(made.path))}"
    with sole_user(made.path, "fleet"):
        control = FleetControl(
            made, jobs, fleet_view(output.stderr(), made, output.quiet)
        )
        try:
            control.measure()
        except KeyboardInterrupt:
            kept = f"{len(control.done)} of {len(made.blocks)} blocks are kept"
            problem = f"interrupted; {kept}; continue with:\n  {resume}"
            return print_error(problem, INTERRUPTED)
        finally:
            control.view.close()
        runs = [control.done[block] for block in sorted(control.done)]
        if not runs:
            reasons = "; ".join(dict.fromkeys(control.lost.values()))
            return print_error(f"no block could be measured: {reasons}", 5)
        began = started_at(made.name)
        folders = places.results, places.configs
        code = merged_run(runs, *folders, output, since=began)
    if control.lost:
        print_note(
            f"{len(control.lost)} blocks are missing; try again with:\n  {resume}"
        )
    return max(code, _INCOMPLETE if control.lost else 0)
