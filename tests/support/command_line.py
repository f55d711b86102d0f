"""The kvmatrix command line, run in the process of the tests."""

import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from click.testing import CliRunner

from scripts.cli import verbs
from scripts.machine.system_access import SystemAccess


@dataclass(frozen=True)
class CommandResult:
    """The exit code of a command and its output."""

    returncode: int
    stdout: str
    stderr: str


def call(
    words: Sequence[str],
    system: SystemAccess | None = None,
    env: Mapping[str, str] | None = None,
) -> CommandResult:
    """Run `kvmatrix WORDS` to its end; `system` replaces processes and machine."""
    made = CliRunner().invoke(
        verbs.main,
        list(words),
        env={"COLUMNS": "80", **(env or {})},
        prog_name="kvmatrix",
        obj=system,
    )
    stderr = made.stderr
    if made.exception and not isinstance(made.exception, SystemExit):
        stderr += "".join(traceback.format_exception(made.exception))
    return CommandResult(made.exit_code, made.stdout, stderr)
