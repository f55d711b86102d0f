"""What a command shows of a run: its progress, its result, and how to go on."""

import json
import shlex
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import click

from report.model.plan import Plan
from scripts.cli import options as options
from scripts.cli.option_types import shown
from scripts.cli.options import Output
from scripts.doctor.doctor_progress import progress_on
from scripts.measure.session import P, Session, SessionResult
from scripts.show.live import View, make_view
from scripts.store.report_file import write_report
from scripts.store.run_places import RunPlaces


class Result(ABC):
    """What a session has come to, as people and programs are shown it."""

    exit_code = 0  # what the result itself says, of a session that ended by itself
    kept = ""  # how much of it is on disk, in words
    is_whole = True  # whether nothing is left to be measured

    @abstractmethod
    def document(self) -> dict[str, Any]:
        """Return what --json prints of it."""

    @abstractmethod
    def show(self, output: Output, *, is_ended: bool) -> None:
        """Print it; with what to do next, if the session ended by itself."""


def view_for(output: Output, places: RunPlaces) -> Callable[[Plan], View]:
    """Makes the view of a plan that fits where stderr goes."""

    def view_of(plan: Plan) -> View:
        transient = sys.stdout.isatty() and not output.as_json
        command = resume_command(plan.run, places)
        return make_view(output.stderr(), plan, output.quiet, command, transient)

    return view_of


def run_with_progress(
    session: Session[P], plan: P, output: Output, *, strict: bool
) -> SessionResult[P]:
    """Ask the doctor, and do all of a new run.  Raises Unfit or Refused."""
    with progress_on(output.stderr(), output.quiet) as tell:
        environment = session.admit(plan, tell if strict else None)
    return session.start(plan, environment)


def resume_command(
    run_name: str, places: RunPlaces, builds: Mapping[str, Path] | None = None
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


def print_error(message: str, exit_code: int) -> int:
    """Tells people why a command ends so; returns the exit code."""
    click.echo(f"kvmatrix: {message}", err=True)
    return exit_code


def conclude(
    ending: SessionResult[P], result: Result, output: Output, resume: str
) -> int:
    """Print the result, write the report, and say how to go on; the exit code."""
    code, report = ending.exit_code or result.exit_code, None
    if ending.lines and not output.no_report:
        report = written_report(ending.path)
    places = {"path": ending.path, "report": report}
    shown_places = {key: shown(path) if path else None for key, path in places.items()}
    if output.as_json:
        document = {**result.document(), "exit": code, **shown_places}
        click.echo(json.dumps(document, indent=1, allow_nan=False))
    else:
        result.show(output, is_ended=not ending.exit_code)
        click.echo(f"results   {shown_places['path']}")
        if report:
            click.echo(f"report    {shown_places['report']}")
    if ending.exit_code and not result.is_whole:
        why = f"{ending.message}; " if ending.message else ""
        print_error(f"{why}{result.kept} are kept; go on with:\n  {resume}", code)
    return code


def written_report(path: Path) -> Path | None:
    """The HTML report; a run is not lost because its report cannot be written."""
    try:
        return write_report(path, "html", None)
    except (Exception, KeyboardInterrupt) as error:
        what = " ".join(f"{type(error).__name__}: {error}".split())
        again = f"try again with: scripts/kvmatrix report {shlex.quote(path.name)}"
        print_error(f"no report: {what}; {again}", 0)
        return None
