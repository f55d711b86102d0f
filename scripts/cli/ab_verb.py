"""kvmatrix ab: is build B slower than build A?"""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from scripts.cli.exit_codes import exit_code_of
from scripts.cli.session_flow import conclude, run_with_progress
from scripts.measure.runner import open_planner, open_runner
from scripts.request import options
from scripts.request.ab_options import AB_SELECTION, SKIP_IDENTICAL, AbOptions
from scripts.request.chosen_suite import SUITE
from scripts.request.selection import note_own_defaults, note_single_passes
from scripts.request.shard_options import AB_SHARD_OPTIONS, shard_request
from scripts.show.ab_view import make_ab_view
from scripts.show.dry_run import show_dry_run
from scripts.show.output import Output
from scripts.store.run_places import RunPlaces, resume_command

if TYPE_CHECKING:
    from report.model.ab_plan import AbPlan
    from scripts.ab.ab_session import AbSession


@click.command("ab")
@SUITE
@AB_SELECTION
@SKIP_IDENTICAL
@AB_SHARD_OPTIONS
@options.stacked(options.DRY_RUN, options.STRICT)
@options.stacked(options.DATA, options.DEVICES, options.RESULTS, options.CONFIGS)
@options.OUTPUT
@click.pass_context
def ab(
    ctx: click.Context,
    /,
    suite: str | None,
    *,
    dry_run: bool,
    strict: bool,
    **given: Any,
) -> None:
    """Measure two builds alternately, and report whether B is slower.

    Every repetition is a fresh process on a fresh database.  All cells of SUITE are
    screened.  Cells that look different are measured again and judged on the new
    repetitions alone.  Ctrl-C keeps finished repetitions; `kvmatrix resume` continues.

    \b
    Examples:
      scripts/kvmatrix ab quick --a ../base/build/release --b build/release
      scripts/kvmatrix ab quick --aa --a build/release -e leveldb
      scripts/kvmatrix ab quick --a build/old --b build/new -k '*/*/fill*' --dry-run

    \b
    Exit codes: 0 no regression found; 1 a regression; 2 wrong usage, invalid
    configuration, damaged files, too little memory or disk space, or a directory that
    another run is using; 3 some cells failed or are missing (all other results are
    saved), or the run is unfinished; 4 the machine is unfit (--strict); 5 nothing could
    be measured, judged or compared; 130 interrupted.
    """
    output = Output.of(given)

    def work() -> int:
        from scripts.ab.ab_pairing import same_executables
        from scripts.ab.ab_session import session_of
        from scripts.show.ab_outcome import ab_outcome

        asked = AbOptions.of(given)
        places = RunPlaces.of(given, asked.builds.a)
        request = asked.request(suite, places.configs, ctx)
        opened = open_planner if dry_run else open_runner
        with opened(places, ctx.obj) as side_a:
            view = partial(make_ab_view, output.stderr(), output.quiet)
            session = session_of(side_a, asked.builds.b, view)
            plan = session.plan(request, asked.terms)
            if asked.terms.skip_identical and same_executables(plan):
                return _identical(output)
            note_single_passes(request.config, request.suite, request.selection)
            if shard := shard_request(given):
                plan = session.screening(plan, shard)
            if dry_run:
                note_own_defaults(request.config, request.selection)
                return _dry_run(session, plan, output)
            ending = run_with_progress(session, plan, output, strict=strict)
        command = resume_command(plan.run, places, asked.builds.options)
        return conclude(ending, ab_outcome(ending), output, command)

    sys.exit(exit_code_of(work))


def _identical(output: Output) -> int:
    """Print that both sides are the same; return the exit code."""
    text = "identical  both sides have the same executables; nothing is measured"
    click.echo('{"identical": true}' if output.as_json else text)
    return 0


def _dry_run(session: AbSession, plan: AbPlan, output: Output) -> int:
    from scripts.show import ab_dry_run

    document = ab_dry_run.dry_run_document(
        plan, session.forecast(plan), session.runner.places
    )
    return show_dry_run(document, ab_dry_run.dry_run_lines, output)
