"""kvmatrix durability: what survives when the power is cut."""

import json
import sys
from dataclasses import replace
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
)
from scripts.cli import options
from scripts.cli.durability_flow import perform, planned, replayed
from scripts.show.exit_codes import exit_code_of
from scripts.cli.option_types import ChoiceType, IntegerType
from scripts.cli.selection import read_config
from scripts.measure.runner import open_runner
from scripts.show.output import Output
from scripts.store.run_places import RunPlaces

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
    help="Try this many disks of each recorded log, e.g. --states 60."
    f"  [default: the suite's; {_STATES.accepted}]",
)
@options.SEED
@options.DRY_RUN
@click.option(
    "--replay",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Only open the database of a reproducer again, and print what is in it.",
)
@options.stacked(options.STRICT, options.PLACES, options.OUTPUT)
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
    replay: Path | None,
    strict: bool,
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
    or a directory that another run is using; 3 a trial failed (all other results are
    saved), or the run is unfinished; 4 the power cannot be cut here; 5 nothing could be
    tried; 130 interrupted.
    """
    output, places = Output.of(given), RunPlaces.of(given)

    def chosen(suite: DurabilitySuite) -> DurabilitySuite:
        return replace(
            suite,
            methods=methods or suite.methods,
            file_systems=file_systems or suite.file_systems,
            states=states or suite.states,
            settings=settings or suite.settings,
        )

    def work() -> int:
        if replay:
            return replayed(replay, places, ctx.obj, output)
        config: Config = read_config(places.configs, suite, engines)
        with open_runner(places, ctx.obj) as runner:
            plan = planned(
                *(runner, config, suite, engines, chosen),
                *(seed, ctx.meta["command"], bool(methods)),
            )
            if dry_run:
                from scripts.show.durability_view import (
                    dry_run_document,
                    dry_run_lines,
                )

                if output.as_json:
                    click.echo(json.dumps(dry_run_document(plan), indent=1))
                else:
                    click.echo("\n".join(dry_run_lines(plan)))
                return 0
            return perform(runner, config, plan, output, strict=strict)

    sys.exit(exit_code_of(work))


__all__ = ["durability", "durability_suites"]
