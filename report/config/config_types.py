"""The parts of a configuration, as frozen objects; configuration.py builds them."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from report.config.pinned_source import DistributionLibrary, PinnedSource
from report.config.toml_table import ConfigError, TomlTable, as_number
from report.terms.regime import Regime
from report.terms.row_settings import ADVISED, DEFAULTS, REPLACED
from report.terms.rulebook import BENCHMARKS, FLAGS, Flag, Flags
from report.terms.units import BYTES

# Benchmarks that a scenario may list; an audit is not a measurement.
MEASURED = tuple(b.name for b in BENCHMARKS.values() if b.kind != "verify")
# A fill starts with one benchmark of FILLS, which needs an empty database, and may
# continue with REFILLS, which overwrite or delete entries of a filled one.
FILLS = tuple(b.name for b in BENCHMARKS.values() if b.is_fill)
REFILLS = tuple(b.name for b in BENCHMARKS.values() if b.is_refill)
DEFAULT_NUM = int(FLAGS["num"].default)
VARIANT, FLOOR, REFERENCE = "variant", "floor", "reference"
ROLES = ("", REFERENCE, FLOOR, VARIANT)
LARGER = "larger-than-memory"
ADVISED_FOR = (LARGER,)  # the data for which advice is given, if it is not for any
TOOLCHAINS = ("rust", "go", "java")  # that an engine may need besides C and C++
MOST_REPEATS = 2  # retries of a disturbed repetition
# Groups of engines that need no declaration; ORDERED depends on the executables.
ALL, DEFAULT, ORDERED = "all", "default", "ordered"
COMPUTED_GROUPS = (ALL, DEFAULT, ADVISED, ORDERED)
_OF_THE_WORK = {"num", "durability"}  # flags that are no settings of an engine
CONTROL_SUFFIX = "-control"  # of the name under which an engine is measured again


@dataclass(frozen=True)
class EngineConfig:
    """One row of every comparison."""

    name: str
    title: str
    url: str
    summary: str
    role: str  # one of ROLES
    sources_of: str  # the engine whose sources this one shares, or ""
    sources: tuple[PinnedSource, ...]
    variant_of: str = ""  # the engine whose executable this one runs, or ""
    flags: Mapping[str, Flag] = field(default_factory=dict)  # weakest: any other wins
    # Where each flag is advised: address by flag, for all flags or for none.
    advice: Mapping[str, str] = field(default_factory=dict)
    advised_for: str = ""  # one of ADVISED_FOR, or "": the advice is not for such data
    # Evidence by benchmark, or by a glob of them; see report.trust.known_failures.
    known_failures: Mapping[str, str] = field(default_factory=dict)
    groups: tuple[str, ...] = ()  # words that select it, its structure first: "lsm"
    file: str = ""
    plugin: str = ""  # the path of a plug-in outside of the build, or ""
    is_on_request: bool = False  # installed and measured only if it is named
    libraries: tuple[DistributionLibrary, ...] = ()
    toolchain: str = ""  # one of TOOLCHAINS, or ""
    # What setting it up costs on two processors; 0: unknown.
    setup_s: int = 0
    setup_mb: int = 0
    floor: str = ""  # the engine that shows what its binding costs, or ""
    binding_of: str = ""  # the engine that calls the same library directly, or ""
    durability_flags: Mapping[str, Flag] = field(default_factory=dict)  # of each trial
    # Settings of durability in addition to the levels: name -> flags, one of which is
    # "durability", the level.
    durability_settings: Mapping[str, Mapping[str, Flag]] = field(default_factory=dict)
    # Flags of those settings that act at one level alone: flag -> level.
    durability_acts_at: Mapping[str, str] = field(default_factory=dict)
    settings_of: str = ""  # whose settings `flags` are: DEFAULTS, an engine, or ""

    @property
    def executable(self) -> str:
        """The engine name that the executable reports."""
        return self.variant_of or self.name


@dataclass(frozen=True)
class FlagsBySize:
    """Flags that apply to databases of at least `num` entries."""

    num: int
    flags: Mapping[str, Flag]  # for every engine
    settings: Mapping[str, Mapping[str, Flag]]  # engine -> flags for it alone
    file: str


@dataclass(frozen=True)
class ScenarioConfig:
    """What is measured under one set of settings."""

    name: str
    title: str
    analysis: str
    benchmarks: tuple[str, ...]
    flags: Mapping[str, Flag]  # for every engine; sizes in bytes
    settings: Mapping[str, Mapping[str, Flag]]  # engine -> flags for it alone
    exclude: Mapping[str, str]  # engine -> reason
    file: str
    fill: tuple[str, ...] = ()  # fills the database; (): the benchmark's own fill
    state: str = ""  # one of STATES; "": the benchmark's own
    data_fits: bool = False  # into the memory that engines are given, on purpose
    rows: str = ""  # ADVISED: measures the advised row of each engine that has one
    settings_of: str = ""  # the published figures whose settings it has, or ""
    regime: Regime | None = None  # memory and disk; a device size of 0 is computed
    growth: tuple[FlagsBySize, ...] = ()  # ascending
    family: str = ""  # name of the file, for members of a sweep
    swept: Mapping[str, Flag] = field(default_factory=dict)  # flag -> value here
    is_bare: bool = False  # neither extends nor [settings], not even an empty one
    # Key -> the file of the base that it comes from.
    inherited: Mapping[str, str] = field(default_factory=dict)

    def file_of(self, key: str) -> str:
        """Return the file that has a key, such as "num" or "settings.x.y"."""
        return self.inherited.get(key, self.file)


@dataclass(frozen=True)
class SuiteConfig:
    """Scenarios that one command runs, and how often."""

    name: str
    title: str
    summary: str
    scenarios: tuple[str, ...]
    repetitions: int
    timeout_s: float  # of one process of a repetition
    published: tuple[str, ...]  # names of published figures to compare with
    override: Mapping[str, Flag]  # replaces flags of every scenario
    latency_repetitions: int  # of each cell, after the others
    control: str  # the engine that full runs measure twice, or ""
    repeat_disturbed: int  # how often a disturbed repetition is retried
    engines: tuple[str, ...] = ()  # measured by default; (): see default_engines()
    threads_per_processor: int = 0  # most threads in a sweep of them; 0: any number
    file: str = ""
    # What YcsbWorkload.document() returns, of a suite that is not in configs/.
    workload: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Config:
    """Everything in one configs/ folder, in report order."""

    engines: Mapping[str, EngineConfig]
    scenarios: Mapping[str, ScenarioConfig]
    suites: Mapping[str, SuiteConfig]
    broken_scenarios: Mapping[str, ConfigError] = field(default_factory=dict)
    broken_suites: Mapping[str, ConfigError] = field(default_factory=dict)
    broken_engines: Mapping[str, ConfigError] = field(default_factory=dict)

    @property
    def broken(self) -> tuple[ConfigError, ...]:
        """The errors of broken files, each once."""
        parts = (self.broken_engines, self.broken_scenarios, self.broken_suites)
        errors = (error for part in parts for error in part.values())
        return tuple({str(error): error for error in errors}.values())

    def known_failures(self, engine: EngineConfig) -> dict[str, str]:
        """Return those of an engine; a variant's executable fails like its engine's."""
        of = self.engines.get(engine.variant_of)
        return {**(of.known_failures if of else {}), **engine.known_failures}

    def group(self, engine: EngineConfig) -> str:
        """Return the first group of an engine, which variants share; "" without one."""
        of = self.engines.get(engine.variant_of, engine)
        return of.groups[0] if of.groups else ""

    def default_engines(self, suite: SuiteConfig | None = None) -> tuple[str, ...]:
        """Return the engines that a run measures by default, in report order.

        They are those of the suite if it lists any, otherwise the floor and all that
        compete and are not installed on request.
        """
        if suite is not None and suite.engines:
            return tuple(name for name in self.engines if name in suite.engines)
        usual = ("", FLOOR)
        engines = (e for e in self.engines.values() if not e.is_on_request)
        return tuple(e.name for e in engines if e.role in usual)

    def rows(
        self, scenarios: Iterable[str], engines: Collection[str]
    ) -> dict[str, tuple[str, ...]]:
        """Return the rows that scenarios measure of some engines, in report order.

        A scenario of the advised rows has an engine's own if there is no advised one.
        """
        advised = {
            f"{e}-{ADVISED}" if f"{e}-{ADVISED}" in self.engines else e for e in engines
        }
        return {
            name: tuple(
                e
                for e in self.engines
                if e in (advised if self.scenarios[name].rows else engines)
            )
            for name in scenarios
        }

    def settings_of(
        self, engine: EngineConfig, scenario: ScenarioConfig, flags: Flags
    ) -> str:
        """Return whose settings an engine has in a scenario: see row_settings.py.

        `flags` are those that it gets there: REPLACED if they replace one of these
        settings.  "" for settings that only this configuration has.
        """
        is_replaced = self.replaced(engine, scenario, flags)
        return REPLACED if is_replaced else self._source(engine, scenario)

    def replaced(
        self, engine: EngineConfig, scenario: ScenarioConfig, flags: Flags
    ) -> dict[str, Flag]:
        """Return those settings of the row that `flags` replace, with their values."""
        source = self._source(engine, scenario)
        published = scenario.flags if source == scenario.settings_of else {}
        own = {**engine.flags, **published, **scenario.settings.get(engine.name, {})}
        names = (own.keys() & flags.keys()) - _OF_THE_WORK if source else set()
        values = {name: _number(own[name]) for name in sorted(names)}
        return {n: v for n, v in values.items() if v != _number(flags[n])}

    def _source(self, engine: EngineConfig, scenario: ScenarioConfig) -> str:
        if engine.role in (FLOOR, REFERENCE):
            return ""
        if engine.advice:
            return ADVISED
        if scenario.settings_of and not engine.variant_of:
            return scenario.settings_of
        if scenario.settings.get(engine.name):
            return ""
        return engine.settings_of or ("" if engine.flags else DEFAULTS)

    def groups(self, suite: SuiteConfig | None = None) -> dict[str, tuple[str, ...]]:
        """Return the engines of each group, except ORDERED.

        Variants are only in ADVISED: a group is measured with the usual settings.
        """
        plain = [e for e in self.engines.values() if e.role in ("", FLOOR)]
        advised = (n for n in self.engines if n.endswith(f"-{ADVISED}"))
        groups = {
            ALL: tuple(e.name for e in plain),
            DEFAULT: self.default_engines(suite),
            ADVISED: tuple(advised),
        }
        for word in dict.fromkeys(word for e in plain for word in e.groups):
            groups[word] = tuple(e.name for e in plain if word in e.groups)
        return groups

    def families(self) -> dict[str, tuple[str, ...]]:
        """Return the members of each sweep, by the name of its file."""
        families: dict[str, tuple[str, ...]] = {}
        for scenario in self.scenarios.values():
            if scenario.family:
                members = families.get(scenario.family, ())
                families[scenario.family] = (*members, scenario.name)
        return families


def _number(value: Flag) -> Flag:
    """Return the number of bytes that a text is; else the value."""
    try:
        number: Flag = as_number(TomlTable("", "", {}), "", value, BYTES)
    except ConfigError:
        return value
    return number
