"""The history for programs: one JSON document of its steps, or CSV of its points."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from report.model.history_entry import HistoryEntry
from report.terms.text_table import csv_text
from report.verdict.history_series import Series
from report.verdict.history_steps import Change, SeriesSteps
from report.words.history_view import (
    HistoryView,
    MachineHistory,
    confirm_command,
    newest_change,
)

SCHEMA = 1
_COLUMNS = (
    *("machine", "engine", "scenario", "benchmark", "settings_sha256", "method"),
    *("kind", "reference", "run", "label", "binary_sha256", "n"),
    *("ops_per_sec", "ops_per_sec_low", "ops_per_sec_high"),
    *("ratio", "ratio_low", "ratio_high", "step", "verdict"),
    *("measure", "value", "value_low", "value_high", "boundary"),
)


def document(view: HistoryView) -> dict[str, Any]:
    """Return the answer of `history --format json`; changes are shares of a value."""
    return {
        "schema": SCHEMA,
        "runs": view.runs,
        "all_runs": view.all_runs,
        "machines": [_machine(machine) for machine in view.machines],
    }


def csv_document(view: HistoryView) -> str:
    """Return one CSV row for each point of each series shown.

    The row of the first point after a step has the step's change and verdict, and that
    of the first point after a boundary what changed of the machine.
    """
    return csv_text(_COLUMNS, _rows(view))


def _rows(view: HistoryView) -> Iterator[list[Any]]:
    for machine in view.machines:
        shown = {entry.run for entry in machine.entries}
        for judged in machine.judged:
            series = judged.series
            steps = {change.after.run: change for change in judged.changes}
            moved = {b.index: str(b) for b in series.boundaries}
            for index, point in enumerate(series.points):
                if point.entry.run in shown:
                    row = _row(machine, judged, point.entry, steps)
                    band = point.band
                    measure = "ratio" if series.is_ratio else series.key.measure
                    values = (band.median, band.low, band.high)
                    yield [*row, measure, *values, moved.get(index, "")]


def _row(
    machine: MachineHistory,
    judged: SeriesSteps,
    entry: HistoryEntry,
    steps: dict[str, Change],
) -> list[Any]:
    key, cell = judged.series.key, entry.by_name[judged.series.cell]
    step = steps.get(entry.run)
    rate, ratio = cell.rate, cell.ratio
    return [
        *(machine.number, key.cell.engine, key.cell.scenario, key.cell.benchmark),
        *(key.settings_sha256, key.method, key.kind, key.reference),
        *(entry.run, entry.label, entry.binary(key.cell.engine), cell.n),
        *((rate.median, rate.low, rate.high) if rate else ("",) * 3),
        *((ratio.median, ratio.low, ratio.high) if ratio else ("",) * 3),
        step.share if step else "",
        step.verdict if step else "",
    ]


def _machine(machine: MachineHistory) -> dict[str, Any]:
    entries = machine.entries
    return {
        "number": machine.number,
        "machine": dict(entries[-1].machine),
        "runs": [entry.run for entry in entries],
        "regressed": len(machine.regressions),
        "nominated": len(machine.nominated),
        "improved": len(machine.improvements),
        "series": len(machine.judged),
        "series_of_few_points": machine.short,
        "changes": [_change(change) for change in machine.changes],
        "boundaries": [
            {"run": entry.run, "changes": {n: [was, now] for n, was, now in of.changes}}
            for entry, of in machine.boundaries
        ],
        "values": [_newest(judged) for judged in machine.judged],
    }


def _newest(judged: SeriesSteps) -> dict[str, Any]:
    """Return the newest value of a series, and its change against the level before."""
    series = judged.series
    return {
        **_subject(series),
        "points": len(series.points),
        "run": series.entries[-1].run,
        "value": series.values[-1],
        "change": newest_change(judged),
    }


def _subject(series: Series) -> dict[str, Any]:
    return {
        "cell": str(series.cell),
        "kind": series.key.kind,
        "reference": series.key.reference or None,
        "measure": "ratio" if series.is_ratio else series.key.measure,
    }


def _change(change: Change) -> dict[str, Any]:
    decided_by, ended = change.decided_by, change.ended
    return {
        **_subject(change.series),
        "verdict": change.verdict,
        "state": change.state.value,
        "open": change.is_open,
        "change": change.share,
        "before": _entry(change.before),
        "after": _entry(change.after),
        "decided_by": decided_by.run if decided_by else None,
        "ended": ended.run if ended else None,
        "boundary": str(change.boundary) if change.boundary else None,
        "confirm": confirm_command(change) if change.is_open else None,
        "confirm_is_near": change.is_narrow,
    }


def _entry(entry: HistoryEntry) -> dict[str, str]:
    return {"run": entry.run, "label": entry.label}
