"""Tables of the HTML report as text: what each cell shows, or why it is empty.

Other modules build the tables with pure functions; one template draws all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from report.model.plan import Engine
from report.stats import latency
from report.terms import numbers

DASH = "–"


@dataclass(frozen=True)
class CellText:
    """One cell: `note` explains its number, or why there is none.

    `before` has the rates of attempts that were retried.
    """

    text: str = DASH
    note: str = ""
    warns: bool = False
    before: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        """True if it has neither a number nor a note."""
        return self == EMPTY


EMPTY = CellText()


def too_few(samples: int) -> CellText:
    """Return the cell of a percentile that a repetition with so few does not show."""
    above = f"fewer than {latency.LEAST_ABOVE} of {samples:,} samples lie above"
    return CellText(DASH, above)


@dataclass(frozen=True)
class EngineRow:
    """One engine's cells, one for each column."""

    engine: Engine
    figures: tuple[CellText, ...]


@dataclass(frozen=True)
class DetailTable:
    """A table with one line for each engine.

    `columns` has pairs of a title and a meaning, which may be "".
    """

    caption: str
    columns: tuple[tuple[str, str], ...]
    lines: tuple[EngineRow, ...]


def table(
    caption: str, columns: Iterable[tuple[str, str]], lines: Iterable[EngineRow]
) -> DetailTable | None:
    """Return a table without its empty columns and lines, None if it is empty."""
    full = [line for line in lines if not all(f.is_empty for f in line.figures)]
    titles = tuple(columns)
    indexes = [
        index
        for index in range(len(titles))
        if not all(line.figures[index].is_empty for line in full)
    ]
    if not full:
        return None
    return DetailTable(
        caption,
        tuple(titles[i] for i in indexes),
        tuple(EngineRow(f.engine, tuple(f.figures[i] for i in indexes)) for f in full),
    )


def merged(heading: str, parts: Sequence[tuple[str, DetailTable]]) -> DetailTable:
    """Merge tables with one caption; each line gets the label of its table.

    The lines of one engine are adjacent.  Columns that a table lacks are empty.
    """
    columns = union(part for _, part in parts)
    lines = []
    for label, part in parts:
        for line in part.lines:
            by_column = dict(zip(part.columns, line.figures, strict=True))
            cells = (by_column.get(column, EMPTY) for column in columns)
            lines.append(EngineRow(line.engine, (CellText(label), *cells)))
    order = list(dict.fromkeys(line.engine.name for line in lines))
    lines.sort(key=lambda line: order.index(line.engine.name))
    return DetailTable(parts[0][1].caption, ((heading, ""), *columns), tuple(lines))


def union(tables: Iterable[DetailTable]) -> list[tuple[str, str]]:
    """Return the columns of all tables, keeping the order within each table."""
    columns: list[tuple[str, str]] = []
    for part in tables:
        place = 0
        for column in part.columns:
            if column not in columns:
                columns.insert(place, column)
            place = columns.index(column) + 1
    return columns


def figure(number: float | None, form: Callable[[float], str]) -> CellText:
    """Return a formatted number, or an empty cell for None."""
    return EMPTY if number is None else CellText(form(number))


def positive(number: float | None, form: Callable[[float], str]) -> CellText:
    """Return a formatted number, or an empty cell for None and 0 (did not happen)."""
    return figure(number or None, form)


def as_printed(text: str) -> CellText:
    """Return a published figure as in its source, with thousands separators."""
    return CellText(numbers.grouped(text)) if text else EMPTY
