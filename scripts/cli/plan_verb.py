"""kvmatrix plan: the needs of a suite at a size, predicted from smaller sizes."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click

from report.model.plan import CellName, Plan
from report.stats.scaling import LEAST_SIZES
from report.terms import numbers
from scripts.cli.exit_codes import exit_code_of
from scripts.forecast.size_history import Samples, collect
from scripts.forecast.suite_estimate import CellEstimate, Room, estimate_suite
from scripts.machine.host import environment_document
from scripts.machine.system_access import SystemAccess
from scripts.measure.calibration import LARGEST_OF_FEWEST, default_sizes, measure_sizes
from scripts.measure.run_session import RunSession
from scripts.measure.runner import Request, Runner, open_planner, open_runner
from scripts.planning.disk_room import free_bytes
from scripts.planning.engine_choice import finder
from scripts.request import options
from scripts.request.chosen_suite import SUITE, chosen_suite
from scripts.request.option_types import CountsType
from scripts.request.selection import RunOptions, note_own_defaults, selection_of
from scripts.show.estimate_text import document, text
from scripts.show.live import view_for
from scripts.show.output import Output, print_error, say, say_json
from scripts.store.run_places import CannotStart, LimitTooLow, RunPlaces, refuse_nothing
from scripts.store.run_store import all_runs, find_run

PLANS = "plans"  # in the results directory: the runs of --measure
_FAILED, _UNFIT, _UNKNOWN = 3, 4, 5  # exit codes
_TENTH = 10
_ORDINARY_RUNS = 20  # the newest ones are read


@click.command("plan")
@SUITE
@options.stacked(options.ENGINES, options.SCENARIOS, options.CELLS)
@options.stacked(options.PLANNED_REPETITIONS, options.NUM, options.MEMORY_LIMIT)
@options.stacked(options.SET, options.SEED)
@options.stacked(options.TIMEOUT, options.LATENCY, options.RATE)
@click.option(
    "--from",
    "runs",
    multiple=True,
    metavar="RUN",
    help="Predict only from this run, e.g. --from @last; may be repeated.  [default:"
    " the runs made by --measure and the 20 newest other runs]",
)
@click.option(
    "--measure",
    is_flag=True,
    help="Measure the missing smaller sizes first, each cell once.",
)
@click.option(
    "--sizes",
    type=CountsType(),
    help="Measure at these sizes, e.g. --sizes 30000,100000,300000.  [default: four"
    " sizes below --num, each at most 300,000]",
)
@click.option(
    "--against",
    metavar="RUN",
    help="Compare the prediction, made only from sizes up to a tenth of --num, with"
    " what RUN measured at --num, e.g. --against @last.",
)
@options.stacked(options.PLACES, options.QUIET, options.JSON, options.COLOR)
@click.pass_context
def plan(
    ctx: click.Context,
    /,
    suite: str | None,
    *,
    runs: tuple[str, ...],
    measure: bool,
    sizes: Sequence[int] | None,
    against: str | None,
    **given: Any,
) -> None:
    """Predict the time, memory and disk space of SUITE.

    The prediction is for databases of --num entries.  For each cell, a curve is fitted
    to measurements of that cell at three or more smaller sizes, made on this machine
    with the same settings; each prediction is printed with a prediction interval.
    Memory is anonymous memory; memory-mapped files are not included.  If a cell will
    not fit, its needs and the free space are printed, and the exit code is 4.  If a
    cell was measured at too few sizes, the exit code is 5: add --measure.

    \b
    Examples:
      scripts/kvmatrix plan rocksdb-scale --num 1e9 --measure
      scripts/kvmatrix plan quick --num 1e7 -e leveldb -s baseline --json
      scripts/kvmatrix plan quick --num 1e7 --from 20261121-0145 --against @last

    \b
    Exit codes: 0 done; 2 wrong usage, invalid configuration, damaged files, too little
    memory or disk space for --measure, or a directory that another run is using; 3 some
    cells failed or are missing (--measure); 4 the prediction for SUITE exceeds the
    memory or disk space of the machine; 5 nothing could be measured, or a cell could
    not be predicted; 130 interrupted.
    """
    output, places = Output.of(given), RunPlaces.of(given)
    run_options = replace(RunOptions.of(given), control=False)

    def work() -> int:
        if sizes and not measure:
            raise click.UsageError("--sizes: needs --measure; add it")
        if runs and measure:
            raise click.UsageError(
                "--measure: cannot be used with --from; leave one of them out"
            )
        config, chosen = chosen_suite(places.configs, suite, run_options)
        find = finder(config, ctx.obj, places.build_dir)
        selection = selection_of(config, chosen, run_options, find)
        note_own_defaults(config, selection)
        request = Request(config, chosen, selection, ctx.meta["command"])
        learn = SampleOptions(runs, sizes, measure, against)
        return predict_suite(request, learn, places, output, ctx.obj)

    sys.exit(exit_code_of(work))


@dataclass(frozen=True)
class SampleOptions:
    """The runs that a prediction uses and is compared with."""

    runs: tuple[str, ...]  # only these; (): all runs
    sizes: Sequence[int] | None  # to measure; None: the default sizes
    measure: bool  # measure what is missing at these sizes first
    against: str | None  # the run that measured --num itself


def predict_suite(
    request: Request,
    learn: SampleOptions,
    places: RunPlaces,
    output: Output,
    system: SystemAccess,
) -> int:
    """Measure if requested, predict and print; return the exit code.

    Raises the errors that scripts.cli.exit_codes turns into a message.
    """
    measuring = replace(places, results=places.results / PLANS)
    opened = open_runner if learn.measure else open_planner
    with opened(measuring, system) as runner:
        try:
            plan = runner.plan(request)
        except LimitTooLow as limit:
            raise CannotStart(str(limit), _UNFIT) from None
        refuse_nothing(plan, places.build_dir)
        if learn.measure:
            sizes = _sizes(learn.sizes, plan)
            samples, _ = collect(_sources(places, ()), plan)
            session = RunSession(runner, view_for(output, measuring))
            ending = measure_sizes(session, plan, sizes, samples)
            if ending:
                return print_error(
                    f"{ending.message}; finished repetitions are kept",
                    ending.exit_code,
                )
        return _print_estimate(runner, plan, places, learn, output)


def _sources(places: RunPlaces, runs: Sequence[str]) -> list[Path]:
    """Return the runs to learn from.  Raises ResultsError if one does not exist."""
    ladder = all_runs(places.results / PLANS)
    if not runs:
        return [*all_runs(places.results)[-_ORDINARY_RUNS:], *ladder]
    return [find_run(places.results, name) for name in runs]


def _sizes(sizes: Sequence[int] | None, plan: Plan) -> Sequence[int]:
    """Return the sizes to measure.  Raises click.UsageError."""
    num = min(_nums(plan))
    chosen = sizes or default_sizes(num)
    if not sizes and len(chosen) < LEAST_SIZES:
        raise click.UsageError(
            f"--num {num:,} is too small for --measure; expected more than"
            f" {LARGEST_OF_FEWEST:,}"
        )
    if max(chosen) >= num:
        raise click.UsageError(f"--sizes: {max(chosen):,} is not below --num {num:,}")
    return chosen


def _print_estimate(
    runner: Runner, plan: Plan, places: RunPlaces, learn: SampleOptions, output: Output
) -> int:
    samples, skipped = collect(_sources(places, learn.runs), plan)
    if learn.runs and skipped:
        raise CannotStart("; ".join(skipped))
    room = _room(runner)
    measured: dict[CellName, float] = {}
    if learn.against:
        samples, measured = _against(places, learn.against, plan, samples)
    estimate = estimate_suite(plan, samples, room)
    if output.as_json:
        say_json(document(estimate, plan, room, measured))
    else:
        say(*text(estimate, room, measured))
    if estimate.unfit:
        return print_error("this run does not fit:", _UNFIT, *map(str, estimate.unfit))
    if estimate.unknown:
        return _print_unknown(estimate.unknown, plan, samples, learn)
    return 0


def _print_unknown(
    unknown: Sequence[CellEstimate], plan: Plan, samples: Samples, learn: SampleOptions
) -> int:
    """Print how many cells are not predicted, and the remedy; return the exit code."""
    cells = f"{numbers.count(len(unknown), 'cell is', 'cells are')} not predicted"
    if not learn.measure:
        remedy = "leave out --from and add --measure" if learn.runs else "add --measure"
        return print_error(f"{cells}; {remedy}", _UNKNOWN)
    if any(samples.failure(plan, estimated.cell) for estimated in unknown):
        return print_error(f"{cells}: measurements failed, see above", _FAILED)
    remedy = f"pass at least {LEAST_SIZES} sizes below --num with --sizes"
    return print_error(f"{cells}: too few sizes were measured; {remedy}", _UNKNOWN)


def _against(
    places: RunPlaces, name: str, plan: Plan, samples: Samples
) -> tuple[Samples, dict[CellName, float]]:
    """Return the samples of up to a tenth of the size, and the seconds of the run.

    Raises CannotStart if the run has none of the cells at --num.
    """
    path = find_run(places.results, name)
    run, skipped = collect([path], plan)
    measured = {
        cell: wall_s
        for cell in plan.cells
        if (wall_s := run.wall_s(plan, cell)) is not None
    }
    if not measured:
        raise CannotStart(
            "; ".join(skipped)
            or f"--against: run {path.name} has no selected cell with"
            f" {min(_nums(plan)):,} entries"
        )
    return samples.up_to(min(_nums(plan)) // _TENTH), measured


def _nums(plan: Plan) -> list[int]:
    return [int(plan.flags(cell)["num"]) for cell in plan.cells]


def _room(runner: Runner) -> Room:
    """Return the free space in the data directory and in memory."""
    memory = environment_document(runner.machine, (), {})["memory"]
    available, total = memory["available_bytes"], memory["total_bytes"]
    return Room(
        disk_bytes=free_bytes(runner.places.data_dir),
        memory_bytes=available if isinstance(available, int) else None,
        total_memory_bytes=total if isinstance(total, int) else None,
    )
