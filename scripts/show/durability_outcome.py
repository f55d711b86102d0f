"""The end of a durability run: what was found, and how to continue."""

from pathlib import Path

from report.config.config_types import Config
from report.durability.durability_folder import final_trials, load_durability
from scripts.durability.durability_session import DurabilityEnding, DurabilitySession
from scripts.machine.child_process import Interrupted
from scripts.measure.runner import Runner, other_harness
from scripts.show.durability_view import progress_view, show_result
from scripts.show.output import Output, print_note, say, shown
from scripts.show.run_output import written_report
from scripts.store.run_places import RunPlaces, resume_command

UNFIT = 4


def resumed_durability(
    path: Path, runner: Runner, config: Config, output: Output
) -> int:
    """Perform what is missing from a run; return the exit code.

    Raises CannotResume if the machine or an executable has changed.
    """
    plan = load_durability(path).plan
    for note in other_harness(plan.harness):
        print_note(f"warning: {note.text}")
    with progress_view(output.stderr(), output.quiet, plan.trials) as show:
        ending = DurabilitySession(runner, config, show).resume(path)
    return conclude_durability(ending, output, runner.places)


def conclude_durability(
    ending: DurabilityEnding, output: Output, places: RunPlaces
) -> int:
    """Print what was found, write the page, and return the exit code."""
    final = final_trials(tuple(ending.records)).values()
    failed = any(record["status"] == "error" for record in final)
    code = ending.exit_code or (3 if failed or ending.plan.missing else 0)
    if not code and any(ending.plan.requisites.values()):
        code = UNFIT
    report, stopped = None, None
    if not output.no_report and ending.records:
        try:
            report = written_report(ending.path)
        except Interrupted as error:
            stopped = error
    if ending.records or output.as_json:
        show_result(ending.passport, ending.path, output)
    if not output.as_json:
        say(f"results   {shown(ending.path)}")
        if report:
            say(f"report    {shown(report)}")
    if ending.exit_code or failed:
        why = ending.message or "some trials failed"
        command = resume_command(ending.path.name, places)
        kept = "what was tried is kept" if ending.records else "no trial has ended"
        print_note(f"{why}; {kept}; continue with:", command)
    if stopped:
        raise stopped
    return code
