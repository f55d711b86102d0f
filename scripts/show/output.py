"""Where results, progress and errors go, and how a path is shown."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
from rich.console import Console


@dataclass(frozen=True)
class Output:
    """How results are shown."""

    quiet: bool
    as_json: bool
    no_report: bool
    color: str

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> "Output":
        """Return what a verb's options ask for; one without reports writes none."""
        quiet, as_json, color = given["quiet"], given["as_json"], given["color"]
        return cls(quiet, as_json, given.get("no_report", True), color)

    def stdout(self) -> Console:
        """The console for results."""
        return Console(
            no_color=True if self.color == "never" else None,
            force_terminal=True if self.color == "always" else None,
            highlight=False,
        )

    def stderr(self) -> Console:
        """The console for progress."""
        return Console(
            stderr=True,
            no_color=True if self.color == "never" else None,
            highlight=False,
        )


class Result(ABC):
    """What a session has come to, as people and programs are shown it."""

    exit_code = 0  # what the result itself says, of a session that ended by itself
    kept = ""  # how much of it is on disk, in words
    is_whole = True  # whether nothing is left to be measured

    @abstractmethod
    def document(self) -> dict[str, Any]:
        """Return what --json prints of it."""

    @abstractmethod
    def show(self, output: Output, *, is_ended: bool) -> None:
        """Print it; with what to do next, if the session ended by itself."""


def print_error(message: str, exit_code: int) -> int:
    """Tells people why a command ends so; returns the exit code."""
    click.echo(f"kvmatrix: {message}", err=True)
    return exit_code


def shown(path: Path) -> str:
    """A path for people: relative to where they are, if it is below."""
    try:
        return str(path.resolve().relative_to(Path.cwd()))
    except ValueError:
        return str(path)
