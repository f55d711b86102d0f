"""The passports of earlier durability runs, for the plan of a run of rates."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from report.config.config_types import Config
from report.durability.durability_folder import load_durability
from report.durability.passport import passport_of
from report.model.plan import Engine
from report.terms.class_stamp import DOCUMENTED, KnownClass
from report.terms.documents import ResultsError
from scripts.store.run_store import DURABILITY, all_runs

_LEVELS = ("buffered", "consistent", "durable")
_MOST_RUNS = 20  # that are read, the newest first


def with_passports(
    engines: Iterable[Engine], config: Config, results: Path
) -> tuple[Engine, ...]:
    """Return engines with the class that the newest durability run found of each level.

    Only a run of the same version of the engine counts, and only one that could cut
    the power.  An engine whose flags bear on durability in a way of its own has none.
    """
    passports = _newest(results)
    return tuple(_with(engine, config, passports) for engine in engines)


def _with(
    engine: Engine, config: Config, passports: Mapping[tuple[str, str, str], KnownClass]
) -> Engine:
    known = {
        level: passports[key]
        for level in _LEVELS
        if (key := (engine.executable, engine.version, level)) in passports
    }
    return (
        replace(engine, passports=known)
        if known and _is_usual(engine, config)
        else engine
    )


def _is_usual(engine: Engine, config: Config) -> bool:
    """Return whether no flag of an engine distinguishes a setting of durability."""
    base = config.engines.get(engine.executable)
    own = config.engines.get(engine.measures)
    if base is None or own is None:
        return False
    telling = {f for flags in base.durability_settings.values() for f in flags}
    return not telling & own.flags.keys()


def _newest(results: Path) -> dict[tuple[str, str, str], KnownClass]:
    """Return what is known by engine, version and level; the newest run wins."""
    known: dict[tuple[str, str, str], KnownClass] = {}
    for path in reversed(all_runs(results, (DURABILITY,))[-_MOST_RUNS:]):
        try:
            recorded = load_durability(path)
        except ResultsError:
            continue  # `kvmatrix list runs` says what is wrong with it
        for entry in passport_of(recorded.plan, recorded.trials)["settings"]:
            level = entry["setting"].rpartition("/")[2]
            if entry["proof"]["kind"] != DOCUMENTED and level in _LEVELS:
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
