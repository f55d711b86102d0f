"""Reads scenarios/NAME.toml: one scenario, or one for each value of its sweep."""

from collections.abc import Iterable, Mapping

from report.config.config_types import (
    DEFAULT_NUM,
    FILLS,
    MEASURED,
    REFILLS,
    FlagsBySize,
    ScenarioConfig,
)
from report.config.sweep_config import swept
from report.config.toml_table import ConfigError, TomlTable, known, read_flags
from report.terms.rulebook import SCENARIO_FLAGS, STATES, Flag

_OWN = (
    *("extends", "title", "analysis", "benchmarks", "settings", "exclude"),
    *("fill", "state", "sweep", "from_num"),
)
# What is taken whole from the base where the scenario itself does not have it.
_INHERITED = ("benchmarks", "fill", "state", "sweep")


def scenarios_of(
    name: str, raw: Mapping[str, TomlTable], engines: Iterable[str]
) -> tuple[ScenarioConfig, ...]:
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
        flags |= read_flags(part, SCENARIO_FLAGS)
    scenario = ScenarioConfig(
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
        is_bare=base is None and "settings" not in table.values,
    )
    later = (table,) if owner["sweep"] is table else parts
    return swept(scenario, owner["sweep"], later, parts)


def _base(table: TomlTable, raw: Mapping[str, TomlTable]) -> TomlTable | None:
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


def _check_keys(table: TomlTable, engines: tuple[str, ...]) -> None:
    table.only(*_OWN, *SCENARIO_FLAGS)
    if "benchmarks" in table.values:
        for benchmark in table.texts("benchmarks"):
            known(table, "benchmarks", benchmark, MEASURED, "benchmark")
    _fill(table)
    if "state" in table.values:
        known(table, "state", table.text("state"), STATES, "state")
    _check_engines(table, ("settings", "exclude"), engines)
    for growth in table.tables("from_num"):
        growth.only("settings", *SCENARIO_FLAGS)
        _check_engines(growth, ("settings",), engines)


def _check_engines(
    table: TomlTable, keys: Iterable[str], engines: tuple[str, ...]
) -> None:
    for key in keys:
        for engine in table.table(key).values:
            known(table, key, engine, engines, "engine")


def _fill(table: TomlTable) -> tuple[str, ...]:
    """The benchmarks of a comma list, in order; () without the key."""
    if "fill" not in table.values:
        return ()
    names = tuple(word.strip() for word in table.text("fill").split(","))
    known(table, "fill", names[0], FILLS, "fill of an empty database")
    for benchmark in names[1:]:
        known(table, "fill", benchmark, REFILLS, "second fill")
    return names


def _settings(parts: Iterable[TomlTable]) -> dict[str, dict[str, Flag]]:
    settings: dict[str, dict[str, Flag]] = {}
    for part in parts:
        for engine, own in part.table("settings").tables_by_name():
            settings.setdefault(engine, {}).update(read_flags(own))
    return settings


def _exclude(parts: Iterable[TomlTable]) -> dict[str, str]:
    exclude: dict[str, str] = {}
    for part in parts:
        reasons = part.table("exclude")
        exclude |= {engine: reasons.text(engine) for engine in reasons.values}
    return exclude


def _growth(parts: Iterable[TomlTable]) -> tuple[FlagsBySize, ...]:
    found = []
    for part in parts:
        seen: set[Flag] = set()
        for table in part.tables("from_num"):
            flags = read_flags(table, SCENARIO_FLAGS)
            if "num" not in flags:
                raise table.wrong("num", "the number of entries from which this holds")
            settings = _settings((table,))
            for engine, own in settings.items():
                if "num" in own:
                    told = "a size that decides itself; set num outside of from_num"
                    key = table.at(f"settings.{engine}.num")
                    raise ConfigError(table.file, key, told)
            num = flags.pop("num")
            if num in seen:
                told = f"{num:,} twice; put both into one table"
                raise ConfigError(table.file, table.at("num"), told)
            seen.add(num)
            found.append(FlagsBySize(int(num), flags, settings))
    return tuple(sorted(found, key=lambda growth: growth.num))
