"""Rows with the settings that the engines' own documentation advises."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from report.config.config_types import ScenarioConfig
from report.config.configuration import load
from report.config.toml_table import ConfigError
from report.terms.row_settings import DEFAULTS
from report.terms.rulebook import BENCHMARKS
from scripts.planning.settings import resolve_flags
from tests.places import ROOT

CONFIG = load(ROOT / "configs")
# Whose documentation advises nothing that is a setting: drivers/{rust,java}/ENGINES.md.
UNADVISED = {"iq80-leveldb", "mvstore", "persy", "redb", "xodus"}
ENGINE = """
[[engine]]
name = "one"
title = "One"
summary = "a fake"
[engine.flags]
page_size = 512
[engine.advice]
"""


def test_every_engine_that_is_compared_has_an_advised_row() -> None:
    compared = [e for e in CONFIG.engines.values() if not e.role]
    assert {e.name for e in compared} >= {"leveldb", "sqlite3", "rocksdb", "lmdb"}
    assert {e.name for e in compared} >= UNADVISED
    for engine in compared:
        if engine.name in UNADVISED:
            assert f"{engine.name}-advised" not in CONFIG.engines
            continue
        advised = CONFIG.engines.get(f"{engine.name}-advised")
        assert advised, f"{engine.name} has no advised row, and is not in UNADVISED"
        assert (advised.variant_of, advised.role) == (engine.name, "variant")


def test_every_advised_flag_has_the_address_of_the_advice() -> None:
    advised = [
        e
        for e in CONFIG.engines.values()
        if e.name.endswith("-advised") or e.advised_for
    ]
    assert {e.name for e in advised} >= {"lmdb-advised", "lmdb-larger"}
    for engine in advised:
        assert engine.advice and engine.advice.keys() == engine.flags.keys()


# What depends on how much memory there is for the data, for every engine.
OF_MEMORY = {
    *("map_size", "mmap_size", "write_buffer_size"),
    *("max_bytes_for_level_base", "target_file_size_base"),
}
# The same, for one engine: its documentation advises it for one kind of data alone.
OF_MEMORY_FOR = {
    "leveldb": {"bloom_bits"},
    "lmdb": {"nordahead", "writemap"},
    "rocksdb": {"cache_type", "max_background_jobs"},
}


def test_advice_that_does_not_concern_memory_is_in_both_rows() -> None:
    larger = [e for e in CONFIG.engines.values() if e.advised_for]
    assert {e.variant_of for e in larger} >= OF_MEMORY_FOR.keys()
    for engine in larger:
        advised = CONFIG.engines[f"{engine.variant_of}-advised"]
        mine = OF_MEMORY | OF_MEMORY_FOR.get(engine.variant_of, set())
        # All scenarios of larger data decide themselves whether it is compressed.
        mine |= {"compression", "compression_type", "bottommost_compression_type"}
        ours, theirs = (
            {flag: value for flag, value in row.flags.items() if flag not in mine}
            for row in (engine, advised)
        )
        assert ours == theirs, engine.name
    regimes = [(s.regime, s.flags) for s in CONFIG.scenarios.values()]
    assert {
        flags["compression"]
        for regime, flags in regimes
        if regime and regime.memory_limit_bytes
    } == {False}


def test_a_filter_is_advised_for_leveldb_only_where_data_exceed_memory() -> None:
    assert "bloom_bits" in CONFIG.engines["leveldb-larger"].flags
    assert "bloom_bits" not in CONFIG.engines["leveldb-advised"].flags


# Whose libraries compress nothing unless they are told to.
PLAIN = {
    *("treedb", "hashdb", "tkrzw-tree", "tkrzw-hash", "tokyo-bdb", "tokyo-hdb"),
    *("wiredtiger", "mvstore", "surrealkv"),
}


@pytest.mark.parametrize("name", sorted(PLAIN))
def test_no_row_compresses_without_advice_but_those_of_2011(name: str) -> None:
    """A row of defaults, or of advice, has a codec only if its engine would."""
    rows = [CONFIG.engines[name]]
    rows += [e for n, e in CONFIG.engines.items() if n == f"{name}-advised"]
    assert (len(rows) == 1) == (name in UNADVISED)
    for row in rows:
        found = {
            scenario: resolve_flags(CONFIG.scenarios[scenario], row, {}, {}, None)
            for scenario in ("db-bench", "advised", "baseline")
        }
        assert [flags["compression"] for flags in found.values()] == [
            False,
            False,
            True,
        ]
    assert CONFIG.settings_of(rows[0], CONFIG.scenarios["db-bench"], {}) == DEFAULTS


@pytest.mark.parametrize(
    ("scenario", "level"),
    [("advised", "consistent"), ("threads-durable-writes-1", "durable")],
)
def test_sqlite_writes_as_it_advises_unless_a_scenario_has_a_level(
    scenario: str, level: str
) -> None:
    """Its documentation advises synchronous=NORMAL with WAL."""
    for row in ("sqlite3-advised", "sqlite3-larger"):
        found = CONFIG.scenarios[scenario]
        flags = resolve_flags(found, CONFIG.engines[row], {}, {}, None)
        assert BENCHMARKS["overwrite"].durability(flags) == level


def longest_entry(family: Sequence[ScenarioConfig]) -> int:
    """Return the bytes of key and value in the largest entries of a sweep.

    A model's distribution counts as its `value_size`: most of its values are short.
    """
    benchmarks = [BENCHMARKS[name] for s in family for name in s.benchmarks]
    sizes = [b.value_size or BENCHMARKS[b.fill].value_size for b in benchmarks]
    flags = [s.flags for s in family]
    return max(
        int(f.get("key_size", 16)) + (max(sizes) or int(f.get("value_size", 100)))
        for f in flags
    )


def test_sqlite_has_no_row_numbers_where_rows_are_below_a_twentieth_of_a_page() -> None:
    families: dict[str, list[ScenarioConfig]] = {}
    for scenario in CONFIG.scenarios.values():
        families.setdefault(scenario.family or scenario.name, []).append(scenario)
    lengths = {name: longest_entry(of) for name, of in families.items()}
    assert {"ycsb", "value-sizes", "large-values"} <= {
        name for name, length in lengths.items() if length > 4096 / 20
    }
    for name, of in families.items():
        for scenario in of:
            row = "sqlite3-larger" if scenario.regime else "sqlite3-advised"
            flags = {**CONFIG.engines[row].flags, **scenario.settings.get(row, {})}
            assert flags["without_rowid"] == (lengths[name] <= 4096 / 20), name


@pytest.mark.parametrize("suite", ["ycsb", "mixgraph", "rocksdb-scale"])
def test_suites_of_today_measure_the_advised_rows(suite: str) -> None:
    names = CONFIG.default_engines(CONFIG.suites[suite])
    assert {"leveldb-advised", "rocksdb-advised"} <= set(names)


@pytest.mark.parametrize("suite", ["leveldb-2011", "leveldb-1.1", "kyoto-ceda"])
def test_suites_of_2011_do_not(suite: str) -> None:
    names = CONFIG.default_engines(CONFIG.suites[suite])
    assert not [name for name in names if name.endswith("-advised")]


def test_what_people_run_first_measures_both() -> None:
    suite = CONFIG.suites["quick"]
    rows = CONFIG.rows(suite.scenarios, CONFIG.default_engines(suite))
    plain = ("leveldb", "treedb", "hashdb", "sqlite3", "lmdb")
    assert rows["baseline"] == (*plain, "null")
    assert rows["advised"] == (*(f"{name}-advised" for name in plain), "null")


@pytest.mark.parametrize(
    ("advice", "problem"),
    [
        ('page_sise = "https://sqlite.org"', "unknown flag of this engine"),
        ('page_size = "sqlite.org"', "an address such as"),
        ("page_size = 1", "page_size"),
    ],
)
def test_advice_without_an_address_is_refused(
    advice: str, problem: str, tmp_path: Path
) -> None:
    (tmp_path / "scenarios").mkdir()
    (tmp_path / "suites").mkdir()
    (tmp_path / "engines.toml").write_text(ENGINE + advice)
    with pytest.raises(ConfigError, match=problem):
        load(tmp_path)


def test_a_flag_without_advice_is_refused(tmp_path: Path) -> None:
    (tmp_path / "scenarios").mkdir()
    (tmp_path / "suites").mkdir()
    text = ENGINE.replace("512", "512\nsync = true")
    (tmp_path / "engines.toml").write_text(text + 'page_size = "https://sqlite.org"')
    with pytest.raises(ConfigError, match="sync"):
        load(tmp_path)


@pytest.mark.parametrize(
    ("keys", "problem"),
    [
        ('advised_for = "larger-than-memori"', "larger-than-memory"),
        ('advised_for = "larger-than-memory"', "advice"),
    ],
)
def test_only_advice_is_for_some_data(keys: str, problem: str, tmp_path: Path) -> None:
    (tmp_path / "scenarios").mkdir()
    (tmp_path / "suites").mkdir()
    text = ENGINE.replace("[engine.flags]", f"{keys}\n[engine.flags]")
    given = 'page_size = "https://sqlite.org"' if problem != "advice" else ""
    (tmp_path / "engines.toml").write_text(text + given)
    with pytest.raises(ConfigError, match=problem):
        load(tmp_path)
