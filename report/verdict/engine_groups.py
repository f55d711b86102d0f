"""The engines of a table: those that the same scenarios measure, by their structure.

A report has a table for each set of rows, and groups of engines if it has more than
columns.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from report.model.plan import Engine, Plan, Scenario

MOST_COLUMNS = 8

_TITLES = {
    "lsm": "Log-structured merge trees",
    "btree": "B-trees",
    "hash": "Hash tables",
    "": "Other engines",
}


@dataclass(frozen=True)
class EngineGroup:
    """The ranked engines of one structure, each followed by its variants."""

    title: str
    engines: tuple[Engine, ...]


def are_many(engines: Iterable[Engine]) -> bool:
    """Return True if the ranked engines are too many for a column each."""
    return sum(engine.ranked for engine in engines) > MOST_COLUMNS


def engine_groups(engines: Iterable[Engine]) -> tuple[EngineGroup, ...]:
    """Return the groups of the ranked engines, in the order of their first engines."""
    ranked = [engine for engine in engines if engine.ranked]
    names = {engine.name for engine in ranked}
    members: dict[str, list[Engine]] = {}
    for engine in ranked:
        if engine.variant_of not in names:
            variants = (e for e in ranked if e.variant_of == engine.name)
            members.setdefault(engine.group, []).extend((engine, *variants))
    return tuple(
        EngineGroup(_TITLES.get(word, word), tuple(found))
        for word, found in members.items()
    )


def in_order(engines: Iterable[Engine]) -> list[Engine]:
    """Return the ranked engines in the order in which reports list them."""
    ranked = [engine for engine in engines if engine.ranked]
    if not are_many(ranked):
        return ranked
    return [engine for group in engine_groups(ranked) for engine in group.engines]


@dataclass(frozen=True)
class RowSet:
    """Scenarios with the same engines, each with the settings of the same source.

    `engines` have a cell in them, in the order of the plan.
    """

    engines: tuple[Engine, ...]
    scenarios: tuple[Scenario, ...]

    def source(self, engine: Engine) -> str:
        """Return whose settings an engine has in these scenarios; "" if unknown.

        It is a code of report/terms/row_settings.py.
        """
        return self.scenarios[0].settings_of.get(engine.name, "")

    def has(self, scenario: Scenario) -> bool:
        """Return True if a scenario, by its name, is one of these."""
        return any(scenario.name == own.name for own in self.scenarios)


def row_sets(plan: Plan) -> tuple[RowSet, ...]:
    """Return the sets of a plan in the order of their first scenarios.

    The scenarios of a family share a set.
    """
    measured: dict[str, set[str]] = {}
    family = {s.name: s.family or s.name for s in plan.scenarios}
    for cell in plan.cells:
        measured.setdefault(family[cell.scenario], set()).add(cell.engine)
    sets: dict[tuple[tuple[str, str], ...], list[Scenario]] = {}
    for scenario in plan.scenarios:
        names, of = measured.get(family[scenario.name], set()), scenario.settings_of
        key = tuple(
            (e.name, of.get(e.name, "")) for e in plan.engines if e.name in names
        )
        sets.setdefault(key, []).append(scenario)
    by_name = {engine.name: engine for engine in plan.engines}
    return tuple(
        RowSet(tuple(by_name[name] for name, _ in key), tuple(scenarios))
        for key, scenarios in sets.items()
        if key
    )
