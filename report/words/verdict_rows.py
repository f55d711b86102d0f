"""The row that all verdicts share, and the table of such rows.

ab_words, compare_rows and gate_history make the rows.  A gate uses them
unchanged and reports which of them it does not believe.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TypeVar

from report.model.judgement import Judgement, Verdict
from report.terms import numbers
from report.terms.text_table import TableRow, TextTable
from report.words.verdict_words import NOMINATED, look, marked, unseen

OPS, NS = "ops/s", "ns/op"
CPU_TIME = "cpu_ns_per_op"
_JUDGED = (*Verdict, NOMINATED)


class Kind(StrEnum):
    """The subject of a row."""

    CELL = "cell"
    ENGINE = "engine"  # all cells of an engine
    CPU = "processor time"  # of a cell, or of an engine
    COUNT = "count"  # work, not time


@dataclass(frozen=True)
class VerdictRow:
    """The result of one cell, one whole engine or one count.

    `name` is engine/scenario/benchmark, or the engine, followed by the name of a count
    or of another time.  `outcome` is a word of verdict_words.  `base` and `new` are
    medians in `unit`.  `change` and `interval` are shares: below 0 is slower for rates,
    above 0 is more processor time or work for others.  `limit` is the least change of a
    count that is believed.  `unseen` is the slowdown that could be missed, as a share
    of the time, None if unknown.  `alert` marks rows that must be shown although
    nothing was found.
    `durability` is the class of the writes with its proof, or "".
    """

    kind: Kind
    name: str
    outcome: str
    note: str = ""
    base: float | None = None
    new: float | None = None
    unit: str = OPS
    change: float | None = None
    interval: tuple[float, float] | None = None
    confidence: float | None = None
    pairs: int = 0
    limit: float | None = None
    unseen: float | None = None
    cells: int = 1
    alert: bool = False
    durability: str = ""

    @property
    def timed(self) -> bool:
        """True for the wall time of a cell or an engine."""
        return self.kind in (Kind.CELL, Kind.ENGINE)

    @property
    def judged(self) -> bool:
        """True if a regression could have been found."""
        return self.outcome in _JUDGED

    @property
    def label(self) -> str:
        """The name, for an engine with the number of its cells."""
        if self.cells == 1:
            return self.name
        return f"{self.name}, {numbers.count(self.cells, 'cell')} together"

    @property
    def remark(self) -> str:
        """The slowdown that could have been missed, and the note."""
        hidden = "" if self.unseen is None else unseen(self.unseen)
        return "; ".join(filter(None, (hidden, self.note)))


_Row = TypeVar("_Row", bound=VerdictRow)


def with_judgement(row: _Row, judgement: Judgement, unseen: float | None) -> _Row:
    """Return a row with the values of a judgement; unchanged if it has no pairs.

    In an inconclusive row the slowdown that could have been missed is `unseen` or, if
    larger, the measured slowdown.
    """
    if not judgement.pairs:
        return row
    if row.outcome != Verdict.INCONCLUSIVE:
        unseen = None
    is_rate = row.timed
    return replace(
        row,
        change=judgement.rate_change if is_rate else judgement.time_change,
        interval=judgement.rate_interval if is_rate else judgement.time_interval,
        confidence=judgement.confidence,
        pairs=judgement.pairs,
        unseen=None if unseen is None else max(unseen, judgement.time_change),
    )


def cpu_row(
    name: str,
    judgement: Judgement,
    sides: tuple[float | None, float | None] = (None, None),
    unseen: float | None = None,
    cells: int = 1,
) -> VerdictRow:
    """Return the row of the processor time of a cell, or of an engine over `cells`.

    `sides` are medians in ns per operation.
    """
    row = VerdictRow(
        Kind.CPU,
        f"{name} {CPU_TIME}",
        judgement.verdict,
        judgement.reason,
        *sides,
        NS,
        cells=cells,
    )
    return with_judgement(row, judgement, unseen)


def least_certain(rows: Iterable[_Row]) -> _Row | None:
    """Return the inconclusive row in which the largest slowdown could be missed."""
    unsure = (row for row in rows if row.unseen and row.outcome == Verdict.INCONCLUSIVE)
    return max(unsure, key=lambda row: row.unseen or 0, default=None)


def change_of(row: VerdictRow) -> str:
    """Format the change, "−11.4 %"; a count is exact and has one more digit."""
    if row.change is None:
        return ""
    return numbers.signed(row.change, 2 if row.kind is Kind.COUNT else 1)


def interval_of(row: VerdictRow) -> str:
    """Format the interval of the change, "[−13.1, −10.8] %".

    It is "" if its confidence is 0: a single repetition does not allow an interval.
    """
    if not row.interval or row.confidence == 0:
        return ""
    return numbers.interval(*row.interval)


def figure_of(row: VerdictRow, number: float | None) -> str:
    """Format the value of one side; counts are exact and have all their digits."""
    if number is None:
        return ""
    if row.unit == NS:
        return numbers.seconds(number)
    if row.timed:
        unit = "" if row.unit == OPS else f" {row.unit}"
        return numbers.compact(number) + unit
    return numbers.whole(number) if number == int(number) else f"{number:,.1f}"


def sides_of(row: VerdictRow) -> str:
    """Format both values, "185k → 164k", "" if neither is known."""
    figures = [figure_of(row, side) for side in (row.base, row.new)]
    return " → ".join(figure or "–" for figure in figures) if any(figures) else ""


_COLUMNS: Mapping[str, Callable[[VerdictRow], str]] = {
    "change": change_of,
    "interval": interval_of,
    "pairs": lambda row: str(row.pairs or ""),
    "limit": lambda row: "" if row.limit is None else numbers.about(row.limit),
}


def verdict_table(
    rows: Sequence[VerdictRow],
    sides: tuple[str, str] = ("base", "new"),
    columns: Sequence[str] = ("change", "interval"),
) -> TextTable:
    """Return rows as a table; `sides` are the titles of the columns of values."""
    titles = ("", "cell"), (*sides, *columns), ("note",)
    return TextTable(*titles, tuple(_table_row(row, columns) for row in rows))


def _table_row(row: VerdictRow, columns: Sequence[str]) -> TableRow:
    figures = [figure_of(row, side) for side in (row.base, row.new)]
    figures += [_COLUMNS[column](row) for column in columns]
    said = "; ".join(filter(None, (row.remark, row.durability)))
    cells = (marked(row.outcome), row.label, *figures, said)
    return TableRow(cells, look(row.outcome).style, row.name.split("/")[0])
