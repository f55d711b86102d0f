"""The verdicts of a run on its cells."""

from pathlib import Path
from typing import Any

from report.terms import numbers
from report.trust.judge import load_run
from report.verdict import comparison
from report.verdict.chart_row import Row
from report.words import remarks


def verdicts_of(folder: Path) -> dict[str, dict[str, Any]]:
    """Return, by scenario/benchmark, what the runner wrote and what the report shows.

    REQUIRES: one engine in each scenario, not counting floors.
    """
    run = load_run(folder)
    written: dict[str, set[str]] = {}
    floors = {engine.name for engine in run.plan.engines if engine.role == "floor"}
    for m in run.measurements:
        if m.cell.engine in floors:
            continue
        cell = f"{m.cell.scenario}/{m.cell.benchmark}"
        written.setdefault(cell, set()).add(m.record["status"])
    verdicts = {}
    for chart in comparison.compare(run).charts:
        cell = f"{chart.scenario.name}/{chart.benchmark}"
        for row in chart.rows:
            if row.repetitions:
                verdicts[cell] = _verdict(row, written[cell])
    return verdicts


def _verdict(row: Row, written: set[str]) -> dict[str, Any]:
    return {
        "written": " and ".join(sorted(written - {"ok"})) or "ok",
        "shown": row.status,
        "reason": row.reason,
        "findings": row.findings,
        "notes": [*remarks.notes(row), *_from_tables(row)],
    }


def _from_tables(row: Row) -> list[str]:
    """Return what the report shows in tables next to the chart."""
    used = (row.used.cpu_user_ns_per_op or 0) + (row.used.cpu_system_ns_per_op or 0)
    evidence = [f"each operation took {numbers.seconds(used)} of processor time"]
    latencies = [h for m in row.timed if (h := m.record["latency_ns"])]
    if latencies:
        slowest = numbers.seconds(max(each["max"] for each in latencies))
        evidence.append(f"its slowest operation took {slowest}")
    return evidence
