"""The passports of earlier durability runs, for the plan of a run of rates."""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from report.config.config_types import Config, EngineConfig
from report.config.durability_table import LEVEL
from report.durability.durability_folder import load_durability
from report.durability.passport import passport_of
from report.model.plan import Engine, Plan
from report.terms.class_stamp import CONTRADICTED, PROVED, KnownClass
from report.terms.documents import ResultsError, read_bytes
from scripts.planning.executable import flag_text
from scripts.store.run_places import ROOT
from scripts.store.run_store import DURABILITY, all_runs

PUBLISHED = ROOT / "results"
_MOST_RUNS = 20  # that are read, the newest first


@dataclass(frozen=True)
class _Tried:
    """What a durability run found of one setting."""

    engine: str
    version: str  # of the engine's library
    flags: Mapping[str, str]  # of its command line
    known: KnownClass


def with_passports(plan: Plan, config: Config, results: Path) -> Plan:
    """Return a plan with the class that the newest durability run found of each engine.

    Only a run of the same version of the library counts, and only one that could cut
    the power, in `results` or, as the published ones, in those of the checkout.  The
    class of a level is that of the setting, be it a level or a further one, in which
    all flags that bear on durability at this level are as in the plan; of several such
    settings, it is that of the one that keeps least.  An engine has
    none if its writes at this level differ in those flags.  A variant that was not
    tried itself has the class of its engine.
    """
    plan = without_passports(plan)  # of another place
    runs = _newest(results, {engine.version for engine in plan.engines})
    if not any(runs):
        return plan
    engines = (_with(plan, engine, config, runs) for engine in plan.engines)
    return replace(plan, engines=tuple(engines))


def without_passports(plan: Plan) -> Plan:
    """Return a plan without them, for what machines must have in common."""
    return replace(plan, engines=tuple(replace(e, passports={}) for e in plan.engines))


def _with(
    plan: Plan, engine: Engine, config: Config, runs: Sequence[Sequence[_Tried]]
) -> Engine:
    base = config.engines.get(engine.executable)
    if base is None or engine.description is None:
        return engine
    defaults = engine.description.defaults
    known = {}
    for level, given in _writes_at(plan, engine).items():
        effects = [_effect(base, level, flags, defaults) for flags in given]
        equal = (
            [
                tried.known
                for tried in run
                if (tried.engine, tried.version) == (name, engine.version)
                and tried.flags.get(LEVEL) == level
                and all(
                    e == _effect(base, level, tried.flags, defaults) for e in effects
                )
            ]
            for name in (engine.measures, base.name)
            for run in runs
        )
        if found := next(filter(None, equal), []):
            known[level] = min(found, key=lambda of: of.kept)
    return replace(engine, passports=known)


def _writes_at(plan: Plan, engine: Engine) -> dict[str, list[dict[str, str]]]:
    """Return the flags with which an engine writes at each level."""
    levels: dict[str, list[dict[str, str]]] = {}
    for cell in (cell for cell in plan.cells if cell.engine == engine.name):
        benchmark, flags = plan.benchmark(cell), plan.flags(cell)
        if benchmark and benchmark.writes:
            words = {name: flag_text(value) for name, value in flags.items()}
            levels.setdefault(benchmark.durability(flags), []).append(words)
    return levels


def _effect(
    base: EngineConfig,
    level: str,
    flags: Mapping[str, str],
    defaults: Mapping[str, str],
) -> Mapping[str, str | None]:
    """Return the values in force of the flags that bear on durability at a level."""
    telling = {flag for of in base.durability_settings.values() for flag in of}
    return {
        flag: flags.get(flag, defaults.get(flag))
        for flag in telling - {LEVEL}
        if base.durability_acts_at.get(flag, level) == level
    }


def _newest(results: Path, versions: Collection[str]) -> list[list[_Tried]]:
    """Return what was found by each run of these versions, the newest first."""
    runs = all_runs(results, (DURABILITY,), also=PUBLISHED)
    return [_found(path, versions) for path in reversed(runs[-_MOST_RUNS:])]


def _found(path: Path, versions: Collection[str]) -> list[_Tried]:
    """Return what a run found; [] if it cannot be read, or tried no such version."""
    try:
        content = read_bytes(path / DURABILITY)  # much faster than to validate it
        if not any(json.dumps(version).encode() in content for version in versions):
            return []
        recorded = load_durability(path)
    except ResultsError:
        return []  # `kvmatrix list runs` says what is wrong with it
    passport = passport_of(recorded.plan, recorded.trials)
    return [
        _tried(entry, recorded.plan.run)
        for entry in passport["settings"]
        if entry["proof"]["kind"] in (PROVED, CONTRADICTED)
    ]


def _tried(entry: Mapping[str, Any], run: str) -> _Tried:
    words = (word.removeprefix("--").partition("=") for word in entry["flags"])
    found, proof = entry["found"], entry["proof"]
    return _Tried(
        engine=entry["engine"],
        version=entry["version"],
        flags={name: value for name, _, value in words},
        known=KnownClass(
            promise=entry["documented"]["promise"],
            name=found["class"],
            may_be_corrupt=found["may_be_corrupt"],
            proof=proof["kind"],
            states=proof["states"],
            run=run,
        ),
    )
