"""Counts of an A/B run as text: rows that the page and the texts share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from report import numbers, titles
from report.regressions import ab_words
from report.regressions.ab_verdicts import AbResult
from report.regressions.counts import LESS, MORE, NOT_GATED, SAME, CountResult
from report.regressions.verdict_words import look, marked
from report.text_table import TableRow, TextTable


@dataclass(frozen=True)
class CountRow:
    """One count of one cell in words."""

    result: CountResult
    title: str
    name: str
    a: str
    b: str
    change: str
    limit: str

    @property
    def changed(self) -> bool:
        """Whether more or less work is done."""
        return self.result.verdict in (MORE, LESS)

    @property
    def gates(self) -> bool:
        """Whether it counts as a regression."""
        return self.result.verdict == MORE


def count_rows(result: AbResult) -> list[CountRow]:
    """Every count; what got more first, then what got less."""
    found = [count for count in result.counts if isinstance(count, CountResult)]
    rank = {MORE: 0, LESS: 1}
    found.sort(key=lambda count: rank.get(count.verdict, 2))
    return [_row(result, count) for count in found]


def counts_told(rows: Sequence[CountRow]) -> str:
    """How many counts there are of each verdict."""
    found = Counter(row.result.verdict for row in rows)
    return ", ".join(f"{found[word]} {word}" for word in (MORE, LESS, SAME, NOT_GATED))


def counts_table(rows: Sequence[CountRow]) -> TextTable:
    """Return counts as a table."""
    titles = ("", "cell", "count"), ("a", "b", "change", "limit"), ("note",)
    return TextTable(*titles, tuple(map(_table_row, rows)))


def _table_row(row: CountRow) -> TableRow:
    told = row.result
    names = (marked(told.verdict), str(told.cell), row.name)
    amounts = (row.a, row.b, row.change, row.limit)
    return TableRow((*names, *amounts, told.reason), look(told.verdict).style)


def _row(result: AbResult, count: CountResult) -> CountRow:
    engine = ab_words.engines_of(result.run)[count.cell.engine]
    place = next(
        (s.title for s in result.run.plan.scenarios if s.name == count.cell.scenario),
        count.cell.scenario,
    )
    return CountRow(
        result=count,
        title=f"{engine.title}, {place}, {titles.title(count.cell.benchmark)}",
        name=count.name.replace("_", " "),
        a=_number(count.a),
        b=_number(count.b),
        change="–" if count.change is None else numbers.signed(count.change, 2),
        limit=_limit(count.threshold),
    )


def _limit(share: float | None) -> str:
    """A limit as a share: "0.2 %", "1.4 %", "120 %"."""
    if share is None:
        return "–"
    return numbers.about(share) if share < 0.995 else numbers.percent(share)


def _number(count: float | None) -> str:
    """A count is exact: all its digits."""
    if count is None:
        return "–"
    return numbers.whole(count) if count == int(count) else f"{count:,.1f}"
