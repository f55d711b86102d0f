"""Where results, progress and errors go, in which characters, and how paths look."""

import os
import shutil
import sys
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.text import Text

from report.config.toml_table import short_path
from report.terms import titles
from report.terms.text_table import TextLine, fitted, json_text, visible_line

_MESSAGE_CHARS = 3000
_NARROWEST = 40  # columns for which lines are written
MERGE_NEXT = "next      scripts/kvmatrix merge, with all other shards"


@dataclass(frozen=True)
class Output:
    """The output options of a verb."""

    quiet: bool
    as_json: bool
    no_report: bool
    color: str

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> "Output":
        """Return the options given; a verb without --no-report never writes one."""
        quiet, as_json, color = given["quiet"], given["as_json"], given["color"]
        return cls(quiet, as_json, given.get("no_report", True), color)

    def stdout(self) -> Console:
        """Return the console for results."""
        return Console(
            color_system="auto" if self._is_coloured() else None,
            force_terminal=True if self.color == "always" else None,
            highlight=False,
        )

    def stderr(self) -> Console:
        """Return the console for progress."""
        return Console(
            stderr=True,
            color_system="auto" if self._is_coloured() else None,
            highlight=False,
        )

    def _is_coloured(self) -> bool:
        """Return False if there must be no colour, nor anything bold or dim."""
        return self.color != "never" and not os.environ.get("NO_COLOR")


def can_redraw(console: Console) -> bool:
    """Return True if what was written on a console can be replaced."""
    return console.is_terminal and not console.is_dumb_terminal


@dataclass(frozen=True)
class Glyphs:
    """The characters of a view."""

    star: str = "★"
    level: str = "≈"
    spread: str = "±"
    running: str = "▸"
    full: str = "█"
    left_edge: str = "▕"
    right_edge: str = "▏"
    times: str = "×"
    none: str = "–"
    dot: str = "·"
    disturbed: str = titles.DISTURBED
    suspect: str = titles.SUSPECT


UNICODE = Glyphs()
ASCII = Glyphs("*", "=", "+-", ">", "#", "[", "]", "x", "-", "-", "!", "?")


def glyphs_for(encoding: str) -> Glyphs:
    """Return the glyphs that a stream of this encoding can show."""
    try:
        "".join(vars(UNICODE).values()).encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return ASCII
    return UNICODE


class Result(ABC):
    """The result of a session, for people and programs."""

    exit_code = 0  # of the result, if the session was not interrupted
    kept = ""  # how much is on disk, in words
    is_whole = True  # nothing is left to measure
    has_report = True

    @abstractmethod
    def document(self) -> dict[str, Any]:
        """Return the document for --json."""

    @abstractmethod
    def show(self, output: Output, *, is_ended: bool) -> None:
        """Print it, with the next step if the session was not interrupted."""


def say(*lines: str | TextLine) -> None:
    """Print lines on stdout: no name in one of them begins another, or a command."""
    told = [TextLine(line) if isinstance(line, str) else line for line in lines]
    width = terminal_width()
    for line in fitted(told, width) if width else told:
        click.echo(visible_line(line.text))


def terminal_width() -> int:
    """Return the columns of stdout, 0 if it is no terminal or too narrow to care."""
    columns = shutil.get_terminal_size().columns if sys.stdout.isatty() else 0
    return columns if columns >= _NARROWEST else 0


def say_json(document: object) -> None:
    """Print a document on stdout."""
    click.echo(json_text(document))


def shown_line(line: Text) -> Text:
    """Return a line of a console as one that say() would print."""
    text = visible_line(line.plain)
    return line if text == line.plain else Text(text, line.style)


def print_note(message: str, *listed: str) -> None:
    """Print a message on stderr, on one line, and what it lists below."""
    head = visible_line(message)
    if len(head) > _MESSAGE_CHARS:
        head = f"{head[: _MESSAGE_CHARS // 2]} ... {head[-_MESSAGE_CHARS // 2 :]}"
    for line in (f"kvmatrix: {head}", *(f"  {visible_line(item)}" for item in listed)):
        click.echo(line, err=True)


def open_page(path: Path) -> None:
    """Open a page in the browser; say so if there is none."""
    if click.launch(str(path)):
        print_note("--open: no browser was found here; the page is where stdout says")


def print_error(message: str, exit_code: int, *listed: str) -> int:
    """Print an error on stderr, as print_note(); return the exit code."""
    print_note(message, *listed)
    return exit_code


def shown(path: Path) -> str:
    """Return a path for people: relative if it is below the current folder."""
    below = path.resolve()
    return short_path(below) if below.is_relative_to(Path.cwd()) else str(path)
