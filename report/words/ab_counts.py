"""The rows for counts of an A/B run, shared by the page and the text formats."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from report.model.judgement import LESS, MORE, NOT_GATED, SAME
from report.terms.text_table import TextTable
from report.verdict.ab_verdicts import AbResult
from report.verdict.count_verdicts import CountResult
from report.words.verdict_rows import Kind, VerdictRow, verdict_table
from report.words.verdict_words import counted


def count_row(count: CountResult) -> VerdictRow:
    """Return the row of one count of one cell."""
    return VerdictRow(
        Kind.COUNT,
        f"{count.cell} {count.name}",
        count.verdict,
        count.reason,
        count.a,
        count.b,
        count.unit,
        count.change,
        limit=count.threshold,
        alert=count.trouble,
    )


def count_rows(result: AbResult) -> list[VerdictRow]:
    """Return all counts: increased ones first, then decreased ones."""
    rank = {MORE: 0, LESS: 1}
    rows = map(count_row, result.counts)
    return sorted(rows, key=lambda row: rank.get(row.outcome, 2))


def changed(rows: Sequence[VerdictRow]) -> list[VerdictRow]:
    """Return the rows of counts that increased or decreased."""
    return [row for row in rows if row.outcome in (MORE, LESS)]


def counts_summary(rows: Sequence[VerdictRow]) -> str:
    """Return the number of counts by verdict, as text."""
    return counted(Counter(row.outcome for row in rows), (MORE, LESS, SAME, NOT_GATED))


def counts_table(rows: Sequence[VerdictRow]) -> TextTable:
    """Return the rows of counts as a table."""
    return verdict_table(rows, ("a", "b"), ("change", "limit"))
