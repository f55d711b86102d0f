"""kvmatrix ab: is build B slower than build A?"""

from __future__ import annotations

import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from report.model.ab_rule import LEAST_CONFIRM_ROUNDS, AbRule
from scripts.cli.exit_codes import exit_code_of
from scripts.cli.session_flow import concluded_ab, run_with_progress
from scripts.measure.runner import Request, open_runner
from scripts.planning.engine_choice import finder
from scripts.request import options
from scripts.request.build_folders import BUILDS, BuildFolders, builds_of
from scripts.request.option_types import IntegerType, LabelType
from scripts.request.selection import (
    RunOptions,
    note_own_defaults,
    read_config,
    selection_of,
    suite_of,
)
from scripts.request.shard_options import AB_SHARD_OPTIONS, shard_request
from scripts.show.ab_view import make_ab_view
from scripts.show.dry_run import show_dry_run
from scripts.show.output import Output
from scripts.store.run_places import RunPlaces

if TYPE_CHECKING:
    from report.model.ab_plan import AbPlan
    from scripts.ab.ab_session import AbSession

_RULE = AbRule()
_MOST_ROUNDS = 1000
_ROUNDS = IntegerType(1, _MOST_ROUNDS)


def _enough_to_confirm(_ctx: object, _param: object, rounds: int) -> int:
    """Return `rounds`.  Raises click.BadParameter if so few cannot confirm."""
    if rounds >= LEAST_CONFIRM_ROUNDS:
        return rounds
    raise click.BadParameter(
        f"{rounds} is too small; expected {LEAST_CONFIRM_ROUNDS} to {_MOST_ROUNDS:,}"
        f" (fewer rounds can confirm at most one suspect at p <= {_RULE.alpha:g})"
    )


@click.command("ab")
@click.argument("suite")
@BUILDS
@click.option(
    "--aa",
    "same",
    is_flag=True,
    help="Measure build A against itself; any difference is the machine's noise.",
)
@options.stacked(
    *(options.ENGINES, options.SCENARIOS, options.CELLS),
    *(options.NUM, options.MEMORY_LIMIT, options.SET, options.SEED),
    *(options.MAX_TIME, options.TIMEOUT),
)
@click.option(
    "--screen-rounds",
    type=_ROUNDS,
    default=_RULE.screen_rounds,
    help="Screen every cell in this many rounds, each ABBA or BAAB, e.g."
    f" --screen-rounds 6.  [default: {_RULE.screen_rounds}; {_ROUNDS.accepted}]",
)
@click.option(
    "--confirm-rounds",
    type=_ROUNDS,
    default=_RULE.confirm_rounds,
    callback=_enough_to_confirm,
    help="Measure each cell that looked different in this many further rounds, and"
    " judge it on those alone, e.g. --confirm-rounds 30."
    f"  [default: {_RULE.confirm_rounds}; {LEAST_CONFIRM_ROUNDS:,} to"
    f" {_MOST_ROUNDS:,}]",
)
@click.option(
    "--label-a",
    type=LabelType(),
    help="Label side A in the results, e.g. --label-a v1.2.  [default: base]",
)
@click.option(
    "--label-b",
    type=LabelType(),
    help="Label side B in the results, e.g. --label-b 1a2b3c4.  [default: new]",
)
@click.option(
    "--counts/--no-counts",
    default=True,
    show_default=True,
    help="Count instructions and system calls too, if strace and valgrind are"
    " installed.",
)
@AB_SHARD_OPTIONS
@options.stacked(options.DRY_RUN, options.STRICT)
@options.stacked(options.DATA, options.DEVICES, options.RESULTS, options.CONFIGS)
@options.OUTPUT
@click.pass_context
def ab(
    ctx: click.Context,
    /,
    suite: str,
    *,
    a_dir: Path | None,
    b_dir: Path | None,
    same: bool,
    screen_rounds: int,
    confirm_rounds: int,
    label_a: str | None,
    label_b: str | None,
    counts: bool,
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
      scripts/kvmatrix ab leveldb-2011-tenth --a ../base/build/release --b build/release
      scripts/kvmatrix ab leveldb-2011-tenth --aa --a build/release -e leveldb
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
        from scripts.ab.ab_session import session_of

        builds = builds_of(a_dir, b_dir, same=same)
        labels = _labels(label_a, label_b, same=same)
        places, chosen = RunPlaces.of(given, builds.a), RunOptions.of(given)
        rule = _rule(screen_rounds, confirm_rounds)
        request = _request(ctx, suite, builds, places, chosen, rule)
        with open_runner(places, ctx.obj) as side_a:
            session = session_of(
                side_a, builds.b, partial(make_ab_view, output.stderr(), output.quiet)
            )
            plan = session.plan(request, labels, rule, same_build=same, counted=counts)
            if shard := shard_request(given):
                plan = session.screening(plan, shard)
            if dry_run:
                note_own_defaults(request.config, request.selection)
                return _dry_run(session, plan, output)
            ending = run_with_progress(session, plan, output, strict=strict)
        return concluded_ab(ending, output, places, builds)

    sys.exit(exit_code_of(work))


def _rule(screen_rounds: int, confirm_rounds: int) -> AbRule:
    return replace(_RULE, screen_rounds=screen_rounds, confirm_rounds=confirm_rounds)


def _dry_run(session: AbSession, plan: AbPlan, output: Output) -> int:
    from scripts.show import ab_dry_run

    document = ab_dry_run.dry_run_document(
        plan, session.forecast(plan), session.runner.places
    )
    return show_dry_run(document, ab_dry_run.dry_run_lines, output)


def _request(
    ctx: click.Context,
    suite: str,
    builds: BuildFolders,
    places: RunPlaces,
    run_options: RunOptions,
    rule: AbRule,
) -> Request:
    """Return the request, without the parts that an A/B run does not have."""
    config = read_config(places.configs, suite, run_options.engines)
    chosen = suite_of(config, suite)
    run_options = replace(
        run_options,
        repetitions=rule.screen_rounds + rule.confirm_rounds,
        latency=False,
        control=False,
        repeat_disturbed=0,
        shard=None,
    )
    find = finder(config, ctx.obj, builds.a, builds.b)
    selection = selection_of(config, chosen, run_options, find)
    return Request(config, chosen, selection, ctx.meta["command"])


def _labels(label_a: str | None, label_b: str | None, *, same: bool) -> dict[str, str]:
    """Return the label of each side.  Raises click.UsageError if they are equal."""
    a = label_a or "base"
    b = label_b or (f"{a} again" if same else "new")
    if a == b and not same:
        raise click.UsageError(
            f"both sides are labelled {a!r}; pass different --label-a and --label-b"
        )
    return {"a": a, "b": b}
