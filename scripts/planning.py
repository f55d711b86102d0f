"""Making the plan of a new run from the configuration and what was asked for."""

import fnmatch
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from report.config import Config, Suite
from scripts.order import shuffled_order
from scripts.plan import (
    Cell,
    Flags,
    Plan,
    PlannedEngine,
    PlannedScenario,
    Selection,
)
from scripts.settings import resolve_flags


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
