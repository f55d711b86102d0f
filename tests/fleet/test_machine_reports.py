"""Verdicts and reports of runs of many machines: pooled, shown apart, at odds."""

from __future__ import annotations

import html
from pathlib import Path

import pytest

from report.formats import compare_text, markdown
from report.page import report_page
from report.stats.two_run_decision import Limits
from report.verdict.comparable_run import of_run
from report.verdict.comparison import compare
from report.verdict.contest import Outcome
from report.verdict.machine_ratios import machine_charts, machines_of, split_sentences
from report.verdict.run_changes import NotComparable, compare_sources
from tests.fleet.many_machines import machine_times as times
from tests.fleet.many_machines import many_machines_run

pytestmark = pytest.mark.usefixtures("ranked_short_cells")

MACHINES = ["m-a", "m-b", "m-c", "m-d"]


def test_the_speed_of_machines_cancels(tmp_path: Path) -> None:
    """Each engine's median is of another mixture of machines, but no ratio is."""
    machines = MACHINES * 3
    run = many_machines_run(times(machines, ratios=1.1), machines, tmp_path)
    for chart in compare(run).charts:
        (ranking,) = chart.accepted
        assert ranking.winner == "alpha"
        assert ranking.off_best("beta") == pytest.approx(1.1, rel=0.02)
        low, high = ranking.verdict.behind["beta"]
        assert 1.05 < low < 1.11 and 1.09 < high < 1.15


def test_an_engine_is_not_faster_for_missing_on_a_slow_machine(tmp_path: Path) -> None:
    """Its median is, since the others have times of that machine as well."""
    machines = ["m-a", "m-b"] * 6
    slow = times(machines, ratios=1.1)
    for of_engine in slow.values():
        for of_chart in of_engine:
            of_chart[1::2] = [10 * t for t in of_chart[1::2]]
    run = many_machines_run(slow, machines, tmp_path, missing=("beta", "m-b"))
    for chart in compare(run).charts:
        (ranking,) = chart.accepted
        assert ranking.medians_ns["beta"] < ranking.medians_ns["alpha"]
        assert ranking.off_best("beta") == pytest.approx(1.1, rel=0.02)
        assert ranking.winner == "alpha"


def test_the_report_has_a_column_for_each_machine(tmp_path: Path) -> None:
    machines = MACHINES * 3
    run = many_machines_run(times(machines, ratios=2.0), machines, tmp_path)
    of = machine_charts(run, compare(run))[0]
    assert [row.engine.name for row in of.rows] == ["alpha", "beta"]
    assert of.rows[1].by_machine == pytest.approx(
        dict.fromkeys(MACHINES, 2.0), rel=0.03
    )
    page = html.unescape(report_page.render(run))
    text = markdown.render(run)
    for machine in MACHINES:
        assert f'<th scope="col">{machine}</th>' in page
        assert f" {machine} " in text
    tables = text.partition("## Machines")[2].partition("\n## ")[0].split("\n\n")
    rows = [[line.count(" | ") for line in t.splitlines()] for t in tables if "|" in t]
    assert [counts[0] for counts in rows] == [5, 2 + len(MACHINES)]
    assert all(len({*counts}) == 1 for counts in rows)


def test_machines_that_disagree_are_named_and_nobody_wins(tmp_path: Path) -> None:
    machines = [*MACHINES, "m-e"] * 8
    ratios = {**dict.fromkeys(MACHINES, 1.5), "m-e": 0.9}
    run = many_machines_run(times(machines, ratios=ratios), machines, tmp_path)
    compared = compare(run)
    for chart in compared.charts:
        (ranking,) = chart.accepted
        assert ranking.verdict.outcome is Outcome.UNDECIDED
        assert ranking.verdict.doubt == "machines disagree"
        assert ranking.verdict.split == {"beta": ("m-e",)}
    sentence = split_sentences(machine_charts(run, compared))[0]
    assert sentence.endswith(
        "Alpha is first over all machines, but Beta is faster on m-e"
    )
    assert sentence in html.unescape(report_page.render(run))
    assert sentence in markdown.render(run)


def test_a_machine_out_of_line_is_shown_and_not_pooled(tmp_path: Path) -> None:
    machines = MACHINES * 6
    run = many_machines_run(times(machines, noisy="m-b"), machines, tmp_path)
    standings = {of.name: of.is_pooled for of in machines_of(run)}
    assert standings == {"m-a": True, "m-b": False, "m-c": True, "m-d": True}
    cell = run.cell("alpha", "base", "bench0")
    assert cell and len(cell.repetitions) == 18 and len(cell.unpooled) == 6
    assert {m.machine for m in cell.unpooled} == {"m-b"}
    assert not run.is_unfinished
    of = machine_charts(run, compare(run))[0]
    assert of.rows[1].by_machine["m-b"] == pytest.approx(2.0, rel=0.3)
    page, text = html.unescape(report_page.render(run)), markdown.render(run)
    assert "not pooled: its control is out of line" in page
    assert "not pooled: its control is out of line" in text


def test_a_run_of_one_machine_has_no_machines(tmp_path: Path) -> None:
    run = many_machines_run(times(["m-a"] * 3), ["m-a"] * 3, tmp_path)
    assert machine_charts(run, compare(run))[0].rows[1].pooled == pytest.approx(
        2, rel=0.1
    )


def test_runs_of_other_machines_are_not_compared(tmp_path: Path) -> None:
    """Their rates are mixtures: of the same machines, or not comparable."""
    three = many_machines_run(times(MACHINES * 3), MACHINES * 3, tmp_path)
    others = ["m-a", "m-b", "m-c", "m-z"] * 3
    other = many_machines_run(times(others), others, tmp_path)
    same = compare_sources(of_run(three), of_run(three), Limits())
    assert not isinstance(same, NotComparable)
    refused = compare_sources(of_run(three), of_run(other), Limits())
    assert isinstance(refused, NotComparable)
    assert "m-z" in compare_text.refusal(refused)
