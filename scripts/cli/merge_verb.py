"""kvmatrix merge: make one run of the shards that machines measured."""

import datetime
import json
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click

from report.config.config_types import Config
from report.model.ab_plan import AbPlan
from report.model.count_lines import COUNTS_FILE
from report.model.plan import Plan
from report.model.plan_document import plan_document
from report.model.record import LINES
from report.model.run import Run
from report.terms import numbers
from report.terms.documents import ResultsError
from report.trust.judge import load_run
from scripts.cli.exit_codes import exit_code_of
from scripts.fleet.machine_notes import machine_notes
from scripts.fleet.merging import (
    Merged,
    merged,
    merged_name,
    missing_of,
    name_of,
    notes_of,
    parts_of,
    shard_folders,
)
from scripts.request import options
from scripts.request.selection import read_config
from scripts.request.shard_options import MachineType
from scripts.show.output import Output, Result, print_note, shown
from scripts.show.run_output import written_report
from scripts.show.run_summary import MergedResult
from scripts.store.known_passports import with_passports
from scripts.store.run_places import CannotStart
from scripts.store.run_store import create_folder, is_ab_run, sole_user

_INCOMPLETE, _NOTHING = 3, 5
_NAMED = 8  # machines


@click.command("merge")
@click.argument(
    "folders", metavar="FOLDER...", nargs=-1, required=True, type=options.FOLDER
)
@click.option(
    "--without",
    type=MachineType(),
    multiple=True,
    metavar="MACHINE",
    help="Leave out what this machine measured, e.g. --without m-1f2e3d4c.",
)
@options.stacked(options.RESULTS, options.CONFIGS, options.OUTPUT)
def merge(
    *,
    folders: tuple[Path, ...],
    without: tuple[str, ...],
    results_dir: Path,
    configs_dir: Path,
    **given: Any,
) -> None:
    """Make one run of the shards of a run, measured with `run --shard`.

    FOLDER is the directory of a shard, or one with the directories of several.  Their
    order does not matter.  Shards of another plan, build or method are refused, as are
    two that measured the same.  A run merged before is accepted, too.  If something
    is missing, the rest is merged, and what is missing is listed.  The directories are
    left as they are.

    \b
    Examples:
      scripts/kvmatrix merge results/*-leveldb-2011
      scripts/kvmatrix merge from-a/ from-b/ from-c/ --without m-1f2e3d4c

    \b
    Exit codes: 0 done; 2 wrong usage, invalid configuration, damaged files, or a
    directory that another run is using; 3 some cells failed or are missing (all other
    results are saved), or the run is unfinished; 5 nothing was measured; 130
    interrupted.
    """
    output = Output.of(given)

    def work() -> int:
        return merged_run(folders, results_dir, configs_dir, output, without)

    sys.exit(exit_code_of(work))


def merged_run(
    folders: Sequence[Path],
    results: Path,
    configs: Path,
    output: Output,
    without: Sequence[str] = (),
    since: datetime.datetime | None = None,
) -> int:
    """Merge folders into a run in `results`, and show it; return the exit code.

    `since` is when the first shard can have begun, if that is known.

    Raises the errors that exit_code_of() handles.
    """
    config, paths = read_config(configs), shard_folders(folders)
    with sole_user(results, "results"):
        made = (
            merged_ab_folder(paths, results, config, without)
            if any(map(is_ab_run, paths))
            else _merged(paths, results, config, without, since)
        )
    run = None if is_ab_run(made.path) else load_run(made.path)
    result = _result(made.path, run)
    report = None if output.no_report else written_report(made.path, run)
    _show(made, result, report, output)
    return _INCOMPLETE if made.missing else result.exit_code


def _result(path: Path, run: Run | None) -> Result:
    """Return the result of a merged run; of an A/B run, `run` is None."""
    if run:
        return MergedResult(run)
    from scripts.show.ab_outcome import MergedAbResult

    return MergedAbResult(path)


@dataclass(frozen=True)
class MergedFolder:
    """A merged run on disk: what is unusual about it, and what it lacks."""

    plan: Plan | AbPlan
    path: Path
    notes: list[str]
    missing: list[str]


def _merged(
    paths: Sequence[Path],
    results: Path,
    config: Config,
    without: Sequence[str],
    since: datetime.datetime | None,
) -> MergedFolder:
    """Write the merged run.

    The lines are not kept, so that the report of a large run finds memory.
    """
    parts = parts_of(paths)
    result = merged(parts, name_of(parts, results), without)
    _refuse_no_lines(result.lines, without)
    plan = with_passports(result.plan, config, results)
    result = replace(result, plan=plan)
    path = _written(result, results)
    notes = notes_of(result, parts, since)
    return MergedFolder(plan, path, notes, missing_of(result, parts))


def _refuse_no_lines(lines: Sequence[object], without: Sequence[str]) -> None:
    if lines:
        return
    problem = "these shards have no results yet"
    if without:
        problem = f"without {', '.join(without)} no results are left"
    raise CannotStart(f"{problem}, so there is nothing to merge", _NOTHING)


def merged_ab_folder(
    paths: Sequence[Path], results: Path, config: Config, without: Sequence[str] = ()
) -> MergedFolder:
    """Write the A/B run of these shards to `results`.

    Raises ResultsError, or CannotStart if there is no result.
    """
    from report.verdict.ab_judge import load_ab_run
    from scripts.ab.ab_merging import ab_parts_of, merged_ab, missing_of_ab

    parts = ab_parts_of(paths)
    name = merged_name(parts[0].plan.run, results)
    result = merged_ab(parts, name, without)
    _refuse_no_lines(result.texts, without)
    a, b = (with_passports(s, config, results) for s in result.plan.sides.values())
    result = replace(result, plan=replace(result.plan, a=a, b=b))
    measured = {LINES: result.texts, COUNTS_FILE: result.counts}
    folder = create_folder(results, name, result.documents, measured=measured)
    folder.close()
    try:
        run = load_ab_run(folder.path)
    except ResultsError as error:
        shutil.rmtree(folder.path)
        problem = str(error).removeprefix(str(folder.path)).partition(": ")[2]
        raise ResultsError(
            f"these shards do not fit together: {problem}; a confirmation is merged"
            " with the screen that it was measured after"
        ) from None
    missing = missing_of_ab(run, parts, result.left_out)
    notes = machine_notes(result.plan.machines, result.environment["machines"])
    return MergedFolder(result.plan, folder.path, list(notes), missing)


def _written(result: Merged, results: Path) -> Path:
    """Create the folder of a merged run; return it."""
    documents: dict[str, Any] = {
        "run": plan_document(result.plan),
        "environment": result.environment,
    }
    measured = {LINES: result.texts}
    folder = create_folder(results, result.plan.run, documents, measured=measured)
    folder.close()
    return folder.path


def show_notes(made: MergedFolder) -> None:
    """Print what is unusual about a merged run, and what it lacks."""
    for text in (*made.notes, *made.missing):
        print_note(f"warning: {text}")


def _show(
    made: MergedFolder, result: Result, report: Path | None, output: Output
) -> None:
    places = {"path": shown(made.path), "report": shown(report) if report else None}
    names = [*made.plan.machines]
    if output.as_json:
        head = {"run": made.plan.run, "machines": names}
        found = {"missing": made.missing, "notes": made.notes}
        document = {**head, **result.document(), **found, **places}
        click.echo(json.dumps(document, indent=1))
        return
    result.show(output, is_ended=True)
    show_notes(made)
    more = f" and {len(names) - _NAMED} more" if names[_NAMED:] else ""
    machines = numbers.count(len(names), "machine")
    click.echo(f"machines  {machines}: {', '.join(names[:_NAMED])}{more}")
    for key, word in (("path", "results"), ("report", "report")):
        if places[key]:
            click.echo(f"{word:<9} {places[key]}")
