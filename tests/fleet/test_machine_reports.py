"""Verdicts and reports of runs of many machines: pooled, shown apart, at odds."""

from __future__ import annotations

import html
import json
import math
import statistics
from dataclasses import replace
from pathlib import Path

import pytest

from report.formats import ab_markdown, compare_text, markdown
from report.model.ab_run import AbRun
from report.page import ab_page, report_page
from report.stats.two_run_decision import Limits
from report.terms import numbers
from report.verdict.ab_judge import load_ab_run
from report.verdict.ab_verdicts import AbResult, judge
from report.verdict.comparable_run import of_run
from report.verdict.comparison import compare
from report.verdict.machine_ratios import machine_charts, machines_of, split_sentences
from report.verdict.metric import Outcome
from report.verdict.run_changes import NotComparable, compare_sources
from report.words import ab_machines
from tests.builders import ab_rounds, ab_showcase, synthetic_ab
from tests.fleet.many_machines import machine_times as times
from tests.fleet.many_machines import many_machines_run, on_machines
from tests.support.html_tree import Element, tree

pytestmark = pytest.mark.usefixtures("ranked_short_cells")

MACHINES = ["m-a", "m-b", "m-c", "m-d"]
CELL = "alpha/baseline/fillseq"


def test_the_speed_of_machines_cancels(tmp_path: Path) -> None:
    """Each engine's median is of another mixture of machines, but no ratio is."""
    machines = MACHINES * 3
    run = many_machines_run(times(machines, ratios=1.1), machines, tmp_path)
    for chart in compare(run).charts:
        (ranking,) = chart.accepted
        assert ranking.winner == "alpha"
        assert ranking.off_best["beta"] == pytest.approx(1.1, rel=0.02)
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
        assert ranking.off_best["beta"] == pytest.approx(1.1, rel=0.02)
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
    assert "m-z" in "".join(compare_text.differences(refused))


def section(result: AbResult) -> Element:
    """Return the machines on the page of an A/B run."""
    return tree(ab_page.render(result)).at("machines")


def cells_of(table: Element) -> list[list[str]]:
    """Return the texts of a table, row by row, with its titles first."""
    rows = [[c for c in r.every() if c.tag in ("th", "td")] for r in table.all("tr")]
    return [[" ".join(c.raw.split()) for c in row] for row in rows]


def markdown_tables(result: AbResult) -> list[list[list[str]]]:
    """Return the tables of the section "Machines" in Markdown, without rulers."""
    text = ab_markdown.render(result).replace("\\", "")
    blocks = text.partition("## Machines")[2].partition("\nRates")[0].split("\n\n")
    tables = [block.splitlines() for block in blocks if block.startswith("|")]
    return [
        [[c.strip() for c in line[1:-1].split("|")] for line in (head, *rows)]
        for head, _, *rows in tables
    ]


def merged(folder: Path) -> AbResult:
    """Return the result of a folder whose blocks are on three machines, of four."""
    synthetic_ab.write_ab_run(folder, effects={CELL: 0.1})
    plan = json.loads((folder / "ab.json").read_text())
    lines = map(json.loads, (folder / "measurements.jsonl").read_text().splitlines())
    plan["machines"] = {name: {"cpu_model": f"of {name}"} for name in MACHINES}
    placed = [
        {**line, "machine": MACHINES[(line["ab"]["round"] - 1) // 2 % 3]}
        for line in lines
    ]
    return judge(load_ab_run(synthetic_ab.write_documents(folder, plan, placed)))


def change_on(machine: str, result: AbResult) -> str:
    """Return the median change within the confirm rounds of CELL on a machine."""
    sides: dict[int, dict[str, list[float]]] = {}
    for line in result.run.lines:
        place, name = line["ab"], f"{line['engine']}/{line['scenario']}"
        key = f"{name}/{line['benchmark']}", line["machine"], place["stage"]
        if key == (CELL, machine, "confirm"):
            ns = (line["loop_ns"] + line["flush_ns"]) / line["ops"]
            of_round = sides.setdefault(place["round"], {"a": [], "b": []})
            of_round[place["side"]].append(ns)
    logs = [math.log(a / b) for s in sides.values() for a in s["a"] for b in s["b"]]
    return numbers.signed(math.exp(statistics.median(logs)) - 1)


def at_odds(effect: float, opposite: float) -> AbRun:
    """Return a run on five machines; in CELL b differs otherwise on the last."""
    run = ab_showcase.run(effects={CELL: effect})
    return on_machines(run, [*MACHINES, "m-e"], {"m-e": opposite - effect}, CELL)


def test_an_ab_run_of_one_machine_has_no_machines() -> None:
    result = ab_showcase.judged()
    page, text = ab_page.render(result), ab_markdown.render(result)
    assert "machines" not in {e.attrs.get("id") for e in tree(page).every()}
    assert "#machines" not in page and "## Machines" not in text


def test_an_ab_report_has_a_column_for_each_machine(tmp_path: Path) -> None:
    """Of those with rounds of a cell that was confirmed."""
    result = merged(tmp_path)
    about, table = map(cells_of, section(result).all("table"))
    assert about == [
        ["machine", "screen rounds", "confirm rounds", "facts"],
        ["m-a", "12", "5", "of m-a"],
        ["m-b", "12", "4", "of m-b"],
        ["m-c", "0", "6", "of m-c"],
        ["m-d", "0", "0", "of m-d"],
    ]
    titles, row = table
    assert titles[1:] == ["cell", "all machines", "95 % interval", *MACHINES[:3]]
    (regressed,) = result.regressed
    assert regressed.judgement
    assert row[:3] == [
        "▼ regressed",
        CELL,
        numbers.signed(regressed.judgement.rate_change),
    ]
    assert row[4:] == [change_on(machine, result) for machine in MACHINES[:3]]
    page = ab_page.render(result)
    assert 'href="#machines"' in page


def test_the_machines_of_an_ab_run_in_markdown_are_those_of_the_page(
    tmp_path: Path,
) -> None:
    result = merged(tmp_path)
    on_page = [cells_of(table) for table in section(result).all("table")]
    on_page[1][0][0] = ""  # a page says what the outcomes are
    assert markdown_tables(result) == on_page
    assert ab_machines.MACHINE_RULE in ab_markdown.render(result)
    assert ab_machines.MACHINE_RULE in section(result).text.replace("\u00a0", " ")


@pytest.mark.parametrize(("effect", "word"), [(0.1, "faster"), (-0.1, "slower")])
def test_a_machine_with_the_other_direction_is_named(effect: float, word: str) -> None:
    """It changes no verdict."""
    run = at_odds(effect, -effect)
    result, alone = judge(run), judge(ab_rounds.planned_as(run, machines={}))
    assert result.cells == alone.cells
    (changed,) = (*result.regressed, *result.improved)
    assert changed.judgement
    sentence = (
        f"{CELL}: {changed.judgement.verdict} over all machines, but b is {word} on m-e"
    )
    assert sentence in section(result).text
    assert f"- {sentence}\n" in ab_markdown.render(result)


def test_machines_that_may_agree_are_not_said_to_disagree() -> None:
    """The sign of one may be chance."""
    result = judge(at_odds(0.1, -0.02))
    own = cells_of(section(result).all("table")[1])[1][4:]
    assert result.regressed and [text[0] for text in own] == [*"−−−−+"]
    assert "Where machines disagree" not in section(result).text
    assert "but b is" not in ab_markdown.render(result)


def test_a_single_round_of_a_machine_does_not_disagree() -> None:
    """It may be an outlier, and drift does not cancel in it."""
    names = [f"m-{number}" for number in range(10)]
    run = on_machines(ab_showcase.run(effects={CELL: 0.1}), names, {"m-9": -0.3}, CELL)
    result = judge(run)
    about, changes = map(cells_of, section(result).all("table"))
    assert result.regressed and about[-1][:3] == ["m-9", "0", "1"]
    assert changes[1][-1].startswith("+")
    assert "Where machines disagree" not in section(result).text


def test_without_a_confirmed_cell_all_are_folded_away() -> None:
    result = judge(on_machines(ab_showcase.run(), MACHINES))
    (folded,) = section(result).all("details")
    assert folded.all("summary")[0].text.startswith("No cell was confirmed.")
    table = cells_of(folded.all("table")[0])
    assert table[0][4:] == ["m-a", "m-b"]  # which have the four rounds of the screen
    assert [row[1] for row in table[1:]] == [str(cell.name) for cell in result.cells]


def test_many_machines_of_an_ab_run_stay_compact() -> None:
    """Cells share a table if few machines measured them; a screen is not listed."""
    names = [f"m-{number}" for number in range(100, 200)]
    base = ab_showcase.run(effects={str(n): 0.2 for n in ab_showcase.cell_names()[:6]})
    cells = [
        on_machines(base, names[10 * (place // 2) :] + names).cells[place]
        for place in range(6)
    ]
    run = replace(on_machines(base, names), cells=tuple(cells))
    shown = section(judge(run))
    assert [d.all("table") for d in shown.all("details")] == [shown.all("table")[:1]]
    _, *tables = map(cells_of, shown.all("table"))
    assert [len(table) - 1 for table in tables] == [2, 2, 2]
    assert all(len(title) == 4 + 8 for title, *_ in tables)
    flat = ab_showcase.run()
    turned = [
        on_machines(flat, names[place:]).cells[place]
        for place in range(len(flat.cells))
    ]
    screened = judge(replace(on_machines(flat, names), cells=tuple(turned)))
    assert len(section(screened).all("table")) == 1
    assert len(markdown_tables(screened)) == 1
    sentence = "too few screen rounds for a change on each of them."
    assert sentence in section(screened).text
    assert sentence in ab_markdown.render(screened)
