"""A table of text, written for a terminal, as Markdown or as CSV.

Who makes a table makes its rows once; what each format needs (widths, escapes) is
the business of the writers.
"""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

# Everything that Markdown or HTML inside it could take for markup.
_MARKUP = re.compile(r"[\\`*_{}\[\]<>&|#~]")
# Ends of lines and of paragraphs, apart from controls, formats (they turn the
# direction of writing), halves of pairs and what is no character, which are all "C".
_ENDS = ("Zl", "Zp")
# For a stream that has no more than ASCII.
_PLAIN = str.maketrans(
    {
        **{"▼": "v", "▲": "^", "→": "->", "·": "-", "±": "+-", "\u00a0": " "},
        **{"–": "-", "−": "-", "×": "x", "≤": "<=", "∞": "inf"},
    }
)
# A spreadsheet runs a text that begins with one of these as a formula.
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\n")


@dataclass(frozen=True)
class TextLine:
    """One line of a terminal; `style` is "", bold, dim, or that of a verdict."""

    text: str
    style: str = ""


@dataclass(frozen=True)
class Column:
    """A column; figures are set to the right, and their unit is in the title."""

    title: str
    is_number: bool = False


@dataclass(frozen=True)
class TableRow:
    """One cell for each column, and the style of the whole row."""

    cells: tuple[str, ...]
    style: str = ""


@dataclass(frozen=True)
class TextTable:
    """Columns and rows, for any of the writers."""

    columns: tuple[Column, ...]
    rows: tuple[TableRow, ...]

    def lines(self, *, head: bool = True) -> list[TextLine]:
        """Return the lines for a terminal, none if there is no row."""
        if not self.rows:
            return []
        rows = [([one_line(cell) for cell in r.cells], r.style) for r in self.rows]
        if head:
            rows.insert(0, ([column.title for column in self.columns], "dim"))
        columns = zip(*(cells for cells, _ in rows), strict=True)
        widths = [max(map(len, cells)) for cells in columns]
        return [TextLine(self._padded(cells, widths), style) for cells, style in rows]

    def markdown(self) -> str:
        """Return the table as Markdown; no cell is taken for markup."""
        return markdown_table(
            [
                Column(escaped(column.title), column.is_number)
                for column in self.columns
            ],
            [[escaped(one_line(cell)) for cell in row.cells] for row in self.rows],
        )

    def _padded(self, cells: Sequence[str], widths: Sequence[int]) -> str:
        parts = zip(cells, self.columns, widths, strict=True)
        texts = (
            f"{c:>{w}}" if column.is_number else f"{c:<{w}}" for c, column, w in parts
        )
        return "  ".join(texts).rstrip()


def figures(*titles: str) -> tuple[Column, ...]:
    """Return columns of figures."""
    return tuple(Column(title, is_number=True) for title in titles)


def words(*titles: str) -> tuple[Column, ...]:
    """Return columns of words."""
    return tuple(map(Column, titles))


def markdown_table(columns: Sequence[Column], rows: Iterable[Iterable[str]]) -> str:
    """Return a table whose titles and cells are Markdown already."""
    ruler = ["---:" if column.is_number else "---" for column in columns]
    lines = [[column.title for column in columns], ruler, *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def csv_text(columns: Iterable[str], rows: Iterable[Iterable[Any]]) -> str:
    """Return the CSV of rows of values; empty where a value is None."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(map(_field, row) for row in rows)
    return text.getvalue()


def escaped(text: str) -> str:
    """Return the text with nothing in it that Markdown would take for markup."""
    return _MARKUP.sub(lambda match: "\\" + match[0], text)


def plain(text: str) -> str:
    """Return the text in ASCII."""
    return text.translate(_PLAIN).encode("ascii", "replace").decode("ascii")


def visible(text: str) -> str:
    """Return the text without characters that steer a terminal, or are not seen."""
    kinds = map(unicodedata.category, text)
    return "".join(
        "?" if kind[0] == "C" or kind in _ENDS else c
        for c, kind in zip(text, kinds, strict=True)
    )


def one_line(text: str) -> str:
    """Return the text as one visible line, for tables and for logs."""
    return visible(" ".join(text.split()))


def _field(value: Any) -> str:
    """Return a value as a field: no text of it is a formula to a spreadsheet."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        value = "; ".join(value)
    # The module csv quotes a line feed and not a carriage return, which ends a row
    # for its own reader too.
    text = str(value).replace("\r\n", "\n").replace("\r", "\n")
    if isinstance(value, str) and text.startswith(_FORMULA_STARTS):
        return "'" + text
    return text
