"""An A/B run folder: ab.json, environment.json, measurements.jsonl, counts.jsonl.

load_ab() reads it and raises ResultsError for damaged, foreign or duplicate lines;
judge_ab() decides which of its lines can be believed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from report.model.ab_lines import RoundLines, rounds_of
from report.model.ab_plan import (
    AB_PLAN,
    SIDES,
    AbPlan,
    AbShard,
    differences_of_work,
)
from report.model.ab_rule import DUET, WALL, AbRule
from report.model.count_lines import COUNTS_FILE, CountFile, read_count_lines
from report.model.plan import (
    SCHEMA,
    CellGroup,
    CellName,
    Engine,
    Plan,
    Scenario,
)
from report.model.plan_document import (
    VERSIONS,
    cells_of,
    check_amounts,
    check_settings,
    engine_documents,
    engines_of,
    scenario_documents,
    scenarios_of,
    sha256_of_settings,
    suite_document,
    suite_of,
)
from report.model.record import LINES
from report.model.run import Measurement
from report.model.run_folder import (
    MeasurementFile,
    check_machine,
    check_seeds,
    read_environment,
    read_lines,
)
from report.terms.documents import ResultsError, document_of, read_bytes, remedied
from report.terms.membership import check_belongs
from report.terms.text_table import one_line

_FIRST_SCHEMA = 2  # of the lines of A/B runs
AB_SCHEMA = 1
_VERSIONS = {**VERSIONS, "schema": range(1, AB_SCHEMA + 1)}
Document = Mapping[str, Any]


@dataclass(frozen=True)
class RecordedAbRun:
    """An A/B run as recorded in its files; its lines have not been judged.

    `document` is ab.json unchanged.
    """

    path: Path
    plan: AbPlan
    lines: MeasurementFile
    rounds: Mapping[CellName, Sequence[RoundLines]]
    counts: CountFile
    environment: Mapping[str, Any]
    document: Mapping[str, Any]


def load_ab(path: Path) -> RecordedAbRun:
    """Read and check the run folder `path`, without judging its lines."""
    document = read_ab_document(path / AB_PLAN)
    plan = ab_plan_of(document, path / AB_PLAN)
    lines, lines_path = read_lines(path), path / LINES
    with remedied():
        for m in lines.measurements:
            check_belongs(m.record, document, f"{lines_path}:{m.line}")
            _check_kind(m, f"{lines_path}:{m.line}")
            check_machine(m, plan.machines, f"{lines_path}:{m.line}")
        rounds = rounds_of(lines.measurements, plan, str(lines_path))
        check_seeds(lines.measurements, plan.seed, str(lines_path))
        _check_can_run(rounds, plan, lines_path)
    counts = read_count_lines(path / COUNTS_FILE, document, plan.cells)
    environment = read_environment(path, document)
    return RecordedAbRun(path, plan, lines, rounds, counts, environment, document)


def check_unaltered(recorded: RecordedAbRun) -> None:
    """Raise ResultsError if the plan was altered, so that the run cannot resume."""
    location = recorded.path / AB_PLAN
    for plan in recorded.plan.sides.values():
        check_amounts(plan, location)
    check_settings(recorded.plan, recorded.document, location)


def _check_kind(m: Measurement, location: str) -> None:
    """Raise ResultsError unless a line is of an A/B run."""
    record = m.record
    schemas = range(_FIRST_SCHEMA, SCHEMA + 1)
    if record["schema"] not in schemas or record["method"] not in VERSIONS["method"]:
        versions = f"schema {record['schema']} and method {record['method']}"
        raise ResultsError(f"{location}: {versions} cannot be read as an A/B run")
    if "ab" not in record:
        raise ResultsError(f"{location}: not a line of an A/B run: 'ab' is missing")


def _check_can_run(
    rounds: Mapping[CellName, Sequence[RoundLines]], plan: AbPlan, lines: Path
) -> None:
    for name, measured in rounds.items():
        if measured and plan.obstacle(name):
            location = f"{lines}:{measured[0].lines[0].line}"
            raise ResultsError(f"{location}: {name} cannot run on both sides")


def ab_plan_document(plan: AbPlan) -> dict[str, Any]:
    """Return the content of ab.json for a plan."""
    scenarios = zip(
        scenario_documents(plan.a.scenarios), plan.merged_flags(), strict=True
    )
    return {
        "schema": AB_SCHEMA,
        "kind": "ab",
        "method": plan.a.method,
        "run": plan.run,
        "seed": plan.seed,
        "command": plan.a.command,
        "suite": suite_document(plan.suite),
        "cells": [asdict(cell) for cell in plan.cells],
        "machine": dict(plan.machine),
        "same_build": plan.same_build,
        "rule": plan.rule.document(),
        "sides": {
            side: {
                "label": plan.labels[side],
                "engines": engine_documents(of.engines),
            }
            for side, of in plan.sides.items()
        },
        "scenarios": [{**written, "flags": flags} for written, (_, flags) in scenarios],
        "settings_sha256": sha256_of_settings(plan),
        "counted": plan.counted,
        **({"shard": _shard_document(plan, plan.shard)} if plan.shard else {}),
        **({"machines": dict(plan.machines)} if plan.machines else {}),
        **({"harness": dict(plan.harness)} if plan.harness else {}),
    }


def _shard_document(plan: AbPlan, shard: AbShard) -> dict[str, Any]:
    rounds = [
        [index, list(shard.rounds[cell])]
        for index, cell in enumerate(plan.cells)
        if cell in shard.rounds
    ]
    facts = {"index": shard.index, "count": shard.count, "machine": shard.machine}
    return {**facts, "counts": shard.counts, "rounds": rounds}


def _shard_of(
    document: Document, cells: Sequence[CellName], most: int, place: str
) -> AbShard:
    """Return the shard of ab.json.  Raises ResultsError for unknown cells or rounds."""
    entries = document["rounds"]
    if any(index >= len(cells) for index, _ in entries):
        raise ResultsError(f"{place}: rounds: not an index of cells")
    if any(
        sorted({*numbers}) != numbers or numbers[-1] > most for _, numbers in entries
    ):
        raise ResultsError(
            f"{place}: rounds: not different rounds of the run, in order"
        )
    if document["index"] > document["count"]:
        raise ResultsError(f"{place}: {document['index']} of {document['count']}")
    rounds = {cells[index]: tuple(numbers) for index, numbers in entries}
    return AbShard(**{**document, "rounds": rounds})


def read_ab_document(file: Path) -> dict[str, Any]:
    """Read and validate an ab.json.  Raises ResultsError."""
    return document_of(read_bytes(file), "ab", str(file), _VERSIONS)


def ab_plan_of(document: Document, location: Path) -> AbPlan:
    """Return the plan in a validated ab.json.

    Raises ResultsError if its parts contradict one another.
    """
    rule = rule_of(document, location)
    engines = {
        side: engines_of(document["sides"][side]["engines"], location) for side in SIDES
    }
    if {e.name for e in engines["a"]} != {e.name for e in engines["b"]}:
        raise ResultsError(f"{location}: the sides do not list the same engines")
    scenarios = scenarios_of(document["scenarios"], location)
    cells = cells_of(document["cells"], engines["a"], scenarios, location)
    shard, most = document.get("shard"), rule.screen_rounds + rule.confirm_rounds
    a, b = (_side(document, engines[s], scenarios, cells, rule) for s in SIDES)
    plan = AbPlan(
        a,
        b,
        labels={s: one_line(document["sides"][s]["label"]) for s in SIDES},
        rule=rule,
        same_build=document["same_build"],
        counted=document["counted"],
        shard=_shard_of(shard, cells, most, f"{location}: shard") if shard else None,
        machines=document.get("machines") or {},
    )
    for cell in cells:
        if differences_of_work(plan.a, plan.b, cell):
            raise ResultsError(f"{location}: {cell} does different work on each side")
    return plan


_VARYING = {"screen_rounds", "confirm_rounds", "measures", "same_passes"}


def rule_of(document: Document, location: Path) -> AbRule:
    """Return the rule in ab.json.  Raises ResultsError if another version wrote it.

    The error rates were measured for exactly this rule, so a run may only change the
    number of rounds and of passes, and have the measures of its version.
    """
    recorded = {"duet": False, "same_passes": False, **document["rule"]}
    current = (DUET if recorded["duet"] else AbRule()).document()
    recorded["measures"] = tuple(recorded.get("measures", (WALL,)))
    for key in current.keys() - _VARYING:
        if recorded.setdefault(key, current[key]) != current[key]:
            problem = f"rule.{key} is {recorded[key]}, not {current[key]}"
            raise ResultsError(f"{location}: {problem}; this version uses another rule")
    return AbRule(**recorded)


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
        harness=document.get("harness") or {},
        method=document["method"],
    )
