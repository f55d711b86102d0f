"""What a command shows of a run: its progress, its result, and how to go on."""

import json
import shlex
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import click

from report.model.plan import Plan
from scripts import cli_options as options
from scripts.cli_options import Output
from scripts.cli_types import shown
from scripts.live import View, make_view
from scripts.places import Places
from scripts.reporting import write_report
from scripts.runner import Ending
from scripts.summary import run_document, summary_lines
from scripts.table import glyphs_for


def view_for(output: Output, places: Places) -> Callable[[Plan], View]:
    """Makes the view of a plan that fits where stderr goes."""

    def view_of(plan: Plan) -> View:
        transient = sys.stdout.isatty() and not output.as_json
        command = resume_command(plan.run, places)
        return make_view(output.stderr(), plan, output.quiet, command, transient)

    return view_of


def resume_command(
    run_name: str, places: Places, builds: Mapping[str, Path] | None = None
) -> str:
    """The command that goes on with a run; `builds` are those of an A/B run."""
    words = ["scripts/kvmatrix", "resume", run_name]
    for option, path in (builds or {}).items():
        words += [option, str(path)]
    usual = {
        "--data-dir": (places.data_dir, "build/data"),
        "--results-dir": (places.results, "results"),
        "--build-dir": (places.build_dir, "build/release"),
        "--configs-dir": (places.configs, "configs"),
    }
    for option, (path, default) in usual.items():
        is_told = bool(builds) and option == "--build-dir"
        if path.absolute() != options.ROOT / default and not is_told:
            words += [option, str(path)]
    return shlex.join(words)


def complain(message: str, exit_code: int) -> int:
    """Tells people why a command ends so; returns the exit code."""
    click.echo(f"kvmatrix: {message}", err=True)
    return exit_code


def conclude(ending: Ending, output: Output, places: Places) -> int:
    """Prints the result, writes the report, and says how to go on."""
    report_path = None
    if ending.lines and not output.no_report:
        report_path = written_report(ending.path)
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
        command = resume_command(ending.plan.run, places)
        why = f"{ending.message}; " if ending.message else ""
        complain(
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


def written_report(path: Path) -> Path | None:
    """The HTML report; a run is not lost because its report cannot be written."""
    try:
        return write_report(path, "html", None)
    except (Exception, KeyboardInterrupt) as error:
        what = " ".join(f"{type(error).__name__}: {error}".split())
        again = f"try again with: scripts/kvmatrix report {shlex.quote(path.name)}"
        complain(f"no report: {what}; {again}", 0)
        return None
