"""The kvmatrix command: a group whose verbs are imported when they are needed."""

import click

from scripts.machine.system_access import SystemAccess
from scripts.request.verb_group import VerbGroup
from scripts.store.run_places import ROOT

# Module and function by verb: one start needs one of them.
_VERBS = {
    "ab": "scripts.cli.ab_verb:ab",
    "check": "scripts.cli.check_verb:check",
    "compare": "scripts.cli.compare_verb:compare",
    "doctor": "scripts.cli.doctor_verb:doctor",
    "durability": "scripts.cli.durability_verb:durability",
    "fleet": "scripts.cli.fleet_verb:fleet",
    "history": "scripts.cli.history_verb:history",
    "list": "scripts.cli.list_verb:list_command",
    "merge": "scripts.cli.merge_verb:merge",
    "plan": "scripts.cli.plan_verb:plan",
    "report": "scripts.cli.report_verb:report",
    "resume": "scripts.cli.resume_verb:resume",
    "run": "scripts.cli.run_verb:run",
}


def _print_version(ctx: click.Context, _param: object, is_given: bool) -> None:
    """Print the commit of this checkout and the licence, and exit."""
    from scripts.machine.checkout import harness_of

    if not is_given:
        return
    commit = harness_of(ROOT)["commit"] or "unknown"
    click.echo(f"kvmatrix, commit {commit[:12]}, Apache License 2.0")
    ctx.exit()


@click.group(
    cls=VerbGroup,
    verbs=_VERBS,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_version,
    help="Print the commit and the licence of kvmatrix.",
)
@click.pass_context
def main(ctx: click.Context) -> None:
    """Benchmark embedded storage engines on identical workloads.

    \b
    Examples:
      scripts/kvmatrix run quick
      scripts/kvmatrix report @last --open

    \b
    Exit codes: 0 done; 1 a regression; 2 wrong usage, invalid configuration, damaged
    files, too little memory or disk space, or a directory that another run is using; 3
    some cells failed or are missing (all other results are saved), or the run is
    unfinished; 4 the machine is unfit (--strict, or the canary of a shard failed), the
    planned run does not fit on it (plan), or the power cannot be cut here (durability);
    5 nothing could be measured, judged or compared; 130 interrupted.
    """
    ctx.ensure_object(SystemAccess)
