"""A table of text, written for a terminal, as Markdown, as CSV or into a page.

The rows are built once, without any formatting; each writer adds what its format
needs (widths, escapes).  The writer for pages is text_table in macros.html.j2.
"""

from __future__ import annotations

import csv
import io
import json
import re
import textwrap
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import groupby, zip_longest
from typing import Any

# Characters that can be markup in Markdown, or in HTML within Markdown.
_LABELLED = re.compile(r" *[^ ]+ {2,}")  # "next      a sentence"
_BEFORE_UNIT = re.compile(r"(?<=\d) (?=(?:%|[KMGTPE]iB|B|s|ms|µs|ns)(?!\w))")
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
        **{"–": "-", "−": "-", "×": "x", "≤": "<=", "∞": "inf", "µ": "u"},
    }
)
# A spreadsheet evaluates a text that begins with one of these as a formula; the last
# four are their full-width forms.
_FORMULA_STARTS = ("=", "+", "-", "@", "＝", "＋", "－", "＠")


@dataclass(frozen=True)
class TextLine:
    """One line of a terminal; `style` is "", bold, dim, or a verdict's.

    A line of a table has the `table`, and whether its titles were written: fitted()
    writes it again if it is too wide.
    """

    text: str
    style: str = ""
    table: tuple[TextTable, bool] | None = field(default=None, repr=False)


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
    `indent` is before each line in a terminal.
    """

    words: tuple[str, ...]
    figures: tuple[str, ...]
    notes: tuple[str, ...]
    rows: tuple[TableRow, ...]
    indent: str = ""

    @property
    def titles(self) -> tuple[str, ...]:
        """The titles of all columns."""
        return (*self.words, *self.figures, *self.notes)

    def lines(self, *, head: bool = True, width: int = 0) -> list[TextLine]:
        """Return the lines for a terminal; [] for a table without rows.

        If the table is wider than `width` (0: any), its words are written on several
        lines, or else each row is: a name or a number is on one, unless it is wider.
        """
        if not self.rows:
            return []
        rows = [([one_line(cell) for cell in r.cells], r.style) for r in self.rows]
        if head:
            rows.insert(0, ([*self.titles], "dim"))
        columns = [*zip(*(cells for cells, _ in rows), strict=True)]
        widths = [max(map(len, cells)) for cells in columns]
        room = width - len(self.indent) - 2 * (len(widths) - 1)
        if width and sum(widths) > room:
            least = [
                max(max(map(len, (c.split() or [""]))) for c in of) for of in columns
            ]
            if sum(least) > room:
                return [*self._upright(width, head)]
            widths = _shared(widths, least, room)
        return [
            TextLine(self.indent + self._padded(cells, widths), style, (self, head))
            for row, style in rows
            for cells in _wrapped(row, widths)
        ]

    def _upright(self, width: int, head: bool) -> Iterable[TextLine]:
        """Yield the words of each row, and below them the others with their titles."""
        for row in self.rows:
            cells = [*map(one_line, row.cells)]
            words = "  ".join(filter(None, cells[: len(self.words)]))
            if not self.words or len(self.indent + words) > width:
                words = cells[0]
            rest = len(self.words) if words != cells[0] else 1
            yield TextLine(self.indent + words, row.style, (self, head))
            texts = [
                f"{title} {cell}" if title and head else cell
                for title, cell in zip(self.titles[rest:], cells[rest:], strict=True)
                if cell
            ]
            for text in wrapped(", ".join(texts), width, f"{self.indent}  "):
                yield TextLine(text, "", (self, head))

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


def fitted(lines: Iterable[TextLine], width: int) -> list[TextLine]:
    """Return the lines in a width: tables written for it, and sentences wrapped."""
    shown: list[TextLine] = []
    for table, group in groupby(lines, key=lambda line: line.table):
        of = [*group]
        if table and max(len(line.text) for line in of) > width:
            shown += table[0].lines(head=table[1], width=width)
        else:
            shown += [
                TextLine(text, line.style)
                for line in of
                for text in wrapped_line(line.text, width)
            ]
    return shown


def wrapped_line(text: str, width: int) -> list[str]:
    """Return a line as lines of this width, below its text if it begins with a word.

    That is the word before two blanks or more, such as "next      do this".  A command
    stays on one line, to be copied.
    """
    if "scripts/kvmatrix" in text:
        return [text]
    head = _LABELLED.match(text)
    indent = " " * (head.end() if head and head.end() < width // 3 else 2)
    return [*wrapped(text, width, indent, is_first=True)]


def wrapped(text: str, width: int, indent: str, *, is_first: bool = False) -> list[str]:
    """Return a text in lines that are indented, unless the first `is_first`."""
    if is_first and len(text) <= width:
        return [text]
    lines = textwrap.wrap(
        unbroken(text),
        width,
        initial_indent="" if is_first else indent,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return [line.replace("\u00a0", " ") for line in lines]


def unbroken(text: str) -> str:
    """Replace spaces between a number and its unit with non-breaking ones."""
    return _BEFORE_UNIT.sub("\u00a0", text)


def _shared(widths: Sequence[int], least: Sequence[int], room: int) -> list[int]:
    """Return widths that fit: the widest columns give way, none below its least."""
    given = [*widths]
    while sum(given) > room:
        widest = max(
            (i for i in range(len(given)) if given[i] > least[i]), key=given.__getitem__
        )
        given[widest] -= 1
    return given


def _wrapped(cells: Sequence[str], widths: Sequence[int]) -> Iterable[Sequence[str]]:
    """Yield the lines of a row whose cells are wrapped to these widths."""
    if all(len(cell) <= width for cell, width in zip(cells, widths, strict=True)):
        return [cells]
    columns = (
        wrapped(cell, width, "") if cell else [""]
        for cell, width in zip(cells, widths, strict=True)
    )
    return zip_longest(*columns, fillvalue="")


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
