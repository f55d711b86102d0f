"""A comparison of two runs for programs: one JSON document, or CSV.

Both hold every cell of both runs.  Changes are shares of the rate: -0.05 is 5 %
fewer operations per second.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from report.formats.compare_text import confirming
from report.model.judgement import Verdict
from report.terms.text_table import csv_text
from report.verdict.comparable_run import ComparableRun, SampledCell
from report.verdict.run_changes import (
    ComparedCell,
    ComparedRuns,
    NotComparable,
    RatePresence,
)
from report.words.compare_rows import amounts, note

SCHEMA = 1
_COLUMNS = (
    *("cell", "unit", "standing", "verdict", "reason", "base_status", "new_status"),
    *("base_per_sec", "new_per_sec", "base_repetitions", "new_repetitions"),
    *("change", "change_low", "change_high", "confidence", "p_slower", "p_faster"),
    *("q", "noise", "same_executable", "base_disturbed", "new_disturbed"),
    *("base_durability_class", "new_durability_class", "cpu_verdict", "cpu_change"),
    *("cpu_change_low", "cpu_change_high"),
)


def document(compared: ComparedRuns, exit_code: int) -> dict[str, Any]:
    """Return the answer of `compare --format json`."""
    unjudged, moved = amounts(compared)
    return {
        "schema": SCHEMA,
        "base": _source(compared.base),
        "new": _source(compared.new),
        "of_itself": compared.is_of_itself,
        "limits": asdict(compared.limits),
        "builds": [
            {
                "engine": change.engine,
                "differences": [
                    {"what": what, "base": base, "new": new}
                    for what, base, new in change.facts
                ],
            }
            for change in compared.builds
        ],
        "varied": [asdict(difference) for difference in compared.varied],
        "unjudged": unjudged,
        "moved": [asdict(difference) for difference in moved],
        "verdicts": {v.value: len(compared.of(v)) for v in Verdict},
        "standings": {s.value: len(compared.standing(s)) for s in RatePresence},
        "cells": [_cell(cell) for cell in compared.cells],
        "confirm": confirming(compared) or None,
        "exit": exit_code,
    }


def refusal_document(refused: NotComparable, exit_code: int) -> dict[str, Any]:
    """Return the JSON answer if the runs cannot be compared."""
    return {
        "schema": SCHEMA,
        "base": {"name": refused.base},
        "new": {"name": refused.new},
        "not_comparable": [asdict(difference) for difference in refused.differences],
        "exit": exit_code,
    }


def csv_document(compared: ComparedRuns) -> str:
    """Return one CSV row for each cell; unknown values are empty fields."""
    rows = (_flat(_cell(cell)) for cell in compared.cells)
    return csv_text(_COLUMNS, ([row.get(name) for name in _COLUMNS] for row in rows))


def _source(source: ComparableRun) -> dict[str, Any]:
    return {
        "name": source.name,
        "kind": source.kind,
        "repetitions": source.repetitions,
        "identity": {**source.identity, **source.known},
    }


def _cell(cell: ComparedCell) -> dict[str, Any]:
    only = cell.new or cell.base
    document: dict[str, Any] = {
        "cell": cell.name,
        "unit": only.unit if only else None,
        "standing": cell.standing.value,
        "verdict": cell.verdict.value if cell.verdict else None,
        "reason": note(cell),
        "base": _side(cell.base),
        "new": _side(cell.new),
        "noise": cell.noise,
        "same_executable": cell.same_build,
    }
    if judgement := cell.judgement:
        interval = judgement.rate_interval
        document |= {
            "change": judgement.rate_change,
            "interval": list(interval) if interval else None,
            "confidence": judgement.confidence,
            "p_slower": judgement.p_slower,
            "p_faster": judgement.p_faster,
            "q": cell.q,
            "sigma_log": judgement.sigma_log,
            "smallest_effect": judgement.smallest_effect,
            "repetitions_needed": judgement.pairs_needed,
        }
    if cpu := cell.cpu:
        document["cpu"] = {
            "verdict": cpu.verdict.value,
            "reason": cpu.reason,
            "change": cpu.time_change,
            "interval": list(cpu.time_interval) if cpu.time_interval else None,
            "confidence": cpu.confidence,
            "base_ns": list(cell.base.cpu_ns) if cell.base else None,
            "new_ns": list(cell.new.cpu_ns) if cell.new else None,
        }
    return document


def _side(cell: SampledCell | None) -> dict[str, Any] | None:
    if cell is None:
        return None
    return {
        "status": cell.status,
        "reason": cell.reason,
        "per_sec": cell.rate,
        "repetitions_per_sec": list(cell.rates),
        "disturbed": cell.disturbed,
        "truncated": cell.truncated,
        "durability_class": cell.durability or None,
    }


def _flat(cell: Mapping[str, Any]) -> dict[str, Any]:
    flat = dict(cell)
    for side in ("base", "new"):
        values = cell[side] or {}
        flat[f"{side}_status"] = values.get("status")
        flat[f"{side}_per_sec"] = values.get("per_sec")
        flat[f"{side}_disturbed"] = values.get("disturbed")
        flat[f"{side}_durability_class"] = values.get("durability_class")
        rates = values.get("repetitions_per_sec")
        flat[f"{side}_repetitions"] = None if rates is None else len(rates)
    cpu = cell.get("cpu") or {}
    flat |= {f"cpu_{key}": cpu.get(key) for key in ("verdict", "change")}
    for prefix, of in (("", cell), ("cpu_", cpu)):
        low, high = of.get("interval") or (None, None)
        flat |= {f"{prefix}change_low": low, f"{prefix}change_high": high}
    return flat
