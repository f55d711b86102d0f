"""Every published figure is on the page of a suite that names it, whatever was run."""

import re
from pathlib import Path
from typing import Any

import pytest

from report.config import configuration
from report.page import report_page
from report.published import published_figures, published_tables
from report.published.published_tables import NOT_MEASURED_HERE
from report.terms.documents import ResultsError
from report.trust.judge import load_run
from tests.builders import synthetic_records, synthetic_run, synthetic_sweep
from tests.places import ROOT

SOURCES = {
    "kyoto-ceda": 77,
    "leveldb-1.1": 12,
    "rocksdb-vs-leveldb": 13,
    "rocksjava-wiki": 8,
}


def page(folder: Path, plan: dict[str, Any], lines: Any = None) -> str:
    return report_page.render(load_run(synthetic_run.write_run(folder, plan, lines)))


def rows(text: str) -> list[list[str]]:
    """Return the cells of every row that is marked as published, as plain text."""
    html_rows = re.findall(r'<tr class="?pub"?>(.*?)</tr>', text, re.DOTALL)
    cells = [
        re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.DOTALL) for row in html_rows
    ]
    plain = [[re.sub(r"<[^>]+>", "", cell) for cell in row] for row in cells]
    return [[cell.replace("\u00a0", " ") for cell in row] for row in plain]


def figures(row: list[str]) -> list[str]:
    return [cell.replace(",", "") for cell in row]


def as_shown(text: str) -> str:
    return text.replace(",", "") if text else "–"


@pytest.mark.parametrize("name", SOURCES)
def test_all_rows_are_on_a_page_without_measurements_of_them(
    tmp_path: Path, name: str
) -> None:
    plan = synthetic_run.plan()
    plan["suite"]["published"] = name
    table = published_tables.load(name)
    shown = rows(page(tmp_path, plan))
    assert len(table.rows) == len(shown) == SOURCES[name]
    for printed, row in zip(table.rows, shown, strict=True):
        assert NOT_MEASURED_HERE in row[-1]
        for column, cell in zip(table.columns, figures(row)[1:-1], strict=True):
            assert cell == as_shown(printed.printed[column]), (printed, column)


@pytest.mark.slow
def test_all_rows_are_on_the_page_of_their_sweep(tmp_path: Path) -> None:
    plan = synthetic_sweep.plan()
    text = page(tmp_path, plan, synthetic_sweep.lines(plan))
    shown = [figures(row) for row in rows(text)]
    table = published_tables.load("kyoto-ceda")
    assert len(shown) == len(table.rows)
    for printed in table.rows:
        due = {as_shown(printed.printed[column]) for column in table.columns[3:]}
        assert any(due <= set(row) for row in shown), printed


@pytest.mark.slow
def test_a_row_is_next_to_ours_only_where_ours_has_a_rate(tmp_path: Path) -> None:
    plan = synthetic_sweep.plan()
    lines = synthetic_sweep.lines(plan)
    shown = rows(page(tmp_path, plan, lines))
    published = [row for row in shown if row[0].endswith(" published")]
    assert len(published) == 11 + 8  # of a million records, of the two we have
    (tmp_path / "measurements.jsonl").write_text("")
    alone = rows(report_page.render(load_run(tmp_path)))
    assert len(alone) == len(shown)
    marked = [row for row in alone if any(NOT_MEASURED_HERE in cell for cell in row)]
    assert len(marked) == len(alone)


def scale(folder: Path, engines: tuple[str, ...]) -> str:
    """Return a page of synthetic cells under the names of the scale suite."""
    benchmarks = {"fillrandom": 1e5, "readrandom": 2e5}
    engine_rows = [(name, name.title(), "", 1.0) for name in engines]
    scenarios = [("rocksdb-scale-load", "Load", benchmarks)]
    plan = synthetic_run.plan(engine_rows, scenarios)
    plan["suite"]["published"] = ["rocksdb-vs-leveldb"]
    cells = [c for c in plan["cells"] if c["benchmark"] == "fillrandom"]
    lines = [
        synthetic_records.line(cell, repetition, 1e5, 3 * index + repetition)
        for index, cell in enumerate(cells)
        for repetition in (1, 2, 3)
    ]
    plan["suite"]["latency"] = False
    return page(folder, plan, lines)


def test_our_rows_are_under_the_published_row_of_the_same_test(tmp_path: Path) -> None:
    text = scale(tmp_path, ("rocksdb", "leveldb"))
    section = text.partition('id="published-rocksdb-vs-leveldb"')[2]
    ours = [row for row in section.split("<tr")[1:] if "here: " in row]
    rated = [row for row in ours if ">100,000<" in row]
    # Each engine's fillrandom: RocksDB's with its compaction, LevelDB's without.
    assert len(rated) == 2
    assert all(">10.0<" in row and "1,000 entries" in row for row in rated)
    shown = {row[0]: row[-1] for row in rows(text)}
    assert NOT_MEASURED_HERE not in shown["RocksDB 2.7, fillrandom + compact"]
    assert NOT_MEASURED_HERE in shown["RocksDB 2.7, readrandom"]  # not measured yet
    assert NOT_MEASURED_HERE in shown["RocksJava, readrandom"]
    assert "unfinished" in text


def test_a_page_of_rates_lists_what_it_cannot_draw(tmp_path: Path) -> None:
    plan = synthetic_run.plan()
    plan["suite"]["published"] = "leveldb-2011"
    text = page(tmp_path, plan)
    every = list(published_figures.load("leveldb-2011").figures.values())
    listed = rows(text)
    assert len(listed) == len(every) == 52
    for figure, row in zip(every, listed, strict=True):
        assert row[0].endswith(figure.engine)
        assert row[1].startswith(figure.printed_rate)


def test_several_sources_are_on_one_page(tmp_path: Path) -> None:
    plan = synthetic_run.plan()
    plan["suite"]["published"] = ["leveldb-2011", *SOURCES]
    shown = rows(page(tmp_path, plan))
    assert len(shown) == 52 + sum(SOURCES.values())


@pytest.mark.parametrize("name", SOURCES)
def test_mapped_scenarios_are_in_a_suite_that_names_the_page(name: str) -> None:
    """A renamed scenario must not silently leave a published row without ours."""
    config = configuration.load(ROOT / "configs")
    suites = [s for s in config.suites.values() if name in s.published]
    assert suites
    scenarios = [config.scenarios[n] for suite in suites for n in suite.scenarios]
    for row in published_tables.load(name).rows:
        if row.target is None:
            assert name == "kyoto-ceda"  # of record counts that no suite has
            continue
        for benchmark in row.target.benchmarks.values():
            assert any(
                row.target.is_of(scenario.family or scenario.name)
                and benchmark in scenario.benchmarks
                for scenario in scenarios
            ), (row.label, benchmark)
        assert set(row.engines) <= set(config.engines)


def test_a_table_with_missing_keys_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "odd.csv").write_text("engine,x\na,1\n")
    (tmp_path / "odd.toml").write_text(
        'kind = "tests"\ntitle = "t"\nyear = 2000\nsource = "s"\nmachine = "m"\n'
        'notes = []\nlabel = "{title}"\n[versions]\n[engines]\na = []\n'
    )
    with pytest.raises(ResultsError, match=r"odd\.toml: 'titles' is missing"):
        published_tables.load("odd", tmp_path)
    with pytest.raises(ResultsError, match="kind is 'tests', expected 'rates'"):
        published_figures.load("odd", tmp_path)
    with pytest.raises(ResultsError, match="kind is 'rates', expected 'tests'"):
        published_tables.load("leveldb-2011")
