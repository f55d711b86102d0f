"""Which engines a checkout installs: the default ones, or others that were requested.

The choice is remembered in build/engines, so that a later set-up, such as that of
scripts/bench, keeps what was added.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from report.config.config_types import EngineConfig
from report.config.engine_file import DEFAULT_ENGINES, ReadEngines, read_engines
from report.config.pinned_source import PinnedSource
from report.config.source_table import check_sources
from report.config.toml_table import ConfigError, nearest
from scripts.basis.problem import SetupError
from scripts.basis.remedy import removing, restoring

ALL = "all"
_NAME = re.compile(r"[a-z0-9_-]{1,64}")


@dataclass(frozen=True)
class Choice:
    """The engines that a checkout was asked to install."""

    has_default: bool = True  # all of engines.toml
    names: tuple[str, ...] = ()  # in addition, or instead

    def adding(self, names: Iterable[str]) -> "Choice":
        """Return this choice with more engines."""
        return Choice(self.has_default, tuple(dict.fromkeys([*self.names, *names])))


def remembered(path: Path) -> Choice:
    """Return the choice of an earlier set-up.  Raises SetupError if it is damaged."""
    if not path.exists():
        return Choice()
    try:
        document: Any = json.loads(path.read_bytes())
        choice = Choice(document["has_default"], tuple(document["names"]))
        if not isinstance(choice.has_default, bool) or not all(
            isinstance(name, str) and _NAME.fullmatch(name) for name in choice.names
        ):
            raise ValueError
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        raise SetupError(
            f"{path}: damaged; it lists the engines that were requested\n"
            f"To install the default ones: {removing([path])}"
        ) from None
    return choice


def choice_text(choice: Choice) -> str:
    """Return the text of the file from which a choice is remembered."""
    return json.dumps(asdict(choice)) + "\n"


def read(configs: Path) -> ReadEngines:
    """Read all engines of the repository.  Raises SetupError."""
    path = configs / DEFAULT_ENGINES
    try:
        engines = read_engines(configs)
        check_sources(_sources(_defaults(engines.engines)), ())
    except ConfigError as error:
        raise SetupError(f"{error}\n{restoring(path)}") from None
    return engines


def _defaults(engines: Mapping[str, EngineConfig]) -> list[EngineConfig]:
    return [engine for engine in engines.values() if not engine.is_on_request]


def _sources(engines: Iterable[EngineConfig]) -> list[PinnedSource]:
    return [source for engine in engines for source in engine.sources]


def resolved(words: Sequence[str], engines: ReadEngines) -> tuple[str, ...]:
    """Return the engines that words of the command line name, each once.

    "all" is every engine on request.  A variant stands for the engine whose executable
    it runs, and the floor of an engine's binding comes before it.  Raises SetupError if
    there is no such engine, or none is named.
    """
    names: dict[str, None] = {}
    if not any(word.strip(" ,") for word in words):
        raise SetupError(
            "--with and --only: no engine is named; expected such as rocksdb"
        )
    for word in (word for words_ in words for word in words_.split(",") if word):
        if word == ALL:
            every = (e for e in engines.engines.values() if e.is_on_request)
            names |= dict.fromkeys(e.name for e in every if not e.variant_of)
        elif word in engines.engines:
            name = engines.engines[word].executable
            floor = engines.engines[name].floor
            names |= dict.fromkeys(filter(None, (floor, name)))
        elif word in engines.broken:
            raise SetupError(str(engines.broken[word]))
        else:
            hint = nearest(word, [*engines.names, ALL])
            known = ", ".join(engines.names)
            raise SetupError(f"unknown engine {word!r}{hint}; engines: {known}; or all")
    return tuple(names)


@dataclass(frozen=True)
class Chosen:
    """The engines to install, and what they are made of."""

    default: tuple[EngineConfig, ...]  # a failure of one ends the set-up
    on_request: tuple[EngineConfig, ...]  # a failure of one is only its own
    sources: Mapping[str, PinnedSource]  # of all engines, by package, in order

    @property
    def engines(self) -> tuple[EngineConfig, ...]:
        """All of them."""
        return (*self.default, *self.on_request)

    def sources_of(self, engines: Iterable[EngineConfig]) -> list[PinnedSource]:
        """Return the sources of engines with all that they need, in order."""
        wanted = {source.package for source in _sources(engines)}
        for package, source in reversed(list(self.sources.items())):
            if package in wanted:
                wanted |= set(source.needs)
        return [source for name, source in self.sources.items() if name in wanted]


def chosen(choice: Choice, engines: ReadEngines) -> tuple[Chosen, dict[str, str]]:
    """Return the engines of a choice, and what is wrong with others of it, by name."""
    problems: dict[str, str] = {}
    sources: dict[str, PinnedSource] = {}
    for engine in engines.engines.values():
        try:
            check_sources(engine.sources, sources)
            sources |= {source.package: source for source in engine.sources}
        except ConfigError as error:
            problems[engine.name] = str(error)
    for name in choice.names:
        if name in engines.broken:
            problems[name] = str(engines.broken[name])
        elif name not in engines.engines:
            problems[name] = "no file of configs/ lists it any more"
    problems = {name: text for name, text in problems.items() if name in choice.names}
    sound = [e for e in engines.engines.values() if e.name not in problems]
    executables = [engine for engine in sound if not engine.variant_of]
    named = [_whole(e, engines.engines) for e in executables if e.name in choice.names]
    default = [_whole(e, engines.engines) for e in _defaults(engines.engines)]
    if not choice.has_default:
        # What needs no library costs nothing.
        default = [e for e in default if e.name in choice.names or not e.sources]
    default = [engine for engine in default if not engine.variant_of]
    on_request = [engine for engine in named if engine.is_on_request]
    return Chosen(tuple(default), tuple(on_request), sources), problems


def _whole(engine: EngineConfig, engines: Mapping[str, EngineConfig]) -> EngineConfig:
    """Return an engine with the sources, libraries and toolchain that it shares."""
    if not engine.sources_of:
        return engine
    other = engines[engine.sources_of]
    return replace(
        engine,
        sources=other.sources,
        libraries=other.libraries,
        toolchain=engine.toolchain or other.toolchain,
    )


def cost_text(engines: Iterable[EngineConfig]) -> str:
    """Return what installing engines costs, such as "about 3 min and 120 MB"."""
    engines = list(engines)
    seconds = sum(engine.setup_s for engine in engines)
    megabytes = sum(engine.setup_mb for engine in engines)
    unknown_cost = [engine.name for engine in engines if not engine.setup_s]
    parts = []
    if seconds:
        minutes = max(1, round(seconds / 60))
        parts.append(f"about {minutes} min on two processors and {megabytes:,} MB")
    if unknown_cost:
        parts.append(f"unknown for {', '.join(unknown_cost)}")
    return "; ".join(parts)
