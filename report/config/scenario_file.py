"""Reading scenarios/NAME.toml: one scenario, or one for each value of its sweep."""

from collections.abc import Iterable, Mapping

from report.config.config_types import (
    DEFAULT_NUM,
    FILLS,
    MEASURED,
    REFILLS,
    FlagsBySize,
    ScenarioConfig,
)
from report.config.regime_table import check_regime, read_regime
from report.config.sweep_config import swept
from report.config.toml_table import (
    ConfigError,
    TomlTable,
    choices,
    known,
    nearest,
    read_flags,
)
from report.published import published_figures
from report.terms.row_settings import ADVISED
from report.terms.rulebook import SCENARIO_FLAGS, STATES, Flag

_OWN = (
    *("extends", "title", "analysis", "benchmarks", "settings", "exclude"),
    *("fill", "state", "data_fits", "sweep", "from_num", "regime"),
    *("rows", "settings_of"),
)
# Keys inherited as a whole from the base if the scenario itself does not have them.
_INHERITED = (
    *("benchmarks", "fill", "state", "data_fits", "sweep", "rows", "settings_of"),
)


def scenarios_of(
    name: str, raw: Mapping[str, TomlTable], engines: Iterable[str]
) -> tuple[ScenarioConfig, ...]:
    """Return the scenarios of one file; `raw` has all files.  Raises ConfigError."""
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
        title=table.line("title"),
        analysis=" ".join(table.text("analysis").split()),
        benchmarks=owner["benchmarks"].texts("benchmarks"),
        flags=flags,
        settings=_settings(parts),
        exclude=_exclude(parts),
        file=table.file,
        fill=_fill(owner["fill"]),
        state=owner["state"].text("state", ""),
        data_fits=owner["data_fits"].switch("data_fits", False),
        rows=owner["rows"].text("rows", ""),
        settings_of=owner["settings_of"].text("settings_of", ""),
        regime=read_regime(parts),
        growth=_growth(parts),
        is_bare=base is None and "settings" not in table.values,
        inherited=_inherited(base, table) if base else {},
    )
    later = (table,) if owner["sweep"] is table else parts
    return swept(scenario, owner["sweep"], later, parts)


def _inherited(base: TomlTable, table: TomlTable) -> dict[str, str]:
    """Return the file of each key that comes from the base."""
    return {key: base.file for key in _keys(base) - _keys(table)}


def _keys(table: TomlTable) -> set[str]:
    """Return the keys of a scenario, with those of its settings."""
    settings = table.table("settings").tables_by_name()
    return {*table.values, *(t.at(key) for _, t in settings for key in t.values)}


def _base(table: TomlTable, raw: Mapping[str, TomlTable]) -> TomlTable | None:
    extends = table.text("extends", "")
    if not extends:
        return None
    bases = [n for n in raw if n == extends or "extends" not in raw[n].values]
    known(table, "extends", extends, bases, "base scenario")
    if "extends" in raw[extends].values:
        raise ConfigError(
            table.file,
            "extends",
            f"{extends!r} itself extends {raw[extends].values['extends']!r}, and"
            " only one level is supported; extend a scenario that has no base",
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
    if "rows" in table.values:
        known(table, "rows", table.text("rows"), (ADVISED,), "kind of rows")
    if "settings_of" in table.values:
        source, names = table.text("settings_of"), published_figures.names()
        known(table, "settings_of", source, names, "published source")
    _check_engines(table, ("settings", "exclude"), engines)
    check_regime(table)
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
    """Return the benchmarks of a comma-separated list, in order; () if it is absent."""
    if "fill" not in table.values:
        return ()
    names = tuple(word.strip() for word in table.text("fill").split(","))
    for position, name in enumerate(names):
        accepted = REFILLS if position else FILLS
        if name not in accepted:
            job = "write over a filled" if position else "fill an empty"
            problem = f"{name!r} does not {job} database{nearest(name, accepted)}"
            expected = f"expected {choices(accepted)}"
            raise ConfigError(table.file, table.at("fill"), f"{problem}; {expected}")
    return names


def _settings(parts: Iterable[TomlTable]) -> dict[str, dict[str, Flag]]:
    settings: dict[str, dict[str, Flag]] = {}
    for part in parts:
        for engine, overrides in part.table("settings").tables_by_name():
            settings.setdefault(engine, {}).update(read_flags(overrides))
    return settings


def _exclude(parts: Iterable[TomlTable]) -> dict[str, str]:
    exclude: dict[str, str] = {}
    for part in parts:
        reasons = part.table("exclude")
        exclude |= {engine: reasons.text(engine) for engine in reasons.values}
    return exclude


def _growth(parts: Iterable[TomlTable]) -> tuple[FlagsBySize, ...]:
    growths = []
    for part in parts:
        seen: set[Flag] = set()
        for table in part.tables("from_num"):
            flags = read_flags(table, SCENARIO_FLAGS)
            if "num" not in flags:
                raise table.wrong(
                    "num", "the number of entries from which these flags apply"
                )
            settings = _settings((table,))
            for engine, overrides in settings.items():
                if "num" in overrides:
                    problem = "num cannot depend on num; set it outside of from_num"
                    key = table.at(f"settings.{engine}.num")
                    raise ConfigError(table.file, key, problem)
            num = flags.pop("num")
            if num in seen:
                problem = f"two tables have num = {num:,}; merge them into one"
                raise ConfigError(table.file, table.at("num"), problem)
            seen.add(num)
            growths.append(FlagsBySize(int(num), flags, settings, part.file))
    return tuple(sorted(growths, key=lambda growth: growth.num))
