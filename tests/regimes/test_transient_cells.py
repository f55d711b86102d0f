"""What a run with regimes shows: transient cells, the use of the disk, the course."""

import csv
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from report.formats import csv_format
from report.model.run import Run
from report.page.report_page import render
from report.trust.judge import load_run
from report.verdict import comparison, eligibility
from report.words import chart_detail
from report.words.cell_text import DetailTable
from tests.builders import synthetic_records, synthetic_run
from tests.builders.regime_records import REGIME, figures_of

OPS, ENTRY = 1000, 116
SECONDS = {"alpha": 5.0, "beta-tree": 5.2}  # of a loop
LAST_S = {"alpha": 4.8, "beta-tree": 4.0}  # of the last 800 operations, if they differ


def line_of(cell: Any, repetition: int, num: int) -> Any:
    """Return a line of as many reads as updates."""
    options = {**FLAGS, "num": num}
    rate = OPS / SECONDS[cell["engine"]] * (1 + repetition / 1000)
    line = synthetic_records.line(cell, repetition, rate, options=options)
    return line | {
        "ops_by_type": {"read": OPS // 2, "update": OPS // 2},
        **figures_of(OPS, ENTRY),
        "first_call_ns": 70_000,
        "cpu_user_ns": 10**9,
        "cpu_system_ns": 0,
    }


FLAGS = {**synthetic_run.FLAGS, "cache_size": 1000, "reads": OPS}


def run_of(
    folder: Path,
    steady: bool,
    change: Callable[[Any], Any] = lambda line: line,
    **nums: int,
) -> Run:
    """Return a run of mixes, in which the engines have so many entries."""
    rates = ("mixed", "Mixed", {"ycsba": 1000.0})
    plan = synthetic_run.plan(synthetic_run.ENGINES[:2], [rates], flags=FLAGS)
    plan["suite"]["latency_repetitions"] = 0
    by_engine = dict(zip(("alpha", "beta-tree"), nums.values(), strict=True))
    for engine, num in by_engine.items():
        plan["scenarios"][0]["flags"][engine] = {**FLAGS, "num": num}
    plan["scenarios"][0]["regime"] = REGIME | {"steady": steady}
    lines = synthetic_run.lines_of(
        plan, lambda cell, n: change(line_of(cell, n, by_engine[cell["engine"]]))
    )
    run = load_run(synthetic_run.write_run(folder, plan, lines))
    assert {m.status for m in run.measurements} == {"ok"}, run.measurements[0].reason
    return run


def beginning_fast(line: Any) -> Any:
    """Return a line whose first 200 operations took less time than the others.

    Over the whole loop alpha is faster, but in its last four fifths the other is.
    """
    all_s = (line["loop_ns"] + line["flush_ns"]) / 1e9
    first_s = all_s - LAST_S[line["engine"]]
    times_s = [i * all_s / 60 for i in range(61)]
    ops = [round(n) for n in np.interp(times_s, [0, first_s, all_s], [0, 200, OPS])]
    course = dict.fromkeys(line["course"], [0] * len(ops))
    course |= {"elapsed_ns": [round(t * 1e9) for t in times_s], "ops": ops}
    course["device_written_bytes"] = [2 * ENTRY * n for n in ops]
    return line | {"course": course}


def table_of(run: Run, caption: str) -> DetailTable:
    (chart,) = comparison.compare(run).charts
    tables = chart_detail.detail_of(run, chart).resources
    return next(table for table in tables if table.caption == caption)


def texts(table: DetailTable) -> list[list[str]]:
    return [[cell.text for cell in line.figures] for line in table.lines]


@pytest.mark.parametrize("steady", [True, False])
def test_a_transient_cell_is_shown_and_not_ranked(tmp_path: Path, steady: bool) -> None:
    """Only in a scenario that demands a steady state."""
    run = run_of(tmp_path, steady, alpha=50, beta=200)
    reasons = eligibility.unranked(run, "mixed", "ycsba")
    expected = "transient: ended after 2.50 rewrites of the data, before 6"
    assert reasons == ({"beta-tree": expected} if steady else {})
    (chart,) = comparison.compare(run).charts
    assert all(row.summary for row in chart.rows)


@pytest.mark.parametrize("steady", [True, False])
def test_the_rate_is_that_of_the_last_windows(tmp_path: Path, steady: bool) -> None:
    """In the row, the ranking, the table and the raw data, there is one figure."""
    run = run_of(tmp_path, steady, beginning_fast, alpha=50, beta=50)
    assert eligibility.unranked(run, "mixed", "ycsba") == {}
    (chart,) = comparison.compare(run).charts
    rates = {row.engine.name: row.summary.median for row in chart.rows if row.summary}
    (accepted,) = chart.accepted
    assert accepted.medians_ns == {n: pytest.approx(1e9 / r) for n, r in rates.items()}
    assert len(chart.finished) == (0 if steady else 1)
    if not steady:
        assert max(rates, key=lambda n: rates[n]) == "alpha"
        return
    assert rates == {
        name: pytest.approx(800 / last_s, rel=0.01) for name, last_s in LAST_S.items()
    }
    shown = [float(row[3]) for row in texts(table_of(run, "Steady state"))]
    assert shown == [pytest.approx(rate, rel=0.01) for rate in rates.values()]
    for line in csv.DictReader(io.StringIO(csv_format.render(run))):
        assert float(line["ops_per_sec"]) == pytest.approx(rates[line["engine"]], 0.01)


def test_the_tables_have_the_use_of_the_disk_and_the_limits(tmp_path: Path) -> None:
    run = run_of(tmp_path, True, alpha=50, beta=200)
    disk = table_of(run, "The scenario's own disk")
    shown = dict(zip([title for title, _ in disk.columns], texts(disk)[0], strict=True))
    assert shown["reads / op"] == "0.500"
    assert shown["read / op"] == "2 KiB"
    assert (shown["written ×"], shown["accepted ×"]) == ("4.00×", "3.00×")
    assert shown["debt ×"] == "1.00×"
    assert (shown["memory"], shown["page cache"]) == ("5 MiB", "3 MiB")
    assert texts(table_of(run, "Limits"))[0][0] == "device writes"
    steady, transient = texts(table_of(run, "Steady state"))
    assert steady[:3] == ["flat", "10.0", "5.00"]
    assert steady[4] == "4.00×"
    assert transient[2] == "transient"


def test_the_page_draws_the_course(tmp_path: Path) -> None:
    """With the styles of its lines, and open where a steady state is demanded."""
    page = render(run_of(tmp_path / "a", True, alpha=50, beta=200))
    assert page.count("<summary>Course<") == 1
    assert "<details open><summary>Course<" in page
    for title in ("rate", "write amplification", "space amplification", "memory"):
        assert f"<b>{title}</b>" in page
    assert ".lp .ln" in page
    assert "Every process has a disk of its own (1 GiB, ext4, read-ahead 4 KiB)" in page
    closed = render(run_of(tmp_path / "b", False, alpha=100, beta=200))
    assert "<details><summary>Course<" in closed
