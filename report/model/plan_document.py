"""Writing a plan to run.json and reading it back.

Engines, scenarios and cells have functions of their own because ab.json has them too.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from report.model.description import Description
from report.model.plan import (
    CONTROL,
    METHOD,
    SCHEMA,
    CellGroup,
    CellName,
    Engine,
    Plan,
    Scenario,
    Shard,
    Suite,
)
from report.terms.class_stamp import KnownClass
from report.terms.documents import ResultsError, canonical, document_of, read_bytes
from report.terms.limits import MOST_RUN_REPETITIONS
from report.terms.regime import Regime

if TYPE_CHECKING:
    from report.model.ab_plan import AbPlan

PLAN = "run.json"
VERSIONS = {"schema": range(1, SCHEMA + 1), "method": range(1, METHOD + 1)}
Document = Mapping[str, Any]
# The control's cells are not among those that the limit of a new plan counts.
_MOST_REPETITIONS = 2 * MOST_RUN_REPETITIONS
_Named = TypeVar("_Named", Engine, Scenario)


def plan_document(plan: Plan) -> dict[str, Any]:
    """Return the content of run.json for a plan."""
    return {
        "schema": plan.schema,
        "method": plan.method,
        "run": plan.run,
        "suite": suite_document(plan.suite),
        "seed": plan.seed,
        "repetitions": plan.repetitions,
        "command": plan.command,
        "engines": engine_documents(plan.engines),
        "scenarios": scenario_documents(plan.scenarios),
        "cells": [asdict(cell) for cell in plan.cells],
        "order": [[group.repetition, list(group.cells)] for group in plan.order],
        "machine": dict(plan.machine),
        **_if_any(plan, "harness", "not_durable", "no_regime", "machines"),
        **({"canary": list(plan.canary)} if plan.canary else {}),
        **({"shard": asdict(plan.shard)} if plan.shard else {}),
        "settings_sha256": sha256_of_settings(plan),
    }


def _if_any(of: object, *keys: str) -> dict[str, Any]:
    """Return these attributes, except those that are empty."""
    return {key: value for key in keys if (value := getattr(of, key))}


def suite_document(suite: Suite) -> dict[str, Any]:
    """Return the document of a suite.

    `published` is a list only if there are several; one is a string, as in older runs.
    """
    names = suite.published
    return {
        "name": suite.name,
        "title": suite.title,
        "summary": suite.summary,
        "scenarios": list(suite.scenarios),
        "repetitions": suite.repetitions,
        "timeout_s": suite.timeout_s,
        "published": list(names) if len(names) > 1 else "".join(names),
        "override": dict(suite.override),
        "chosen": dict(suite.chosen),
        "latency_repetitions": suite.latency_repetitions,
        "control": suite.control,
        "rate": suite.rate,
        "repeat_disturbed": suite.repeat_disturbed,
        **_if_any(suite, "memory_limit_bytes", "workload"),
    }


# Fields of an engine that are recorded if they are not empty.
_IF_ANY = ("plugin", "floor", "binding_of", "group", "url", "language")


def engine_documents(engines: Iterable[Engine]) -> list[dict[str, Any]]:
    """Return the documents of engines."""
    return [
        {
            "name": engine.name,
            "title": engine.title,
            "role": engine.role,
            "summary": engine.summary,
            "describe": (of := engine.description) and dict(of.document),
            "missing": engine.missing,
            "binary_sha256": engine.binary_sha256,
            "twin_of": engine.twin_of,
            "variant_of": engine.variant_of,
            **_if_any(engine, *_IF_ANY, "known_failures", "advice"),
            **(
                {"passports": {k: asdict(v) for k, v in engine.passports.items()}}
                if engine.passports
                else {}
            ),
        }
        for engine in engines
    ]


def scenario_documents(scenarios: Iterable[Scenario]) -> list[dict[str, Any]]:
    """Return the documents of scenarios."""
    return [_scenario_document(scenario) for scenario in scenarios]


def _scenario_document(scenario: Scenario) -> dict[str, Any]:
    document = asdict(scenario)
    for name in ("data_fits", "regime", "settings_of", "replaced"):
        if not document[name]:
            del document[name]
    lists = {"benchmarks": list(scenario.benchmarks), "fill": list(scenario.fill)}
    return {**document, **lists}


def sha256_of_settings(plan: Plan | AbPlan) -> str:
    """Return the SHA-256 of all flags and regimes of a plan, in hexadecimal.

    A plan without a regime has that of its flags alone, as in older runs.
    """
    regimes = {s.name: asdict(s.regime) for s in plan.scenarios if s.regime}
    settings = canonical({**plan.settings(), **({"": regimes} if regimes else {})})
    return hashlib.sha256(settings.encode()).hexdigest()


def read_plan_document(path: Path) -> dict[str, Any]:
    """Read and validate the run.json of a run folder.  Raises ResultsError."""
    return document_of(read_bytes(path / PLAN), "run", str(path / PLAN), VERSIONS)


def plan_of(document: Document, place: Path) -> Plan:
    """Return the plan in a validated run.json.

    Raises ResultsError if its parts contradict one another.
    """
    engines = engines_of(document["engines"], place)
    scenarios = scenarios_of(document["scenarios"], place)
    cells = cells_of(document["cells"], engines, scenarios, place)
    if len(cells) * (each := document["repetitions"]) > _MOST_REPETITIONS:
        problem = f"{each} for each of {len(cells)} cells are too many"
        raise ResultsError(f"{place}: repetitions: {problem}")
    order = tuple(CellGroup(r, tuple(indexes)) for r, indexes in document["order"])
    return Plan(
        run=document["run"],
        suite=suite_of(document["suite"]),
        seed=int(document["seed"]),
        repetitions=int(document["repetitions"]),
        command=document["command"],
        engines=engines,
        scenarios=scenarios,
        cells=cells,
        order=order,
        machine=document["machine"],
        not_durable=document.get("not_durable") or "",
        no_regime=document.get("no_regime") or "",
        canary=_units_of(document.get("canary") or (), order, f"{place}: canary"),
        shard=_shard_of(document.get("shard"), order, f"{place}: shard"),
        **{key: document.get(key) or {} for key in ("machines", "harness")},
        schema=document["schema"],
        method=document["method"],
    )


def shard_plan_of(document: Document, place: Path, like: Plan) -> Plan:
    """Return the plan of a shard of the same run as another one, which is checked.

    REQUIRES: the documents of both differ at most in what is read here.
    """
    return replace(
        like,
        run=document["run"],
        command=document["command"],
        machine=document["machine"],
        shard=_shard_of(document.get("shard"), like.order, f"{place}: shard"),
        machines=document.get("machines") or {},
        harness=document.get("harness") or {},
    )


def _shard_of(
    entry: Document | None, order: Sequence[CellGroup], place: str
) -> Shard | None:
    if entry is None:
        return None
    if entry["index"] > entry["count"]:
        raise ResultsError(f"{place}: index: above count")
    return Shard(**{**entry, "units": _units_of(entry["units"], order, place)})


def _units_of(
    units: Sequence[int], order: Sequence[CellGroup], place: str
) -> tuple[int, ...]:
    """Return indexes into the order.  Raises ResultsError if one is not."""
    if len({*units}) < len(units) or any(unit >= len(order) for unit in units):
        raise ResultsError(f"{place}: not different units of order")
    return tuple(units)


def check_current(plan: Plan, document: Document, place: Path) -> None:
    """Raise ResultsError unless a run can resume: current versions, plan unaltered."""
    versions = ("schema", plan.schema, SCHEMA), ("method", plan.method, METHOD)
    for name, recorded, current in versions:
        if recorded != current:
            raise ResultsError(
                f"{place}: recorded in {name} {recorded}; it can be reported and"
                f" compared, but resume and plan need {name} {current}; start a new run"
            )
    check_amounts(plan, place)
    if sorted((u.repetition, i) for u in plan.order for i in u.cells) != _due(plan):
        problem = "order: expected each repetition of each cell exactly once"
        raise ResultsError(f"{place}: {problem}")
    check_settings(plan, document, place)


def check_amounts(plan: Plan, place: Path) -> None:
    """Raise ResultsError if a plan lacks its time limit or a number of entries."""
    if not plan.suite.timeout_s:
        raise ResultsError(f"{place}: suite.timeout_s is missing")
    for cell in plan.cells:
        if plan.obstacle(cell) is None and "num" not in plan.flags(cell):
            where = f"{place}: scenario {cell.scenario}: flags of {cell.engine}"
            raise ResultsError(f"{where}: num is missing")


def _due(plan: Plan) -> list[tuple[int, int]]:
    """Return all (repetition, cell) of a run; a cell that cannot run has one line."""
    rounds = (
        (i, 1 if plan.obstacle(c) else plan.rounds) for i, c in enumerate(plan.cells)
    )
    return sorted((n, index) for index, last in rounds for n in range(1, last + 1))


def check_settings(plan: Plan | AbPlan, document: Document, place: Path) -> None:
    """Raise ResultsError if the flags or regimes of a plan were altered."""
    if sha256_of_settings(plan) != document["settings_sha256"]:
        raise ResultsError(f"{place}: settings were altered: settings_sha256 differs")


def suite_of(entry: Document) -> Suite:
    """Return the suite of a document."""
    published = entry.get("published") or ()
    return Suite(
        name=entry["name"],
        title=entry["title"],
        summary=entry.get("summary", ""),
        scenarios=tuple(entry.get("scenarios") or ()),
        repetitions=entry.get("repetitions") or 0,
        timeout_s=float(entry.get("timeout_s") or 0),
        published=(published,) if isinstance(published, str) else tuple(published),
        override=entry.get("override") or {},
        chosen=entry.get("chosen") or {},
        latency_repetitions=_latency_repetitions(entry),
        control=entry.get("control") or "",
        repeat_disturbed=entry.get("repeat_disturbed"),
        **{k: v for k in ("memory_limit_bytes", "workload") if (v := entry.get(k))},
    )


def _latency_repetitions(entry: Document) -> int | None:
    """Return the latency repetitions; earlier documents say whether there is one."""
    if (one := entry.get("latency")) is not None:
        return int(one)
    count = entry.get("latency_repetitions")
    return None if count is None else int(count)


def engines_of(entries: Iterable[Document], place: Path) -> tuple[Engine, ...]:
    """Return the engines.  Raises ResultsError for duplicates or invalid controls."""
    engines = _unique(map(_engine_of, entries), place)
    for engine in engines.values():
        is_control, twin = engine.role == CONTROL, engines.get(engine.twin_of)
        where = f"{place}: {engine.name}"
        if is_control != bool(engine.twin_of):
            raise ResultsError(f"{where}: only a control can and must have twin_of")
        if is_control and twin is None:
            raise ResultsError(f"{where}: twin_of: unknown engine {engine.twin_of!r}")
        if twin is not None and twin.role == CONTROL:
            raise ResultsError(f"{where}: twin_of is itself a control")
    return tuple(engines.values())


def scenarios_of(entries: Iterable[Document], place: Path) -> tuple[Scenario, ...]:
    """Return the scenarios.  Raises ResultsError for duplicates or invalid families."""
    scenarios = tuple(_unique(map(_scenario_of, entries), place).values())
    _check_families(scenarios, place)
    return scenarios


def cells_of(
    entries: Iterable[Document],
    engines: Iterable[Engine],
    scenarios: Iterable[Scenario],
    place: Path,
) -> tuple[CellName, ...]:
    """Return the cells.  Raises ResultsError for one that is duplicate or unknown."""
    names, benchmarks = {e.name for e in engines}, {s.name: s for s in scenarios}
    cells: dict[CellName, None] = {}  # in order
    for entry in entries:
        cell = CellName(entry["engine"], entry["scenario"], entry["benchmark"])
        scenario = benchmarks.get(cell.scenario)
        if cell.engine not in names or scenario is None:
            unknown = "scenario" if cell.engine in names else "engine"
            raise ResultsError(f"{place}: cell {cell}: unknown {unknown}")
        if cell.benchmark not in scenario.benchmarks:
            problem = "not in its scenario's benchmarks"
            raise ResultsError(f"{place}: cell {cell}: {problem}")
        if cell in cells:
            raise ResultsError(f"{place}: cell {cell} is listed twice")
        cells[cell] = None
    return tuple(cells)


def _engine_of(entry: Document) -> Engine:
    return Engine(
        name=entry["name"],
        title=entry["title"],
        role=entry["role"],
        summary=entry["summary"],
        description=Description.of(d) if (d := entry["describe"]) else None,
        missing=entry["missing"],
        binary_sha256=entry.get("binary_sha256") or "",
        twin_of=entry.get("twin_of") or "",
        variant_of=entry.get("variant_of") or "",
        **{key: entry.get(key) or "" for key in _IF_ANY},
        known_failures=entry.get("known_failures") or {},
        advice=entry.get("advice") or {},
        passports={
            level: KnownClass(**known)
            for level, known in (entry.get("passports") or {}).items()
        },
    )


def _scenario_of(entry: Document) -> Scenario:
    return Scenario(
        name=entry["name"],
        title=entry["title"],
        analysis=entry["analysis"].strip(),
        benchmarks=tuple(entry["benchmarks"]),
        flags=entry["flags"],
        exclude=entry["exclude"],
        fill=tuple(entry.get("fill") or ()),
        state=entry.get("state") or "",
        data_fits=bool(entry.get("data_fits")),
        family=entry.get("family") or "",
        swept=entry.get("swept") or {},
        regime=Regime.of(entry.get("regime")),
        settings_of=entry.get("settings_of") or {},
        replaced=entry.get("replaced") or {},
    )


def _unique(entries: Iterable[_Named], place: Path) -> dict[str, _Named]:
    by_name: dict[str, _Named] = {}
    for entry in entries:
        if entry.name in by_name:
            raise ResultsError(f"{place}: {entry.name} is listed twice")
        by_name[entry.name] = entry
    return by_name


def _check_families(scenarios: Iterable[Scenario], place: Path) -> None:
    """Check that each family sweeps one flag, with one value for all engines."""
    flags: dict[str, str] = {}
    values: set[tuple[str, str]] = set()
    for scenario in scenarios:
        if bool(scenario.family) != (len(scenario.swept) == 1):
            raise ResultsError(
                f"{place}: {scenario.name}: a family and one swept flag go together"
            )
        for flag, value in scenario.swept.items():
            point = (scenario.family, repr(value))
            if flags.setdefault(scenario.family, flag) != flag or point in values:
                problem = f"family {scenario.family}: another flag or a duplicate value"
                raise ResultsError(f"{place}: {scenario.name}: {problem}")
            values.add(point)
            others = (resolved.get(flag, value) for resolved in scenario.flags.values())
            if any(setting != value for setting in others):
                problem = f"swept {flag} is {value}, but its flags have another value"
                raise ResultsError(f"{place}: {scenario.name}: {problem}")
