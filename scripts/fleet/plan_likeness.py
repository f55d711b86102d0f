"""Whether two plans are those of shards of one run: all but the machine is alike."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from report.model.ab_plan import AbPlan, AbShard
from report.model.plan import Engine, Plan, Shard
from report.model.plan_document import engine_documents
from report.terms.documents import ResultsError
from scripts.planning.engine_program import portable
from scripts.planning.settings import differences
from scripts.store.run_places import CannotStart

P = TypeVar("P", bound=Plan | AbPlan)
CANNOT_TAKE_PART = "this machine cannot take part"  # begins a message
Holder = tuple[Path, Shard | AbShard | None]
_ENGINES, _PASSPORTS = "engines", "passports"
# Of run.json and ab.json: what differs between the shards of a run.  All else is the
# matrix, which they have in common.
_OF_ONE_SHARD = (
    *("run", "command", "machine", "machines", "shard", "harness", "checksum"),
)


def matrix(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return what all shards of a run have in common, of run.json or ab.json.

    Passports of engines are not: they are those of a results directory.  Nor are the
    directories of plug-ins.
    """
    found = {key: document[key] for key in document.keys() - {*_OF_ONE_SHARD}}
    if "sides" in found:
        sides = found["sides"].items()
        found["sides"] = {name: _without_own(side) for name, side in sides}
    return _without_own(found)


def _without_own(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return a document whose engines, if it has any, lack what is a machine's."""
    engines = [
        {key: value for key, value in portable(engine).items() if key != _PASSPORTS}
        for engine in document.get(_ENGINES, ())
    ]
    return {**document, **({_ENGINES: engines} if engines else {})}


@dataclass(frozen=True)
class PlannedRun(Generic[P]):
    """A plan with its document."""

    document: Mapping[str, Any]  # run.json or ab.json
    plan: P


def check_like(own: PlannedRun[P], expected: PlannedRun[P], place: Path) -> None:
    """Raise CannotStart unless a plan is that of a file, but for the machine."""
    if found := differences_of(expected, own):
        remedy = "give it the same commit, build, configuration and kind of file system"
        raise CannotStart(
            f"{CANNOT_TAKE_PART} in the run of {place}; {remedy}:", 2, *found
        )


def differences_of(first: PlannedRun[P], other: PlannedRun[P]) -> list[str]:
    """Return how two plans differ but for the machine, in words; [] if they do not."""
    a, b = (_flat(matrix(planned.document)) for planned in (first, other))
    keys = [key for key in sorted(a.keys() | b.keys()) if a.get(key) != b.get(key)]
    settings = differences(first.plan.settings(), other.plan.settings())
    executables = list(_executables(first.plan, other.plan))
    said = {_ENGINES, "sides", "settings_sha256"} if executables or settings else set()
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


def overlap(what: str, first: Holder, other: Holder) -> ResultsError:
    """Return the error for what two folders have; each comes with its shard."""
    (path, shard), (other_path, other_shard) = first, other
    problem = f"{what} is in {path} and in {other_path}"
    if shard and other_shard and shard.count != other_shard.count:
        problem = (
            f"{path} is shard {shard} and {other_path} is shard {other_shard} of the"
            " same run: shards of different divisions overlap"
        )
    return ResultsError(f"{problem}; leave one of the two directories out")


def _flat(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return a plan with the keys of its suite next to the others."""
    suite = {f"suite.{key}": value for key, value in document["suite"].items()}
    return {**{k: v for k, v in document.items() if k != "suite"}, **suite}


def _executables(first: Plan | AbPlan, other: Plan | AbPlan) -> Iterator[str]:
    if isinstance(first, AbPlan) and isinstance(other, AbPlan):
        for side in first.sides:
            for text in _executables(first.sides[side], other.sides[side]):
                yield f"side {side}: {text}"
        return
    assert isinstance(first, Plan) and isinstance(other, Plan)
    a, b = ({engine.name: engine for engine in plan.engines} for plan in (first, other))
    for name in sorted(a.keys() ^ b.keys()):
        yield f"engine {name}: only {'there' if name in a else 'here'}"
    for name in sorted(a.keys() & b.keys()):
        old, new = a[name].binary_sha256, b[name].binary_sha256
        if old != new:
            yield f"engine {name}: executable {old[:12]} there, {new[:12]} here"
        elif different := _different(a[name], b[name]):
            yield f"engine {name}: not the same: {', '.join(different)}"


def _different(first: Engine, other: Engine) -> list[str]:
    """Return the fields in which two engines differ, but for what is a machine's."""
    a, b = _without_own({_ENGINES: engine_documents([first, other])})[_ENGINES]
    return [key for key in sorted({*a, *b}) if a.get(key) != b.get(key)]


def _short(value: object) -> str:
    text = json.dumps(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
