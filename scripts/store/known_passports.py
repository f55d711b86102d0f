"""The passports of earlier durability runs, for the plan of a run of rates."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from report.config.config_types import Config, EngineConfig
from report.config.durability_table import LEVEL
from report.durability.durability_folder import load_durability
from report.durability.passport import passport_of
from report.model.plan import Engine, Plan
from report.terms.class_stamp import CONTRADICTED, PROVED, KnownClass
from report.terms.documents import ResultsError
from scripts.store.run_store import DURABILITY, all_runs

_LEVELS = ("buffered", "consistent", "durable")
_MOST_RUNS = 20  # that are read, the newest first

# By engine, version of its library, and level of durability.
Passports = Mapping[tuple[str, str, str], KnownClass]


def with_passports(plan: Plan, config: Config, results: Path) -> Plan:
    """Return a plan with the class that the newest durability run found of each engine.

    Only a run of the same version of the library counts, and only one that could cut
    the power.  A variant that was not tried itself has the class of its engine.  An
    engine has none if the run sets a flag for it that distinguishes one of its
    settings of durability in another way than the trials did.
    """
    plan = without_passports(plan)  # of another place
    passports = _newest(results)
    if not passports:
        return plan
    engines = (_with(plan, engine, config, passports) for engine in plan.engines)
    return replace(plan, engines=tuple(engines))


def without_passports(plan: Plan) -> Plan:
    """Return a plan without them, for what machines must have in common."""
    return replace(plan, engines=tuple(replace(e, passports={}) for e in plan.engines))


def _with(plan: Plan, engine: Engine, config: Config, passports: Passports) -> Engine:
    base = config.engines.get(engine.executable)
    own = config.engines.get(engine.measures)
    if base is None or own is None:
        return engine
    known = {}
    for level in _LEVELS:
        for tried in (own, base):
            passport = passports.get((tried.name, engine.version, level))
            if passport and _is_as_tried(plan, engine, tried, base):
                known[level] = passport
                break
    return replace(engine, passports=known) if known else engine


def _is_as_tried(
    plan: Plan, engine: Engine, tried: EngineConfig, base: EngineConfig
) -> bool:
    """Return whether every scenario has the flags that bear on durability as tried.

    The level does not count: a passport is of one.
    """
    telling = {flag for flags in base.durability_settings.values() for flag in flags}
    return all(
        flags.get(flag) == tried.flags.get(flag)
        for scenario in plan.scenarios
        if (flags := scenario.flags.get(engine.name)) is not None
        for flag in telling - {LEVEL}
    )


def _newest(results: Path) -> Passports:
    """Return what is known by engine, version and level; the newest run wins."""
    known: dict[tuple[str, str, str], KnownClass] = {}
    for path in reversed(all_runs(results, (DURABILITY,))[-_MOST_RUNS:]):
        try:
            recorded = load_durability(path)
        except ResultsError:
            continue  # `kvmatrix list runs` says what is wrong with it
        for entry in passport_of(recorded.plan, recorded.trials)["settings"]:
            level = entry["setting"].rpartition("/")[2]
            is_found = entry["proof"]["kind"] in (PROVED, CONTRADICTED)
            if is_found and level in _LEVELS:
                key = (entry["engine"], entry["version"], level)
                known.setdefault(key, _class_of(entry, recorded.plan.run))
    return known


def _class_of(entry: Mapping[str, Any], run: str) -> KnownClass:
    found, proof = entry["found"], entry["proof"]
    return KnownClass(
        promise=entry["documented"]["promise"],
        name=found["class"],
        may_be_corrupt=found["may_be_corrupt"],
        proof=proof["kind"],
        states=proof["states"],
        run=run,
    )
