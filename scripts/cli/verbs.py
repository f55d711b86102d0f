"""The kvmatrix command: a group whose verbs are imported when they are needed."""

import json
import sys
from pathlib import Path
from typing import Any

import click

from scripts.cli import options as options
from scripts.cli.ab_verb import ab, resume_ab
from scripts.cli.build_folders import BUILDS
from scripts.cli.check_verb import check
from scripts.cli.compare_verb import compare
from scripts.cli.doctor_verb import doctor
from scripts.cli.exit_codes import exit_code_of
from scripts.cli.history_verb import history
from scripts.cli.option_types import names
from scripts.cli.plan_verb import plan
from scripts.cli.selection import (
    RunOptions,
    note_own_defaults,
    read_config,
    selection_of,
    suite_of,
)
from scripts.cli.session_flow import conclude, run_with_progress
from scripts.machine.system_access import SystemAccess
from scripts.measure.run_session import RunSession
from scripts.measure.runner import Request, open_runner
from scripts.show.dry_run import dry_run_document, dry_run_lines, show_dry_run
from scripts.show.listing import (
    Document,
    list_document,
    list_lines,
    shows_broken,
)
from scripts.show.output import Output
from scripts.show.run_list import run_entries
from scripts.show.run_output import resume_command, view_for
from scripts.show.run_summary import RunResult
from scripts.store.report_file import FORMATS, write_report
from scripts.store.run_places import RunPlaces
from scripts.store.run_store import EVERY_KIND, find_run, is_ab_run

_LISTS = ("engines", "scenarios", "suites", "cells", "runs")


@click.pass_context
def main(ctx: click.Context) -> None:
    """Measures embedded storage engines, each against the same workloads.

    \b
    Example:
      scripts/kvmatrix run quick
      scripts/kvmatrix report @last --open

    \b
    Exit codes: 0 done; 1 a regression; 2 usage or configuration; 3 some cells
    failed or are missing, the rest is saved; 4 --strict and the machine is unfit;
    5 nothing could be measured or compared; 130 interrupted.
    """
    ctx.ensure_object(SystemAccess)


main.add_command(doctor)
main.add_command(plan)
main.add_command(ab)
main.add_command(compare)
main.add_command(check)
main.add_command(history)


@main.command("run")
@click.argument("suite")
@options.SELECTION
@options.stacked(options.STRICT, options.PLACES, options.OUTPUT)
@click.pass_context
def run(
    ctx: click.Context, /, suite: str, *, dry_run: bool, strict: bool, **given: Any
) -> None:
    """Runs SUITE: engines x scenarios x benchmarks x repetitions.

    Every repetition is a fresh process on a fresh database, in a random order that
    is recorded.  One more of each cell takes latencies; where it writes it is killed
    and audited.  What something else on the machine disturbed is marked and made
    again.  Ctrl-C keeps what is finished; `kvmatrix resume` goes on.

    \b
    Example:
      scripts/kvmatrix run quick
      scripts/kvmatrix run quick -e leveldb,sqlite3 -s baseline -n 5
      scripts/kvmatrix run leveldb-2011 --data-dir /mnt/ssd --dry-run
    """
    output, places, asked = Output.of(given), RunPlaces.of(given), RunOptions.of(given)

    def work() -> int:
        config = read_config(places.configs)
        chosen_suite = suite_of(config, suite)
        selection = selection_of(config, chosen_suite, asked)
        request = Request(config, chosen_suite, selection, ctx.meta["command"])
        with open_runner(places, ctx.obj) as runner:
            made = runner.plan(request)
            if dry_run:
                note_own_defaults(config, selection)
                document = dry_run_document(made, places)
                return show_dry_run(document, dry_run_lines, output)
            session = RunSession(runner, view_for(output, places))
            ending = run_with_progress(session, made, output, strict=strict)
        command = resume_command(made.run, places)
        return conclude(ending, RunResult(ending), output, command)

    sys.exit(exit_code_of(work))


@main.command("resume")
@click.argument("name", metavar="RUN")
@options.stacked(BUILDS, options.PLACES, options.OUTPUT)
@click.pass_obj
def resume(
    outside: SystemAccess,
    /,
    name: str,
    *,
    a_dir: Path | None,
    b_dir: Path | None,
    **given: Any,
) -> None:
    """Finishes what is missing of RUN: a name, its beginning, a path or @last.

    Refuses if the machine, an executable or the settings are not what they were.
    An A/B run is told where its builds are: --a and --b.

    \b
    Example:
      scripts/kvmatrix resume @last
      scripts/kvmatrix resume 20261121-0145
      scripts/kvmatrix resume @last --a build/base --b build/release
    """
    output, places = Output.of(given), RunPlaces.of(given)

    def work() -> int:
        path = find_run(places.results, name, EVERY_KIND)
        if is_ab_run(path):
            return resume_ab(path, a_dir, b_dir, places, output, outside)
        if a_dir or b_dir:
            told = "is a run of one build: --build-dir names its build"
            raise click.UsageError(f"--a, --b: {path.name} {told}")
        config = read_config(places.configs)
        with open_runner(places, outside) as runner:
            session = RunSession(runner, view_for(output, places))
            ending = session.resume(path, config)
        command = resume_command(ending.plan.run, places)
        return conclude(ending, RunResult(ending), output, command)

    sys.exit(exit_code_of(work))


@main.command("list")
@click.argument("what", required=False, metavar=f"[{'|'.join(_LISTS)}]")
@click.argument("suite", required=False)
@click.option("--all", "show_all", is_flag=True, help="Each scenario of a sweep.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@options.stacked(options.BUILD, options.CONFIGS, options.RESULTS)
@click.pass_obj
def list_command(
    outside: SystemAccess,
    what: str | None,
    suite: str | None,
    show_all: bool,
    as_json: bool,
    build_dir: Path,
    configs_dir: Path,
    results_dir: Path,
) -> None:
    """Show engines (with versions, or why missing), scenarios, suites, cells, runs.

    A broken file is listed with its error; the exit code is then 2.  The scenarios
    of a sweep are one line; --all and --json show each.  A run is a folder of the
    results directory: to delete it, remove the folder.

    \b
    Example:
      scripts/kvmatrix list
      scripts/kvmatrix list scenarios --all
      scripts/kvmatrix list cells quick
      scripts/kvmatrix list runs
    """

    def work() -> int:
        if what is not None:
            names([what], _LISTS, "list", "list")
        if what == "runs":
            document: Document = {"runs": run_entries(results_dir)}
        else:
            config = read_config(configs_dir)
            if what == "cells":
                if suite is None:
                    raise click.UsageError("list cells needs a suite: list cells quick")
                suite_of(config, suite)
            document = list_document(config, build_dir, what, suite, outside)
        if as_json:
            click.echo(json.dumps(document, indent=1))
        else:
            click.echo("\n".join(list_lines(document, show_all=show_all)))
        return 2 if shows_broken(document) else 0

    sys.exit(exit_code_of(work))


@main.command("report")
@click.argument("name", metavar="RUN")
@click.option(
    "--format",
    "kind",
    type=click.Choice(FORMATS),
    default="html",
    show_default=True,
    help="html is one self-contained file; md and csv are ours too.  For other tools:"
    " google (Google Benchmark, compare.py), benchstat (Go), bencher (Bencher's BMF),"
    " github-bigger and github-smaller (github-action-benchmark): --format md.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path, allow_dash=True),
    help="Where to: -o report.html, or -o - for stdout."
    "  [default: the run's folder for html, else stdout]",
)
@click.option("--open", "open_it", is_flag=True, help="Open it in the browser.")
@options.RESULTS
def report(
    name: str, kind: str, output: Path | None, open_it: bool, results_dir: Path
) -> None:
    """Writes the report of RUN, also of an A/B run, from its files alone.

    \b
    Example:
      scripts/kvmatrix report @last --open
      scripts/kvmatrix report 20261121-014500-quick --format csv -o figures.csv
      scripts/kvmatrix report @last --format benchstat -o new.txt
    """

    def work() -> int:
        path = find_run(results_dir, name, EVERY_KIND)
        target = write_report(path, kind, output)
        if target is not None:
            click.echo(shown(target))
            if open_it:
                click.launch(str(target))
        elif open_it:
            raise click.UsageError("--open needs a file: add -o FILE")
        return 0

    sys.exit(exit_code_of(work))
