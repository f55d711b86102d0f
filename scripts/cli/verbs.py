"""The kvmatrix command: a group whose verbs are imported when they are needed."""

import click

from scripts.cli.option_types import VerbGroup
from scripts.machine.system_access import SystemAccess

# Module and function by verb: one start needs one of them.
_VERBS = {
    "ab": "scripts.cli.ab_verb:ab",
    "check": "scripts.cli.check_verb:check",
    "compare": "scripts.cli.compare_verb:compare",
    "doctor": "scripts.cli.doctor_verb:doctor",
    "history": "scripts.cli.history_verb:history",
    "list": "scripts.cli.list_verb:list_command",
    "plan": "scripts.cli.plan_verb:plan",
    "report": "scripts.cli.report_verb:report",
    "resume": "scripts.cli.resume_verb:resume",
    "run": "scripts.cli.run_verb:run",
}


@click.group(
    cls=VerbGroup,
    verbs=_VERBS,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.pass_context
def main(ctx: click.Context) -> None:
    """Benchmark embedded storage engines on identical workloads.

    \b
    Example:
      scripts/kvmatrix run quick
      scripts/kvmatrix report @last --open

    \b
    Exit codes: 0 done; 1 a regression; 2 wrong usage, invalid configuration, damaged
    files, or too little memory or disk space; 3 some cells failed or are missing (the
    rest is saved), or the run is unfinished; 4 the machine is unfit (--strict), or the
    size does not fit on it (plan); 5 nothing could be measured, judged or compared; 130
    interrupted (143 by SIGTERM).
    """
    ctx.ensure_object(SystemAccess)
