"""The table of verdict rows, cell by cell."""

from dataclasses import replace

import pytest

from report.model.judgement import Judgement, Verdict
from report.verdict.run_changes import RatePresence
from report.words.verdict_rows import (
    Kind,
    VerdictRow,
    least_certain,
    verdict_table,
    with_judgement,
)
from report.words.verdict_words import counted

CELL = VerdictRow(Kind.CELL, "a/b/c", Verdict.REGRESSED, base=185_000, new=164_000)
UNSURE = replace(CELL, outcome=Verdict.INCONCLUSIVE, note="wide", unseen=0.08)
COUNT = VerdictRow(
    Kind.COUNT, "a/b/c calls", "more", base=1000, new=1234567, unit="calls", change=0.02
)

UP_TO = "a slowdown of up to"


def cells(row: VerdictRow, *columns: str) -> tuple[str, ...]:
    return verdict_table([row], columns=columns).rows[0].cells


@pytest.mark.parametrize(
    ("row", "shown"),
    [
        (CELL, ("▼ regressed", "a/b/c", "185k", "164k", "")),
        (replace(CELL, unit="entries/s"), ("185k entries/s", "164k entries/s")),
        (replace(CELL, base=None), ("a/b/c", "", "164k", "")),
        (COUNT, ("a/b/c calls", "1,000", "1,234,567", "")),
        (replace(COUNT, base=0.5), ("0.5",)),
        (
            replace(UNSURE, unseen=12),
            (f"{UP_TO} ×13.0 could have been missed; wide",),
        ),
        (UNSURE, (f"{UP_TO} 8.0 % could have been missed; wide",)),
        (
            VerdictRow(Kind.ENGINE, "a", Verdict.UNCHANGED, cells=12),
            ("= unchanged", "a, 12 cells together", "", "", ""),
        ),
    ],
)
def test_a_row_has_its_figures_in_their_format(
    row: VerdictRow, shown: tuple[str, ...]
) -> None:
    assert set(shown) <= set(cells(row))


def test_a_column_is_blank_where_it_does_not_apply() -> None:
    columns = ("change", "interval", "pairs", "limit")
    assert cells(CELL, *columns)[4:8] == ("", "", "", "")
    assert cells(replace(COUNT, limit=0.002), *columns)[4:8] == (
        *("+2.00 %", "", "", "0.2 %"),
    )
    single = replace(CELL, change=0.1, interval=(0.1, 0.1), confidence=0.0)
    assert cells(single, "change", "interval")[4:6] == ("+10.0 %", "")


def judged(verdict: Verdict, pairs: int = 8) -> VerdictRow:
    judgement = Judgement(verdict, 0.1, 0.02, 0.2, 0.95, 0.3, 0.7, pairs)
    return with_judgement(replace(CELL, outcome=verdict), judgement, 0.05)


def test_a_row_has_the_figures_of_its_judgement() -> None:
    row = judged(Verdict.INCONCLUSIVE)
    assert row.change == pytest.approx(-0.0952, abs=1e-4)
    assert row.pairs == 8
    assert row.unseen == pytest.approx(0.105, abs=1e-3)  # seen, and not believed
    assert judged(Verdict.REGRESSED).unseen is None
    assert judged(Verdict.INCONCLUSIVE, pairs=0).change is None


def test_the_least_certain_row_is_inconclusive() -> None:
    vague = replace(CELL, outcome="not gated", unseen=0.5)
    assert least_certain([CELL, replace(UNSURE, unseen=0.02), UNSURE, vague]) == UNSURE
    assert least_certain([CELL, vague]) is None


def test_verdicts_are_counted_in_one_sentence() -> None:
    assert counted({"a": 2, "b": 0, "c": 1}, ["b", "a"]) == "0 b, 2 a, 1 c"
    assert counted({"b": 0}) == ""
    assert counted({RatePresence.UNRATED: 7}) == "7 without a rate"
    assert cells(replace(CELL, outcome="unrated"))[0] == "– without a rate"
