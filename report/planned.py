"""The parts of a plan's document: engines, scenarios and cells, each checked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from report.cells import CellName, Engine, Scenario
from report.documents import ResultsError

_CONTROL = "control"
Named = TypeVar("Named", Engine, Scenario)
Entries = Iterable[Mapping[str, Any]]


def engines(entries: Entries, path: Path) -> dict[str, Engine]:
    """The engines by name.  Raises ResultsError for doubled names and odd controls."""
    found = _unique(map(_engine, entries), path)
    _check_twins(found, path)
    return found


def scenarios(entries: Entries, path: Path) -> dict[str, Scenario]:
    """The scenarios by name.  Raises ResultsError for doubled names, odd families."""
    found = _unique(map(_scenario, entries), path)
    _check_families(found.values(), path)
    return found


def cell_names(
    entries: Entries,
    engines: Mapping[str, Engine],
    scenarios: Mapping[str, Scenario],
    path: Path,
) -> tuple[CellName, ...]:
    """The cells, each once.  Raises ResultsError for one that is of no scenario."""
    names = []
    for entry in entries:
        name = CellName(entry["engine"], entry["scenario"], entry["benchmark"])
        scenario = scenarios.get(name.scenario)
        if name.engine not in engines or scenario is None:
            raise ResultsError(f"{path}: cell {name} names what the plan does not have")
        if name.benchmark not in scenario.benchmarks:
            raise ResultsError(f"{path}: cell {name} is not in its scenario's list")
        names.append(name)
    return tuple(dict.fromkeys(names))


def _engine(entry: Mapping[str, Any]) -> Engine:
    return Engine(
        entry["name"],
        entry["title"],
        entry["role"],
        entry["summary"],
        entry["describe"],
        entry["missing"],
        entry.get("binary_sha256") or "",
        entry.get("twin_of") or "",
        entry.get("variant_of") or "",
    )


def _scenario(entry: Mapping[str, Any]) -> Scenario:
    return Scenario(
        entry["name"],
        entry["title"],
        entry["analysis"].strip(),
        tuple(entry["benchmarks"]),
        entry["flags"],
        entry["exclude"],
        tuple(entry.get("fill") or ()),
        entry.get("state") or "",
        entry.get("family") or "",
        entry.get("swept") or {},
    )


def _unique(entries: Iterable[Named], path: Path) -> dict[str, Named]:
    by_name: dict[str, Named] = {}
    for entry in entries:
        if entry.name in by_name:
            raise ResultsError(f"{path}: {entry.name} is listed twice")
        by_name[entry.name] = entry
    return by_name


def _check_families(scenarios: Iterable[Scenario], path: Path) -> None:
    """A family sweeps one flag, as every engine has it, and no value of it twice."""
    flags: dict[str, str] = {}
    values: set[tuple[str, str]] = set()
    for scenario in scenarios:
        if bool(scenario.family) != (len(scenario.swept) == 1):
            raise ResultsError(
                f"{path}: {scenario.name} is of no family, or sweeps nothing"
            )
        for flag, value in scenario.swept.items():
            place = (scenario.family, repr(value))
            if flags.setdefault(scenario.family, flag) != flag or place in values:
                told = f"the family {scenario.family} sweeps {flag} oddly"
                raise ResultsError(f"{path}: {told}, in {scenario.name}")
            values.add(place)
            other = (own.get(flag, value) for own in scenario.flags.values())
            if any(found != value for found in other):
                told = f"{scenario.name} sweeps {flag} at {value}, and has another"
                raise ResultsError(f"{path}: {told} in its flags")


def _check_twins(engines: Mapping[str, Engine], path: Path) -> None:
    """The control is one other engine of the run, measured again."""
    for engine in engines.values():
        is_control = engine.role == _CONTROL
        twin = engines.get(engine.twin_of)
        if is_control != bool(engine.twin_of) or (is_control and twin is None):
            raise ResultsError(f"{path}: {engine.name} is the control of no engine")
        if twin is not None and twin.role == _CONTROL:
            raise ResultsError(f"{path}: {engine.name} is the control of a control")
