"""The plan of an A/B run: the same cells of two builds, in rounds.

Each side is an ordinary plan, with the engines of its own build.  ab.json holds both.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from report.model.ab_rule import AbRule
from report.model.plan import CellGroup, CellName, Engine, Plan, Scenario, Suite
from report.model.plan_document import (
    cells_of,
    engine_documents,
    engines_of,
    scenario_documents,
    scenarios_of,
    sha256_of_settings,
    suite_document,
    suite_of,
)
from report.terms.documents import ResultsError, read_object, validate
from report.terms.rulebook import Flags
from report.terms.text_table import one_line

AB_PLAN = "ab.json"
AB_SCHEMA = 1
SIDES = ("a", "b")
# What decides the work of a benchmark, and so must be the same on both sides.
WORK_KEYS = (
    *("kind", "prepare", "ops_divisor", "value_size", "batch_size"),
    *("sync", "one_call", "finds", "key_order", "types"),
)
Document = Mapping[str, Any]


@dataclass(frozen=True)
class Failure:
    """Why a cell has no verdict: the gravest line of either side."""

    side: str
    status: str
    reason: str


@dataclass(frozen=True)
class AbPlan:
    """Everything that decides what an A/B run measures."""

    a: Plan
    b: Plan
    labels: Mapping[str, str]  # side -> what people call it
    rule: AbRule
    same_build: bool  # --aa: both sides are one build
    counted: bool  # whether it ends with counts of what both sides do

    @property
    def run(self) -> str:
        """Return the name of the run."""
        return self.a.run

    @property
    def suite(self) -> Suite:
        """Return the suite, the same on both sides."""
        return self.a.suite

    @property
    def seed(self) -> int:
        """Return the seed of the order, the coins and every workload."""
        return self.a.seed

    @property
    def command(self) -> str:
        """Return the command that planned it, without its builds."""
        return self.a.command

    @property
    def scenarios(self) -> tuple[Scenario, ...]:
        """Return the scenarios of both sides, with the flags of side a."""
        return self.a.scenarios

    @property
    def method(self) -> int:
        """Return the method of measuring."""
        return self.a.method

    @property
    def machine(self) -> Mapping[str, object]:
        """Return the identity of the machine, the same on both sides."""
        return self.a.machine

    @property
    def cells(self) -> tuple[CellName, ...]:
        """Return the cells of both sides."""
        return self.a.cells

    @property
    def sides(self) -> Mapping[str, Plan]:
        """Return both plans by their side."""
        return {"a": self.a, "b": self.b}

    @property
    def able(self) -> tuple[CellName, ...]:
        """Return the cells that can run on both sides."""
        return tuple(cell for cell in self.cells if not self.obstacle(cell))

    @property
    def rounds(self) -> int:
        """Return the rounds of both stages."""
        return self.rule.screen_rounds + self.rule.confirm_rounds

    def obstacle(self, cell: CellName) -> Failure | None:
        """Return why a cell cannot run on both sides; None if it can."""
        for side, plan in self.sides.items():
            if obstacle := plan.obstacle(cell):
                return Failure(side, *obstacle)
        return None

    def settings(self) -> dict[str, dict[str, Flags]]:
        """Return scenario -> engine -> flags, of each engine that is on both sides."""
        missing = {
            e.name for of in self.sides.values() for e in of.engines if e.missing
        }
        return {
            scenario.name: {e: dict(f) for e, f in flags.items() if e not in missing}
            for scenario, flags in self._merged_flags()
        }

    def document(self) -> dict[str, Any]:
        """Return what ab.json holds."""
        scenarios = zip(
            scenario_documents(self.a.scenarios), self._merged_flags(), strict=True
        )
        return {
            "schema": AB_SCHEMA,
            "kind": "ab",
            "method": self.a.method,
            "run": self.run,
            "seed": self.seed,
            "command": self.a.command,
            "suite": suite_document(self.suite),
            "cells": [asdict(cell) for cell in self.cells],
            "machine": dict(self.machine),
            "same_build": self.same_build,
            "rule": asdict(self.rule),
            "sides": {
                side: {
                    "label": self.labels[side],
                    "engines": engine_documents(plan.engines),
                }
                for side, plan in self.sides.items()
            },
            "scenarios": [
                {**written, "flags": flags} for written, (_, flags) in scenarios
            ],
            "settings_sha256": sha256_of_settings(self.settings()),
            "counted": self.counted,
        }

    def _merged_flags(self) -> list[tuple[Scenario, dict[str, Flags]]]:
        """Return each scenario with the flags of the side that has the engine."""
        chosen = {e.name: self.b if e.missing else self.a for e in self.a.engines}
        return [
            (
                scenario,
                {
                    e: of.scenario(scenario.name).flags.get(e, {})
                    for e, of in chosen.items()
                },
            )
            for scenario in self.a.scenarios
        ]


def read_ab_document(path: Path) -> dict[str, Any]:
    """Return what the ab.json of a run folder holds.  Raises ResultsError."""
    place = path / AB_PLAN
    document = read_object(place)
    validate(document, "ab", str(place))
    return document


def ab_plan_of(document: Document, place: Path) -> AbPlan:
    """Return the plan that a document of ab.json holds, which passed its schema.

    Raises ResultsError for parts that contradict one another.
    """
    rule = rule_of(document, place)
    engines = {
        side: engines_of(document["sides"][side]["engines"], place) for side in SIDES
    }
    if {e.name for e in engines["a"]} != {e.name for e in engines["b"]}:
        raise ResultsError(f"{place}: the sides do not list the same engines")
    scenarios = scenarios_of(document["scenarios"], place)
    cells = cells_of(document["cells"], engines["a"], scenarios, place)
    a, b = (_side(document, engines[s], scenarios, cells, rule) for s in SIDES)
    plan = AbPlan(
        a,
        b,
        labels={s: one_line(document["sides"][s]["label"]) for s in SIDES},
        rule=rule,
        same_build=document["same_build"],
        counted=document["counted"],
    )
    for cell in cells:
        if differences_of_work(plan.a, plan.b, cell):
            raise ResultsError(f"{place}: {cell} is not the same work on both sides")
    return plan


def differences_of_work(a: Plan, b: Plan, cell: CellName) -> list[str]:
    """Return how the work of a cell differs between its sides, where both know it."""
    one, other = a.benchmark(cell), b.benchmark(cell)
    if one is None or other is None:
        return []
    values = [(key, getattr(one, key), getattr(other, key)) for key in WORK_KEYS]
    return [f"{key} is {x!r} on a, {y!r} on b" for key, x, y in values if x != y]


def rule_of(document: Document, place: Path) -> AbRule:
    """Return the rule of ab.json.  Raises ResultsError for one of another version.

    Error rates were measured of this rule; the rounds alone are up to the run.
    """
    given, own = document["rule"], asdict(AbRule())
    for key in own.keys() - {"screen_rounds", "confirm_rounds"}:
        if given[key] != own[key]:
            told = f"rule.{key} is {given[key]}, and that of this version {own[key]}"
            raise ResultsError(f"{place}: {told}: not the rule of this version")
    return AbRule(**given)


def _side(
    document: Document,
    engines: tuple[Engine, ...],
    scenarios: tuple[Scenario, ...],
    cells: tuple[CellName, ...],
    rule: AbRule,
) -> Plan:
    return Plan(
        run=document["run"],
        suite=suite_of(document["suite"]),
        seed=int(document["seed"]),
        repetitions=rule.screen_rounds + rule.confirm_rounds,
        command=document["command"],
        engines=engines,
        scenarios=scenarios,
        cells=cells,
        order=tuple(CellGroup(1, (index,)) for index in range(len(cells))),
        machine=document["machine"],
        method=document["method"],
    )
