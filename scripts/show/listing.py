"""The lists of engines with their versions, scenarios, suites and cells."""

import tempfile
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from report.config.config_types import Config, EngineConfig, SuiteConfig
from report.config.toml_table import ConfigError
from report.model.plan import Engine, Plan
from report.terms import titles
from report.terms.numbers import count
from report.terms.schemas import schema, schema_names
from report.terms.text_table import TableRow, TextLine, TextTable, wrapped
from scripts.machine.system_access import SystemAccess
from scripts.planning.executable import NOT_BUILT, Refusal
from scripts.planning.found_engines import (
    ask_executables,
    child_environment,
    find_engines,
)
from scripts.planning.new_plan import Selection, cells_of, control_of, make_plan
from scripts.regime.regime_site import why_no_regime
from scripts.show.run_list import run_row

Document = dict[str, list[dict[str, Any]]]


def list_document(
    config: Config,
    build_dir: Path,
    kind: str | None,
    suite: str | None,
    system: SystemAccess,
    chosen: Collection[str] = (),
) -> Document:
    """Return the lists requested; without `kind`, engines, scenarios and suites.

    `chosen` are the engines to be listed, or those of the cells; (): the usual ones.
    """
    document: Document = {}
    engines: tuple[Engine, ...] = ()
    if kind in (None, "engines", "cells"):
        with tempfile.TemporaryDirectory() as scratch:
            executor = system.executor(child_environment(scratch))
            engines = find_engines(
                executor, build_dir, config, chosen or config.engines, Path(scratch)
            )
            if kind == "cells" and suite is not None:
                ask = ask_executables(executor, build_dir)
                of = config.suites[suite]
                plan = suite_plan(config, of, engines, ask, tuple(chosen))
                document["cells"] = _cells(plan)
    if kind in (None, "engines"):
        document["engines"] = [_engine(e, config.engines[e.name]) for e in engines]
        document["engines"] += _broken({} if chosen else config.broken_engines)
    if kind in (None, "scenarios"):
        document["scenarios"] = _scenarios(config)
    if kind in (None, "suites"):
        document["suites"] = [_suite(config, s) for s in config.suites.values()]
        document["suites"] += _broken(config.broken_suites)
    return document


def _engine(engine: Engine, config: EngineConfig) -> dict[str, Any]:
    description = engine.description
    return {
        "name": engine.name,
        "title": engine.title,
        "role": engine.role,
        "variant_of": engine.variant_of,
        "summary": engine.summary,
        "version": description.version if description else None,
        "assertions_live": description.assertions_live if description else None,
        "missing": engine.missing,
        "groups": list(config.groups),
        "advice": dict(config.advice),
        "advised_for": config.advised_for,
    }


def _scenarios(config: Config) -> list[dict[str, Any]]:
    return [
        {
            "name": scenario.name,
            "title": scenario.title,
            "benchmarks": list(scenario.benchmarks),
            "family": scenario.family,
            "swept": dict(scenario.swept),
            "broken": None,
        }
        for scenario in config.scenarios.values()
    ] + _broken(config.broken_scenarios)


def _broken(errors: Mapping[str, ConfigError]) -> list[dict[str, Any]]:
    return [{"name": name, "broken": str(error)} for name, error in errors.items()]


def shows_broken(document: Document) -> bool:
    """Return True if a list has a broken file."""
    return any(e.get("broken") for entries in document.values() for e in entries)


def _suite(config: Config, suite: SuiteConfig) -> dict[str, Any]:
    rows = config.rows(suite.scenarios, config.default_engines(suite))
    engines = _engines_of(config, rows)
    control = control_of(suite, True, engines, suite.repetitions)
    again = {name: [e for e in of if e == control] for name, of in rows.items()}
    return {
        "name": suite.name,
        "title": suite.title,
        "summary": suite.summary,
        "scenarios": list(suite.scenarios),
        "engines": list(engines),
        "repetitions": suite.repetitions,
        "latency_repetitions": suite.latency_repetitions,
        "control": control,
        "cells": cells_of(config, rows) + cells_of(config, again),
        "broken": None,
    }


def _engines_of(config: Config, rows: Mapping[str, Collection[str]]) -> tuple[str, ...]:
    """Return the engines of rows, in report order."""
    return tuple(
        name for name in config.engines if any(name in of for of in rows.values())
    )


def suite_plan(
    config: Config,
    suite: SuiteConfig,
    engines: tuple[Engine, ...],
    refusal: Refusal,
    chosen: tuple[str, ...] = (),
) -> Plan:
    """Return a plan for all cells of a suite; its name and machine are empty.

    `chosen` are its engines; (): the default ones.
    """
    rows = config.rows(suite.scenarios, chosen or config.default_engines(suite))
    names = _engines_of(config, rows)
    selection = Selection(
        engines=names,
        rows=rows,
        globs=(),
        repetitions=suite.repetitions,
        seed=0,
        timeout_s=suite.timeout_s,
        chosen={},
        latency_repetitions=suite.latency_repetitions,
        control=control_of(suite, not chosen, names, suite.repetitions),
        repeat_disturbed=suite.repeat_disturbed,
    )
    found = [e for e in engines if e.name in names]
    return make_plan(
        "list",
        "",
        config,
        suite,
        selection,
        found,
        {},
        "",
        why_no_regime,
        refusal,
    )


def _cells(plan: Plan) -> list[dict[str, Any]]:
    cells = []
    for cell in plan.cells:
        status, reason = plan.obstacle(cell) or ("ready", "")
        cells.append({"cell": str(cell), "status": status, "reason": reason})
    return cells


def schema_entries() -> list[dict[str, Any]]:
    """Return an entry for each schema of report/schema/."""
    schemas = {name: schema(name) for name in schema_names()}
    return [
        {"name": name, "id": document["$id"], "title": document["title"]}
        for name, document in schemas.items()
    ]


def list_lines(
    document: Document, *, show_all: bool = False, each_missing: bool = False
) -> list[str | TextLine]:
    """Return the lists as lines of text.

    A sweep is one line unless all are shown.  So are the engines that are not built,
    unless each is listed.
    """
    lines: list[str | TextLine] = []
    for kind, entries in document.items():
        if kind == "scenarios" and not show_all:
            entries = _without_members(entries)
        absent = [] if each_missing else [e for e in entries if _is_not_built(e)]
        entries = [entry for entry in entries if entry not in absent]
        if len(document) > 1:
            lines.append(kind.upper())
        rows = [
            _broken_row(entry) if entry.get("broken") else _LINE_OF[kind](entry)
            for entry in entries
        ]
        table = TextTable(("", "", ""), (), (), tuple(map(TableRow, rows)), "  ")
        lines += table.lines(head=False)
        if absent:
            names = ", ".join(e["name"] for e in absent if not e["variant_of"])
            lines.append("  not built (scripts/setup, scripts/setup --with NAME):")
            lines += map(TextLine, wrapped(names, 78, "    "))
    return lines


def _is_not_built(entry: dict[str, Any]) -> bool:
    return str(entry.get("missing") or "").startswith(NOT_BUILT)


def _broken_row(entry: dict[str, Any]) -> tuple[str, str, str]:
    return entry["name"], "broken", entry["broken"]


def _engine_row(entry: dict[str, Any]) -> tuple[str, str, str]:
    groups = f" ({', '.join(entry['groups'])})" if entry["groups"] else ""
    if entry["missing"]:
        what = f"{entry['summary']}{groups}; {entry['missing']}"
        return entry["name"], entry["title"], f"missing: {what}"
    live = "; built with assertions" if entry["assertions_live"] else ""
    role = f", {entry['role']}" if entry["role"] else ""
    if entry["variant_of"]:
        role = f", variant of {entry['variant_of']}"
    title = f"{entry['title']} {entry['version']}"
    return entry["name"], title, f"ready{role}: {entry['summary']}{groups}{live}"


def _scenario_row(entry: dict[str, Any]) -> tuple[str, str, str]:
    return entry["name"], entry["title"], " ".join(entry["benchmarks"])


def _without_members(entries: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the scenarios, with one entry for those of each sweep."""
    families: dict[str, list[dict[str, Any]]] = {}
    for entry in entries:
        families.setdefault(entry.get("family") or entry["name"], []).append(entry)
    return [
        _family(name, members) if members[0].get("family") else members[0]
        for name, members in families.items()
    ]


def _family(name: str, members: list[dict[str, Any]]) -> dict[str, Any]:
    (flag,) = members[0]["swept"]
    values = [titles.value(member["swept"][flag], flag) for member in members]
    title = titles.family([member["title"] for member in members], flag) or name
    swept = f"{count(len(values), 'value')}, {values[0]}"
    swept += f" to {values[-1]}" if len(values) > 1 else ""
    return {**members[0], "name": name, "title": f"{title} ({swept})"}


def _suite_row(entry: dict[str, Any]) -> tuple[str, str, str]:
    size = f"{count(entry['cells'], 'cell')} x {entry['repetitions']}"
    latency = entry["latency_repetitions"]
    size += f" + {latency} latency" if latency else ""
    return entry["name"], size, entry["summary"]


def _cell_row(entry: dict[str, Any]) -> tuple[str, str, str]:
    return entry["cell"], entry["status"], entry["reason"]


def _schema_row(entry: dict[str, Any]) -> tuple[str, str, str]:
    return entry["name"], entry["id"], entry["title"]


_LINE_OF = {
    "engines": _engine_row,
    "scenarios": _scenario_row,
    "suites": _suite_row,
    "cells": _cell_row,
    "runs": run_row,
    "schemas": _schema_row,
}
