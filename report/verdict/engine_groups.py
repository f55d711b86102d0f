"""Engines by their structure, for reports that have more of them than columns."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from report.model.plan import Engine

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


def engine_groups(engines: Iterable[Engine]) -> tuple[EngineGroup, ...]:
    """Return the groups in the order of their first engines.

    Returns () if the ranked engines are few enough for a column each.
    """
    ranked = [engine for engine in engines if engine.ranked]
    if len(ranked) <= MOST_COLUMNS:
        return ()
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
    groups = engine_groups(ranked)
    return [engine for group in groups for engine in group.engines] or ranked
