"""The plan of a run: which cells, in which order, with which flags and seeds.

A Plan is what run.json holds.  It is made once, before the first measurement, and
is never changed; resuming a run reads it back.
"""

import fnmatch
import hashlib
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from report.config import Config, Suite
from report.config_keys import Flag
from report.results import METHOD, SCHEMA
from scripts.executable import Benchmark, Description
from scripts.settings import canonical, resolve_flags, sha256_of_settings

Flags = Mapping[str, Flag]


@dataclass(frozen=True)
class Cell:
    """engine x scenario x benchmark."""

    engine: str
    scenario: str
    benchmark: str

    def __str__(self) -> str:
        return f"{self.engine}/{self.scenario}/{self.benchmark}"


@dataclass(frozen=True)
class PlannedEngine:
    """An engine as it was found when the run was planned."""

    name: str
    title: str
    role: str
    summary: str
    description: Description | None
    missing: str  # why it cannot run, or ""
    binary_sha256: str

    def benchmark(self, name: str) -> Benchmark | None:
        """What the executable says about a benchmark; None if it does not know it."""
        return self.description.benchmarks.get(name) if self.description else None


@dataclass(frozen=True)
class PlannedScenario:
    """A scenario with every engine's flags resolved."""

    name: str
    title: str
    analysis: str
    benchmarks: tuple[str, ...]
    flags: Mapping[str, Flags]  # engine -> flags
    exclude: Mapping[str, str]  # engine -> reason


@dataclass(frozen=True)
class Unit:
    """Cells of one repetition that share a prepared database; else a single cell."""

    repetition: int
    cells: tuple[int, ...]  # indexes into Plan.cells


@dataclass(frozen=True)
class Selection:
    """What the command line asks for."""

    engines: tuple[str, ...]
    scenarios: tuple[str, ...]
    globs: tuple[str, ...]  # over engine/scenario/benchmark; empty: all
    repetitions: int
    seed: int
    timeout_s: float
    chosen: Flags  # flags given on the command line, for every engine


@dataclass(frozen=True)
class Plan:
    """Everything that decides what a run measures."""

    run: str
    suite: Mapping[str, Any]
    seed: int
    repetitions: int
    command: str
    engines: tuple[PlannedEngine, ...]
    scenarios: tuple[PlannedScenario, ...]
    cells: tuple[Cell, ...]
    order: tuple[Unit, ...]
    machine: Mapping[str, Any]

    @property
    def timeout_s(self) -> float:
        """How long one process of a repetition may take."""
        return float(self.suite["timeout_s"])

    def engine(self, name: str) -> PlannedEngine:
        """The engine of this name, which must be part of the plan."""
        return next(e for e in self.engines if e.name == name)

    def scenario(self, name: str) -> PlannedScenario:
        """The scenario of this name, which must be part of the plan."""
        return next(s for s in self.scenarios if s.name == name)

    def flags(self, cell: Cell) -> Flags:
        """The resolved flags of a cell."""
        return self.scenario(cell.scenario).flags[cell.engine]

    def benchmark(self, cell: Cell) -> Benchmark | None:
        """What the cell's executable says about its benchmark, if it knows it."""
        return self.engine(cell.engine).benchmark(cell.benchmark)

    def settings(self) -> dict[str, dict[str, dict[str, Flag]]]:
        """Scenario -> engine -> flags, of the engines that can run."""
        able = [e.name for e in self.engines if not e.missing]
        return {
            s.name: {e: dict(f) for e, f in s.flags.items() if e in able}
            for s in self.scenarios
        }

    def obstacle(self, cell: Cell) -> tuple[str, str] | None:
        """Why a cell cannot run, as (status, reason); None if it can."""
        engine = self.engine(cell.engine)
        excluded = self.scenario(cell.scenario).exclude.get(cell.engine)
        if excluded is not None:
            return "excluded", excluded
        if engine.missing:
            return "missing", engine.missing
        benchmark = engine.benchmark(cell.benchmark)
        if benchmark is None:
            return "unsupported", "the executable does not know this benchmark"
        if benchmark.unsupported:
            return "unsupported", benchmark.unsupported
        return None


def make_plan(
    run: str,
    command: str,
    config: Config,
    suite: Suite,
    selection: Selection,
    engines: Sequence[PlannedEngine],
    machine: Mapping[str, Any],
) -> Plan:
    """The plan of a new run.  Raises ConfigError for flags that cannot be."""
    scenarios = tuple(
        _planned_scenario(config, name, suite.override, selection.chosen, engines)
        for name in suite.scenarios
        if name in selection.scenarios
    )
    cells = tuple(_select(selection.globs, engines, scenarios))
    kept = {cell.scenario for cell in cells}
    plan = Plan(
        run=run,
        suite=_suite_document(suite, selection),
        seed=selection.seed,
        repetitions=selection.repetitions,
        command=command,
        engines=tuple(e for e in engines if e.name in {c.engine for c in cells}),
        scenarios=tuple(_narrowed(s, cells) for s in scenarios if s.name in kept),
        cells=cells,
        order=(),
        machine=machine,
    )
    return Plan(**{**vars(plan), "order": shuffled_order(plan)})


def _planned_scenario(
    config: Config,
    name: str,
    override: Flags,
    chosen: Flags,
    engines: Sequence[PlannedEngine],
) -> PlannedScenario:
    scenario = config.scenarios[name]
    flags = {
        e.name: resolve_flags(scenario, e.name, override, chosen, e.description)
        for e in engines
    }
    exclude = {e.name: scenario.exclude.get(e.name) for e in engines}
    return PlannedScenario(
        name=name,
        title=scenario.title,
        analysis=scenario.analysis,
        benchmarks=scenario.benchmarks,
        flags=flags,
        exclude={engine: reason for engine, reason in exclude.items() if reason},
    )


def _select(
    globs: Sequence[str],
    engines: Sequence[PlannedEngine],
    scenarios: Iterable[PlannedScenario],
) -> Iterable[Cell]:
    """Scenario by scenario, benchmark by benchmark, engine by engine."""
    for scenario in scenarios:
        for benchmark in scenario.benchmarks:
            for engine in engines:
                cell = Cell(engine.name, scenario.name, benchmark)
                if not globs or any(fnmatch.fnmatch(str(cell), g) for g in globs):
                    yield cell


def _narrowed(scenario: PlannedScenario, cells: Sequence[Cell]) -> PlannedScenario:
    """The scenario with the benchmarks that some cell uses, and no others."""
    used = {c.benchmark for c in cells if c.scenario == scenario.name}
    benchmarks = tuple(b for b in scenario.benchmarks if b in used)
    return PlannedScenario(**{**vars(scenario), "benchmarks": benchmarks})


def _suite_document(suite: Suite, selection: Selection) -> dict[str, Any]:
    return {
        "name": suite.name,
        "title": suite.title,
        "summary": suite.summary,
        "scenarios": list(suite.scenarios),
        "repetitions": selection.repetitions,
        "timeout_s": selection.timeout_s,
        "published": suite.published,
        "override": dict(suite.override),
        "chosen": dict(selection.chosen),
    }


def shuffled_order(plan: Plan) -> tuple[Unit, ...]:
    """Every repetition's units in a random order decided by the run's seed.

    The cells that cannot run come first, as one unit of repetition 1: each of them
    leaves one line that says why.
    """
    able = [i for i, c in enumerate(plan.cells) if plan.obstacle(c) is None]
    unable = tuple(i for i in range(len(plan.cells)) if i not in set(able))
    generator = random.Random(plan.seed)
    order = [Unit(1, unable)] if unable else []
    for repetition in range(1, plan.repetitions + 1):
        units = _units(plan, able)
        generator.shuffle(units)
        for unit in units:
            generator.shuffle(unit)
            order.append(Unit(repetition, tuple(unit)))
    return tuple(order)


def _units(plan: Plan, cells: Sequence[int]) -> list[list[int]]:
    """Cells grouped by the database they can share."""
    groups: dict[str, list[int]] = {}
    for index in cells:
        cell = plan.cells[index]
        benchmark = plan.benchmark(cell)
        assert benchmark is not None
        shared = [cell.engine, benchmark.prepare, dict(plan.flags(cell))]
        key = canonical(shared if benchmark.prepare else [index])
        groups.setdefault(key, []).append(index)
    return list(groups.values())


def repetition_seed(master: int, repetition: int) -> int:
    """The seed of every executable in one repetition: 1 to 2^31 - 1.

    The first 31 bits of SHA-256 of "kvmatrix MASTER REPETITION": the same for all
    engines, unrelated between repetitions.
    """
    digest = hashlib.sha256(f"kvmatrix {master} {repetition}".encode()).digest()
    return max(1, int.from_bytes(digest[:4], "big") >> 1)


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
            {**asdict(scenario), "benchmarks": list(scenario.benchmarks)}
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
            PlannedScenario(**{**s, "benchmarks": tuple(s["benchmarks"])})
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
    )
