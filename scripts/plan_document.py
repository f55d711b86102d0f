"""A plan as run.json holds it, and back."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from report.results import METHOD, SCHEMA
from scripts.executable import Description
from scripts.plan import Cell, Plan, PlannedEngine, PlannedScenario, Unit
from scripts.settings import sha256_of_settings


def plan_document(plan: Plan) -> dict[str, Any]:
    """run.json."""
    return {
        "schema": SCHEMA,
        "method": METHOD,
        "run": plan.run,
        "suite": dict(plan.suite),
        "seed": plan.seed,
        "repetitions": plan.repetitions,
        "command": plan.command,
        "engines": [_engine_document(engine) for engine in plan.engines],
        "scenarios": [
            {
                **asdict(scenario),
                "benchmarks": list(scenario.benchmarks),
                "fill": list(scenario.fill),
            }
            for scenario in plan.scenarios
        ],
        "cells": [asdict(cell) for cell in plan.cells],
        "order": [[unit.repetition, list(unit.cells)] for unit in plan.order],
        "machine": dict(plan.machine),
        "settings_sha256": sha256_of_settings(plan.settings()),
    }


def _engine_document(engine: PlannedEngine) -> dict[str, Any]:
    description = engine.description
    return {
        "name": engine.name,
        "title": engine.title,
        "role": engine.role,
        "summary": engine.summary,
        "describe": dict(description.document) if description else None,
        "missing": engine.missing,
        "binary_sha256": engine.binary_sha256,
        "twin_of": engine.twin_of,
        "variant_of": engine.variant_of,
    }


def plan_from_document(document: Mapping[str, Any]) -> Plan:
    """The plan that run.json holds; the document has passed its schema."""
    return Plan(
        run=document["run"],
        suite=document["suite"],
        seed=document["seed"],
        repetitions=document["repetitions"],
        command=document["command"],
        engines=tuple(_engine_from(entry) for entry in document["engines"]),
        scenarios=tuple(
            PlannedScenario(
                **{
                    **s,
                    "benchmarks": tuple(s["benchmarks"]),
                    "fill": tuple(s.get("fill", ())),
                }
            )
            for s in document["scenarios"]
        ),
        cells=tuple(Cell(**cell) for cell in document["cells"]),
        order=tuple(Unit(r, tuple(cells)) for r, cells in document["order"]),
        machine=document["machine"],
    )


def _engine_from(entry: Mapping[str, Any]) -> PlannedEngine:
    describe = entry["describe"]
    return PlannedEngine(
        name=entry["name"],
        title=entry["title"],
        role=entry["role"],
        summary=entry["summary"],
        description=Description.of(describe) if describe else None,
        missing=entry["missing"],
        binary_sha256=entry["binary_sha256"],
        twin_of=entry["twin_of"],
        variant_of=entry.get("variant_of", ""),
    )
