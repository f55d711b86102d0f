"""The suites with a limited memory: how much data they have, and which rows."""

from typing import Any

import pytest

from report.config.config_types import LARGER, EngineConfig, ScenarioConfig, SuiteConfig
from report.config.configuration import load
from report.stats.steady_state import WINDOWS
from report.terms.rulebook import flag_of
from report.verdict.contest import LEAST_REPETITIONS
from scripts.planning.settings import resolve_flags
from tests.places import ROOT

TIMES_MEMORY = 4
CONFIG = load(ROOT / "configs")


def limited(suite: SuiteConfig) -> list[ScenarioConfig]:
    """Return the scenarios of a suite that limit the memory."""
    scenarios = (CONFIG.scenarios[name] for name in suite.scenarios)
    return [s for s in scenarios if s.regime and s.regime.memory_limit_bytes]


SUITES = [suite for suite in CONFIG.suites.values() if limited(suite)]


def rows(suite: SuiteConfig) -> list[EngineConfig]:
    """Return the engines of a suite that may be ranked."""
    engines = (CONFIG.engines[name] for name in CONFIG.default_engines(suite))
    return [engine for engine in engines if engine.role in ("", "variant")]


def cells(is_steady: bool = False) -> list[Any]:
    """Return the cells that limit the memory, or those that must be steady."""
    return [
        pytest.param(suite, scenario, engine, id=f"{scenario.name}-{engine.name}")
        for suite in SUITES
        for scenario in limited(suite)
        for engine in rows(suite)
        if not is_steady or (scenario.regime and scenario.regime.steady)
    ]


CELLS = cells()


def test_there_are_such_suites() -> None:
    names = {"larger-than-memory", "steady-state", "steady-state-mix"}
    assert {suite.name for suite in SUITES} == names


@pytest.mark.parametrize(("suite", "scenario", "engine"), CELLS)
def test_keys_and_values_are_four_times_the_memory(
    suite: SuiteConfig, scenario: ScenarioConfig, engine: EngineConfig
) -> None:
    """However compact an engine stores them: none may compress."""
    flags = resolve_flags(scenario, engine, suite.override, {}, None)
    entry_bytes = int(flag_of(flags, "key_size")) + int(flag_of(flags, "value_size"))
    assert flag_of(flags, "compression") is False
    assert scenario.regime
    least_bytes = TIMES_MEMORY * scenario.regime.memory_limit_bytes
    assert int(flag_of(flags, "num")) * entry_bytes >= least_bytes


@pytest.mark.parametrize(("suite", "scenario", "engine"), CELLS)
def test_every_row_has_the_same_cache_within_the_memory(
    suite: SuiteConfig, scenario: ScenarioConfig, engine: EngineConfig
) -> None:
    """It is a third of the memory; what an engine does not take is page cache."""
    flags = resolve_flags(scenario, engine, suite.override, {}, None)
    assert scenario.regime
    limit_bytes = scenario.regime.memory_limit_bytes
    assert flags["cache_size"] == scenario.flags["cache_size"]
    assert 0.3 * limit_bytes < int(flags["cache_size"]) <= limit_bytes / 3


@pytest.mark.parametrize("suite", SUITES, ids=lambda suite: suite.name)
def test_rows_are_advised_for_data_larger_than_memory(suite: SuiteConfig) -> None:
    """Each engine of a default run has one, and no other row may be measured."""
    assert {e.advised_for for e in rows(suite)} == {LARGER}
    defaults = (e.name for e in CONFIG.engines.values() if not e.is_on_request)
    compared = [n for n in defaults if not CONFIG.engines[n].role]
    assert {e.executable for e in rows(suite)} >= {*compared, "rocksdb"}


@pytest.mark.parametrize("suite", SUITES, ids=lambda suite: suite.name)
def test_there_are_enough_repetitions_for_a_verdict(suite: SuiteConfig) -> None:
    assert suite.repetitions >= LEAST_REPETITIONS


@pytest.mark.parametrize(
    ("suite", "scenario", "engine"),
    cells(is_steady=True),
)
def test_a_steady_state_ends_by_its_amount(
    suite: SuiteConfig, scenario: ScenarioConfig, engine: EngineConfig
) -> None:
    """The data are rewritten nine times or a multiple; the time is only a guard."""
    flags = resolve_flags(scenario, engine, suite.override, {}, None)
    names = ("reads", "readwritepercent", "num", "duration")
    reads, gets, num, limit_s = (float(flags[name]) for name in names)
    rewrites = reads * (1 - gets / 100) / num
    assert rewrites >= WINDOWS
    assert rewrites % WINDOWS < 0.05 * rewrites  # no part of the loop is left out
    assert limit_s >= 300
