"""Titles of charts: unique within a scenario, with the capitals of names."""

from pathlib import Path

import pytest

from report.config.configuration import load
from report.page import report_page
from report.terms import titles
from report.trust.judge import load_run
from report.verdict import comparison
from report.words import sentences
from tests.builders import synthetic_mix, synthetic_records, synthetic_run
from tests.places import ROOT
from tests.support.html_tree import tree


def test_no_two_charts_of_a_shipped_scenario_have_one_title() -> None:
    for scenario in load(ROOT / "configs").scenarios.values():
        named = [titles.title(benchmark) for benchmark in scenario.benchmarks]
        assert len(set(named)) == len(named), (scenario.name, named)


@pytest.mark.parametrize(
    ("title", "sentence"),
    [
        ("Random reads", "random reads"),
        ("YCSB C, read only", "YCSB C, read only"),
        ("Social graph, corrected", "social graph, corrected"),
        ("x", "x"),
        ("", ""),
    ],
)
def test_a_name_keeps_its_capitals_in_a_sentence(title: str, sentence: str) -> None:
    assert titles.inside(title) == sentence


@pytest.mark.usefixtures("ranked_short_cells")
def test_the_cards_keep_them_too(tmp_path: Path) -> None:
    plan = synthetic_mix.plan()
    plan["scenarios"][0]["title"] = "YCSB, its own Zipf"
    lines = synthetic_mix.lines(plan)
    for line in lines:
        if line["benchmark"] == "ycsba" and line["engine"] == "beta-tree":
            line |= synthetic_records.retimed(line, line["loop_ns"] * 9)
    run = load_run(synthetic_run.write_run(tmp_path, plan, lines))
    cards = tree(report_page.render(run)).at("glance").all("article", "card")
    sentence = "Largest gap: YCSB, its own Zipf, YCSB A, update heavy, "
    assert any(sentence in card.text for card in cards)
    chart = next(c for c in comparison.compare(run).charts if c.benchmark == "ycsba")
    assert sentences.chart_name(chart) == "YCSB, its own Zipf, YCSB A, update heavy"
