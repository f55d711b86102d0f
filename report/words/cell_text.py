"""Tables of the HTML report as text: what a cell shows, and why it shows nothing.

Builders of tables are pure and in other modules; one template draws all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from report.model.plan import Engine
from report.terms import numbers

DASH = "–"


@dataclass(frozen=True)
class CellText:
    """One cell: `note` says why there is no number, or what to know of it.

    `before` are rates of attempts that were made again.
    """

    text: str = DASH
    note: str = ""
    warns: bool = False
    before: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether it says nothing at all."""
        return self == EMPTY


EMPTY = CellText()


@dataclass(frozen=True)
class EngineRow:
    """One engine's figures, one for each column."""

    engine: Engine
    figures: tuple[CellText, ...]


@dataclass(frozen=True)
class DetailTable:
    """`columns` are (title, meaning); a meaning may be ""."""

    caption: str
    columns: tuple[tuple[str, str], ...]
    lines: tuple[EngineRow, ...]


def table(
    caption: str, columns: Iterable[tuple[str, str]], lines: Iterable[EngineRow]
) -> DetailTable | None:
    """Without the columns and the lines that say nothing; None if none is left."""
    kept = tuple(line for line in lines if not all(f.is_empty for f in line.figures))
    titles = tuple(columns)
    told = [
        index
        for index in range(len(titles))
        if not all(line.figures[index].is_empty for line in kept)
    ]
    if not kept:
        return None
    return DetailTable(
        caption,
        tuple(titles[i] for i in told),
        tuple(EngineRow(k.engine, tuple(k.figures[i] for i in told)) for k in kept),
    )


def merged(heading: str, parts: Sequence[tuple[str, DetailTable]]) -> DetailTable:
    """Tables of one caption as one, each line with what its table is of.

    Lines of one engine are together; what a table lacks is empty.
    """
    columns = union(part for _, part in parts)
    lines = []
    for label, part in parts:
        for line in part.lines:
            known = dict(zip(part.columns, line.figures, strict=True))
            cells = (known.get(column, EMPTY) for column in columns)
            lines.append(EngineRow(line.engine, (CellText(label), *cells)))
    order = list(dict.fromkeys(line.engine.name for line in lines))
    lines.sort(key=lambda line: order.index(line.engine.name))
    return DetailTable(parts[0][1].caption, ((heading, ""), *columns), tuple(lines))


def union(tables: Iterable[DetailTable]) -> list[tuple[str, str]]:
    """Return the columns of all tables, each after what precedes it in its own."""
    columns: list[tuple[str, str]] = []
    for found in tables:
        place = 0
        for column in found.columns:
            if column not in columns:
                columns.insert(place, column)
            place = columns.index(column) + 1
    return columns


def figure(number: float | None, form: Callable[[float], str]) -> CellText:
    """A number in words, or an empty cell."""
    return EMPTY if number is None else CellText(form(number))


def positive(number: float | None, form: Callable[[float], str]) -> CellText:
    """The same; a zero, which stands for "did not happen", is an empty cell."""
    return figure(number or None, form)


def as_printed(text: str) -> CellText:
    """A published figure as its source has it, whole numbers with separators."""
    return CellText(numbers.grouped(text)) if text else EMPTY
