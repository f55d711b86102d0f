"""The options that verbs share, each with its help."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from report.config.config_types import MOST_REPEATS
from report.config.regime_table import limit_bytes
from report.config.toml_table import ConfigError, TomlTable, read_flag, unknown
from report.terms.limits import LONGEST_TIMEOUT_S, MOST_REPETITIONS
from report.terms.rulebook import FLAGS, SCENARIO_FLAGS, Flag, FlagRule
from scripts.request.option_types import (
    ChoiceType,
    CountType,
    DurationType,
    IntegerType,
    RateType,
)
from scripts.request.path_types import DeviceType, FolderType, build_in
from scripts.store.run_places import DEFAULT_BUILD, ROOT

DEFAULT_SEED = 301
_COUNT = IntegerType(1, MOST_REPETITIONS)
_REPEATS = IntegerType(0, MOST_REPEATS)
_SEEDS = IntegerType(0, 2**63 - 1, "0 to 2^63 - 1")
FOLDER = FolderType()
Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


Setting = tuple[str, Flag]
_MOST = 1e18  # of a number; larger than any flag accepts


class SettingType(click.ParamType[Setting]):
    """FLAG=VALUE, such as value_size=1000; the flags are those of a scenario file."""

    name = "setting"

    def convert(
        self,
        value: Any,
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> Setting:
        """Return the flag and its value, in bytes or seconds if it has a unit."""
        if not isinstance(value, str):
            return value  # type: ignore[no-any-return]  # it was converted before
        flag, equals, text = value.partition("=")
        if not equals:
            self.fail(f"{value!r} is not of the form FLAG=VALUE", param, ctx)
        if flag not in SCENARIO_FLAGS:
            self.fail(unknown("flag", flag, SCENARIO_FLAGS), param, ctx)
        written = _written(SCENARIO_FLAGS[flag], text)
        try:
            return flag, read_flag(TomlTable("", "", {flag: written}), flag, written)
        except ConfigError as error:
            self.fail(f"{flag}: {error.problem}", param, ctx)


def _memory_limit(
    _ctx: click.Context, _parameter: click.Parameter, text: str | None
) -> int | None:
    """Return the bytes of a text such as 64MiB; [regime] has the same limits."""
    try:
        return None if text is None else limit_bytes(text)
    except ConfigError as error:
        raise click.BadParameter(error.problem) from None


def _written(rule: FlagRule, text: str) -> Flag:
    """Return a text as a scenario file would have it: true, or a text."""
    if rule.type == "bool":
        return {"true": True, "false": False}.get(text, text)
    return text


def stacked(*decorators: Decorator) -> Decorator:
    """Return several options as one decorator, in the order of --help."""

    def apply(function: Callable[..., Any]) -> Callable[..., Any]:
        for decorator in reversed(decorators):
            function = decorator(function)
        return function

    return apply


Callback = Callable[[click.Context, click.Parameter, Path], Path]


def _place(
    name: str,
    default: str,
    variable: str,
    help_text: str,
    is_eager: bool = False,
    callback: Callback | None = None,
) -> Decorator:
    return click.option(
        name,
        callback=callback,
        is_eager=is_eager,
        type=FOLDER,
        default=ROOT / default,
        envvar=variable,
        help=f"{help_text}  [default: {default}; environment: {variable}]",
    )


CONFIGS = _place(
    "--configs-dir",
    "configs",
    "KVMATRIX_CONFIGS_DIR",
    "Read engines, scenarios and suites here, e.g. --configs-dir my-configs.",
)


def _build_dir(ctx: click.Context, parameter: click.Parameter, folder: Path) -> Path:
    """Return a build; the default one may not exist yet.  Raises click.BadParameter."""
    source = ctx.get_parameter_source(parameter.name or "")
    return folder if source is ParameterSource.DEFAULT else build_in(folder)


BUILD = _place(
    "--build-dir",
    DEFAULT_BUILD,
    "KVMATRIX_BUILD_DIR",
    "Run drivers/db_bench_* of this build, e.g. --build-dir build/debug.",
    callback=_build_dir,
)


def _results_dir(help_text: str) -> Decorator:
    return _place(  # eager: the history's default is below it
        "--results-dir", "results", "KVMATRIX_RESULTS_DIR", help_text, is_eager=True
    )


RESULTS = _results_dir("Store runs here, e.g. --results-dir /srv/runs.")
STORED_RUNS = _results_dir("Look for runs here, e.g. --results-dir /srv/runs.")


def _history_dir(
    ctx: click.Context, _parameter: click.Parameter, folder: Path | None
) -> Path:
    """Return the folder given, or `history` in the results directory."""
    results: Path | None = ctx.params.get("results_dir")
    if results is None:
        results = Path(os.environ.get("KVMATRIX_RESULTS_DIR") or ROOT / "results")
    return folder or results / "history"


HISTORY = click.option(
    "--history-dir",
    type=FOLDER,
    callback=_history_dir,
    envvar="KVMATRIX_HISTORY_DIR",
    help="Use the history in this directory, one small file per run, e.g."
    " --history-dir ci/history.  [default: history in the results directory;"
    " environment: KVMATRIX_HISTORY_DIR]",
)


def _data_dir(help_text: str) -> Decorator:
    return _place("--data-dir", "build/data", "KVMATRIX_DATA_DIR", help_text)


DATA = _data_dir(
    "Create databases here, on the disk to measure, e.g. --data-dir /mnt/ssd."
)
CHECKED_DISK = _data_dir(
    "Check the disk that holds this directory, e.g. --data-dir /mnt/ssd."
)
QUIET = click.option(
    "-q", "--quiet", is_flag=True, help="Print only the result, no progress."
)
JSON = click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON document on stdout."
)
COLOR = click.option(
    "--color",
    type=ChoiceType(["auto", "always", "never"]),
    default="auto",
    help="Use colour on stdout, e.g. --color never.  NO_COLOR=1 also disables it."
    "  [default: auto]",
)
STRICT = click.option(
    "--strict",
    is_flag=True,
    help="Run the doctor first, and exit 4 if the machine is unfit.",
)
OUTPUT = stacked(
    QUIET,
    JSON,
    click.option("--no-report", is_flag=True, help="Do not write the HTML report."),
    COLOR,
)


PLACES = stacked(DATA, RESULTS, BUILD, CONFIGS)


DEVICES = stacked(
    click.option(
        "--device",
        type=DeviceType(),
        metavar="PATH",
        help="Use this block device or directory as the disk of scenarios that have"
        " one, e.g. --device /dev/nvme1n1p1.  Its file system is kept.  [default: a"
        " file in the data directory]",
    ),
    click.option(
        "--format-device",
        type=DeviceType(),
        metavar="PATH",
        help="Destroy what is on the block device of --device: make a new file system"
        " for each repetition.  PATH must be the same again.",
    ),
)
ENGINES = click.option(
    "-e",
    "--engine",
    "engines",
    multiple=True,
    metavar="NAME[,NAME...]",
    help="Select engines by name, glob or group, also ones not run by default, e.g. -e"
    " leveldb,memory or -e lsm,'lmdb*' or -e all,-rocksdb.  Groups: all, default,"
    " ordered, advised, and those of `kvmatrix list engines`.",
)
SCENARIOS = click.option(
    "-s",
    "--scenario",
    "scenarios",
    multiple=True,
    metavar="NAME[,NAME...]",
    help="Select scenarios of the suite, e.g. -s baseline,sync.",
)
CELLS = click.option(
    "-k",
    "--cells",
    "globs",
    multiple=True,
    metavar="GLOB",
    help="Select cells (engine/scenario/benchmark) by glob pattern, in which * also"
    " matches /, e.g. -k '*/*/read*'.",
)


def _repetitions(help_text: str) -> Decorator:
    return click.option(
        "-n",
        "--repetitions",
        type=_COUNT,
        help=f"{help_text}  [default: the suite's; {_COUNT.accepted}]",
    )


REPETITIONS = _repetitions("Measure each cell this many times, e.g. -n 9.")
PLANNED_REPETITIONS = _repetitions(
    "Predict for this many repetitions of each cell, e.g. -n 9."
)
NUM = click.option(
    "--num",
    type=CountType(),
    help="Use databases of this many entries, e.g. --num 5000 or --num 1e6."
    "  [default: the suite's]",
)
SET = click.option(
    "--set",
    "settings",
    type=SettingType(),
    multiple=True,
    metavar="FLAG=VALUE",
    help="Set a flag for all engines and scenarios, e.g. --set value_size=1000 --set"
    " threads=4; configs/README.md lists the flags.",
)
MEMORY_LIMIT = click.option(
    "--memory-limit",
    callback=_memory_limit,
    metavar="SIZE",
    help="Give the processes of scenarios with a memory limit this one, e.g."
    " --memory-limit 1GiB with --num 35e6.  [default: the scenario's]",
)
SEED = click.option(
    "--seed",
    type=_SEEDS,
    default=DEFAULT_SEED,
    help="Seed the order of repetitions and all workloads, e.g. --seed 7."
    f"  [default: {DEFAULT_SEED}; {_SEEDS.accepted}]",
)
MAX_TIME = click.option(
    "--max-time",
    type=DurationType(FLAGS["duration"].most),
    help="Stop each measured loop after this long, e.g. --max-time 10s.",
)
TIMEOUT = click.option(
    "--timeout",
    type=DurationType(LONGEST_TIMEOUT_S),
    help="Kill a process after this long, e.g. --timeout 5min.  [default: the suite's]",
)
LATENCY = click.option(
    "--latency/--no-latency",
    default=None,
    help="For each cell, add repetitions that time every call.  [default: the suite's]",
)
RATE = click.option(
    "--rate",
    type=RateType(),
    help="Make latency repetitions an open loop of this many operations per second,"
    " whether or not the engine keeps up, e.g. --rate 10000.  [default: the"
    " scenario's,"
    " else a closed loop]",
)
CONTROL = click.option(
    "--control/--no-control",
    default=None,
    help="Measure the suite's control engine under two names, to measure the noise of"
    " the run.  [default: only without -e, -s and -k, with 3 or more repetitions]",
)
REPEAT_DISTURBED = click.option(
    "--repeat-disturbed",
    type=_REPEATS,
    help="Retry a repetition disturbed by other activity on the machine at most this"
    " many times, e.g. --repeat-disturbed 0.  [default: the suite's, or the run's;"
    f" {_REPEATS.accepted}]",
)
DRY_RUN = click.option(
    "--dry-run",
    is_flag=True,
    help="Print the plan with its predicted time and disk space; measure nothing.",
)
SELECTION = stacked(
    *(ENGINES, SCENARIOS, CELLS, REPETITIONS, NUM, MEMORY_LIMIT, SET, SEED),
    *(MAX_TIME, TIMEOUT, LATENCY, RATE, CONTROL, REPEAT_DISTURBED, DRY_RUN),
)
