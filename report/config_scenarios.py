"""Reads scenarios/NAME.toml: one scenario, or one for each value of its sweep."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from report.config_keys import (
    COMMON_FLAGS,
    ConfigError,
    Flag,
    Table,
    known,
    read_flag,
    read_flags,
)
from report.config_parts import BENCHMARKS, DEFAULT_NUM, STATES, Growth, Scenario

_OWN = (
    *("extends", "title", "analysis", "benchmarks", "settings", "exclude"),
    *("fill", "state", "sweep", "from_num"),
)
# What is taken whole from the base where the scenario itself does not have it.
_INHERITED = ("benchmarks", "fill", "state", "sweep")


def scenarios_of(
    name: str, raw: Mapping[str, Table], engines: Iterable[str]
) -> tuple[Scenario, ...]:
    """The scenarios of one file; `raw` has all files.  Raises ConfigError."""
    table = raw[name]
    base = _base(table, raw)
    _check_keys(table, tuple(engines))
    parts = (base, table) if base else (table,)
    owner = {
        key: base if base and key not in table.values else table for key in _INHERITED
    }
    flags: dict[str, Flag] = {"num": DEFAULT_NUM}
    for part in parts:
        flags |= read_flags(part, COMMON_FLAGS)
    scenario = Scenario(
        name=name,
        title=table.text("title"),
        analysis=" ".join(table.text("analysis").split()),
        benchmarks=owner["benchmarks"].texts("benchmarks"),
        flags=flags,
        settings=_settings(parts),
        exclude=_exclude(parts),
        file=table.file,
        fill=_fill(owner["fill"]),
        state=owner["state"].text("state", ""),
        growth=_growth(parts),
    )
    return _swept(scenario, owner["sweep"].table("sweep"))


def _base(table: Table, raw: Mapping[str, Table]) -> Table | None:
    extends = table.text("extends", "")
    if not extends:
        return None
    known(table, "extends", extends, raw, "scenario")
    if "extends" in raw[extends].values:
        raise ConfigError(
            table.file,
            "extends",
            f"{extends!r} itself extends a scenario; one level is accepted",
        )
    return raw[extends]


def _check_keys(table: Table, engines: tuple[str, ...]) -> None:
    table.only(*_OWN, *COMMON_FLAGS)
    if "benchmarks" in table.values:
        for benchmark in table.texts("benchmarks"):
            known(table, "benchmarks", benchmark, BENCHMARKS, "benchmark")
    _fill(table)
    if "state" in table.values:
        known(table, "state", table.text("state"), STATES, "state")
    _check_engines(table, ("settings", "exclude"), engines)
    for growth in table.tables("from_num"):
        growth.only("settings", *COMMON_FLAGS)
        _check_engines(growth, ("settings",), engines)


def _check_engines(table: Table, keys: Iterable[str], engines: tuple[str, ...]) -> None:
    for key in keys:
        for engine in table.table(key).values:
            known(table, key, engine, engines, "engine")


def _fill(table: Table) -> tuple[str, ...]:
    """The benchmarks of a comma list, in order; () without the key."""
    if "fill" not in table.values:
        return ()
    names = tuple(word.strip() for word in table.text("fill").split(","))
    for benchmark in names:
        known(table, "fill", benchmark, BENCHMARKS, "benchmark")
    return names


def _settings(parts: Iterable[Table]) -> dict[str, dict[str, Flag]]:
    settings: dict[str, dict[str, Flag]] = {}
    for part in parts:
        for engine, own in part.table("settings").tables_by_name():
            settings.setdefault(engine, {}).update(read_flags(own))
    return settings


def _exclude(parts: Iterable[Table]) -> dict[str, str]:
    exclude: dict[str, str] = {}
    for part in parts:
        reasons = part.table("exclude")
        exclude |= {engine: reasons.text(engine) for engine in reasons.values}
    return exclude


def _growth(parts: Iterable[Table]) -> tuple[Growth, ...]:
    found = []
    for part in parts:
        for table in part.tables("from_num"):
            flags = read_flags(table, COMMON_FLAGS)
            if "num" not in flags:
                raise table.wrong("num", "the number of entries from which this holds")
            settings = _settings((table,))
            for engine, own in settings.items():
                if "num" in own:
                    told = "a size that decides itself; set num outside of from_num"
                    key = table.at(f"settings.{engine}.num")
                    raise ConfigError(table.file, key, told)
            num = flags.pop("num")
            found.append(Growth(int(num), flags, settings))
    return tuple(sorted(found, key=lambda growth: growth.num))


def _swept(scenario: Scenario, sweep: Table) -> tuple[Scenario, ...]:
    """The scenario, or one for each value of the flag that is swept."""
    if not sweep.values:
        return (scenario,)
    sweep.only(*COMMON_FLAGS)
    if len(sweep.values) > 1:
        told = "sweeps one flag; accepted: one key, a list of values"
        raise ConfigError(sweep.file, sweep.path, told)
    ((flag, values),) = sweep.values.items()
    if not isinstance(values, list) or not values:
        raise sweep.wrong(flag, "a list of values, not empty")
    made = [_member(scenario, sweep, flag, value) for value in values]
    names = [member.name for member in made]
    if len(set(names)) != len(names):
        raise sweep.wrong(flag, "a list of values, each of them once")
    return tuple(made)


def _member(scenario: Scenario, sweep: Table, flag: str, written: Any) -> Scenario:
    # As if the flag stood in the table by itself: complaints name its value.
    value = read_flag(Table(sweep.file, sweep.path, {flag: written}), flag, written)
    word = re.sub(r"[^a-z0-9]+", "_", str(written).lower()).strip("_")
    if not word:
        raise sweep.wrong(flag, "values that make a name: letters and digits")
    shown = f"{written:,}" if type(written) is int else str(written)
    return replace(
        scenario,
        name=f"{scenario.name}-{word}",
        title=f"{scenario.title}: {flag.replace('_', ' ')} {shown}",
        flags={**scenario.flags, flag: value},
        family=scenario.name,
        swept={flag: value},
    )
