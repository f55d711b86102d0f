"""What a run with regimes shows: transient cells, the use of the disk, the course."""

import csv
import io
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from report.exchange.exported_cells import samples
from report.formats import csv_format
from report.model.run import Run
from report.page.report_page import render
from report.trust.judge import load_run
from report.verdict import comparison, eligibility
from report.verdict.ab_judge import load_ab_run
from report.words import chart_detail
from report.words import remarks as told
from report.words.cell_text import DetailTable
from tests.builders import synthetic_ab, synthetic_records, synthetic_run
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


def mixed_plan(steady: bool, nums: Mapping[str, int]) -> dict[str, Any]:
    """Return the plan of a mix, in which the engines have so many entries."""
    rates = ("mixed", "Mixed", {"ycsba": 1000.0})
    engines = synthetic_run.ENGINES[: len(nums)]
    plan = synthetic_run.plan(engines, [rates], flags=FLAGS)
    plan["suite"]["latency_repetitions"] = 0
    for engine, num in nums.items():
        plan["scenarios"][0]["flags"][engine] = {**FLAGS, "num": num}
    plan["scenarios"][0]["regime"] = REGIME | {"steady": steady}
    return plan


def run_of(
    folder: Path,
    steady: bool,
    change: Callable[[Any], Any] = lambda line: line,
    **nums: int,
) -> Run:
    """Return a run of mixes, in which the engines have so many entries."""
    by_engine = dict(zip(("alpha", "beta-tree"), nums.values(), strict=True))
    plan = mixed_plan(steady, by_engine)
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


def late_in(*repetitions: int) -> Callable[[Any], Any]:
    """Return a change: in these repetitions, alpha slows down before its loop ends."""

    def change(line: Any) -> Any:
        if line["engine"] != "alpha" or line["repetition"] not in repetitions:
            return beginning_fast(line)
        all_s = (line["loop_ns"] + line["flush_ns"]) / 1e9
        times_s = [i * all_s / 60 for i in range(61)]
        ops = [
            round(n) for n in np.interp(times_s, [0, all_s / 2, all_s], [0, 700, OPS])
        ]
        course = beginning_fast(line)["course"] | {"ops": ops}
        course["device_written_bytes"] = [2 * ENTRY * n for n in ops]
        return line | {"course": course}

    return change


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
    shown = [float(row[4]) for row in texts(table_of(run, "Steady state"))]
    assert shown == [pytest.approx(rate, rel=0.01) for rate in rates.values()]
    for line in csv.DictReader(io.StringIO(csv_format.render(run))):
        assert float(line["ops_per_sec"]) == pytest.approx(rates[line["engine"]], 0.01)


def test_most_repetitions_decide_that_a_cell_is_steady(tmp_path: Path) -> None:
    """Then all have the rate of their last windows, and the row says how many are."""
    run = run_of(tmp_path, True, late_in(2), alpha=50, beta=50)
    assert eligibility.unranked(run, "mixed", "ycsba") == {}
    (chart,) = comparison.compare(run).charts
    alpha = next(row for row in chart.rows if row.engine.name == "alpha")
    assert alpha.summary and alpha.summary.count == 3
    assert alpha.summary.median == pytest.approx(800 / LAST_S["alpha"], rel=0.01)
    assert alpha.summary.low < 0.97 * alpha.summary.median
    assert "2 of 3 repetitions were steady" in told.notes(alpha)
    (accepted,) = chart.accepted
    assert set(accepted.medians_ns) == {"alpha", "beta-tree"}
    assert texts(table_of(run, "Steady state"))[0][3] == "2 of 3"
    for cell in samples(run):
        row = next(row for row in chart.rows if row.engine.name == cell.cell.engine)
        assert row.summary and min(cell.rates) == pytest.approx(row.summary.low)


def test_most_repetitions_decide_that_a_cell_is_transient(tmp_path: Path) -> None:
    """Then all rates are those of whole loops."""
    run = run_of(tmp_path, True, late_in(1, 2), alpha=50, beta=50)
    reasons = eligibility.unranked(run, "mixed", "ycsba")
    assert list(reasons) == ["alpha"] and "still changed" in reasons["alpha"]
    alpha = run.cell("alpha", "mixed", "ycsba")
    assert alpha and [m.last_rate for m in alpha.repetitions] == [None] * 3
    assert alpha.rates == tuple(
        pytest.approx(OPS * 1e9 / (m.elapsed_ns or 0)) for m in alpha.repetitions
    )
    assert texts(table_of(run, "Steady state"))[0][2:4] == ["transient", "1 of 3"]


@pytest.mark.parametrize("late", [0, 2])
def test_a_round_of_two_builds_has_one_kind_of_rate(tmp_path: Path, late: int) -> None:
    """That of the last windows if all are steady, else that of whole loops."""
    whole = mixed_plan(True, {"alpha": 50})
    plan = synthetic_ab.ab_plan(["alpha/baseline/fillseq"])
    drawn = synthetic_ab.ab_lines(plan)
    plan |= {"scenarios": whole["scenarios"], "cells": whole["cells"]}
    for side in plan["sides"].values():
        (described,) = (engine["describe"] for engine in whole["engines"])
        side["engines"][0]["describe"]["benchmarks"] = described["benchmarks"]
    lines = []
    for place in drawn:
        is_late = place["repetition"] == late and place["ab"]["slot"] == 3
        line = line_of(whole["cells"][0], place["repetition"], 50)
        kept = ("run", "repetition", "order", "seed", "ab")
        line = late_in(late if is_late else 0)(line)
        lines.append(line | {name: place[name] for name in kept})
    run = load_ab_run(synthetic_ab.write_documents(tmp_path, plan, lines))
    (cell,) = run.cells
    assert cell.failure is None
    for round_ in cell.screen:
        taken_s, ops = (LAST_S, 800) if round_.number != late else (SECONDS, OPS)
        ns = taken_s["alpha"] * 1e9 / ops
        for measured in (*round_.a, *round_.b):
            assert measured.ns_per_op == pytest.approx(ns, rel=0.01)


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
    assert steady[3:] == ["3 of 3", "200", "4.00×"]
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
