"""kvmatrix merge: make one run of the shards that machines measured."""

from __future__ import annotations

import datetime
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from report.config.config_types import Config
from report.model.ab_plan import AbPlan
from report.model.plan import Plan
from report.model.run import Run
from report.terms import numbers
from report.terms.documents import ResultsError
from report.trust.judge import load_run
from scripts.cli.exit_codes import exit_code_of
from scripts.fleet.given_folders import shard_folders
from scripts.fleet.machine_notes import machine_notes
from scripts.fleet.merging import (
    Merged,
    merged,
    merged_before,
    merged_name,
    missing_of,
    name_of,
    notes_of,
    parts_of,
)
from scripts.request import options
from scripts.request.selection import read_config
from scripts.request.shard_options import MachineType
from scripts.show.output import Output, Result, print_note, say, say_json, shown
from scripts.show.run_output import written_report
from scripts.show.run_summary import MergedResult
from scripts.store.folder_lock import sole_user
from scripts.store.known_passports import with_passports
from scripts.store.run_places import CannotStart
from scripts.store.run_store import create_folder, is_ab_run, is_stored

if TYPE_CHECKING:
    from scripts.ab.ab_merging import MergedAb

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
    """Make one run of shards, measured with `--shard`: of run, ab or resume.

    FOLDER is the directory of a shard, or one with the directories of several.  Their
    order does not matter.  Shards of another plan, build or method are refused, as are
    two that have the same repetition.  A run merged before is accepted, too.  If
    something is missing, the rest is merged, and what is missing is listed.  The
    directories are left as they are.  If the same was merged before, only its report is
    written again.

    \b
    Examples:
      scripts/kvmatrix merge results/*-leveldb-2011
      scripts/kvmatrix merge from-a/ from-b/ from-c/ --without m-1f2e3d4c
      scripts/kvmatrix merge results/*-ab-quick

    \b
    Exit codes: 0 done; 2 wrong usage, invalid configuration, damaged files, or a
    directory that another run is using; 3 some cells failed or are missing (all other
    results are saved), the run is unfinished, or cells remain to be confirmed; 5
    nothing was measured; 130 interrupted.
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

    `since` is when the first shard can have begun, which only a fleet knows.

    Raises the errors that exit_code_of() handles.
    """
    config, paths = read_config(configs), shard_folders(folders)
    with sole_user(results, "results"):
        made = (
            merged_ab_folder(paths, results, config, without)
            if any(map(is_ab_run, paths))
            else _merged(paths, results, config, without, since)
        )
    with _only_sound(made.path, made.is_new):
        run = None if is_ab_run(made.path) else load_run(made.path)
        result = _result(made.path, run)
    if not made.is_new and not output.quiet:
        print_note(f"already merged: {shown(made.path)}")
    # Also of a run that was merged before: nothing is taken from its report.
    report = None if output.no_report else written_report(made.path, run)
    _show(made, result, report, output)
    return _INCOMPLETE if made.missing else result.exit_code


@contextmanager
def _only_sound(path: Path, is_new: bool) -> Iterator[None]:
    """Remove a new folder if it cannot be read."""
    try:
        yield
    except BaseException:
        if is_new:
            shutil.rmtree(path)
        raise


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
    is_new: bool  # or a run of the same content was there before


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
    result = replace(result, plan=with_passports(result.plan, config, results))
    plan, notes = result.plan, notes_of(result, parts, since)
    missing = missing_of(result, parts, is_fleet=since is not None)
    path, is_new = _stored(result, results)
    return MergedFolder(plan, path, notes, missing, is_new)


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
    _refuse_no_lines(result.lines, without)
    a, b = (with_passports(s, config, results) for s in result.plan.sides.values())
    result = replace(result, plan=replace(result.plan, a=a, b=b))
    notes = machine_notes(result.plan.machines, result.environment["machines"])
    path, is_new = _stored(result, results)
    try:
        with _only_sound(path, is_new):
            run = load_ab_run(path)
            missing = missing_of_ab(run, parts, result.left_out)
    except ResultsError as error:
        problem = str(error).removeprefix(str(path)).partition(": ")[2]
        raise ResultsError(
            f"these shards do not fit together: {problem}; a confirmation is merged"
            " with the screen that it was measured after"
        ) from None
    return MergedFolder(run.plan, path, list(notes), missing, is_new)


def _stored(result: Merged | MergedAb, results: Path) -> tuple[Path, bool]:
    """Return the folder of a merged run, and whether it had to be written."""
    name = result.plan.run
    for path in merged_before(name, results):
        same = result.named(path.name)
        if is_stored(path, same.documents, same.measured):
            return path, False
    folder = create_folder(results, name, result.documents, measured=result.measured)
    folder.close()
    return folder.path, True


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
        head = {"run": made.path.name, "machines": names}
        found = {"missing": made.missing, "notes": made.notes}
        document = {**head, **result.document(), **found, **places}
        say_json(document)
        return
    result.show(output, is_ended=True)
    show_notes(made)
    more = f" and {len(names) - _NAMED} more" if names[_NAMED:] else ""
    machines = numbers.count(len(names), "machine")
    say(f"machines  {machines}: {', '.join(names[:_NAMED])}{more}")
    for key, word in (("path", "results"), ("report", "report")):
        if places[key]:
            say(f"{word:<9} {places[key]}")
