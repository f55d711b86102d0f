"""The options of the command line's verbs, each with its help."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from report.config.config_types import MOST_REPEATS
from scripts.cli.option_types import CountType, DurationType, RateType
from scripts.store.run_places import ROOT

DEFAULT_SEED = 301
FOLDER = click.Path(file_okay=False, path_type=Path)
Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def stacked(*decorators: Decorator) -> Decorator:
    """Several options as one decorator, shown in this order by --help."""

    def apply(function: Callable[..., Any]) -> Callable[..., Any]:
        for decorator in reversed(decorators):
            function = decorator(function)
        return function

    return apply


def _place(
    name: str, default: str, variable: str, help_text: str, is_eager: bool = False
) -> Decorator:
    return click.option(
        name,
        is_eager=is_eager,
        type=FOLDER,
        default=ROOT / default,
        envvar=variable,
        help=f"{help_text}  [default: {default}; environment: {variable}]",
    )


CONFIGS = _place(
    "--configs-dir", "configs", "KVMATRIX_CONFIGS_DIR", "Engines, scenarios, suites."
)
BUILD = _place(
    "--build-dir", "build/release", "KVMATRIX_BUILD_DIR", "Holds drivers/db_bench_*."
)
RESULTS = _place(  # eager: the history's default is below it
    *("--results-dir", "results", "KVMATRIX_RESULTS_DIR", "Where runs are kept."),
    is_eager=True,
)


def _history_dir(
    ctx: click.Context, _parameter: click.Parameter, folder: Path | None
) -> Path:
    """Return the folder given, or the one among the results."""
    results: Path | None = ctx.params.get("results_dir")
    if results is None:
        results = Path(os.environ.get("KVMATRIX_RESULTS_DIR") or ROOT / "results")
    return folder or results / "history"


HISTORY = click.option(
    "--history-dir",
    type=FOLDER,
    callback=_history_dir,
    envvar="KVMATRIX_HISTORY_DIR",
    help="Where the history is kept, one small file for each run.  [default: history"
    " in the results directory; environment: KVMATRIX_HISTORY_DIR]",
)
DATA = _place(
    "--data-dir",
    "build/data",
    "KVMATRIX_DATA_DIR",
    "Where databases are made: this is the disk that is measured.",
)
QUIET = click.option(
    "-q", "--quiet", is_flag=True, help="Print the result only, without progress."
)
JSON = click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON document on stdout."
)
COLOR = click.option(
    "--color",
    type=click.Choice(["auto", "always", "never"]),
    default="auto",
    help="Colour on stdout; NO_COLOR=1 means never.  [default: auto]",
)
STRICT = click.option(
    "--strict",
    is_flag=True,
    help="Let the doctor look first, and stop (exit 4) if the machine is unfit.",
)
OUTPUT = stacked(
    QUIET,
    JSON,
    click.option("--no-report", is_flag=True, help="Do not write the HTML report."),
    COLOR,
)


PLACES = stacked(DATA, RESULTS, BUILD, CONFIGS)
ENGINES = click.option(
    "-e",
    "--engine",
    "engines",
    multiple=True,
    metavar="NAME[,NAME...]",
    help="Only these engines, also ones that are left out otherwise: -e memory.",
)
SCENARIOS = click.option(
    "-s",
    "--scenario",
    "scenarios",
    multiple=True,
    metavar="NAME[,NAME...]",
    help="Only these scenarios of the suite: -s baseline,sync.",
)
CELLS = click.option(
    "-k",
    "--cells",
    "globs",
    multiple=True,
    metavar="GLOB",
    help="Only cells engine/scenario/benchmark that match: -k '*/*/read*'.",
)
REPETITIONS = click.option(
    "-n",
    "--repetitions",
    type=click.IntRange(1, 10000),
    help="Repetitions of each cell: -n 9.  [default: the suite's]",
)
NUM = click.option(
    "--num",
    type=CountType(),
    help="Entries of a database, instead of the suite's: --num 5000 or --num 1e6.",
)
SEED = click.option(
    "--seed",
    type=click.IntRange(0, 2**63 - 1),
    default=DEFAULT_SEED,
    show_default=True,
    help="Of the order and of every workload: --seed 7.",
)
MAX_TIME = click.option(
    "--max-time",
    type=DurationType(),
    help="End each measured loop after this long: --max-time 10s.",
)
TIMEOUT = click.option(
    "--timeout",
    type=DurationType(),
    help="Kill a process after this long: --timeout 5min.  [default: the suite's]",
)
LATENCY = click.option(
    "--latency/--no-latency",
    default=None,
    help="One more repetition of each cell, with a clock reading for each call."
    "  [default: the suite's]",
)
RATE = click.option(
    "--rate",
    type=RateType(),
    help="Offer so many operations per second in the latency repetitions, whether"
    " or not the engine keeps up: --rate 10000.  [default: the scenario's, or as"
    " fast as it goes]",
)
CONTROL = click.option(
    "--control/--no-control",
    default=None,
    help="Measure the suite's control twice under two names: the noise of the"
    " run.  [default: in a whole suite with 3 repetitions or more]",
)
REPEAT_DISTURBED = click.option(
    "--repeat-disturbed",
    type=click.IntRange(0, MOST_REPEATS),
    help="How often a repetition is made again that something else on the machine"
    " disturbed: --repeat-disturbed 0.  [default: the suite's]",
)
DRY_RUN = click.option(
    "--dry-run", is_flag=True, help="Show the plan with predicted time and disk."
)
SELECTION = stacked(
    *(ENGINES, SCENARIOS, CELLS, REPETITIONS, NUM, SEED, MAX_TIME, TIMEOUT),
    *(LATENCY, RATE, CONTROL, REPEAT_DISTURBED, DRY_RUN),
)
