"""What a run with regimes shows: transient cells, the use of the disk, the course."""

from pathlib import Path
from typing import Any

import pytest

from report.model.run import Run
from report.page.report_page import render
from report.trust.judge import load_run
from report.verdict import comparison, eligibility
from report.words import chart_detail
from report.words.cell_text import DetailTable
from tests.builders import synthetic_records, synthetic_run
from tests.builders.regime_records import REGIME, figures_of

OPS, ENTRY = 1000, 116


def line_of(cell: Any, repetition: int, num: int) -> Any:
    """Return a line of as many reads as updates, in five seconds."""
    options = {**FLAGS, "num": num}
    rate = OPS / 5.0 * (1 + repetition / 1000)
    line = synthetic_records.line(cell, repetition, rate, options=options)
    return line | {
        "ops_by_type": {"read": OPS // 2, "update": OPS // 2},
        **figures_of(OPS, ENTRY),
        "first_call_ns": 70_000,
        "cpu_user_ns": 10**9,
        "cpu_system_ns": 0,
    }


FLAGS = {**synthetic_run.FLAGS, "cache_size": 1000, "reads": OPS}


def run_of(folder: Path, steady: bool, **nums: int) -> Run:
    """Return a run of mixes, in which the engines have so many entries."""
    rates = ("mixed", "Mixed", {"ycsba": 1000.0})
    plan = synthetic_run.plan(synthetic_run.ENGINES[:2], [rates], flags=FLAGS)
    plan["suite"]["latency_repetitions"] = 0
    by_engine = dict(zip(("alpha", "beta-tree"), nums.values(), strict=True))
    for engine, num in by_engine.items():
        plan["scenarios"][0]["flags"][engine] = {**FLAGS, "num": num}
    plan["scenarios"][0]["regime"] = REGIME | {"steady": steady}
    lines = synthetic_run.lines_of(
        plan, lambda cell, n: line_of(cell, n, by_engine[cell["engine"]])
    )
    run = load_run(synthetic_run.write_run(folder, plan, lines))
    assert {m.status for m in run.measurements} == {"ok"}, run.measurements[0].reason
    return run


def table_of(run: Run, caption: str) -> DetailTable:
    (chart,) = comparison.compare(run).charts
    tables = chart_detail.detail_of(run, chart).resources
    return next(table for table in tables if table.caption == caption)


def texts(table: DetailTable) -> list[list[str]]:
    return [[cell.text for cell in line.figures] for line in table.lines]


@pytest.mark.parametrize("steady", [True, False])
def test_a_transient_cell_is_shown_and_not_ranked(tmp_path: Path, steady: bool) -> None:
    """Only in a scenario that demands a steady state."""
    run = run_of(tmp_path, steady, alpha=100, beta=200)
    reasons = eligibility.unranked(run, "mixed", "ycsba")
    expected = "transient: ended after 2.50 rewrites of the data, before 3"
    assert reasons == ({"beta-tree": expected} if steady else {})
    (chart,) = comparison.compare(run).charts
    assert all(row.summary for row in chart.rows)


def test_the_tables_have_the_use_of_the_disk_and_the_limits(tmp_path: Path) -> None:
    run = run_of(tmp_path, True, alpha=100, beta=200)
    disk = table_of(run, "The scenario's own disk")
    shown = dict(zip([title for title, _ in disk.columns], texts(disk)[0], strict=True))
    assert shown["reads / op"] == "0.500"
    assert shown["read / op"] == "2 KiB"
    assert (shown["written ×"], shown["accepted ×"]) == ("4.00×", "3.00×")
    assert shown["debt ×"] == "1.00×"
    assert (shown["memory"], shown["page cache"]) == ("5 MiB", "3 MiB")
    assert texts(table_of(run, "Limits"))[0][0] == "device writes"
    steady, transient = texts(table_of(run, "Steady state"))
    assert steady[:3] == ["flat", "5.00", "1.75"]
    assert steady[4] == "4.00×"
    assert transient[2] == "transient"


def test_the_page_draws_the_course(tmp_path: Path) -> None:
    """With the styles of its lines, and open where a steady state is demanded."""
    page = render(run_of(tmp_path / "a", True, alpha=100, beta=200))
    assert page.count("<summary>Course<") == 1
    assert "<details open><summary>Course<" in page
    for title in ("rate", "write amplification", "space amplification", "memory"):
        assert f"<b>{title}</b>" in page
    assert ".lp .ln" in page
    assert "Every process has a disk of its own (1 GiB, ext4, read-ahead 4 KiB)" in page
    closed = render(run_of(tmp_path / "b", False, alpha=100, beta=200))
    assert "<details><summary>Course<" in closed
