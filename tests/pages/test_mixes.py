"""Threads, a writer and types of operations on every page and in every format."""

import csv
import io
from pathlib import Path
from typing import Any

import pytest

from report.exchange import bencher, benchstat, google_benchmark
from report.formats import csv_format, markdown
from report.model.run import Run
from report.page import report_page
from report.trust.judge import load_run
from report.verdict import comparison
from report.words import mixes
from report.words.cell_text import DetailTable
from tests.builders import synthetic_mix, synthetic_run
from tests.support.html_tree import tree


def mix_run(folder: Path, change: Any = None) -> Run:
    plan = synthetic_mix.plan()
    lines = synthetic_mix.lines(plan)
    for line in lines:
        if change:
            change(line)
    return load_run(synthetic_run.write_run(folder, plan, lines))


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return mix_run(tmp_path)


def chart(run: Run, benchmark: str) -> comparison.Chart:
    charts = comparison.compare(run).charts
    return next(c for c in charts if c.benchmark == benchmark)


def column(table: DetailTable | None, title: str) -> list[str]:
    assert table is not None
    at = [name for name, _ in table.columns].index(title)
    return [line.figures[at].text for line in table.lines]


def test_synthetic_lines_are_accepted(run: Run) -> None:
    assert {cell.status for cell in run.cells.values()} == {"ok"}


def test_a_chart_says_once_how_many_threads(run: Run) -> None:
    panel = tree(report_page.render(run)).at("c-mixed-readrandom")
    assert "readrandom, ops/s · 4 threads" in panel.text
    assert panel.text.count("4 threads") == 1


def test_the_figures_of_the_writer_are_under_its_chart(run: Run) -> None:
    table = mixes.writer(chart(run, "readwhilewriting"))
    loop_ns = run.measurements[0].loop_ns
    assert loop_ns is not None
    assert column(table, "requested") == ["unlimited"] * 3
    assert column(table, "writes") == ["200"] * 3
    line = next(
        m
        for m in run.measurements
        if m.cell.benchmark == "readwhilewriting" and m.cell.engine == "alpha"
    )
    due = 200 * 1e9 / (line.figure("loop_ns") or 0)
    shown = float(column(table, "ops/s")[0].replace(",", ""))
    assert shown == pytest.approx(due, rel=0.01)
    assert all(text != "–" for text in column(table, "p50"))
    page = tree(report_page.render(run))
    assert "Concurrent writer" in page.at("c-mixed-readwhilewriting").text
    assert "Concurrent writer" not in page.at("c-mixed-readrandom").text


def test_a_requested_rate_is_reported_as_a_rate(tmp_path: Path) -> None:
    run = mix_run(tmp_path)
    for m in run.measurements:
        if writer := m.record.get("writer"):
            writer["rate_ops_per_sec"] = 2000.0
    table = mixes.writer(chart(run, "readwhilewriting"))
    assert column(table, "requested") == ["2,000"] * 3


def test_each_type_has_its_count_its_share_and_its_latencies(run: Run) -> None:
    tables = {t.caption: t for t in mixes.types(chart(run, "ycsba"))}
    assert list(tables) == ["Operations of type read", "Operations of type update"]
    read = tables["Operations of type read"]
    assert column(read, "operations") == ["503"] * 3
    assert column(read, "share") == ["50 %"] * 3
    assert all(text.endswith(("s", "–")) for text in column(read, "p90"))
    assert mixes.types(chart(run, "readrandom")) == ()


@pytest.mark.parametrize("caption", ["Operations of type update", "Concurrent writer"])
def test_a_percentile_of_too_few_calls_has_the_reason(run: Run, caption: str) -> None:
    """In place of the number, so that its column does not just disappear."""
    of = "ycsba" if "update" in caption else "readwhilewriting"
    tables = [*mixes.types(chart(run, of)), mixes.writer(chart(run, of))]
    table = next(t for t in tables if t and t.caption == caption)
    at = [name for name, _ in table.columns].index("p99")
    assert all(x.figures[at].text == "–" and x.figures[at].note for x in table.lines)
    section = markdown.render(run).partition(f"## {caption}\n")[2]
    head, _, rest = section.partition("\n## ")[0].lstrip().partition("\n")
    assert "| p99 |" in head and "–" in rest.partition("p99: ")[2]


def test_measured_shares_are_next_to_theoretical_ones(run: Run) -> None:
    table = mixes.shares(chart(run, "ycsba"))
    texts = column(table, "hottest 1 % of keys")
    assert texts == ["60.46 %, expected 60.51 %"] * 3
    assert mixes.shares(chart(run, "readrandom")) is None
    assert "60.51 %" in tree(report_page.render(run)).at("c-mixed-ycsba").text


def test_the_zipf_is_labelled(run: Run) -> None:
    panel = tree(report_page.render(run)).at("c-mixed-ycsba")
    assert "Zipf by YCSB's formula (YCSB-exact), θ 0.99" in panel.text
    assert "YCSB-exact" in markdown.render(run)


def test_counters_of_a_driver_are_a_resource(run: Run) -> None:
    assert column(mixes.counters(chart(run, "ycsba")), "busy") == ["7"] * 3
    assert mixes.counters(chart(run, "readrandom")) is None


def test_markdown_has_the_same_tables(run: Run) -> None:
    text = markdown.render(run)
    for phrase in ("Concurrent writer", "Operations of type scan", "60\\.51"):
        assert phrase.replace("\\", "") in text.replace("\\", ""), phrase


def test_the_csv_has_the_new_fields_in_separate_columns(run: Run) -> None:
    rows = list(csv.DictReader(io.StringIO(csv_format.render(run))))
    mixed = next(row for row in rows if row["benchmark"] == "ycsba")
    assert mixed["option_threads"] == "4"
    assert mixed["ops_by_type"] == "read=503; update=497"
    assert mixed["ops_by_thread"] == "250; 250; 250; 250"
    assert mixed["counters"] == "busy=7"
    assert mixed["shares"].startswith("hottest 1 % of keys=0.6046 (0.6051); ")
    assert mixed["digest"] == ""
    writer = next(row for row in rows if row["benchmark"] == "readwhilewriting")
    assert writer["writer_ops"] == "200"
    assert writer["option_key_distribution"] == "ycsb-zipf"


@pytest.mark.parametrize("form", [bencher, benchstat, google_benchmark])
def test_other_formats_have_every_cell(run: Run, form: Any) -> None:
    text = form.render(run)
    for benchmark in synthetic_mix.BENCHMARKS:
        assert benchmark in text, benchmark
