"""The kvmatrix command line, run in the process of the tests."""

import shutil
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from click.testing import CliRunner

from scripts.cli import verbs
from scripts.machine.system_access import SystemAccess
from tests.places import ROOT


@dataclass(frozen=True)
class CommandResult:
    """The exit code of a command and its output."""

    returncode: int
    stdout: str
    stderr: str


def copy_commands(folder: Path, *names: str) -> Path:
    """Copy commands in bash, with what they begin with; return their folder."""
    scripts = folder / "scripts"
    (scripts / "basis").mkdir(parents=True)
    for name in (*names, "basis/entry.bash", "basis/start.py"):
        shutil.copy(ROOT / "scripts" / name, scripts / name)
    return scripts


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
