"""A table of text, written for a terminal, as Markdown, as CSV or into a page.

Who makes a table makes its rows once; what each format needs (widths, escapes) is
the business of the writers.  That of a page is text_table in macros.html.j2.
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
class TableRow:
    """One cell for each column, and the style of the whole row.

    A page hides the row with its engine.
    """

    cells: tuple[str, ...]
    style: str = ""
    engine: str = ""


@dataclass(frozen=True)
class TextTable:
    """Columns of words, then of figures, then of notes; the rows have them all.

    Figures are set to the right; their unit is in the title, or in the cell.
    """

    words: tuple[str, ...]
    figures: tuple[str, ...]
    notes: tuple[str, ...]
    rows: tuple[TableRow, ...]

    @property
    def titles(self) -> tuple[str, ...]:
        """Of all columns."""
        return (*self.words, *self.figures, *self.notes)

    def lines(self, *, head: bool = True) -> list[TextLine]:
        """Return the lines for a terminal, none if there is no row."""
        if not self.rows:
            return []
        rows = [([one_line(cell) for cell in r.cells], r.style) for r in self.rows]
        if head:
            rows.insert(0, ([*self.titles], "dim"))
        columns = zip(*(cells for cells, _ in rows), strict=True)
        widths = [max(map(len, cells)) for cells in columns]
        return [TextLine(self._padded(cells, widths), style) for cells, style in rows]

    def markdown(self) -> str:
        """Return the table as Markdown; no cell is taken for markup."""
        rows = [[escaped(one_line(cell)) for cell in row.cells] for row in self.rows]
        return self.of_markdown(rows)

    def of_markdown(self, rows: Iterable[Iterable[str]]) -> str:
        """Return the table with other rows, of cells that are Markdown already."""
        left, right = ["---"] * len(self.words), ["---:"] * len(self.figures)
        ruler = [*left, *right, *["---"] * len(self.notes)]
        lines = [map(escaped, self.titles), ruler, *rows]
        return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)

    def _padded(self, cells: Sequence[str], widths: Sequence[int]) -> str:
        signs = "<" * len(self.words) + ">" * len(self.figures) + "<" * len(self.notes)
        parts = zip(cells, signs, widths, strict=True)
        return "  ".join(f"{c:{sign}{width}}" for c, sign, width in parts).rstrip()


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
