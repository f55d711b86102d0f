"""kvmatrix ab: is build B slower than build A?  And its part of kvmatrix resume."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from report.config import load
from report.regressions.rule import LEAST_CONFIRM_ROUNDS, Rule
from scripts import cli_options as options
from scripts.cli_options import Output
from scripts.cli_types import shown, suite_name
from scripts.doctor.telling import telling
from scripts.dry_run import show_dry_run
from scripts.guard import guarded
from scripts.places import Places
from scripts.runner import Request, open_runner
from scripts.selection import selection_of
from scripts.showing import complain, resume_command, written_report

if TYPE_CHECKING:
    from scripts.outside import Outside
    from scripts.regressions.ab_runner import AbEnding

_NEEDED = (
    "needs a build directory, one that holds drivers/db_bench_*, such as"
    " --a build/base --b build/release"
)
_RULE = Rule()
_MOST_ROUNDS = 1000
_LABEL_CHARS = 100
# What a run may be asked for, and an A/B run has no part of.
_NOT_ASKED = {"latency": False, "rate": None, "control": False, "repeat_disturbed": 0}


def _enough_to_confirm(_ctx: object, _param: object, rounds: int) -> int:
    """The number; raises click.BadParameter if so few rounds decide nothing."""
    if rounds >= LEAST_CONFIRM_ROUNDS:
        return rounds
    raise click.BadParameter(
        f"the least p of {rounds} is 6^-{rounds}, and p <= {_RULE.alpha:g} over all"
        f" suspects confirms: give {LEAST_CONFIRM_ROUNDS} or more"
    )


BUILDS = options.stacked(
    click.option(
        "--a",
        "a_dir",
        type=options.FOLDER,
        help="The base: a build directory, or a built source tree: --a build/base.",
    ),
    click.option(
        "--b",
        "b_dir",
        type=options.FOLDER,
        help="The new build, that may have become slower: --b build/release.",
    ),
)


@dataclass(frozen=True)
class Builds:
    """The build directories of both sides."""

    a: Path
    b: Path
    same: bool  # one build is measured against itself

    @property
    def options(self) -> dict[str, Path]:
        """As `resume` wants to be told of them."""
        return {"--a": self.a} if self.same else {"--a": self.a, "--b": self.b}


@click.command("ab")
@click.argument("suite")
@BUILDS
@click.option(
    "--aa",
    "same",
    is_flag=True,
    help="Measure build A against itself: what is found then is the machine's noise.",
)
@options.stacked(
    *(options.ENGINES, options.SCENARIOS, options.CELLS),
    *(options.NUM, options.SEED, options.MAX_TIME, options.TIMEOUT),
)
@click.option(
    "--screen-rounds",
    type=click.IntRange(1, _MOST_ROUNDS),
    default=_RULE.screen_rounds,
    show_default=True,
    help="Rounds of every cell, each of A B B A or B A A B: --screen-rounds 6.",
)
@click.option(
    "--confirm-rounds",
    type=click.IntRange(1, _MOST_ROUNDS),
    default=_RULE.confirm_rounds,
    show_default=True,
    callback=_enough_to_confirm,
    help="Fresh rounds of the suspects, on which they are judged: --confirm-rounds 30.",
)
@click.option("--label-a", help="What to call A: --label-a v1.2.  [default: base]")
@click.option("--label-b", help="What to call B: --label-b 1a2b3c4.  [default: new]")
@click.option(
    "--counts/--no-counts",
    default=True,
    show_default=True,
    help="Count instructions and system calls too, where strace and valgrind are.",
)
@options.stacked(options.DRY_RUN, options.STRICT)
@options.stacked(options.DATA, options.RESULTS, options.CONFIGS, options.OUTPUT)
@click.pass_context
def ab(ctx: click.Context, /, suite: str, **given: Any) -> None:
    """Measures two builds in turns, and tells whether B is slower than A.

    Every repetition is a fresh process on a fresh database.  All cells of SUITE are
    screened; what looks different is measured again, and judged on the fresh
    repetitions alone.  Ctrl-C keeps what is finished; `kvmatrix resume` goes on.

    \b
    Example:
      scripts/kvmatrix ab quick --a ../base/build/release --b build/release
      scripts/kvmatrix ab quick --aa --a build/release -e leveldb
      scripts/kvmatrix ab quick --a build/old --b build/new -k '*/*/fill*' --dry-run

    \b
    Exit codes: 0 nothing got slower; 1 something did; 2 usage or damaged files;
    3 some cells failed or are missing; 4 --strict and the machine is unfit; 5 not
    comparable, or nothing could be measured; 130 interrupted.
    """
    output = Output.of(given)

    def work() -> int:
        from scripts.regressions.ab_runner import runner_of

        builds = builds_of(given["a_dir"], given["b_dir"], same=given["same"])
        labels = _labels(given, same=builds.same)
        places = Places.of(given, builds.a)
        config = load(places.configs)
        chosen = config.suites[suite_name(suite, config.suites)]
        rule = replace(
            _RULE,
            screen_rounds=given["screen_rounds"],
            confirm_rounds=given["confirm_rounds"],
        )
        rounds = rule.screen_rounds + rule.confirm_rounds
        asked = {**given, **_NOT_ASKED, "repetitions": rounds}
        selection = selection_of(config, chosen, asked)
        request = Request(config, chosen, selection, ctx.meta["command"])
        with open_runner(places, ctx.obj) as side_a:
            runner = runner_of(side_a, builds.b)
            plan = runner.plan(
                request,
                labels,
                rule,
                same_build=builds.same,
                counted=given["counts"],
            )
            if given["dry_run"]:
                from scripts.regressions import ab_dry_run

                document = ab_dry_run.dry_run_document(runner, plan)
                return show_dry_run(document, ab_dry_run.dry_run_lines, output)
            with telling(output.stderr(), output.quiet) as tell:
                environment = runner.admit(plan, tell if given["strict"] else None)
            ending = runner.start(plan, environment, output)
        return conclude(ending, output, places, builds)

    sys.exit(guarded(work))


def resume_ab(
    path: Path, given: Mapping[str, Any], output: Output, outside: Outside
) -> int:
    """Goes on with the A/B run in this folder; the exit code.

    One that is finished is shown, whatever builds are given.  What it raises is what
    guarded() knows.
    """
    from report.regressions.ab_results import check_unaltered, judge_ab, load_ab
    from scripts.regressions.ab_runner import AbEnding, runner_of

    recorded = load_ab(path)
    check_unaltered(recorded)
    plan, run = recorded.plan, judge_ab(recorded)
    if not run.unfinished and not run.torn:
        if not output.quiet:
            click.echo(f"note {plan.run} is finished: nothing is missing", err=True)
        return show(AbEnding(plan, path, len(run.lines), 0, ""), output)
    if given["a_dir"] is None or (given["b_dir"] is None and not plan.same_build):
        builds_told = "--a BUILD_A" if plan.same_build else "--a BUILD_A --b BUILD_B"
        raise click.UsageError(
            f"{plan.run} is resumed with the builds that it measures: {builds_told}"
        )
    builds = builds_of(given["a_dir"], given["b_dir"], same=plan.same_build)
    places = Places.of(given, builds.a)
    config = load(places.configs)
    with open_runner(places, outside) as side_a:
        ending = runner_of(side_a, builds.b).resume(path, config, output)
    return conclude(ending, output, places, builds)


def builds_of(a: Path | None, b: Path | None, *, same: bool) -> Builds:
    """The builds that are asked for.  Raises click.UsageError or Refused."""
    from scripts.regressions.ab_plan import build_dir_of

    if a is None:
        raise click.UsageError(f"--a {_NEEDED}")
    if same:
        if b is not None:
            raise click.UsageError("one build against itself (--aa) has no --b")
        one = build_dir_of(a, "--a")
        return Builds(one, one, same=True)
    if b is None:
        raise click.UsageError(f"--b {_NEEDED}; or --aa, to measure A against itself")
    return Builds(build_dir_of(a, "--a"), build_dir_of(b, "--b"), same=False)


def _labels(given: Mapping[str, Any], *, same: bool) -> dict[str, str]:
    """What the sides are called.  Raises click.UsageError for what tells nothing."""
    for option in ("label_a", "label_b"):
        label = given[option]
        if label is not None and (not label.strip() or len(label) > _LABEL_CHARS):
            told = f"--{option.replace('_', '-')}"
            raise click.UsageError(f"{told} has 1 to {_LABEL_CHARS} characters")
    a = given["label_a"] or "base"
    b = given["label_b"] or (f"{a} again" if same else "new")
    if a == b and not same:
        raise click.UsageError(f"both sides are labelled {a!r}: --label-a, --label-b")
    return {"a": a, "b": b}


def conclude(ending: AbEnding, output: Output, places: Places, builds: Builds) -> int:
    """Prints the verdict, writes the report, and says how to go on."""
    code = show(ending, output)
    if ending.exit_code:
        command = resume_command(ending.plan.run, places, builds.options)
        why = f"{ending.message}; " if ending.message else ""
        told = f"{why}{ending.lines} repetitions are kept; go on with:"
        complain(f"{told}\n  {command}", code)
    return code


def show(ending: AbEnding, output: Output) -> int:
    """Prints the verdict and writes the report; the exit code."""
    from report.regressions.ab_results import load_ab_run
    from report.regressions.ab_text import ab_document
    from report.regressions.ab_verdicts import judge

    result = judge(load_ab_run(ending.path))
    code = ending.exit_code or result.exit_code
    report = None
    if ending.lines and not output.no_report:
        report = written_report(ending.path)
    if output.as_json:
        document = {
            **ab_document(result),
            "exit": code,
            "path": shown(ending.path),
            "report": shown(report) if report else None,
        }
        click.echo(json.dumps(document, indent=1, allow_nan=False))
    else:
        _print(result, output, advice=not ending.exit_code)
        for word, path in (("results", ending.path), ("report", report)):
            if path:
                click.echo(f"{word:<9} {shown(path)}")
    return code


def _print(result: Any, output: Output, *, advice: bool) -> None:
    from report.regressions.ab_text import lines
    from scripts.regressions.printing import print_lines

    found = lines(result, quiet=output.quiet, advice=advice)
    print_lines(found, output)
