"""Whether two plans are those of shards of one run: all but the machine is alike."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from report.model.plan import Plan
from scripts.planning.settings import differences

# Of run.json and ab.json: what differs between the shards of a run.  All else is the
# matrix, which they have in common.
_OF_ONE_SHARD = ("run", "command", "machine", "machines", "shard", "checksum")


def matrix(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return what all shards of a run have in common, of run.json or ab.json."""
    return {key: document[key] for key in document.keys() - {*_OF_ONE_SHARD}}


@dataclass(frozen=True)
class PlannedRun:
    """A plan with its document."""

    document: Mapping[str, Any]
    plan: Plan


def differences_of(first: PlannedRun, other: PlannedRun) -> list[str]:
    """Return how two plans differ but for the machine, in words; [] if they do not."""
    a, b = (_flat(matrix(planned.document)) for planned in (first, other))
    keys = [key for key in sorted(a.keys() | b.keys()) if a.get(key) != b.get(key)]
    settings = differences(first.plan.settings(), other.plan.settings())
    executables = list(_executables(first.plan, other.plan))
    said = {"engines", "settings_sha256"} if executables or settings else set()
    said |= {"scenarios", "suite.chosen"} if settings else set()
    found = [
        *executables,
        *settings,
        *(
            f"{key}: {_short(a.get(key))} there, {_short(b.get(key))} here"
            for key in keys
            if key not in {*said, "order"} and not (executables and key == "cells")
        ),
    ]
    return found or [f"{key}: differs" for key in keys]


def _flat(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return a plan with the keys of its suite next to the others."""
    suite = {f"suite.{key}": value for key, value in document["suite"].items()}
    return {**{k: v for k, v in document.items() if k != "suite"}, **suite}


def _executables(first: Plan, other: Plan) -> Iterator[str]:
    a, b = ({engine.name: engine for engine in plan.engines} for plan in (first, other))
    for name in sorted(a.keys() ^ b.keys()):
        yield f"engine {name}: only {'there' if name in a else 'here'}"
    for name in sorted(a.keys() & b.keys()):
        old, new = a[name].binary_sha256, b[name].binary_sha256
        if old != new:
            yield f"engine {name}: executable {old[:12]} there, {new[:12]} here"
        elif replace(a[name], passports={}) != replace(b[name], passports={}):
            yield f"engine {name}: its description differs"


def _short(value: object) -> str:
    text = json.dumps(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
