"""The verbs of the kvmatrix command line: run, resume, list, report."""

import json
import shlex
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import click

from report.config import Config, Suite, load
from report.config_keys import ConfigError, Flag
from report.results import ResultsError
from scripts import cli_options as options
from scripts.cli_options import Output
from scripts.cli_types import (
    Group,
    check_globs,
    names,
    shown,
    suite_name,
)
from scripts.driver_process import Interrupted
from scripts.dry_run import dry_run_document, dry_run_lines
from scripts.listing import list_document, list_lines
from scripts.live import View, make_view
from scripts.plan import Plan, Selection
from scripts.reporting import FORMATS, write_report
from scripts.resume import Changed
from scripts.session import Ending, Places, Refused, Request, open_runner
from scripts.store import Busy, DiskFull, find_run
from scripts.summary import run_document, summary_lines
from scripts.table import glyphs_for


@click.group(cls=Group, context_settings={"help_option_names": ["-h", "--help"]})
def main() -> None:
    """Measures embedded storage engines, each against the same workloads.

    \b
    Example:
      scripts/kvmatrix run quick
      scripts/kvmatrix report @last --open

    \b
    Exit codes: 0 done; 2 usage or configuration; 3 some cells failed or are
    missing, the rest is saved; 5 nothing could be measured; 130 interrupted.
    """


@main.command("run")
@click.argument("suite")
@options.SELECTION
@options.stacked(options.PLACES, options.OUTPUT)
@click.pass_context
def run(ctx: click.Context, /, suite: str, **given: Any) -> None:
    """Runs SUITE: engines x scenarios x benchmarks x repetitions.

    Every repetition is a fresh process on a fresh database, in a random order that
    is recorded.  Ctrl-C keeps what is finished; `kvmatrix resume` goes on.

    \b
    Example:
      scripts/kvmatrix run quick
      scripts/kvmatrix run quick -e leveldb,sqlite3 -s baseline -n 5
      scripts/kvmatrix run leveldb-2011 --data-dir /mnt/ssd --dry-run
    """
    output, places = _output(given), _places(given)

    def work() -> int:
        config = load(places.configs)
        chosen_suite = config.suites[suite_name(suite, config.suites)]
        selection = _selection(config, chosen_suite, given)
        request = Request(config, chosen_suite, selection, ctx.meta["command"])
        with open_runner(places) as runner:
            plan = runner.plan(request)
            if given["dry_run"]:
                return _show_dry_run(plan, places, output)
            view_of = _view_of(output, places)
            ending = runner.start(plan, view_of)
        return _conclude(ending, output, places)

    sys.exit(_guarded(work))


@main.command("resume")
@click.argument("name", metavar="RUN")
@options.stacked(options.PLACES, options.OUTPUT)
def resume(name: str, **given: Any) -> None:
    """Finishes what is missing of RUN: a name, its beginning, a path or @last.

    Refuses if the machine, an executable or the settings are not what they were.

    \b
    Example:
      scripts/kvmatrix resume @last
      scripts/kvmatrix resume 20261121-0145
    """
    output, places = _output(given), _places(given)

    def work() -> int:
        path = find_run(places.results, name)
        config = load(places.configs)
        with open_runner(places) as runner:
            ending = runner.resume(path, config, _view_of(output, places))
        return _conclude(ending, output, places)

    sys.exit(_guarded(work))


@main.command("list")
@click.argument("what", required=False, metavar="[engines|scenarios|suites|cells]")
@click.argument("suite", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@options.stacked(options.BUILD, options.CONFIGS)
def list_command(
    what: str | None,
    suite: str | None,
    as_json: bool,
    build_dir: Path,
    configs_dir: Path,
) -> None:
    """Shows engines (with versions, or why missing), scenarios, suites, cells.

    \b
    Example:
      scripts/kvmatrix list
      scripts/kvmatrix list cells quick
    """

    def work() -> int:
        config = load(configs_dir)
        kinds = ("engines", "scenarios", "suites", "cells")
        if what is not None:
            names([what], kinds, "list", "list")
        if what == "cells":
            if suite is None:
                raise click.UsageError("list cells needs a suite: list cells quick")
            suite_name(suite, config.suites)
        document = list_document(config, build_dir, what, suite)
        if as_json:
            click.echo(json.dumps(document, indent=1))
        else:
            click.echo("\n".join(list_lines(document)))
        return 0

    sys.exit(_guarded(work))


@main.command("report")
@click.argument("name", metavar="RUN")
@click.option(
    "--format",
    "kind",
    type=click.Choice(FORMATS),
    default="html",
    show_default=True,
    help="html is one self-contained file: --format md.",
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
    """Writes the report of RUN from its files alone.

    \b
    Example:
      scripts/kvmatrix report @last --open
      scripts/kvmatrix report 20261121-014500-quick --format csv -o figures.csv
    """

    def work() -> int:
        path = find_run(results_dir, name)
        target = write_report(path, kind, output)
        if target is not None:
            click.echo(shown(target))
            if open_it:
                click.launch(str(target))
        elif open_it:
            raise click.UsageError("--open needs a file: add -o FILE")
        return 0

    sys.exit(_guarded(work))


def _guarded(work: Callable[[], int]) -> int:
    """Runs a verb; what can go wrong becomes one message and an exit code."""
    try:
        return work()
    except (ConfigError, ResultsError, Busy) as error:
        return _complain(str(error), 2)
    except Refused as error:
        return _complain(str(error), error.exit_code)
    except Changed as error:
        lines = "\n  ".join(error.found)
        return _complain(f"this run cannot be resumed:\n  {lines}", 2)
    except DiskFull as error:
        return _complain(str(error), 3)
    except Interrupted as error:
        return _complain("interrupted before anything was measured", error.exit_code)
    except KeyboardInterrupt:  # click would end with 1
        return _complain("interrupted", 130)
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        return _complain(f"{place}{error.strerror or error}", 2)


def _complain(message: str, exit_code: int) -> int:
    click.echo(f"kvmatrix: {message}", err=True)
    return exit_code


def _output(given: dict[str, Any]) -> Output:
    return Output(given["quiet"], given["as_json"], given["no_report"], given["color"])


def _places(given: dict[str, Any]) -> Places:
    return Places(
        configs=given["configs_dir"],
        results=given["results_dir"],
        build_dir=given["build_dir"].absolute(),
        data_dir=given["data_dir"].resolve(),
    )


def _selection(config: Config, suite: Suite, given: Mapping[str, Any]) -> Selection:
    engines = config.default_engines()
    if given["engines"]:
        engines = names(given["engines"], config.engines, "engine", "--engine")
    scenarios = suite.scenarios
    if given["scenarios"]:
        scenarios = names(given["scenarios"], scenarios, "scenario", "--scenario")
    check_globs(
        given["globs"],
        (
            f"{engine}/{scenario}/{benchmark}"
            for scenario in scenarios
            for engine in engines
            for benchmark in config.scenarios[scenario].benchmarks
        ),
    )
    chosen: dict[str, Flag] = {}
    if given["num"]:
        chosen["num"] = given["num"]
    if given["max_time"]:
        chosen["duration"] = given["max_time"]
    return Selection(
        engines=tuple(name for name in config.engines if name in engines),
        scenarios=tuple(scenarios),
        globs=tuple(given["globs"]),
        repetitions=given["repetitions"] or suite.repetitions,
        seed=given["seed"],
        timeout_s=given["timeout"] or suite.timeout_s,
        chosen=chosen,
    )


def _view_of(output: Output, places: Places) -> Callable[[Plan], View]:
    def view_of(plan: Plan) -> View:
        transient = sys.stdout.isatty() and not output.as_json
        command = _resume_command(plan.run, places)
        return make_view(output.stderr(), output.quiet, command, transient)

    return view_of


def _resume_command(run_name: str, places: Places) -> str:
    words = ["scripts/kvmatrix", "resume", run_name]
    usual = {
        "--data-dir": (places.data_dir, "build/data"),
        "--results-dir": (places.results, "results"),
        "--build-dir": (places.build_dir, "build/release"),
        "--configs-dir": (places.configs, "configs"),
    }
    for option, (path, default) in usual.items():
        if path.absolute() != options.ROOT / default:
            words += [option, str(path)]
    return shlex.join(words)


def _show_dry_run(plan: Plan, places: Places, output: Output) -> int:
    if output.as_json:
        click.echo(json.dumps(dry_run_document(plan, places), indent=1))
    else:
        click.echo("\n".join(dry_run_lines(plan, places)))
    return 0


def _conclude(ending: Ending, output: Output, places: Places) -> int:
    """Prints the result, writes the report, and says how to go on."""
    report_path = None
    if ending.lines and not output.no_report:
        report_path = _written_report(ending.path)
    if output.as_json:
        document = run_document(
            ending.plan,
            ending.board,
            shown(ending.path),
            ending.exit_code,
            shown(report_path) if report_path else None,
        )
        click.echo(json.dumps(document, indent=1))
    else:
        _print_result(ending, output, report_path)
    if ending.exit_code and ending.board.finished < ending.board.planned:
        command = _resume_command(ending.plan.run, places)
        why = f"{ending.message}; " if ending.message else ""
        _complain(
            f"{why}{ending.board.finished} of {ending.board.planned} repetitions are"
            f" kept; go on with:\n  {command}",
            ending.exit_code,
        )
    return ending.exit_code


def _print_result(ending: Ending, output: Output, report_path: Path | None) -> None:
    console = output.stdout()
    if not output.quiet:
        width = console.width if console.is_terminal else None
        glyphs = glyphs_for(console.encoding)
        for line in summary_lines(ending.board, width, glyphs, ending.lines):
            console.print(line, soft_wrap=True)
    console.print(f"results   {shown(ending.path)}", soft_wrap=True)
    if report_path:
        console.print(f"report    {shown(report_path)}", soft_wrap=True)


def _written_report(path: Path) -> Path | None:
    """The HTML report; a run is not lost because its report cannot be written."""
    try:
        return write_report(path, "html", None)
    except (Exception, KeyboardInterrupt) as error:
        what = " ".join(f"{type(error).__name__}: {error}".split())
        again = f"try again with: scripts/kvmatrix report {shlex.quote(path.name)}"
        _complain(f"no report: {what}; {again}", 0)
        return None
