"""Text tables in each format, with any content of their cells."""

import csv
import io

import pytest

from report.page import frame
from report.terms.text_table import TableRow, TextTable, csv_text, visible
from tests.support.html_tree import tree

HOSTILE = "a | b\n<b>\x1b[31m \u202e\ud7ff"


def table(*rows: tuple[str, ...]) -> TextTable:
    listed = tuple(TableRow(row, "improved") for row in rows)
    return TextTable(("cell",), ("rate",), ("note",), listed)


def test_figures_end_and_words_begin_in_one_column() -> None:
    head, *rows = table(("a", "9.99M", "why"), ("longer", "7", "")).lines()
    assert (head.text, head.style) == ("cell     rate  note", "dim")
    assert [line.text for line in rows] == ["a       9.99M  why", "longer      7"]
    assert {line.style for line in rows} == {"improved"}


def test_without_rows_there_is_no_head_either() -> None:
    assert table().lines() == []


def test_a_hostile_cell_stays_in_its_row_of_the_terminal() -> None:
    _, row = table((HOSTILE, "1", "end")).lines()
    assert row.text == "a | b <b>?[31m ??  " + "   1  end"


def test_a_hostile_cell_stays_in_its_cell_of_markdown() -> None:
    lines = table((HOSTILE, "1", "end")).markdown().splitlines()
    assert lines[1] == "| --- | ---: | --- |"
    assert lines[2:] == ["| a \\| b \\<b\\>?\\[31m ?? | 1 | end |"]


def test_a_hostile_cell_stays_in_its_cell_of_a_page() -> None:
    row = TableRow(("▼ worse", HOSTILE, "1", ""), "regressed", "alpha")
    text_table = TextTable(("", "cell"), ("rate",), ("note",), (row,))
    macros = '{% import "macros.html.j2" as m with context %}'
    table = macros + '{{ m.text_table(t, "T", "plain") }}'
    text = frame.environment().from_string(table).render(t=text_table)
    head, body = tree(text).all("tr")
    assert [th.attrs["scope"] for th in head.all("th")] == ["col"] * 4
    assert [th.classes for th in head.all("th")] == [["l"], [], [], ["l"]]
    assert body.attrs["data-e"] == "alpha"
    [name], [verdict, rate, note] = body.all("th"), body.all("td")
    assert name.attrs["scope"] == "row" and "a | b <b>" in name.text
    assert [span.attrs["class"] for span in verdict.all("span", "vd")] == [
        "vd regressed"
    ]
    assert [cell.classes for cell in (verdict, rate, note)] == [["l"], [], ["l"]]
    assert (rate.text, note.text) == ("1", "")


FORMULAS = ("=1+1", "+1", "-1", "@x", "＝1", "＋1", "－1", "＠x")


@pytest.mark.parametrize("text", FORMULAS)
@pytest.mark.parametrize("before", ["", " ", "\t", "\n", "\r\n", "loading\r"])
def test_no_text_of_a_csv_is_a_formula(text: str, before: str) -> None:
    """Wherever a reader thinks that a row or a field begins."""
    content = csv_text(["a", "b"], [[f"{before}{text}", -1.5]])
    assert content.count("\n") == 2 and "\r" not in content and "\t" not in content
    read = list(csv.reader(io.StringIO(content, "")))
    shown = f"'{text}" if not before.strip() else f"loading {text}"
    assert read == [["a", "b"], [shown, "-1.5"]]


@pytest.mark.parametrize("char", ["\u2028", "\u2029", "\ud800", "\ue000", "\x85"])
def test_what_steers_or_is_not_seen_is_replaced(char: str) -> None:
    assert visible(f"a{char}\u00a0b") == "a?\u00a0b"
