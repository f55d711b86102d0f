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
    result = CliRunner().invoke(
        verbs.main,
        list(words),
        env={"COLUMNS": "80", **(env or {})},
        prog_name="kvmatrix",
        obj=system,
    )
    stderr = result.stderr
    if result.exception and not isinstance(result.exception, SystemExit):
        stderr += "".join(traceback.format_exception(result.exception))
    return CommandResult(result.exit_code, result.stdout, stderr)
