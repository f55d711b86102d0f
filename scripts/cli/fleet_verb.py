"""kvmatrix fleet: measure the blocks of a run on many machines, and merge them."""

from __future__ import annotations

import io
import shlex
import sys
from collections.abc import Mapping, Sequence
from contextlib import redirect_stderr
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import click

from report.model.ab_folder import ab_plan_document
from report.model.plan_document import plan_document
from report.terms.limits import MOST_SHARDS
from scripts.cli.ab_verb import ab_request, asked_plan
from scripts.cli.exit_codes import exit_code_of
from scripts.cli.fleet_flow import measured_fleet
from scripts.fleet.block_jobs import node_name
from scripts.fleet.fleet_control import report_line
from scripts.fleet.fleet_folder import (
    FLEET,
    Fleet,
    FleetBlock,
    create_fleet,
    read_fleet,
)
from scripts.fleet.fleet_plan import planned_blocks, whole_plan
from scripts.fleet.node_block import words_of_block
from scripts.machine.system_access import SystemAccess
from scripts.measure.runner import Request, open_runner
from scripts.planning.engine_choice import finder
from scripts.request import options
from scripts.request.ab_options import AB_SELECTION, AbOptions
from scripts.request.fleet_options import FLEET_OPTIONS, slurm_options, where_of
from scripts.request.option_types import HelpGroup
from scripts.request.selection import RunOptions, read_config, selection_of, suite_of
from scripts.request.shard_options import refuse_no_control
from scripts.show.ab_view import make_ab_view
from scripts.show.fleet_view import fleet_lines
from scripts.show.output import Output
from scripts.store.run_places import CannotStart, RunPlaces, new_name, refuse_nothing


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
      scripts/kvmatrix fleet ab leveldb-2011-tenth --a build/base --b build/release
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
        request = Request(config, chosen_suite, selection, ctx.meta["command"])
        site = _Site(where_of(where), nodes, slurm_options(slurm))
        with open_runner(places, ctx.obj) as runner:
            plan = whole_plan(runner.plan(request), places.results)
            refuse_nothing(plan, places.build_dir)
            blocks = planned_blocks(plan, places.results)
            builds = {"--build-dir": places.build_dir}
            made = site.fleet(request, f"{suite}-fleet", places, builds, blocks)
            if dry_run:
                click.echo("\n".join(fleet_lines(made)))
                return 0
            create_fleet(made, plan_document(plan))
        return measured_fleet(made, places.configs, output)

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
    where: str,
    nodes: int,
    slurm: tuple[str, ...],
    dry_run: bool,
    **given: Any,
) -> None:
    """Compare two builds on nodes of Slurm, or block by block on this machine.

    The blocks of the screen are measured first.  If cells look different, blocks that
    confirm them follow.  Both builds and the results directory must be on a file system
    that all nodes see; --data-dir should be a local disk of each node.

    \b
    Examples:
      scripts/kvmatrix fleet ab leveldb-2011-tenth --a build/base --b build/release
      scripts/kvmatrix fleet ab quick --aa --a build/release --on local --dry-run

    \b
    Exit codes: 0 no regression found; 1 a regression; 2 wrong usage, invalid
    configuration, damaged files, too little memory or disk space, or a directory that
    another run is using; 3 some cells failed or are missing (all other results are
    saved), or the run is unfinished; 4 the machine is unfit (--strict); 5 nothing could
    be measured, judged or compared; 130 interrupted.
    """
    output = Output.of(given)

    def work() -> int:
        from scripts.ab.ab_fleet import screen_fleet_blocks
        from scripts.ab.ab_session import session_of

        asked = AbOptions.of(given)
        places = RunPlaces.of(given, asked.builds.a)
        request = ab_request(ctx, suite, asked, places, given)
        site = _Site(where_of(where), nodes, slurm_options(slurm))
        with open_runner(places, ctx.obj) as side_a:
            view = partial(make_ab_view, output.stderr(), output.quiet)
            session = session_of(side_a, asked.builds.b, view)
            plan = asked_plan(session, request, asked)
            blocks = screen_fleet_blocks(plan, session.forecast(plan))
            builds = asked.builds.options
            made = site.fleet(request, f"ab-{suite}-fleet", places, builds, blocks)
            if dry_run:
                click.echo("\n".join(fleet_lines(made)))
                return 0
            create_fleet(made, ab_plan_document(plan))
        return measured_fleet(made, places.configs, output)

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
    Exit codes: 0 done; 1 a regression (A/B run); 2 wrong usage, invalid configuration,
    damaged files, or a directory that another run is using; 3 some cells failed or are
    missing (all other results are saved), or the run is unfinished; 5 nothing could be
    measured, judged or compared; 130 interrupted.
    """
    output = Output.of(given)

    def work() -> int:
        candidates = (results_dir / name, Path(name))
        path = next((p for p in candidates if (p / FLEET).is_file()), None)
        if path is None:
            problem = f"FLEET: no {FLEET} in {results_dir / name}"
            raise click.UsageError(f"{problem}; expected the name of a fleet")
        made = read_fleet(path)
        return measured_fleet(made, configs_dir, output)

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


@dataclass(frozen=True)
class _Site:
    """Where the blocks of a fleet are measured."""

    where: str
    nodes: int
    slurm: Mapping[str, str]

    def fleet(
        self,
        request: Request,
        name: str,
        places: RunPlaces,
        builds: Mapping[str, Path],
        blocks: Sequence[FleetBlock],
    ) -> Fleet:
        """Return a fleet that measures these blocks here.

        Raises CannotStart if there are too many.
        """
        if len(blocks) > MOST_SHARDS:
            most = f"{len(blocks):,} blocks are more than {MOST_SHARDS:,}"
            raise CannotStart(f"{most}; select fewer cells or repetitions")
        found = {
            "--data-dir": places.data_dir,
            "--configs-dir": places.configs,
            "--device": places.device,
            "--format-device": places.format_device,
            **builds,
        }
        return Fleet(
            path=places.results / new_name(places.results, name),
            words=tuple(shlex.split(request.command)[2:]),
            blocks=tuple(blocks),
            places={name: str(path.absolute()) for name, path in found.items() if path},
            where=self.where,
            nodes=self.nodes,
            slurm=self.slurm,
        )
