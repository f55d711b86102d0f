"""How an engine's file says in which settings its durability is tried."""

import json
import re
import subprocess
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from report.config.configuration import load
from report.config.durability_table import LEVEL, LEVELS
from report.config.toml_table import ConfigError
from report.model.description import Description
from report.terms.rulebook import Flag
from scripts.planning.engine_program import program_of
from scripts.planning.executable import flag_arguments
from scripts.planning.settings import resolve_trial_flags
from tests.builders.simple_plans import description
from tests.configuration.test_configuration import ENGINES, write
from tests.places import BUILD, ROOT

CONFIG = load(ROOT / "configs")
TABLES = """
[engine.flags]
buffer = "4MiB"
[engine.durability_flags]
buffer = "64KiB"
[engine.durability.no-log]
durability = "buffered"
no_log = true
[engine.durability.map]
map = "1GiB"
[engine.durability_acts_at]
map = "durable"
"""


def test_a_setting_has_a_level_which_is_durable_unless_given(tmp_path: Path) -> None:
    engine = load(write(tmp_path, engines=ENGINES + TABLES)).engines["one"]
    assert engine.durability_flags == {"buffer": "64KiB"}
    assert engine.durability_settings == {
        "no-log": {"durability": "buffered", "no_log": True},
        "map": {"durability": "durable", "map": "1GiB"},
    }
    assert engine.durability_acts_at == {"map": "durable"}


def test_an_engine_needs_no_further_setting(tmp_path: Path) -> None:
    engine = load(write(tmp_path)).engines["one"]
    assert (engine.durability_flags, engine.durability_settings) == ({}, {})


@pytest.mark.parametrize(
    ("more", "key", "problem"),
    [
        ("[engine.durability.Fast]", "durability.Fast", "not a valid name"),
        ("[engine.durability.durable]", "durability.durable", "a level of durability"),
        ("[engine.durability.x]\ndurability = 'much'", "durability.x.durability",
         "unknown value 'much'"),
        ("[engine.durability.x]\nsync = true", "durability.x.sync", "selects a level"),
        ("[engine.durability.x]\nflag = [1]", "durability.x.flag",
         "a number, a string"),
        ("[engine.durability]\nx = 1", "durability.x", "a table"),
        ("[engine.durability_flags]\nsync = true", "durability_flags.sync",
         "selects a level"),
        ("[engine.durability_flags]\ndurability = 'durable'",
         "durability_flags.durability", "write [engine.durability.NAME]"),
        ("[engine.durability_flags.x]\ny = 1", "durability_flags.x", "a number"),
        ("[engine.durability_acts_at]\nx = 'durable'", "durability_acts_at.x",
         "a flag of [engine.durability.NAME]"),
        ("[engine.durability.y]\nx = 1\n[engine.durability_acts_at]\nx = 'buffered'",
         "durability_acts_at.x", "its settings have the level durable"),
        ("[engine.durability.y]\nx = 1\n[engine.durability_acts_at]\nx = 1",
         "durability_acts_at.x", "a string"),
        ("[engine.durability_acts_at]\nsync = 'durable'", "durability_acts_at.sync",
         "selects a level"),
    ],
)  # fmt: skip
def test_a_wrong_table_is_named(
    tmp_path: Path, more: str, key: str, problem: str
) -> None:
    folder = write(tmp_path, engines=f"{ENGINES}{more}\n")
    with pytest.raises(ConfigError) as caught:
        load(folder)
    assert f"engine[one].{key}: " in str(caught.value)
    assert problem in str(caught.value)


@pytest.mark.parametrize("table", ["durability_flags", "durability.x"])
def test_a_variant_has_no_tables(tmp_path: Path, table: str) -> None:
    variant = ENGINES.replace("one", "two") + 'variant_of = "one"\n'
    more = f"{variant}[engine.{table}]\nflag = 1\n"
    with pytest.raises(ConfigError, match="'one', whose durability is tried"):
        load(write(tmp_path, engines=ENGINES + more))


def test_the_flags_of_a_trial_come_from_the_setting_then_from_the_engine(
    tmp_path: Path,
) -> None:
    """Sizes are in bytes, and a variant adds its own flags."""
    variant = ENGINES.replace("one", "two") + 'variant_of = "one"\n'
    more = f"{variant}[engine.flags]\nmap = 1\n"
    engines = load(write(tmp_path, engines=ENGINES + TABLES + more)).engines
    kinds = {"buffer": "uint64", "no_log": "bool", "map": "uint64"}
    accepts = replace(description("one"), flags=kinds)

    def flags(name: str, setting: str) -> dict[str, object]:
        return dict(
            resolve_trial_flags(engines[name], engines["one"], setting, accepts)
        )

    buffer = {"buffer": 64 << 10}
    assert flags("one", "durable") == {**buffer, "durability": "durable"}
    assert flags("one", "map") == {**buffer, "durability": "durable", "map": 1 << 30}
    assert flags("two", "no-log") == {
        **buffer, "durability": "buffered", "no_log": True, "map": 1
    }  # fmt: skip
    with pytest.raises(ConfigError, match=r"engine\[one\].durability.map.map: unknown"):
        accepts = replace(accepts, flags={"buffer": "uint64"})
        flags("one", "map")


def program(name: str) -> tuple[str, ...]:
    """Return the first words of an engine's command lines; skip if it is not built."""
    found = program_of(BUILD, CONFIG.engines[name])
    if found.missing:
        pytest.skip(f"{name} is not built")
    return found.command


def described(command: tuple[str, ...]) -> Description:
    words = [*command, "--describe"]
    done = subprocess.run(words, capture_output=True, check=True, timeout=60)
    return Description.of(json.loads(done.stdout))


@pytest.mark.parametrize(
    "name",
    [
        e.name
        for e in CONFIG.engines.values()
        if e.durability_flags or e.durability_settings
    ],
)
def test_every_setting_opens_its_engine(name: str, tmp_path: Path) -> None:
    engine = CONFIG.engines[name]
    accepts = described(program(name))
    for setting in (*LEVELS, *engine.durability_settings):
        flags = resolve_trial_flags(engine, engine, setting, accepts)
        measured = measure(name, tmp_path / setting, flags, accepts)
        lacks = setting in LEVELS and measured["promise"] is None
        expected = "unsupported" if lacks else "ok"
        assert measured["status"] == expected, (setting, measured["reason"])


def measure(
    name: str, folder: Path, flags: Mapping[str, Flag], accepts: Description
) -> dict[str, Any]:
    """Return what an engine says of a short fill."""
    cold = ["--jit_warmup=false"] if "jit_warmup" in accepts.flags else []
    more = ("--benchmarks=fillrandom", "--num=10", f"--json={folder}.jsonl")
    command = [*program(name), f"--db={folder}", *more, *flag_arguments(flags), *cold]
    subprocess.run(command, capture_output=True, check=False, timeout=60)
    lines = Path(f"{folder}.jsonl").read_text().splitlines()
    return dict(json.loads(lines[-1]))


@pytest.mark.parametrize(
    "name", [e.name for e in CONFIG.engines.values() if e.durability_settings]
)
def test_a_flag_acts_at_the_levels_that_its_file_says(
    name: str, tmp_path: Path
) -> None:
    """At the others, the engine reads back the same settings with it as without it."""
    engine = CONFIG.engines[name]
    accepts = described(program(name))
    given = [
        (flag, resolve_trial_flags(engine, engine, setting, accepts)[flag])
        for setting, flags in engine.durability_settings.items()
        for flag in flags
    ]
    for level in LEVELS:
        of_level = resolve_trial_flags(engine, engine, level, accepts)
        plain = measure(name, tmp_path / level, of_level, accepts)
        changed: dict[str, bool] = {}
        for number, (flag, value) in enumerate(given):
            folder = tmp_path / f"{level}-{number}"
            if flag != LEVEL:
                measured = measure(name, folder, {**of_level, flag: value}, accepts)
                if (measured["status"], plain["status"]) == ("ok", "ok"):
                    differs = measured["settings"] != plain["settings"]
                    changed[flag] = changed.get(flag, False) or differs
        acts_at = engine.durability_acts_at
        assert changed == {flag: acts_at.get(flag, level) == level for flag in changed}


# How much an engine writes until it begins a new log, table or checkpoint.
UNTIL_THE_NEXT = re.compile(
    "write_buffer|memtable|log_file|checkpoint|auto_?(commit_b|flush)"
)
# Flags whose names are alike, and that are no such size.
ALIKE = {"max_write_buffer_number", "checkpoint_wait", "wal_new_file_on_checkpoint"}


@pytest.mark.parametrize(
    "name", [e.name for e in CONFIG.engines.values() if not e.role]
)
def test_every_engine_switches_logs_within_a_trial(name: str) -> None:
    """A trial writes less than a megabyte, so what is not small is never reached.

    The size is that of all trials or, if it would hide a finding, of a setting.
    """
    accepts = described(program(name))
    engine = CONFIG.engines[name]
    due = set(filter(UNTIL_THE_NEXT.search, accepts.flags)) - ALIKE
    settings = [
        resolve_trial_flags(engine, engine, name, accepts)
        for name in (*LEVELS, *engine.durability_settings)
    ]
    for flag in due:
        sizes = [int(flags[flag]) for flags in settings if flag in flags]
        problem = f"{engine.file}: [engine.durability_flags] needs a small {flag}"
        assert any(0 < size <= 256 << 10 for size in sizes), problem


def test_the_default_engines_and_rocksdb_have_at_least_thirty_settings() -> None:
    engines = [CONFIG.engines[n] for n in (*CONFIG.default_engines(), "rocksdb")]
    levels = 2 * sum(not engine.role for engine in engines)  # not all have three
    assert levels + sum(len(engine.durability_settings) for engine in engines) >= 30
