"""The configuration in configs/: engines, scenarios and suites as frozen objects.

load() reads a whole folder and checks everything that can be checked without an
executable: keys, names, types and units.  A broken file of a scenario or a suite
stops only what uses it: load_readable().  Flags that only one engine has are kept
as they are written and are checked against its executable by scripts.planning.settings.
configs/README.md is the schema for people.
"""

from collections.abc import Container, Iterable, Mapping
from pathlib import Path

from report.config.config_types import (
    CONTROL_SUFFIX,
    MOST_REPEATS,
    Config,
    ScenarioConfig,
    SuiteConfig,
)
from report.config.engine_file import DEFAULT_ENGINES, check_name, read_engines
from report.config.scenario_file import scenarios_of
from report.config.sweep_config import check_not_swept
from report.config.toml_table import (
    ConfigError,
    TomlTable,
    as_number,
    known,
    read_flags,
    read_toml,
    short_path,
    toml_files,
)
from report.published.published_figures import PUBLISHED_DIR
from report.terms.limits import (
    LATENCY_REPETITIONS,
    LONGEST_TIMEOUT_S,
    MOST_REPETITIONS,
)
from report.terms.rulebook import FLAGS, SCENARIO_FLAGS
from report.terms.units import SECONDS

_MOST_THREADS = int(FLAGS["threads"].most)


def load(folder: Path, more: Iterable[Path] = ()) -> Config:
    """Read and check a configuration folder.  Raises ConfigError."""
    config = load_readable(folder, more)
    for error in config.broken:
        raise error
    return config


def load_readable(folder: Path, more: Iterable[Path] = ()) -> Config:
    """Read a configuration folder; broken files are errors in it, by name.

    `more` are further folders with files of engines.  What depends on a broken
    scenario is broken too, with the same error.  Raises ConfigError if engines.toml is
    broken, on which everything depends, or if a part of the folder is missing.
    """
    for name in (DEFAULT_ENGINES, "scenarios", "suites"):
        if not (folder / name).exists():
            problem = f"{name} does not exist; --configs-dir must be a directory"
            problem += " with engines.toml, scenarios/ and suites/"
            raise ConfigError(short_path(folder), "", problem)
    read = read_engines(folder, more)
    engines = read.names
    scenarios, broken_scenarios = _scenarios(folder / "scenarios", engines)
    suites: dict[str, SuiteConfig] = {}
    broken_suites: dict[str, ConfigError] = {}
    for file in toml_files(folder / "suites"):
        try:
            check_name("suite", file.stem, short_path(file), "")
            suites[file.stem] = _suite(
                file.stem, read_toml(file), scenarios, broken_scenarios, engines
            )
        except ConfigError as error:
            broken_suites[file.stem] = error
    return Config(
        read.engines, scenarios, suites, broken_scenarios, broken_suites, read.broken
    )


def _scenarios(
    folder: Path, engines: tuple[str, ...]
) -> tuple[dict[str, ScenarioConfig], dict[str, ConfigError]]:
    """Return the scenarios by name, and the errors of broken files by file stem."""
    files = {file.stem: file for file in toml_files(folder)}
    raw: dict[str, TomlTable] = {}
    broken: dict[str, ConfigError] = {}
    for stem, file in files.items():
        try:
            check_name("name", stem, short_path(file), "")
            raw[stem] = read_toml(file)
        except ConfigError as error:
            broken[stem] = error
    by_file: dict[str, tuple[ScenarioConfig, ...]] = {}
    for stem in raw:
        try:
            by_file[stem] = _of_file(stem, raw, broken, engines)
        except ConfigError as error:
            broken[stem] = error
    for stem, table in raw.items():  # if the base turned out to be broken later
        if stem in by_file and (base := table.values.get("extends")) in broken:
            broken[stem] = broken[base]
    scenarios: dict[str, ScenarioConfig] = {}
    for stem, members in by_file.items():
        try:
            if stem not in broken:
                _check_names(members, stem, files, scenarios)
                scenarios |= {member.name: member for member in members}
        except ConfigError as error:
            broken[stem] = error
    return scenarios, broken


def _of_file(
    stem: str,
    raw: Mapping[str, TomlTable],
    broken: Mapping[str, ConfigError],
    engines: tuple[str, ...],
) -> tuple[ScenarioConfig, ...]:
    base = raw[stem].values.get("extends")
    if isinstance(base, str) and base in broken:
        raise broken[base]
    return scenarios_of(stem, raw, engines)


def _check_names(
    members: Iterable[ScenarioConfig],
    stem: str,
    files: Container[str],
    scenarios: Container[str],
) -> None:
    """Raise ConfigError if another file has a scenario of the same name."""
    for scenario in members:
        name = scenario.name
        if name in scenarios or (name != stem and name in files):
            problem = f"creates the scenario {name!r}, which another file has too"
            problem += "; rename one of the files"
            raise ConfigError(scenario.file, "sweep", problem)


def _suite(
    name: str,
    table: TomlTable,
    scenarios: Mapping[str, ScenarioConfig],
    broken: Mapping[str, ConfigError],
    engines: tuple[str, ...],
) -> SuiteConfig:
    table.only(
        *("title", "summary", "scenarios", "repetitions", "timeout", "published"),
        *("override", "latency_repetitions", "control", "repeat_disturbed"),
        *("engines", "threads_per_processor"),
    )
    override = table.table("override")
    override.only(*SCENARIO_FLAGS)
    members = _members(table, scenarios, broken)
    for member in members:
        scenario = scenarios[member]
        check_not_swept(table.file, "override", override.values, scenario)
    return SuiteConfig(
        name=name,
        title=table.line("title"),
        summary=table.text("summary"),
        scenarios=members,
        repetitions=table.count("repetitions", 3, most=MOST_REPETITIONS),
        timeout_s=_duration(table, "timeout", "10min"),
        published=_published(table),
        override=read_flags(override),
        latency_repetitions=table.count(
            "latency_repetitions", LATENCY_REPETITIONS, 0, MOST_REPETITIONS
        ),
        control=_control(table, engines),
        repeat_disturbed=table.count("repeat_disturbed", MOST_REPEATS, 0, MOST_REPEATS),
        engines=_suite_engines(table, engines),
        threads_per_processor=table.count("threads_per_processor", 0, 0, _MOST_THREADS),
        file=table.file,
    )


def _members(
    table: TomlTable,
    scenarios: Mapping[str, ScenarioConfig],
    broken: Mapping[str, ConfigError],
) -> tuple[str, ...]:
    """Return the scenarios by name; the name of a sweep stands for all its members.

    Raises the error of a broken scenario; a word that begins with the name of a
    broken file is taken for a member of its sweep.
    """
    families = {s.family: s.family for s in scenarios.values() if s.family}
    # The members of sweeps come last, so that they do not fill an error's short list.
    singles = (s.name for s in scenarios.values() if not s.family)
    listed = dict.fromkeys([*singles, *families, *scenarios])
    names: list[str] = []
    for word in table.texts("scenarios"):
        for stem, error in broken.items():
            is_member = word.startswith(f"{stem}-") and word not in scenarios
            if word == stem or (is_member and word not in families):
                raise error
        known(table, "scenarios", word, listed, "scenario")
        names += [s.name for s in scenarios.values() if word in (s.name, s.family)]
    return tuple(dict.fromkeys(names))


def _published(table: TomlTable) -> tuple[str, ...]:
    value = table.values.get("published", "")
    single = (value,) if value and isinstance(value, str) else ()
    names = single or (() if value == "" else table.texts("published", ()))
    for name in names:
        known(table, "published", name, published_names(), "published source")
    return names


def _suite_engines(table: TomlTable, engines: tuple[str, ...]) -> tuple[str, ...]:
    if "engines" not in table.values:
        return ()
    names = table.texts("engines")
    for name in names:
        known(table, "engines", name, engines, "engine")
    return names


def _control(table: TomlTable, engines: tuple[str, ...]) -> str:
    name = table.text("control", "")
    if name:
        known(table, "control", name, engines, "engine")
        twin = f"{name}{CONTROL_SUFFIX}"
        if twin in engines:
            problem = f"the control would be called {twin!r}, which is an engine"
            problem += "; choose another control or rename that engine"
            raise ConfigError(table.file, "control", problem)
    return name


def published_names() -> tuple[str, ...]:
    """Return the published comparisons that have both of their files, by name."""
    names = (file.stem for file in toml_files(PUBLISHED_DIR))
    return tuple(n for n in names if (PUBLISHED_DIR / f"{n}.csv").is_file())


def _duration(table: TomlTable, key: str, default: str) -> float:
    text = table.values.get(key, default)
    seconds = as_number(table, key, text, SECONDS)
    if type(seconds) not in (int, float):
        raise table.wrong(key, 'a duration such as 30 or "30s"')
    if seconds <= 0:
        raise ConfigError(table.file, table.at(key), f"{text!r} must be positive")
    if seconds > LONGEST_TIMEOUT_S:
        problem = (
            f"{text!r} is too large; expected at most {LONGEST_TIMEOUT_S / 3600:g}h"
        )
        raise ConfigError(table.file, table.at(key), problem)
    return float(seconds)
