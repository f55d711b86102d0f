"""Reports of more engines than a table has columns for: rows in groups."""

import re
from pathlib import Path

import pytest

from report.formats import markdown
from report.model.run import Run
from report.page import report_page
from report.trust.judge import load_run
from report.verdict import comparison
from report.verdict.engine_groups import MOST_COLUMNS, are_many, engine_groups, in_order
from scripts.show.board import Board
from scripts.show.live_table import layout_for, table_lines
from scripts.show.output import UNICODE
from tests.builders import many_engines, synthetic_run


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return many_engines.run(tmp_path_factory.mktemp("many"))


@pytest.fixture(scope="module")
def page(run: Run) -> str:
    return report_page.render(run)


def test_groups_are_in_run_order_with_variants_after_their_engine(run: Run) -> None:
    groups = engine_groups(run.plan.engines)
    titles = [group.title for group in groups]
    assert titles == ["Log-structured merge trees", "B-trees", "Hash tables"]
    names = [engine.name for engine in groups[1].engines]
    assert names[:4] == ["engine-01", "engine-22", "engine-23", "engine-04"]
    ranked = {engine.name for engine in run.plan.engines if engine.ranked}
    assert {engine.name for engine in in_order(run.plan.engines)} == ranked
    assert sum(len(group.engines) for group in groups) == many_engines.COUNT


def test_few_engines_are_columns(tmp_path: Path, run: Run) -> None:
    few = [engine for engine in run.plan.engines if engine.ranked][:MOST_COLUMNS]
    assert not are_many(few)
    assert in_order(few) == few
    text = report_page.render(load_run(synthetic_run.write_run(tmp_path)))
    assert 'class="fold"' not in text and 'name="g"' not in text


def test_a_closed_group_shows_its_fastest_engine(run: Run, page: str) -> None:
    charts = comparison.compare(run).charts
    chart = next(c for c in charts if c.benchmark == "readrandom")
    panel = page.partition(f'id="{chart.anchor}"')[2].partition("</table>")[0]
    leads = re.findall(r'<tr data-e="([a-z0-9-]+)" class="[^"]*\blead\b', panel)
    rates = {r.engine.name: r.summary.median for r in chart.rows if r.summary}
    groups = engine_groups(run.plan.engines)
    assert leads == [
        max((e.name for e in group.engines), key=lambda name: rates.get(name, 0.0))
        for group in groups
    ]


def test_a_group_says_what_it_hides(page: str) -> None:
    glance = page.partition('id="glance"')[2].partition("</table>")[0]
    contents = re.findall(r'<tr class="g">.*?<span class="dim">(.*?)</span>', glance)
    assert contents == ["8 engines", "9 engines", "8 engines, 1 × unsupported"]


def test_every_engine_has_a_row_in_every_table(run: Run, page: str) -> None:
    for table in ("glance", "tails", "space"):
        part = page.partition(f'<section id="{table}"')[2].partition("</table>")[0]
        rows = re.findall(r'<tr data-e="([a-z0-9-]+)"', part)
        assert rows[: many_engines.COUNT] == [
            e.name for e in in_order(run.plan.engines)
        ]


def test_markdown_has_a_row_for_each_engine(run: Run) -> None:
    section = markdown.render(run).partition("## Baseline")[2].partition("\n- ")[0]
    names = re.findall(r"^\| ([^|]*) \|", section, re.M)
    expected = [engine.title for engine in in_order(run.plan.engines)]
    assert names[2 : 2 + many_engines.COUNT] == expected
    assert names[0] == "Engine" and names[-1] == "floor (floor)"


def test_a_terminal_has_a_line_for_each_engine(run: Run) -> None:
    board = Board(run.plan, cells=dict(run.cells))
    layout = layout_for(board, 160)
    assert layout is not None and layout.by_engine
    lines = [line.plain for line in table_lines(board, layout, UNICODE)]
    assert len(lines) == layout.rows
    shown = [line.strip() for line in lines]
    for engine in run.plan.engines:
        assert sum(line.startswith(engine.title) for line in shown) == 1
    assert all(len(line) <= 160 for line in lines)
    assert layout_for(board, 60) is None
