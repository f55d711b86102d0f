"""Counts of an A/B run: rows that the page and the texts share."""

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
    """Return what is said of one count of one cell."""
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
    """Every count; what got more first, then what got less."""
    rank = {MORE: 0, LESS: 1}
    rows = map(count_row, result.counts)
    return sorted(rows, key=lambda row: rank.get(row.outcome, 2))


def changed(rows: Sequence[VerdictRow]) -> list[VerdictRow]:
    """Return those of which more or less work is done."""
    return [row for row in rows if row.outcome in (MORE, LESS)]


def counts_told(rows: Sequence[VerdictRow]) -> str:
    """How many counts there are of each verdict."""
    found = Counter(row.outcome for row in rows)
    return counted(found, (MORE, LESS, SAME, NOT_GATED))


def counts_table(rows: Sequence[VerdictRow]) -> TextTable:
    """Return counts as a table."""
    return verdict_table(rows, ("a", "b"), ("change", "limit"))
