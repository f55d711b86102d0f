"""The flow of a fleet: measure its blocks, merge them, and confirm suspects."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from report.model.plan import started_at
from report.terms import numbers
from scripts.cli.merge_verb import merged_ab_folder, merged_run, show_notes
from scripts.cli.session_flow import conclude
from scripts.fleet.block_jobs import BlockJobs, LocalJobs, SlurmJobs
from scripts.fleet.fleet_control import FleetControl
from scripts.fleet.fleet_folder import (
    AB_VERB,
    CONFIRMATION,
    FLEET,
    SCREEN,
    SLURM,
    Fleet,
    create_fleet,
    read_fleet,
)
from scripts.machine.child_process import Interrupted
from scripts.measure.events import SessionResult
from scripts.request.selection import read_config
from scripts.show.fleet_view import fleet_view
from scripts.show.output import Output, print_note, shown
from scripts.store.run_places import CannotStart
from scripts.store.run_store import sole_user

_INCOMPLETE, _NOTHING = 3, 5


def measured_fleet(fleet: Fleet, configs: Path, output: Output) -> int:
    """Measure what is missing from a fleet and merge it; return the exit code.

    Raises the errors that exit_code_of() handles.
    """
    results = fleet.path.absolute().parent
    resume = f"scripts/kvmatrix fleet resume {shlex.quote(shown(fleet.path))}"
    with sole_user(fleet.path, "fleet"):
        runs, lost = _measured(fleet, resume, output)
        if not runs:
            reasons = "; ".join(dict.fromkeys(lost.values()))
            raise CannotStart(f"no block could be measured: {reasons}", _NOTHING)
        if fleet.words[0] != AB_VERB:
            since = started_at(fleet.name)
            code = merged_run(runs, results, configs, output, since=since)
        else:
            confirmation = None if lost else _confirmation(fleet, runs, configs, output)
            if confirmation:
                more, lost = _measured(confirmation, resume, output)
                runs += more
            code = _concluded_ab(runs, results, configs, output, resume)
    if lost:
        missing = numbers.count(len(lost), "block")
        print_note(f"missing: {missing}; try again with:\n  {resume}")
    return code or (_INCOMPLETE if lost else 0)


def _measured(
    fleet: Fleet, resume: str, output: Output
) -> tuple[list[Path], Mapping[int, str]]:
    """Measure blocks; return the runs of those finished, and why others were given up.

    Raises Interrupted.
    """
    jobs: BlockJobs = SlurmJobs(fleet) if fleet.where == SLURM else LocalJobs(fleet)
    view = fleet_view(output.stderr(), fleet, output.quiet)
    control = FleetControl(fleet, jobs, view)
    try:
        control.measure()
    except KeyboardInterrupt:
        kept = f"{len(control.done)} of {len(fleet.blocks)} blocks are kept"
        problem = f"interrupted; {kept}; continue with:\n  {resume}"
        raise Interrupted(problem) from None
    finally:
        view.close()
    return [control.done[block] for block in sorted(control.done)], control.lost


def _confirmation(
    fleet: Fleet, screen: list[Path], configs: Path, output: Output
) -> Fleet | None:
    """Return the fleet that confirms the suspects of a screen; None without any."""
    from report.verdict.ab_judge import load_ab_run
    from report.verdict.ab_verdicts import suspects
    from scripts.ab.ab_fleet import confirmation_fleet_blocks

    path, place = fleet.path / CONFIRMATION, fleet.path / SCREEN
    if (path / FLEET).is_file():
        return read_fleet(path)
    shutil.rmtree(place, ignore_errors=True)  # of a session that ended here
    place.mkdir()
    merged = merged_ab_folder(screen, place, read_config(configs))
    run = load_ab_run(merged.path)
    blocks = tuple(confirmation_fleet_blocks(run))
    if not output.quiet:
        suspected, cells = len(suspects(run).all), len(run.plan.able)
        confirm = f"; confirming them in {len(blocks)} blocks" if blocks else ""
        print_note(f"note: {suspected} of {cells} cells look different{confirm}")
    if not blocks:
        return None
    words = ("resume", str(merged.path.absolute()))
    confirmation = replace(fleet, path=path, words=words, blocks=blocks)
    create_fleet(confirmation, None)
    return confirmation


def _concluded_ab(
    runs: list[Path], results: Path, configs: Path, output: Output, resume: str
) -> int:
    """Merge the shards of an A/B run, and print the verdict; return the exit code."""
    from report.verdict.ab_judge import load_ab_run
    from scripts.show.ab_outcome import AbOutcome

    merged = merged_ab_folder(runs, results, read_config(configs))
    show_notes(merged)
    run = load_ab_run(merged.path)
    ending = SessionResult(run.plan, merged.path, run.lines)
    return conclude(ending, AbOutcome(merged.path), output, resume)
