"""Running programs with their output kept in a log."""

import re
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from scripts.provision.errors import SetupError

_EXCERPT_LINES = 15
_TELLING = re.compile(r"\berror: |^E: |^CMake Error|^ERROR: |^Could not fetch |\*\*\* ")


def run_logged(
    command: Sequence[str],
    log: Path,
    *,
    cwd: Path,
    env: Mapping[str, str] | None = None,
) -> None:
    """Run `command`, appending what it prints to `log`.

    Raises SetupError with an excerpt when it fails, or when it is not there.
    """
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("a", encoding="utf-8") as out:
        out.write(f"$ {' '.join(command)}\n")
        out.flush()
        try:
            status = subprocess.run(
                command,
                cwd=cwd,
                env=env,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                check=False,
            ).returncode
        except FileNotFoundError as error:
            raise SetupError(f"{command[0]}: no such program") from error
    if status != 0:
        raise SetupError(
            f"'{' '.join(command)}' failed with status {status}.\n"
            f"{excerpt(log)}\nThe whole log is {log}"
        )


def excerpt(log: Path) -> str:
    """Return the lines of a log that say what went wrong, else its last lines."""
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    telling = [line for line in lines if _TELLING.search(line)]
    chosen = telling[:_EXCERPT_LINES] or lines[-_EXCERPT_LINES:]
    return "\n".join(f"  | {line}" for line in chosen)


def output_of(command: Sequence[str]) -> str:
    """Return what `command` prints, stripped; "" when it fails or is absent."""
    try:
        result = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return result.stdout.strip() if result.returncode == 0 else ""
