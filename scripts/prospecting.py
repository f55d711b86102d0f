"""Predicting a suite: the runs to learn from, the sizes to measure, and the answer."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from report import numbers
from report.config import load
from scripts.cli_options import Output
from scripts.cli_types import suite_name
from scripts.disk import free_bytes
from scripts.growth_samples import Samples, collect
from scripts.host import environment_document
from scripts.ladder import climb, default_sizes
from scripts.outside import Outside
from scripts.plan import Cell, Plan
from scripts.prospects import Room, prospects
from scripts.prospects_shown import document, text
from scripts.selection import selection_of
from scripts.session import Places, Refused, Request, Runner, open_runner
from scripts.showing import complain, view_for
from scripts.store import all_runs, find_run

PLANS = "plans"  # of the results: the runs that --measure makes
_UNFIT, _UNKNOWN = 4, 5  # exit codes
_TENTH = 10
_ORDINARY_RUNS = 20  # the newest ones are looked at


def foretell(
    suite: str,
    given: Mapping[str, Any],
    command: str,
    output: Output,
    outside: Outside,
) -> int:
    """Measures if asked to, predicts, and tells; returns the exit code.

    Raises what scripts.guard turns into a message.
    """
    asked = Places(
        configs=given["configs_dir"],
        results=given["results_dir"],
        build_dir=given["build_dir"].absolute(),
        data_dir=given["data_dir"].resolve(),
    )
    config = load(asked.configs)
    chosen = config.suites[suite_name(suite, config.suites)]
    request = Request(config, chosen, selection_of(config, chosen, given), command)
    places = replace(asked, results=asked.results / PLANS)
    with open_runner(places, outside) as runner:
        made = runner.plan(request)
        if given["measure"]:
            sizes = _sizes(given["sizes"], made)
            samples, _ = collect(_sources(asked, given["runs"]), made)
            ending = climb(runner, made, sizes, samples, view_for(output, places))
            if ending:
                return complain(
                    f"{ending.message}; what is done is kept", ending.exit_code
                )
        return _tell(runner, made, asked, given, output)


def _sources(places: Places, runs: Sequence[str]) -> list[Path]:
    """The runs to learn from.  Raises ResultsError for one that is not there."""
    ladder = all_runs(places.results / PLANS)
    if not runs:
        return [*all_runs(places.results)[-_ORDINARY_RUNS:], *ladder]
    return [find_run(places.results, name) for name in runs]


def _sizes(sizes: Sequence[int] | None, made: Plan) -> Sequence[int]:
    """The sizes to measure.  Raises click.UsageError."""
    num = min(_nums(made))
    chosen = sizes or default_sizes(num)
    if max(chosen, default=num) >= num:
        raise click.UsageError(f"--sizes: only sizes below --num {num:,} tell of it")
    return chosen


def _tell(
    runner: Runner, made: Plan, places: Places, given: Mapping[str, Any], output: Output
) -> int:
    samples, skipped = collect(_sources(places, given["runs"]), made)
    if given["runs"] and skipped:
        raise Refused("; ".join(skipped))
    room = _room(runner)
    measured: dict[Cell, float] = {}
    if given["against"]:
        samples, measured = _against(places, given["against"], made, samples)
    found = prospects(made, samples, room)
    if output.as_json:
        click.echo(json.dumps(document(found, made, room, measured), indent=1))
    else:
        click.echo("\n".join(text(found, room, measured)))
    if found.unfit:
        listed = "\n  ".join(map(str, found.unfit))
        return complain(f"this run cannot fit:\n  {listed}", _UNFIT)
    if found.unknown:
        told = numbers.count(len(found.unknown), "cell is", "cells are")
        return complain(f"{told} not predicted: add --measure", _UNKNOWN)
    return 0


def _against(
    places: Places, name: str, made: Plan, samples: Samples
) -> tuple[Samples, dict[Cell, float]]:
    """What a tenth of the size tells, and what a run measured at that size.

    Raises Refused if the run has none of the cells.
    """
    run, skipped = collect([find_run(places.results, name)], made)
    measured = {
        cell: wall_s
        for cell in made.cells
        if (wall_s := run.wall_s(made, cell)) is not None
    }
    if not measured:
        raise Refused("; ".join(skipped) or f"{name} has none of these cells at --num")
    return samples.up_to(min(_nums(made)) // _TENTH), measured


def _nums(made: Plan) -> list[int]:
    return [int(made.flags(cell)["num"]) for cell in made.cells]


def _room(runner: Runner) -> Room:
    """What is free where databases are made, and in memory."""
    memory = environment_document(runner.machine, (), {})["memory"]
    available, total = memory["available_bytes"], memory["total_bytes"]
    return Room(
        disk_bytes=free_bytes(runner.places.data_dir),
        memory_bytes=available if isinstance(available, int) else None,
        total_memory_bytes=total if isinstance(total, int) else None,
    )
