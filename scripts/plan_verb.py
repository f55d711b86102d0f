"""The verb plan: what a suite will take at a size, predicted from smaller ones."""

import sys
from typing import Any

import click

from scripts import cli_options as options
from scripts.cli_options import Output
from scripts.cli_types import CountsType
from scripts.guard import guarded


@click.command("plan")
@click.argument("suite")
@options.stacked(options.ENGINES, options.SCENARIOS, options.CELLS)
@options.stacked(options.REPETITIONS, options.NUM, options.SEED)
@options.stacked(options.TIMEOUT, options.LATENCY, options.RATE)
@click.option(
    "--from",
    "runs",
    multiple=True,
    metavar="RUN",
    help="Predict from these runs alone.  [default: what --measure made, and the"
    " newest 20 runs]",
)
@click.option(
    "--measure",
    is_flag=True,
    help="First measure what is missing at the smaller sizes, each cell once.",
)
@click.option(
    "--sizes",
    type=CountsType(),
    help="Sizes to measure: --sizes 30000,100000,300000.  [default: four, below"
    " --num and up to 300,000]",
)
@click.option(
    "--against",
    metavar="RUN",
    help="Show what RUN measured at --num beside what sizes of at most a tenth of it"
    " predict.",
)
@options.stacked(options.PLACES, options.QUIET, options.JSON, options.COLOR)
@click.pass_context
def plan(ctx: click.Context, /, suite: str, **given: Any) -> None:
    """Predicts what SUITE will take at --num: time, memory and disk of each cell.

    Each figure is fitted to what was measured of the same cell at three or more
    smaller sizes on this machine, with the settings of the size asked for; the
    interval is told.  What cannot fit is refused (exit 4), naming cell, need and
    what is free.  Too few sizes are no prediction (exit 5): add --measure.

    \b
    Example:
      scripts/kvmatrix plan rocksdb-scale --num 1e9 --measure
      scripts/kvmatrix plan quick --num 1e7 -e leveldb -s baseline --json
      scripts/kvmatrix plan quick --num 1e7 --from 20261121-0145 --against @last
    """
    given |= {"max_time": None, "control": False, "repeat_disturbed": None}
    output = Output(given["quiet"], given["as_json"], True, given["color"])

    def work() -> int:
        from scripts.prospecting import foretell  # numpy takes a while to load

        return foretell(suite, given, ctx.meta["command"], output, ctx.obj)

    sys.exit(guarded(work))
