"""kvmatrix resume: finish an interrupted run."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from report.config.config_types import Config
from scripts.cli.exit_codes import exit_code_of
from scripts.cli.session_flow import (
    conclude,
    resume_with_progress,
    run_with_progress,
)
from scripts.machine.system_access import SystemAccess
from scripts.measure.events import P, SessionResult
from scripts.measure.run_session import RunSession
from scripts.measure.runner import open_planner, open_runner
from scripts.planning.resume_check import CannotResume
from scripts.request import options
from scripts.request.build_folders import BUILDS, builds_of
from scripts.request.selection import read_config
from scripts.request.shard_options import AB_SHARD_OPTIONS, shard_request
from scripts.show.ab_view import make_ab_view
from scripts.show.dry_run import dry_run_document, dry_run_lines, show_dry_run
from scripts.show.live import view_for
from scripts.show.output import Output, print_note
from scripts.show.run_summary import RunResult
from scripts.store.own_files import refuse_links
from scripts.store.run_places import RunPlaces, resume_command
from scripts.store.run_store import (
    AB,
    DURABILITY,
    EVERY_KIND,
    FLEET,
    ORDINARY,
    find_run,
    kind_of,
)

if TYPE_CHECKING:
    from report.model.ab_run import AbRun


@click.command("resume")
@click.argument("name", metavar="RUN")
@AB_SHARD_OPTIONS
@options.stacked(options.REPEAT_DISTURBED, options.DRY_RUN, options.STRICT, BUILDS)
@options.stacked(options.PLACES, options.DEVICES, options.OUTPUT)
@click.pass_obj
def resume(
    system: SystemAccess,
    /,
    name: str,
    *,
    a_dir: Path | None,
    b_dir: Path | None,
    **given: Any,
) -> None:
    """Finish RUN: measure its missing repetitions, or perform its missing trials.

    RUN is a run's name or a unique prefix of it, a path, @last, or @-2 for the run
    before the last.  Fails if the machine, an executable or a setting has changed.
    What was decided when the run began stays: cells, repetitions, settings.  To
    resume an A/B run, pass its builds with --a and --b (only --a for an --aa run).  To
    confirm the suspects of a merged A/B run, do so on each machine with a --shard of
    its own.  Of another merged run, resume the shards.

    \b
    Examples:
      scripts/kvmatrix resume @last
      scripts/kvmatrix resume 20261121-0145 --repeat-disturbed 0
      scripts/kvmatrix resume @last --a build/base --b build/release
      scripts/kvmatrix resume @last --a build/base --b build/release --shard 1/3

    \b
    Exit codes: 0 done; 1 a regression (A/B run); 2 wrong usage, invalid configuration,
    damaged files, too little memory or disk space, or a directory that another run is
    using; 3 some cells failed or are missing (all other results are saved), or the run
    is unfinished; 4 the machine is unfit (--strict, or the canary of a shard failed); 5
    nothing could be measured, judged or compared; 130 interrupted.
    """
    output, named = Output.of(given), RunPlaces.of(given)

    def work() -> int:
        _refuse_fleet(named.results, name)
        path = find_run(named.results, name, EVERY_KIND)
        kind = kind_of(path)
        _refuse_for(_KINDS[kind], given)
        if kind == AB:
            return _resume_ab(path, a_dir, b_dir, given, named, output, system)
        if given["shard"] or a_dir or b_dir:
            option = "--shard" if given["shard"] else "--a, --b"
            remedy = "pass its build with --build-dir"
            raise click.UsageError(f"{option}: {path.name} is no A/B run; {remedy}")
        # A path may lead to another folder, which nobody else may use meanwhile.
        places = replace(named, results=path.absolute().parent)
        if kind == ORDINARY:
            return _resume_run(path, given, places, output, system)
        from scripts.show.durability_outcome import resumed_durability

        with open_runner(places, system) as runner:
            config = read_config(places.configs)
            return resumed_durability(path, runner, config, output)

    sys.exit(exit_code_of(work))


def _resume_run(
    path: Path,
    given: Mapping[str, Any],
    places: RunPlaces,
    output: Output,
    system: SystemAccess,
) -> int:
    """Continue a run of one build; return the exit code."""
    repeats, strict = given["repeat_disturbed"], given["strict"]
    config = read_config(places.configs)
    if given["dry_run"]:
        return _dry_run(path, places, config, repeats, output, system)
    with open_runner(places, system) as runner:
        view = view_for(output, places, path.name)
        session = RunSession(runner, view, repeat_disturbed=repeats)
        ending = resume_with_progress(session, path, config, output, strict=strict)
    shown = _without_report(ending, output) if ending.was_complete else output
    command = resume_command(path.name, places)
    return conclude(ending, RunResult(ending), shown, command)


# Options of `resume` that only some kinds of runs have, and what has them.
_OF_KINDS = {"repeat_disturbed": "run", "dry_run": "run", "strict": "run or ab"}
_KINDS = {ORDINARY: "run", AB: "ab", DURABILITY: "durability"}


def _refuse_for(verb: str, given: Mapping[str, Any]) -> None:
    """Raise click.UsageError for an option that runs of this verb cannot have."""
    for name, verbs in _OF_KINDS.items():
        if given[name] not in (None, False) and verb not in verbs.split(" or "):
            option = f"--{name.replace('_', '-')}"
            problem = f"only runs of kvmatrix {verbs} can be resumed with it"
            raise click.UsageError(f"{option}: {problem}; leave it out")


def _dry_run(
    path: Path,
    places: RunPlaces,
    config: Config,
    repeats: int | None,
    output: Output,
    system: SystemAccess,
) -> int:
    """Print what would be measured; return the exit code.  Raises CannotResume."""
    with open_planner(places, system) as runner:
        session = RunSession(runner, view_for(output, places), repeat_disturbed=repeats)
        recorded = session.recorded(path, config)
    if recorded.changes and not recorded.is_complete:
        raise CannotResume([*recorded.changes])
    done = [measurement.record for measurement in recorded.lines.measurements]
    document = dry_run_document(recorded.plan, places, done)
    return show_dry_run(document, dry_run_lines, output)


def _refuse_fleet(results: Path, name: str) -> None:
    """Raise click.UsageError for a fleet, which has a verb of its own."""
    if any((path / FLEET).is_file() for path in (results / name, Path(name))):
        words = shlex.join(["scripts/kvmatrix", "fleet", "resume", name])
        raise click.UsageError(f"{name} is a fleet; continue with: {words}")


def _without_report(ending: SessionResult[P], output: Output) -> Output:
    """Say that nothing is missing; return the options for a run left unchanged."""
    if not output.quiet:
        note = f"note: {ending.plan.run} is already complete; nothing to do"
        for text in (note, *(f"warning: {text}" for text in ending.warnings)):
            print_note(text)
    return replace(output, no_report=True)


def _is_finished(run: AbRun, a_dir: Path | None) -> bool:
    """Return whether an A/B run can be shown without a look at its builds.

    If it was altered, all of its lines may seem to have failed.
    """
    failed = any(cell.failure for cell in run.cells)
    is_doubtful = a_dir and failed and not run.plan.machines
    return not (run.unfinished or run.torn or is_doubtful)


def _resume_ab(
    path: Path,
    a_dir: Path | None,
    b_dir: Path | None,
    given: Mapping[str, Any],
    named: RunPlaces,
    output: Output,
    system: SystemAccess,
) -> int:
    """Continue the A/B run in this folder; return the exit code.

    Of a merged one, a shard of the confirmation is measured.

    A finished one is shown; its builds are not needed.  Raises the errors that
    exit_code_of() handles.
    """
    from report.model.ab_folder import check_unaltered, load_ab
    from report.verdict.ab_judge import judge_ab
    from scripts.ab.ab_session import session_of
    from scripts.show.ab_outcome import ab_outcome

    shard, strict = shard_request(given), given["strict"]
    # A shard of a merged run has a folder of its own in the results directory.
    places = named if shard else replace(named, results=path.absolute().parent)
    refuse_links(path)
    recorded = load_ab(path)
    check_unaltered(recorded)
    plan, run = recorded.plan, judge_ab(recorded)
    if shard and not plan.machines:
        raise click.UsageError(f"--shard: {plan.run} is not a merged run; leave it out")
    if _is_finished(run, a_dir):
        with open_runner(places, system):
            pass  # this removes what a killed command left in the data directory
        ending = SessionResult(plan, path, run.lines, was_complete=True)
        shown = _without_report(ending, output)
        command = resume_command(path.name, places)
        return conclude(ending, ab_outcome(ending), shown, command)
    if a_dir is None or (b_dir is None and not plan.same_build):
        raise click.UsageError(
            f"{plan.run} is an A/B run; pass the builds that it measures:"
            f" {plan.build_options}"
        )
    if plan.same_build and b_dir:
        raise click.UsageError(
            f"--b: {plan.run} measured build A against itself (--aa); leave --b out"
        )
    builds = builds_of(a_dir, b_dir, same=plan.same_build, plugins=plan.rule.duet)
    places = replace(places, build_dir=builds.a)
    config = read_config(places.configs)
    with open_runner(places, system) as side_a:
        session = session_of(
            side_a, builds.b, partial(make_ab_view, output.stderr(), output.quiet)
        )
        if plan.machines:
            confirming = session.confirming(run, shard, config)
            ending = run_with_progress(session, confirming, output, strict=strict)
        else:
            ending = resume_with_progress(session, path, config, output, strict=strict)
    command = resume_command(ending.path.name, places, builds.options)
    return conclude(ending, ab_outcome(ending), output, command)
