"""The class of durability and its proof next to each write rate."""

from __future__ import annotations

import csv
import io
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from report.formats import (
    ab_csv,
    ab_markdown,
    ab_text,
    compare_documents,
    compare_text,
    csv_format,
    markdown,
)
from report.page import ab_page, report_page
from report.terms.class_stamp import (
    CLASSES,
    EXPLAINED_IN,
    KnownClass,
    stamp_of,
    stamp_of_sides,
    stamps_of,
)
from report.trust.judge import load_run
from report.verdict import ab_verdicts
from report.verdict.ab_judge import load_ab_run
from tests.builders import synthetic_ab, synthetic_run, two_runs

Document = dict[str, Any]

NEWEST, NOTHING = "may lose the newest", "loses nothing acknowledged"
PROVED = KnownClass(NEWEST, "D2", False, "proved", 1412, "20260101-000000-durability")
TORN = replace(PROVED, promise=NOTHING, name="D1", may_be_corrupt=True, states=6)
TORN = replace(TORN, proof="contradicted")
SHOWN = "D2 proved (1,412 states)"
MEANING = dict(CLASSES)["D2"]


def line(promise: str | None, **options: Any) -> Document:
    return {"promise": promise, "options": {"durability": "buffered", **options}}


@pytest.mark.parametrize(
    ("promise", "text"),
    [
        (NOTHING, "D3 as documented"),
        (NEWEST, "D2 as documented"),
        ("may be corrupt", "D1x as documented"),
        (None, ""),
    ],
)
def test_without_a_passport_the_class_is_the_documented_one(
    promise: str | None, text: str
) -> None:
    assert stamp_of(line(promise), {}) == text


@pytest.mark.parametrize(
    ("types", "has_class"),
    [
        ({"read": 1000}, False),
        ({"scan": 990, "missing": 10, "update": 0}, False),
        ({"read": 999, "update": 1}, True),
        ({"delete": 5}, True),
        (None, True),
    ],
)
def test_a_mix_has_a_class_only_if_it_wrote(
    types: dict[str, int] | None, has_class: bool
) -> None:
    assert bool(stamp_of({**line(NEWEST), "ops_by_type": types}, {})) == has_class


def test_a_passport_counts_for_its_own_level_only() -> None:
    known = {"buffered": PROVED, "durable": TORN}
    assert stamp_of(line(NEWEST), known) == SHOWN
    assert (
        stamp_of(line(NOTHING, sync=True), known)
        == "D1x found, contradicts D3 (6 states)"
    )
    durable = line(NOTHING, durability="durable")
    assert stamp_of(durable, known) == "D1x found, contradicts D3 (6 states)"
    consistent = line(NEWEST, durability="consistent")
    assert stamp_of(consistent, known) == "D2 as documented"


def test_a_passport_of_another_promise_is_of_other_settings() -> None:
    assert stamp_of(line("may be corrupt"), {"buffered": PROVED}) == "D1x as documented"


@pytest.mark.parametrize(
    ("promise", "found", "text"),
    [
        ("may be corrupt", "D2", "D1x as documented"),
        (NEWEST, "D3", "D2 as documented"),
        (NEWEST, "D2", SHOWN),
        (NEWEST, "D0", "D0 found, D2 documented (1,412 states)"),
    ],
)
def test_the_lower_class_counts_and_only_a_documented_one_is_proved(
    promise: str, found: str, text: str
) -> None:
    known = replace(PROVED, promise=promise, name=found)
    assert stamp_of(line(promise), {"buffered": known}) == text


def test_a_read_has_no_class_whatever_is_known() -> None:
    assert stamp_of(line(None), {"buffered": PROVED}) == ""


def test_equal_stamps_are_one() -> None:
    lines = [line(NEWEST), line(NEWEST), line(NOTHING)]
    assert stamps_of(lines[:2], {}) == "D2 as documented"
    assert stamps_of(lines, {}) == "D2 as documented, D3 as documented"
    assert stamp_of_sides({"a": "D2", "b": "D2"}) == "D2"
    assert stamp_of_sides({"a": "D2", "b": "D3"}) == "a: D2, b: D3"
    assert stamp_of_sides({"a": "", "b": "D3"}) == "D3"
    assert stamp_of_sides({"a": ""}) == ""


def proved(document: Document) -> None:
    """Give the first engine of a plan a passport."""
    document["engines"][0]["passports"] = {"buffered": asdict(PROVED)}


def test_a_plan_keeps_its_passports(tmp_path: Path) -> None:
    document = synthetic_run.plan()
    proved(document)
    synthetic_run.write_run(tmp_path, document)
    alpha, beta, *_ = load_run(tmp_path).plan.engines
    assert (alpha.passports, beta.passports) == ({"buffered": PROVED}, {})


def test_each_write_rate_of_a_report_has_its_class(tmp_path: Path) -> None:
    document = synthetic_run.plan()
    proved(document)
    run = load_run(synthetic_run.write_run(tmp_path, document))
    rows = list(csv.DictReader(io.StringIO(csv_format.render(run))))
    for row in rows:
        if row["status"] == "ok":
            engine = SHOWN if row["engine"] == "alpha" else "D2 as documented"
            is_write = row["benchmark"].startswith("fill")
            assert row["durability_class"] == (engine if is_write else "")
    page, text = report_page.render(run), markdown.render(run)
    assert "D2 as documented" in page and SHOWN in page.replace(
        "\N{NO-BREAK SPACE}", " "
    )
    assert f"- Alpha, fillseq: {SHOWN}" in text
    assert "- Beta Tree, fillseq: D2 as documented" in text
    assert f"- Alpha, readseq: {SHOWN}" not in text
    assert MEANING in page and MEANING in text and PROVED.run in text


def test_a_comparison_has_the_class_of_both_sides(tmp_path: Path) -> None:
    base = two_runs.run(tmp_path / two_runs.BASE, two_runs.unchanged)
    slower = {two_runs.ALPHA: two_runs.scaled(0.5), two_runs.BETA: two_runs.scaled(0.5)}
    new = two_runs.run(tmp_path / two_runs.NEW, proved, slower)
    compared = two_runs.compared(base, new)
    shown = compare_text.markdown(compared)
    table = [text for text in shown.splitlines() if text.startswith("|")]
    table = [text for text in table if " cpu" not in text]
    (write,) = (text for text in table if two_runs.ALPHA in text)
    assert f"base: D2 as documented, new: {SHOWN}" in write
    (read,) = (text for text in table if two_runs.BETA in text)
    assert "D2" not in read
    assert MEANING in shown
    told = "\n".join(line.text for line in compare_text.lines(compared))
    assert EXPLAINED_IN in told
    cells = {
        cell["cell"]: cell for cell in compare_documents.document(compared, 1)["cells"]
    }
    assert cells[two_runs.ALPHA]["new"]["durability_class"] == SHOWN
    assert cells[two_runs.BETA]["new"]["durability_class"] is None
    rows = csv.DictReader(io.StringIO(compare_documents.csv_document(compared)))
    sides = {
        r["cell"]: (r["base_durability_class"], r["new_durability_class"]) for r in rows
    }
    assert sides[two_runs.ALPHA] == ("D2 as documented", SHOWN)
    assert sides[two_runs.BETA] == ("", "")


def test_an_ab_run_has_the_class_of_each_write(tmp_path: Path) -> None:
    document = synthetic_ab.ab_plan()
    for side in document["sides"].values():
        proved(side)
    lines = synthetic_ab.ab_lines(document)
    synthetic_ab.write_documents(tmp_path, document, lines)
    result = ab_verdicts.judge(load_ab_run(tmp_path))
    classes = {
        f"{cell['engine']}/{cell['benchmark']}": cell["durability_class"]
        for cell in ab_text.ab_document(result)["cells"]
    }
    assert classes == {
        "alpha/readrandom": None,
        "alpha/fillseq": SHOWN,
        "alpha/fillrandom": SHOWN,
        "beta-tree/readrandom": None,
        "beta-tree/fillseq": "D2 as documented",
        "beta-tree/fillrandom": "D2 as documented",
    }
    assert ab_markdown.render(result).count(SHOWN) == 2
    assert MEANING in ab_markdown.render(result)
    told = "\n".join(line.text for line in ab_text.lines(result, show_all=True))
    assert EXPLAINED_IN in told
    rows = list(csv.DictReader(io.StringIO(ab_csv.render(result))))
    assert [row["durability_class"] for row in rows].count(SHOWN) == 2
    page = ab_page.render(result).replace("\N{NO-BREAK SPACE}", " ")
    assert page.count(f"<dt>durability</dt><dd>{SHOWN}") == 2
    assert page.count(f", {SHOWN}</small>") == 2
    assert page.count(MEANING) == 1 and PROVED.run in page
