"""The cells of a run with their medians and verdicts, as JSON or CSV for programs.

There is one object, or one row, for each cell; csv_format.py has every repetition.
Rates are in operations per second.  `low` and `high` are the extremes of repetitions.
"""

from __future__ import annotations

from typing import Any

from report.model.run import Run
from report.stats import latency
from report.terms.text_table import csv_text, json_text
from report.verdict import comparison
from report.verdict.chart_row import NOT_PLANNED, Row
from report.verdict.comparison import Chart

SCHEMA = 1
_COLUMNS = (
    *("engine", "version", "role", "scenario", "benchmark", "unit", "status", "reason"),
    *("repetitions", "disturbed", "median", "low", "high", "finished_median"),
    *("rank", "ranked", "verdict", "times_best", "unranked", "harness_bound"),
    *("durability_class", "findings", "p50_ns", "p99_ns", "p999_ns"),
)


def render(run: Run) -> str:
    """Return the JSON document of a run."""
    document = {
        "schema": SCHEMA,
        "run": run.plan.run,
        "suite": run.plan.suite.name,
        "method": run.plan.method,
        "seed": run.plan.seed,
        "machine": dict(run.plan.machine),
        "unfinished": run.is_unfinished,
        "cells": _cells(run),
    }
    return json_text(document) + "\n"


def render_csv(run: Run) -> str:
    """Return one CSV row for each cell; unknown values are empty fields."""
    rows = ([cell[name] for name in _COLUMNS] for cell in _cells(run))
    return csv_text(_COLUMNS, rows)


def _cells(run: Run) -> list[dict[str, Any]]:
    charts = comparison.compare(run).charts
    rows = ((chart, row) for chart in charts for row in chart.all_rows)
    return [_cell(chart, row) for chart, row in rows if row.status != NOT_PLANNED]


def _cell(chart: Chart, row: Row) -> dict[str, Any]:
    summary, ranking = row.summary, row.accepted
    name, times_ns = row.engine.name, ranking.aligned_ns if ranking else {}
    order = sorted(times_ns, key=lambda engine: times_ns[engine])
    known = latency.percentiles(*(m.record.get("latency_ns") for m in row.timed))
    at = known.at if known else {}
    return {
        "engine": name,
        "version": row.engine.version,
        "role": row.engine.role,
        "scenario": chart.scenario.name,
        "benchmark": chart.benchmark,
        "unit": chart.unit,
        "status": row.status,
        "reason": " ".join(row.reason.split()),
        "repetitions": summary.count if summary else 0,
        "disturbed": len(row.disturbed),
        "median": summary.median if summary else None,
        "low": summary.low if summary else None,
        "high": summary.high if summary else None,
        "finished_median": row.finished_rate,
        "rank": order.index(name) + 1 if name in order else None,
        "ranked": len(order) if name in order else None,
        "verdict": row.lead(ranking) or None,
        "times_best": row.off_best,
        "unranked": row.unranked,
        "harness_bound": row.bound_word,
        "durability_class": row.durability_class,
        "findings": list(row.findings),
        "p50_ns": at.get("p50"),
        "p99_ns": at.get("p99"),
        "p999_ns": at.get("p99.9"),
    }
