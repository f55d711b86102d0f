"""The start and the end of every session: the doctor, then the result."""

from __future__ import annotations

from pathlib import Path

from report.config.config_types import Config
from scripts.doctor.doctor_progress import progress_on
from scripts.doctor.finding_text import EXIT_UNFIT
from scripts.machine.child_process import Interrupted
from scripts.measure.events import P, SessionResult
from scripts.measure.session import Session
from scripts.show.output import Output, Result, print_note, say, say_json, shown
from scripts.show.run_output import written_report

_NO_REPORT = 2  # a requested file could not be written; any other exit code wins


def run_with_progress(
    session: Session[P], plan: P, output: Output, *, strict: bool
) -> SessionResult[P]:
    """Ask the doctor, then measure a new run.  Raises Unfit or CannotStart."""
    with progress_on(output.stderr(), output.quiet) as notify:
        environment = session.admit(plan, notify if strict else None)
    return session.start(plan, environment)


def resume_with_progress(
    session: Session[P], path: Path, config: Config, output: Output, *, strict: bool
) -> SessionResult[P]:
    """Measure what is missing from a run; if strict, ask the doctor first.

    Raises Unfit, CannotResume or CannotStart.
    """

    def ask(plan: P) -> None:
        with progress_on(output.stderr(), output.quiet) as notify:
            session.admit(plan, notify)

    return session.resume(path, config, ask if strict else None)


def conclude(
    ending: SessionResult[P], result: Result, output: Output, resume: str
) -> int:
    """Print the result and how to continue, write the report; return the exit code.

    Raises Interrupted, after all of that, if the report could not be written for it.
    """
    code, report = ending.exit_code or result.exit_code, None
    stopped: Interrupted | None = None  # while the report was written
    if ending.lines and result.has_report and not output.no_report:
        try:
            report = written_report(ending.path)
        except Interrupted as error:
            stopped = error
        if report is None:
            code = code or _NO_REPORT
    places = {"path": ending.path, "report": report}
    shown_places = {key: shown(path) if path else None for key, path in places.items()}
    if output.as_json:
        document = {**result.document(), "exit": code, **shown_places}
        say_json(document)
    else:
        result.show(output, is_ended=not ending.exit_code)
        say(f"results   {shown_places['path']}")
        if report:
            say(f"report    {shown_places['report']}")
    if ending.exit_code and not result.is_whole:
        why = f"{ending.message}; " if ending.message else ""
        can_resume = ending.exit_code != EXIT_UNFIT
        more = ["; continue with:", resume] if can_resume else [""]
        verb = "is" if result.kept.startswith("1 ") else "are"
        print_note(f"{why}{result.kept} {verb} kept{more[0]}", *more[1:])
    if stopped:
        raise stopped
    return code
