"""What a configuration consists of: frozen objects that configuration.py makes."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from report.config.pinned_source import PinnedSource
from report.config.toml_table import ConfigError
from report.terms.rulebook import BENCHMARKS, FLAGS, Flag

# Those that a configuration may name: an audit is no measurement.
MEASURED = tuple(b.name for b in BENCHMARKS.values() if b.kind != "verify")
# What a fill may be: first one of an empty database, then what writes over it.
FILLS = tuple(b.name for b in BENCHMARKS.values() if b.is_fill)
REFILLS = tuple(b.name for b in BENCHMARKS.values() if b.is_refill)
DEFAULT_NUM = int(FLAGS["num"].default)
VARIANT = "variant"
ROLES = ("", "reference", "floor", VARIANT)
MOST_REPEATS = 2  # of a disturbed repetition
CONTROL_SUFFIX = "-control"  # of an engine's second name, where it is the control


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
    flags: Mapping[str, Flag] = field(default_factory=dict)  # where nobody says else
    file: str = ""

    @property
    def executable(self) -> str:
        """The engine that the executable says it is."""
        return self.variant_of or self.name


@dataclass(frozen=True)
class FlagsBySize:
    """Flags that hold from a number of entries on."""

    num: int
    flags: Mapping[str, Flag]  # for every engine
    settings: Mapping[str, Mapping[str, Flag]]  # engine -> flags for it alone


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
    fill: tuple[str, ...] = ()  # what fills a database; (): what a benchmark asks for
    state: str = ""  # one of STATES; "": what a benchmark asks for
    growth: tuple[FlagsBySize, ...] = ()  # ascending
    family: str = ""  # the file's name, where a sweep made several of one
    swept: Mapping[str, Flag] = field(default_factory=dict)  # the flag of the sweep
    is_bare: bool = (
        False  # it has neither extends nor [settings], not even an empty one
    )


@dataclass(frozen=True)
class SuiteConfig:
    """Scenarios that one command runs."""

    name: str
    title: str
    summary: str
    scenarios: tuple[str, ...]
    repetitions: int
    timeout_s: float  # of one process of a repetition
    published: tuple[str, ...]  # names of published figures to compare with
    override: Mapping[str, Flag]  # replaces flags of every scenario
    latency: bool  # whether each cell has a latency repetition
    control: str  # the engine that full runs measure twice, or ""
    repeat_disturbed: int  # how often a disturbed repetition is made again
    engines: tuple[str, ...] = ()  # that a run takes if none is named; (): the usual


@dataclass(frozen=True)
class Config:
    """Everything in one configs/ folder, in report order."""

    engines: Mapping[str, EngineConfig]
    scenarios: Mapping[str, ScenarioConfig]
    suites: Mapping[str, SuiteConfig]
    broken_scenarios: Mapping[str, ConfigError] = field(default_factory=dict)
    broken_suites: Mapping[str, ConfigError] = field(default_factory=dict)

    def default_engines(self, suite: SuiteConfig | None = None) -> tuple[str, ...]:
        """The engines a run takes when none is named, in report order.

        Those of the suite; else all that compete, and the floor.
        """
        if suite is not None and suite.engines:
            return tuple(name for name in self.engines if name in suite.engines)
        usual = ("", "floor")
        return tuple(e.name for e in self.engines.values() if e.role in usual)

    def families(self) -> dict[str, tuple[str, ...]]:
        """The scenarios that a sweep made, by the name of its file."""
        found: dict[str, tuple[str, ...]] = {}
        for scenario in self.scenarios.values():
            if scenario.family:
                members = found.get(scenario.family, ())
                found[scenario.family] = (*members, scenario.name)
        return found
