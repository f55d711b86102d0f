"""The machines of a merged run: what they have in common, and their environments."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from report.model.ab_plan import AbPlan
from report.model.build_facts import DIFFERS
from report.model.plan import Plan
from report.terms.checksum import KEY
from report.terms.documents import ResultsError
from report.terms.machine_facts import changed_facts

_OF_ONE_RUN = ("plan", "schema", KEY)
_NAMED = 8  # machines


def check_known(names: Iterable[str], machines: Iterable[str]) -> None:
    """Raise ResultsError for a name that is not one of the machines."""
    known = sorted(machines)
    for name in names:
        if name not in known:
            more = f" and {len(known) - _NAMED} more" if known[_NAMED:] else ""
            listed = f"{', '.join(known[:_NAMED])}{more}"
            raise ResultsError(f"no machine {name}; the machines are {listed}")


def check_same_machines(
    parts: Iterable[tuple[Path, Mapping[str, Mapping[str, object]]]],
) -> None:
    """Raise ResultsError if machines of one name differ.

    `parts` are folders with the facts of their machines, by name.
    """
    known: dict[str, tuple[Path, Mapping[str, object]]] = {}
    for folder, machines in parts:
        for name, facts in machines.items():
            path, expected = known.setdefault(name, (folder, facts))
            if changed := changed_facts(expected, facts):
                raise ResultsError(
                    f"{folder}: machine {name} is not the one of {path}:"
                    f" {', '.join(changed)} differ; name one of them with --machine"
                    " when it measures, and measure its shard again"
                )


def in_common(machines: Sequence[Mapping[str, object]]) -> dict[str, object]:
    """Return the facts of machines, with DIFFERS for those that differ."""
    keys = {key for facts in machines for key in facts}
    values = {key: [facts.get(key) for facts in machines] for key in sorted(keys)}
    return {
        key: found[0] if all(value == found[0] for value in found) else DIFFERS
        for key, found in values.items()
    }


def common_harness(plans: Sequence[Plan | AbPlan]) -> Mapping[str, object]:
    """Return the commit that planned all of these; {} if they have several."""
    first = plans[0].harness
    return first if all(plan.harness == first for plan in plans) else {}


def environment_of(
    parts: Iterable[tuple[Mapping[str, Any], Sequence[str]]], machines: Iterable[str]
) -> dict[str, Any]:
    """Return environment.json of a merged run: that of each machine's earliest part.

    `parts` are environments with the names of their machines, the earliest first.
    """
    by_machine: dict[str, Any] = {}
    for document, names in parts:
        own = {k: v for k, v in document.items() if k not in _OF_ONE_RUN}
        found = own.get("machines") or dict.fromkeys(names, own)
        by_machine = {**found, **by_machine}
    chosen = {name: by_machine[name] for name in sorted(machines)}
    return {"schema": 1, "machines": chosen}
