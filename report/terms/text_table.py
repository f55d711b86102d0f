"""A table of text, written for a terminal, as Markdown, as CSV or into a page.

The rows are built once, without any formatting; each writer adds what its format
needs (widths, escapes).  The writer for pages is text_table in macros.html.j2.
"""

from __future__ import annotations

import csv
import io
import json
import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

# Characters that can be markup in Markdown, or in HTML within Markdown.
_MARKUP = re.compile(r"[\\`*_{}\[\]<>&|#~]")
# Categories of line and paragraph separators.  Control characters, format characters
# (which can reverse the direction of text), surrogates and unassigned code points
# are all in category "C".
_ENDS = ("Zl", "Zp")
# What begins a command to GitHub's runner in a log: the first only after blanks, the
# second anywhere (actions/runner, ActionCommand.cs).
_COMMANDS = re.compile(r"^(\s*):(?=:)|#(?=#\[)")
# ASCII replacements, for streams that cannot encode these characters.
_PLAIN = str.maketrans(
    {
        **{"▼": "v", "▲": "^", "→": "->", "·": "-", "±": "+-", "\u00a0": " "},
        **{"–": "-", "−": "-", "×": "x", "≤": "<=", "∞": "inf"},
    }
)
# A spreadsheet evaluates a text that begins with one of these as a formula; the last
# four are their full-width forms.
_FORMULA_STARTS = ("=", "+", "-", "@", "＝", "＋", "－", "＠")


@dataclass(frozen=True)
class TextLine:
    """One line of a terminal; `style` is "", bold, dim, or a verdict's."""

    text: str
    style: str = ""


@dataclass(frozen=True)
class TableRow:
    """One cell for each column, and the style of the whole row.

    A page hides the row when its `engine` is deselected.
    """

    cells: tuple[str, ...]
    style: str = ""
    engine: str = ""


@dataclass(frozen=True)
class TextTable:
    """A table with columns of words, then of figures, then of notes.

    Figures are right-aligned; their unit is in the column title or in the cell.
    """

    words: tuple[str, ...]
    figures: tuple[str, ...]
    notes: tuple[str, ...]
    rows: tuple[TableRow, ...]

    @property
    def titles(self) -> tuple[str, ...]:
        """The titles of all columns."""
        return (*self.words, *self.figures, *self.notes)

    def lines(self, *, head: bool = True) -> list[TextLine]:
        """Return the lines for a terminal; [] for a table without rows."""
        if not self.rows:
            return []
        rows = [([one_line(cell) for cell in r.cells], r.style) for r in self.rows]
        if head:
            rows.insert(0, ([*self.titles], "dim"))
        columns = zip(*(cells for cells, _ in rows), strict=True)
        widths = [max(map(len, cells)) for cells in columns]
        return [TextLine(self._padded(cells, widths), style) for cells, style in rows]

    def markdown(self) -> str:
        """Return the table as Markdown, with all cells escaped."""
        rows = [[escaped(one_line(cell)) for cell in row.cells] for row in self.rows]
        return self.of_markdown(rows)

    def of_markdown(self, rows: Iterable[Iterable[str]]) -> str:
        """Return the table with other rows, whose cells are Markdown already."""
        left, right = ["---"] * len(self.words), ["---:"] * len(self.figures)
        ruler = [*left, *right, *["---"] * len(self.notes)]
        lines = [map(escaped, self.titles), ruler, *rows]
        return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)

    def _padded(self, cells: Sequence[str], widths: Sequence[int]) -> str:
        signs = "<" * len(self.words) + ">" * len(self.figures) + "<" * len(self.notes)
        parts = zip(cells, signs, widths, strict=True)
        return "  ".join(f"{c:{sign}{width}}" for c, sign, width in parts).rstrip()


def json_text(document: object, *, is_ascii: bool = True) -> str:
    """Return an indented JSON document that is safe in a log, too: see visible()."""
    text = json.dumps(document, indent=1, allow_nan=False, ensure_ascii=is_ascii)
    return text.replace("##[", "##\\u005b")


def csv_text(columns: Iterable[str], rows: Iterable[Iterable[Any]]) -> str:
    """Return rows of values as CSV; None becomes an empty field."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(map(_field, row) for row in rows)
    return text.getvalue()


def escaped(text: str) -> str:
    """Return the text as one visible line, with backslashes before Markdown markup."""
    return _MARKUP.sub(lambda match: "\\" + match[0], visible_line(text))


def plain(text: str) -> str:
    """Return the text in ASCII, with "?" for characters without a replacement."""
    return text.translate(_PLAIN).encode("ascii", "replace").decode("ascii")


def visible(text: str) -> str:
    """Return the text with "?" for what is invisible, or controls output or a log."""
    return _COMMANDS.sub(r"\1?", _printed(text))


def visible_line(text: str) -> str:
    """Return the text as one visible line, with the blanks that it has."""
    return visible(" ".join(text.splitlines()))


def quiet_page(text: str) -> str:
    """Return a page of HTML that shows the same, but is no command to a CI log.

    Any other text is returned as it is.
    """
    is_page = text.startswith("<!DOCTYPE html>")
    return text.replace("##[", "##&#91;") if is_page else text


def _printed(text: str) -> str:
    if text.isprintable():
        return text
    kinds = map(unicodedata.category, text)
    return "".join(
        "?" if kind[0] == "C" or kind in _ENDS else c
        for c, kind in zip(text, kinds, strict=True)
    )


def printable(text: str) -> str:
    """Return the text with only visible characters, tabs and line feeds.

    A carriage return ends a line, as progress that an engine prints has it.
    """
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return "\n".join("\t".join(map(_printed, line.split("\t"))) for line in lines)


def one_line(text: str) -> str:
    """Return the text as one visible line, for tables and for logs."""
    return visible(" ".join(text.split()))


def _field(value: Any) -> str:
    """Return a value as a field that a spreadsheet will not treat as a formula."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        value = "; ".join(value)
    # On one line: readers differ in what ends a row within quotes.
    text = one_line(str(value))
    if isinstance(value, str) and text.startswith(_FORMULA_STARTS):
        return "'" + text
    return text
