"""A/B runs at the limits of what can be judged, in every format."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from report.formats import ab_csv, ab_markdown, ab_text
from report.page import ab_page
from report.verdict.ab_judge import load_ab_run
from report.verdict.ab_verdicts import AbResult, judge
from tests.builders import synthetic_ab
from tests.builders.synthetic_ab import CELLS
from tests.support.html_tree import tree

EXTREMES: dict[str, dict[str, Any]] = {
    "no noise": {"sigma": 0.0},
    "one round": {"screen_rounds": 1, "confirm_rounds": 4},
    "much noise": {"screen_rounds": 2, "sigma": 0.5},
    "off every axis": {"effects": {CELLS[0]: 6.0, CELLS[1]: -6.0}, "sigma": 0.0},
    "an engine missing": {"missing": {"beta-tree": ("b", "gone")}},
    "everything missing": {
        "missing": {"alpha": ("a", "gone"), "beta-tree": ("b", "gone")}
    },
    "one cell": {"cells": CELLS[:1], "effects": {CELLS[0]: 0.5}},
    "everything failed": {"failures": {c: ("a", "timeout", "slow") for c in CELLS}},
    "stopped before the second stage": {"confirm": [], "effects": {CELLS[0]: 0.3}},
    "everything disturbed": {"disturbed": dict.fromkeys(CELLS, "steal 3.1 %")},
}
NO_NUMBER = re.compile(r"\b(nan|inf|None|Undefined)\b")


@pytest.fixture(params=EXTREMES)
def result(request: pytest.FixtureRequest, tmp_path: Path) -> AbResult:
    options = EXTREMES[request.param]
    return judge(load_ab_run(synthetic_ab.write_ab_run(tmp_path, **options)))


def test_every_format_names_every_cell_and_has_no_odd_number(result: AbResult) -> None:
    page = tree(ab_page.render(result)).at("forest").text
    shown = [line.text for line in ab_text.lines(result, show_all=True)]
    for output in (page, "\n".join(shown), ab_markdown.render(result)):
        assert not NO_NUMBER.search(output)
    for output in ("\n".join(shown), ab_markdown.render(result)):
        assert all(str(cell.name) in output for cell in result.cells)
    assert not NO_NUMBER.search(ab_csv.render(result))
    document = ab_text.ab_document(result)
    assert json.loads(json.dumps(document, allow_nan=False)) == document


def test_the_summary_adds_up(result: AbResult) -> None:
    summary = tree(ab_page.render(result)).all("p", "lede")[0].text
    numbers = [int(n) for n in re.findall(r"(\d+) [a-z]+[,.]", summary)]
    assert sum(numbers[:5]) == len(result.cells)
