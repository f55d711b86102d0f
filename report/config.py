"""The configuration in configs/: engines, scenarios and suites as frozen objects.

load() reads a whole folder and checks everything that can be checked without an
executable: keys, names, types and units.  Flags that only one engine has are kept
as they are written and are checked against its executable by scripts.settings.
configs/README.md is the schema for people.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from report.config_keys import (
    COMMON_FLAGS,
    ConfigError,
    Flag,
    Table,
    known,
    read_flag,
)
from report.published import PUBLISHED_DIR
from report.units import UnitError, parse_duration

BENCHMARKS = (
    *("fillseq", "fillrandom", "filluniquerandom", "overwrite"),
    *("fillseqbatch", "fillrandbatch", "fillseqsync", "fillrandsync"),
    *("fillseq100K", "fillrand100K"),
    *("readseq", "readreverse", "readrandom", "readmissing", "readhot"),
    *("seekrandom", "deleteseq", "deleterandom", "compact"),
)
DEFAULT_NUM = 1_000_000  # the executables' own; the runner counts with it
ROLES = ("", "reference", "floor")
MOST_REPEATS = 2  # of a disturbed repetition
CONTROL_SUFFIX = "-again"  # of an engine's second name, where it is the control
BUILDS = ("cmake", "autotools")


@dataclass(frozen=True)
class Source:
    """One pinned source package of the distribution."""

    package: str
    version: str
    build: str
    options: tuple[str, ...]
    sha256: Mapping[str, str]  # file name -> checksum


@dataclass(frozen=True)
class Engine:
    """One row of every comparison."""

    name: str
    title: str
    url: str
    summary: str
    role: str  # one of ROLES
    sources_of: str  # the engine whose sources this one shares, or ""
    sources: tuple[Source, ...]


@dataclass(frozen=True)
class Scenario:
    """What is measured under one set of settings."""

    name: str
    title: str
    analysis: str
    benchmarks: tuple[str, ...]
    flags: Mapping[str, Flag]  # for every engine; sizes in bytes
    settings: Mapping[str, Mapping[str, Flag]]  # engine -> flags for it alone
    exclude: Mapping[str, str]  # engine -> reason
    file: str


@dataclass(frozen=True)
class Suite:
    """Scenarios that one command runs."""

    name: str
    title: str
    summary: str
    scenarios: tuple[str, ...]
    repetitions: int
    timeout_s: float  # of one process of a repetition
    published: str  # name of the published figures to compare with, or ""
    override: Mapping[str, Flag]  # replaces flags of every scenario
    latency: bool  # whether each cell has a latency repetition
    control: str  # the engine that full runs measure twice, or ""
    repeat_disturbed: int  # how often a disturbed repetition is made again


@dataclass(frozen=True)
class Config:
    """Everything in one configs/ folder, in report order."""

    engines: Mapping[str, Engine]
    scenarios: Mapping[str, Scenario]
    suites: Mapping[str, Suite]

    def default_engines(self) -> tuple[str, ...]:
        """The engines a run takes when none is named: all but the reference."""
        return tuple(e.name for e in self.engines.values() if e.role != "reference")


def load(folder: Path) -> Config:
    """Reads and checks a configuration folder.  Raises ConfigError."""
    engines = _engines(_read(folder / "engines.toml"))
    raw = {file.stem: _read(file) for file in _toml_files(folder / "scenarios")}
    scenarios = {name: _scenario(name, raw, engines) for name in raw}
    files = _toml_files(folder / "suites")
    suites = {
        file.stem: _suite(file.stem, _read(file), scenarios, engines) for file in files
    }
    return Config(engines, scenarios, suites)


def _toml_files(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.toml"))


def _read(file: Path) -> Table:
    name = "/".join(file.parts[-3:] if file.name != "engines.toml" else file.parts[-2:])
    try:
        return Table(name, "", tomllib.loads(file.read_text("utf-8")))
    except OSError as error:
        raise ConfigError(name, "", f"cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise ConfigError(name, "", f"is not TOML: {error}") from error


def _engines(document: Table) -> dict[str, Engine]:
    document.only("engine")
    engines: dict[str, Engine] = {}
    for table in document.tables("engine"):
        engine = _engine(table)
        if engine.name in engines:
            raise ConfigError(table.file, table.at("name"), f"{engine.name!r} twice")
        engines[engine.name] = engine
    for engine in engines.values():
        if engine.sources_of:
            known(document, "sources_of", engine.sources_of, engines, "engine")
    return engines


def _engine(table: Table) -> Engine:
    table.only(
        *("name", "title", "url", "summary", "role", "sources_of", "source"),
    )
    role = table.text("role", "")
    known(table, "role", role, ROLES, "role")
    return Engine(
        name=table.text("name"),
        title=table.text("title"),
        url=table.text("url", ""),
        summary=table.text("summary"),
        role=role,
        sources_of=table.text("sources_of", ""),
        sources=tuple(_source(source) for source in table.tables("source")),
    )


def _source(table: Table) -> Source:
    table.only("package", "version", "build", "options", "sha256")
    build = table.text("build")
    known(table, "build", build, BUILDS, "build system")
    sha256 = table.table("sha256")
    return Source(
        package=table.text("package"),
        version=table.text("version"),
        build=build,
        options=table.texts("options", ()),
        sha256={name: sha256.text(name) for name in sha256.values},
    )


def _scenario(
    name: str, raw: Mapping[str, Table], engines: Mapping[str, Engine]
) -> Scenario:
    table = raw[name]
    base = _base(table, raw)
    _check_scenario_keys(table, engines)
    both = (base, table) if base else (table,)
    settings: dict[str, dict[str, Flag]] = {}
    for part in both:
        for engine, own in part.table("settings").tables_by_name():
            settings.setdefault(engine, {}).update(_flags(own, only_common=False))
    exclude: dict[str, str] = {}
    for part in both:
        reasons = part.table("exclude")
        exclude |= {engine: reasons.text(engine) for engine in reasons.values}
    flags: dict[str, Flag] = {"num": DEFAULT_NUM}
    for part in both:
        flags |= _flags(part, only_common=True)
    owner = base if base and "benchmarks" not in table.values else table
    return Scenario(
        name=name,
        title=table.text("title"),
        analysis=" ".join(table.text("analysis").split()),
        benchmarks=owner.texts("benchmarks"),
        flags=flags,
        settings=settings,
        exclude=exclude,
        file=table.file,
    )


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


def _check_scenario_keys(table: Table, engines: Mapping[str, Engine]) -> None:
    own = ("extends", "title", "analysis", "benchmarks", "settings", "exclude")
    table.only(*own, *COMMON_FLAGS)
    if "benchmarks" in table.values:
        for benchmark in table.texts("benchmarks"):
            known(table, "benchmarks", benchmark, BENCHMARKS, "benchmark")
    for key in ("settings", "exclude"):
        for engine in table.table(key).values:
            known(table, key, engine, engines, "engine")


def _flags(table: Table, only_common: bool) -> dict[str, Flag]:
    return {
        key: read_flag(table, key, value)
        for key, value in table.values.items()
        if key in COMMON_FLAGS or not only_common
    }


def _suite(
    name: str,
    table: Table,
    scenarios: Mapping[str, Scenario],
    engines: Mapping[str, Engine],
) -> Suite:
    table.only(
        *("title", "summary", "scenarios", "repetitions", "timeout"),
        *("published", "override", "latency", "control", "repeat_disturbed"),
    )
    names = table.texts("scenarios")
    for scenario in names:
        known(table, "scenarios", scenario, scenarios, "scenario")
    published = table.text("published", "")
    if published:
        known(table, "published", published, published_names(), "published figures")
    override = table.table("override")
    override.only(*COMMON_FLAGS)
    return Suite(
        name=name,
        title=table.text("title"),
        summary=table.text("summary"),
        scenarios=names,
        repetitions=table.count("repetitions", 3),
        timeout_s=_duration(table, "timeout", "10min"),
        published=published,
        override=_flags(override, only_common=True),
        latency=table.switch("latency", True),
        control=_control(table, engines),
        repeat_disturbed=table.count("repeat_disturbed", MOST_REPEATS, 0, MOST_REPEATS),
    )


def _control(table: Table, engines: Mapping[str, Engine]) -> str:
    name = table.text("control", "")
    if name:
        known(table, "control", name, engines, "engine")
        twin = f"{name}{CONTROL_SUFFIX}"
        if twin in engines:
            raise ConfigError(table.file, "control", f"{twin!r} is an engine's name")
    return name


def published_names() -> tuple[str, ...]:
    """The published comparisons there are: a table, and where it is from."""
    about = (file.stem for file in _toml_files(PUBLISHED_DIR))
    return tuple(n for n in about if (PUBLISHED_DIR / f"{n}.csv").is_file())


def _duration(table: Table, key: str, default: str) -> float:
    try:
        seconds = parse_duration(table.text(key, default))
    except UnitError as error:
        raise ConfigError(table.file, table.at(key), str(error)) from error
    if seconds <= 0:
        raise ConfigError(table.file, table.at(key), "must be longer than nothing")
    return seconds
