"""Engines by their structure, for reports that have more of them than columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from report.model.plan import Engine
from report.terms import numbers
from report.verdict.chart_row import Row
from report.verdict.comparison import Chart
from report.words.overview import MatrixCell, MatrixRow

MOST_COLUMNS = 8

_TITLES = {
    "lsm": "Log-structured merge trees",
    "btree": "B-trees",
    "hash": "Hash tables",
    "": "Other engines",
}


@dataclass(frozen=True)
class EngineGroup:
    """The ranked engines of one structure, each followed by its variants."""

    title: str
    engines: tuple[Engine, ...]

    def rows(self, chart: Chart) -> tuple[Row, ...]:
        """Return their rows in a chart."""
        return tuple(chart.row_of(engine) for engine in self.engines)

    def fastest(self, chart: Chart) -> Row | None:
        """Return the row with the greatest rate; None if no row has one."""
        rated = ((r.summary.median, r) for r in self.rows(chart) if r.summary)
        return max(rated, key=lambda pair: pair[0], default=(0.0, None))[1]

    def least(self, entry: MatrixRow) -> MatrixCell | None:
        """Return the cell of a matrix with the least value; None if none has one."""
        names = {engine.name for engine in self.engines}
        cells = [(c.number, c) for c in entry.spots if c.engine.name in names]
        valued = ((number, cell) for number, cell in cells if number is not None)
        return min(valued, key=lambda pair: pair[0], default=(0.0, None))[1]

    def contents(self, charts: Iterable[Chart]) -> str:
        """Return the number of engines, and of cells without a rate by their status."""
        rows = [row for chart in charts for row in self.rows(chart)]
        unrated = Counter(row.status for row in rows if row.summary is None)
        texts = [f"{number} × {status}" for status, number in unrated.items()]
        return ", ".join([numbers.count(len(self.engines), "engine"), *texts])


def engine_groups(engines: Iterable[Engine]) -> tuple[EngineGroup, ...]:
    """Return the groups in the order of their first engines.

    Returns () if the ranked engines are few enough for a column each.
    """
    ranked = [engine for engine in engines if engine.ranked]
    if len(ranked) <= MOST_COLUMNS:
        return ()
    names = {engine.name for engine in ranked}
    members: dict[str, list[Engine]] = {}
    for engine in ranked:
        if engine.variant_of not in names:
            variants = (e for e in ranked if e.variant_of == engine.name)
            members.setdefault(engine.group, []).extend((engine, *variants))
    return tuple(
        EngineGroup(_TITLES.get(word, word), tuple(found))
        for word, found in members.items()
    )


def in_order(engines: Iterable[Engine]) -> list[Engine]:
    """Return the ranked engines in the order in which reports list them."""
    ranked = [engine for engine in engines if engine.ranked]
    groups = engine_groups(ranked)
    return [engine for group in groups for engine in group.engines] or ranked
