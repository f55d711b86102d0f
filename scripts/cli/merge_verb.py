"""kvmatrix merge: make one run of the shards that machines measured."""

import datetime
import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from report.config.config_types import Config
from report.model.plan import Plan
from report.model.plan_document import plan_document
from report.terms import numbers
from scripts.cli.exit_codes import exit_code_of
from scripts.fleet.merging import (
    Merged,
    merged,
    missing_of,
    name_of,
    notes_of,
    parts_of,
)
from scripts.request import options
from scripts.request.selection import read_config
from scripts.request.shard_options import MachineType
from scripts.show.output import Output, print_note, shown
from scripts.show.run_output import written_report
from scripts.store.known_passports import with_passports
from scripts.store.run_places import CannotStart
from scripts.store.run_store import create_folder, sole_user

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
    config = read_config(configs)
    with sole_user(results, "results"):
        plan, path, said, missing = _merged(folders, results, config, without, since)
    report = None if output.no_report else written_report(path)
    places = {"path": path, "report": report}
    _show(plan, said, missing, places, output)
    return _INCOMPLETE if missing else 0


def _merged(
    folders: Sequence[Path],
    results: Path,
    config: Config,
    without: Sequence[str],
    since: datetime.datetime | None,
) -> tuple[Plan, Path, list[str], list[str]]:
    """Write the merged run; return its plan and folder, notes, and what is missing.

    The lines are not kept, so that the report of a large run finds memory.
    """
    parts = parts_of(folders)
    result = merged(parts, name_of(parts, results), without)
    if not result.lines:
        problem = "these shards have no results yet"
        raise CannotStart(f"{problem}, so there is nothing to merge", _NOTHING)
    plan = with_passports(result.plan, config, results)
    result = replace(result, plan=plan)
    path = _written(result, results)
    return plan, path, notes_of(result, parts, since), missing_of(result, parts)


def _written(result: Merged, results: Path) -> Path:
    """Create the folder of a merged run; return it."""
    documents: dict[str, Any] = {
        "run": plan_document(result.plan),
        "environment": result.environment,
    }
    folder = create_folder(results, result.plan.run, documents, measured=result.texts)
    folder.close()
    return folder.path


def _show(
    plan: Plan,
    said: list[str],
    missing: list[str],
    places: dict[str, Path | None],
    output: Output,
) -> None:
    shown_places = {key: shown(path) if path else None for key, path in places.items()}
    if output.as_json:
        head = {"run": plan.run, "machines": [*plan.machines]}
        document = {**head, "missing": missing, "notes": said, **shown_places}
        click.echo(json.dumps(document, indent=1))
        return
    for text in (*said, *missing):
        print_note(f"warning: {text}")
    names = [*plan.machines]
    more = f" and {len(names) - _NAMED} more" if names[_NAMED:] else ""
    machines = numbers.count(len(names), "machine")
    click.echo(f"machines  {machines}: {', '.join(names[:_NAMED])}{more}")
    click.echo(f"results   {shown_places['path']}")
    if shown_places["report"]:
        click.echo(f"report    {shown_places['report']}")
