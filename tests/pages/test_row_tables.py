"""Charts that are measured with other rows are a table of their own."""

from dataclasses import replace
from pathlib import Path

import pytest

from report.formats import markdown
from report.model.plan import Plan
from report.model.run import Run
from report.page import identity, report_page
from report.trust.judge import load_run
from report.verdict import comparison
from report.verdict.engine_groups import row_sets
from report.words import overview, provenance, usage
from report.words.provenance import whose_settings
from scripts.show.board import Board
from scripts.show.live_table import layout_for, table_lines
from scripts.show.output import UNICODE
from tests.builders import many_engines, simple_plans, synthetic_run
from tests.support.html_tree import Element, tree

PUBLISHED = ["Alpha", "Beta Tree", "Gamma"]
ADVISED = ["Gamma", "Alpha, as advised"]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return many_engines.two_tables(tmp_path_factory.mktemp("tables"))


@pytest.fixture(scope="module")
def page(run: Run) -> Element:
    return tree(report_page.render(run))


def columns(table: Element) -> list[Element]:
    """Return the heads of a table's columns, except the first."""
    return table.all("thead")[0].all("th")[1:]


@pytest.mark.parametrize("part", ["glance", "tails", "space"])
def test_each_matrix_has_its_own_columns(page: Element, part: str) -> None:
    tables = page.at(part).all("table")
    titles = [[str(h.parts[1]).strip() for h in columns(table)] for table in tables]
    assert titles == [PUBLISHED, ADVISED]
    regions = [
        region.attrs["aria-label"] for region in page.at(part).all("div", "scroll")
    ]
    assert len({*regions}) == 2
    assert "not planned" not in page.text


def test_heads_say_whose_settings_a_row_has(page: Element) -> None:
    first, second = map(columns, page.at("glance").all("table"))
    assert {head.text.rpartition(" 1.0 ")[2] for head in first} == {"like 2011"}
    gamma, alpha = (head.text for head in second)
    assert gamma.endswith("defaults")
    assert alpha.count("advised") == 1


def test_every_word_about_settings_is_explained(run: Run, page: Element) -> None:
    for text in (page.at("glance").text, markdown.render(run)):
        assert all(f"“{word}”" in text for word in ("like", "defaults"))
        assert "“partly replaced”" not in text


def test_settings_that_are_replaced_are_named() -> None:
    plan: Plan = simple_plans.plan([simple_plans.engine("one")])
    scenario = replace(
        plan.scenarios[0],
        flags={"one": {"map_size": 9}},
        settings_of={"one": "replaced"},
        replaced={"one": {"map_size": 7}},
    )
    text = provenance.replaced(plan, scenario)
    assert "One" in text and "map_size=9" in text and "7" in text
    unknown = replace(scenario, replaced={})
    assert "map_size" not in provenance.replaced(plan, unknown)
    assert not provenance.replaced(plan, plan.scenarios[0])


@pytest.mark.parametrize(
    ("anchor", "expected"),
    [
        ("c-baseline-readseq", ["alpha", "beta-tree", "gamma"]),
        ("c-advised-readseq", ["gamma", "alpha-advised"]),
    ],
)
def test_a_chart_has_only_its_own_rows(
    page: Element, anchor: str, expected: list[str]
) -> None:
    rows = page.at(anchor).all("table", "bn")[0].all("tr")
    assert [row.attrs["data-e"] for row in rows if "data-e" in row.attrs] == expected


def test_tables_of_markdown_have_no_empty_columns(run: Run) -> None:
    text = markdown.render(run)
    assert "not planned" not in text
    rows = [line for line in text.splitlines() if line.startswith("| Benchmark")]
    assert "Beta Tree (like 2011)" in rows[0] and "as advised" not in rows[0]
    assert "Beta Tree" not in rows[-1] and "Gamma (defaults)" in rows[-1]


def test_the_table_of_the_terminal_has_two_heads(run: Run) -> None:
    board = Board(run.plan, cells=dict(run.cells))
    layout = layout_for(board, 100)
    assert layout is not None
    texts = [line.plain for line in table_lines(board, layout, UNICODE)]
    assert len(texts) == layout.rows
    first, second = (text for text in texts if "Gamma" in text)
    assert "Beta" in first and "Beta" not in second
    assert not any("  ." in text for text in texts)


def test_the_marks_of_one_table_differ(run: Run) -> None:
    looks = identity.looks_of(run.plan)
    for rows in row_sets(run.plan):
        marks = [looks[e.name] for e in rows.engines if e.ranked]
        assert len({*marks}) == len(marks)


def test_what_each_row_had_is_next_to_the_charts(run: Run, page: Element) -> None:
    charts = comparison.compare(run).charts
    text = usage.memory_given([c for c in charts if c.scenario.name == "baseline"])
    assert "none: it maps (Gamma)" in text and "4 MiB (Alpha, Beta Tree)" in text
    assert "2 MiB (Gamma)" in text
    assert text in page.at("s-baseline").text.replace("\u00a0", " ")
    assert text in markdown.render(run)


def test_tables_are_named_after_what_their_rows_share(run: Run, tmp_path: Path) -> None:
    tables = overview.row_tables(run.plan, comparison.compare(run))
    titles = ["Like 2011", "Defaults, as advised"]
    assert [table.title for table in tables] == titles
    older = load_run(synthetic_run.write_run(tmp_path))  # which has no labels
    (table,) = overview.row_tables(older.plan, comparison.compare(older))
    assert (table.title, table.labels) == ("", {})


def test_the_settings_of_another_engine_are_named_after_it() -> None:
    one = simple_plans.engine("one")
    plan: Plan = simple_plans.plan([one])
    codes = "one", "other", "advised", ""
    words = [whose_settings(plan, one, code) for code in codes]
    assert words == ["settings of One", "settings of other", "as advised", ""]


@pytest.mark.parametrize(
    ("name", "twin_of", "code", "expected"),
    [
        ("leveldb", "", "leveldb-2011", "settings of 2011"),
        ("leveldb-control", "leveldb", "leveldb-2011", "settings of 2011"),
        ("lmdb", "", "leveldb-2011", "like 2011"),
        ("leveldbjni", "", "leveldb-1.1", "settings of 2011"),
        ("sqlite3", "", "leveldb-1.1", "like 2011"),
        ("treedb", "", "kyoto-ceda", "settings of 2015"),
        ("leveldb", "", "kyoto-ceda", "like 2015"),
        ("leveldb", "", "replaced", "partly replaced"),
    ],
)
def test_an_engine_without_a_published_row_has_only_the_sizes(
    name: str, twin_of: str, code: str, expected: str
) -> None:
    engine = replace(simple_plans.engine(name), twin_of=twin_of)
    plan: Plan = simple_plans.plan([engine])
    assert whose_settings(plan, engine, code) == expected
