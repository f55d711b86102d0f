"""kvmatrix run: measure a suite."""

import sys
from typing import Any

import click

from scripts.cli.exit_codes import exit_code_of
from scripts.cli.session_flow import conclude, run_with_progress
from scripts.fleet.sharded_plan import sharded_plan
from scripts.measure.run_session import RunSession
from scripts.measure.runner import Request, open_planner, open_runner
from scripts.planning.engine_choice import finder
from scripts.request import options
from scripts.request.chosen_suite import SUITE, chosen_suite
from scripts.request.selection import (
    RunOptions,
    note_own_defaults,
    note_single_passes,
    selection_of,
)
from scripts.request.shard_options import SHARD_OPTIONS, shard_request
from scripts.show.dry_run import dry_run_document, dry_run_lines, show_dry_run
from scripts.show.live import view_for
from scripts.show.output import Output
from scripts.show.run_summary import RunResult
from scripts.store.run_places import RunPlaces, refuse_nothing, resume_command


@click.command("run")
@SUITE
@options.SELECTION
@SHARD_OPTIONS
@options.stacked(options.STRICT, options.PLACES, options.DEVICES, options.OUTPUT)
@click.pass_context
def run(
    ctx: click.Context,
    /,
    suite: str | None,
    *,
    dry_run: bool,
    strict: bool,
    **given: Any,
) -> None:
    """Measure SUITE: engines x scenarios x benchmarks x repetitions.

    SUITE is a suite of configs/, or a YCSB property file; -P and -p are as in YCSB.

    Every repetition is a fresh process on a fresh database, in a random recorded order.
    Extra repetitions of each cell time every call; if the cell writes, they end with
    kill -9 and an audit of the database.  A repetition disturbed by other activity is
    flagged and retried.  Ctrl-C keeps finished ones; `kvmatrix resume` continues.

    \b
    Examples:
      scripts/kvmatrix run quick -e leveldb,sqlite3 -s baseline -n 5
      scripts/kvmatrix run leveldb-2011 --data-dir /mnt/ssd --dry-run
      scripts/kvmatrix run leveldb-2011 -n 9 --shard 1/3   # on the first of three
      scripts/kvmatrix run workloads/workloada -p recordcount=1000000

    \b
    Exit codes: 0 done; 2 wrong usage, invalid configuration, damaged files, too little
    memory or disk space, or a directory that another run is using; 3 some cells failed
    or are missing (all other results are saved), or the run is unfinished; 4 the
    machine is unfit (--strict, or the canary of a shard failed); 5 nothing could be
    measured; 130 interrupted.
    """
    output, places = Output.of(given), RunPlaces.of(given)
    run_options = RunOptions.of(given)

    def work() -> int:
        config, chosen = chosen_suite(places.configs, suite, run_options)
        find = finder(config, ctx.obj, places.build_dir)
        selection = selection_of(config, chosen, run_options, find)
        request = Request(config, chosen, selection, ctx.meta["command"])
        shard = shard_request(given)
        opened = open_planner if dry_run else open_runner
        with opened(places, ctx.obj) as runner:
            plan = runner.plan(request)
            note_single_passes(config, chosen, selection)
            if shard:
                name = shard.name_on(runner.machine)
                plan = sharded_plan(plan, shard, name, places.results)
            if dry_run:
                note_own_defaults(config, selection)
                document = dry_run_document(plan, places)
                code = show_dry_run(document, dry_run_lines, output)
                refuse_nothing(plan, places.build_dir)
                return code
            session = RunSession(runner, view_for(output, places))
            ending = run_with_progress(session, plan, output, strict=strict)
        command = resume_command(plan.run, places)
        return conclude(ending, RunResult(ending), output, command)

    sys.exit(exit_code_of(work))
