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
    """Measures embedded storage engines, each against the same workloads.

    \b
    Example:
      scripts/kvmatrix run quick
      scripts/kvmatrix report @last --open

    \b
    Exit codes: 0 done; 1 a regression; 2 usage or configuration; 3 some cells
    failed or are missing, the rest is saved; 4 the machine is unfit (run --strict) or
    too small (plan); 5 nothing could be measured or compared; 130 interrupted.
    """
    ctx.ensure_object(SystemAccess)
