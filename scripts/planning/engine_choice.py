"""The engines that -e selects: by name, by group, or by a glob of names.

An engine that is named exactly is measured, or reported as missing.  One that is
selected by a group or a glob is left out if it is not built, or if its flags are not
those of its executable.
"""

import fnmatch
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from report.config.config_types import ORDERED, VARIANT, Config, SuiteConfig
from report.config.toml_table import ConfigError, nearest, unknown
from report.model.plan import Engine
from scripts.machine.system_access import SystemAccess
from scripts.planning.executable import NOT_BUILT
from scripts.planning.found_engines import child_environment, find_engines
from scripts.planning.settings import check_own_flags

Found = Mapping[str, Engine]  # by name
_GLOB = frozenset("*?[")


class NoSuchEngine(Exception):
    """A word that selects no engine; str() is fit for the user."""


@dataclass(frozen=True)
class EngineChoice:
    """The engines that words select, in report order."""

    names: tuple[str, ...]
    # Of them, those that groups and globs alone select, and that are not built, or
    # whose file has a mistake.
    unbuilt: tuple[str, ...] = ()
    mistaken: Mapping[str, ConfigError] = field(default_factory=dict)

    @property
    def usable(self) -> tuple[str, ...]:
        """The engines without those; all of them if none would be left."""
        lacking = {*self.unbuilt, *self.mistaken}
        return tuple(n for n in self.names if n not in lacking) or self.names


def finder(
    config: Config, system: SystemAccess, *build_dirs: Path
) -> Callable[[], Found]:
    """Return a function that finds all engines in these builds, once.

    One that any of the builds lacks is missing.
    """

    @cache
    def find() -> Found:
        with tempfile.TemporaryDirectory() as scratch:
            executor = system.executor(child_environment(scratch))
            found = [
                find_engines(executor, folder, config, config.engines, Path(scratch))
                for folder in build_dirs
            ]
        each = ((e.name, e) for engines in found for e in engines)
        return dict(sorted(each, key=lambda pair: bool(pair[1].missing)))

    return find


def engine_choice(
    config: Config,
    suite: SuiteConfig | None,
    given: Iterable[str],
    find: Callable[[], Found],
) -> EngineChoice:
    """Return the engines of comma lists.  Raises NoSuchEngine."""
    chosen = _chosen(config, suite, given, find)
    grouped = [name for name, is_named in chosen.items() if not is_named]
    if not grouped:
        return EngineChoice(tuple(chosen))
    found = find()
    unbuilt = [n for n in grouped if found[n].missing.startswith(NOT_BUILT)]
    mistaken: dict[str, ConfigError] = {}
    for name in grouped:
        try:
            check_own_flags(config.engines[name], found[name].description)
        except ConfigError as error:
            mistaken[name] = error
    return EngineChoice(tuple(chosen), tuple(unbuilt), mistaken)


def _chosen(
    config: Config,
    suite: SuiteConfig | None,
    given: Iterable[str],
    find: Callable[[], Found],
) -> dict[str, bool]:
    """Return the engines in report order, and whether each is named exactly.

    A word with a "-" before it removes engines from those of the words before.
    """
    chosen: dict[str, bool] = {}
    for word in (word.strip() for text in given for word in text.split(",")):
        names = _engines_of(config, suite, word.removeprefix("-"), find)
        if word.startswith("-"):
            if not chosen:
                rule = "removes engines from those before it, such as all,"
                raise NoSuchEngine(f"{word!r} {rule}{word}; nothing is before it")
            chosen = {n: named for n, named in chosen.items() if n not in names}
        else:
            chosen |= {n: chosen.get(n, False) or n == word for n in names}
    if not chosen:
        raise NoSuchEngine(f"no engine is left of {','.join(given)}")
    return {n: chosen[n] for n in config.engines if n in chosen}


def _engines_of(
    config: Config,
    suite: SuiteConfig | None,
    word: str,
    find: Callable[[], Found],
) -> Sequence[str]:
    """Return the engines that a word means.  Raises NoSuchEngine."""
    groups = config.groups(suite)
    if word in config.engines:
        return (word,)
    if word in groups:
        return groups[word]
    if word == ORDERED:
        return [n for n in groups["all"] if _is_ordered(find()[n])]
    if _GLOB & set(word) and (matching := fnmatch.filter(config.engines, word)):
        return matching
    if not config.engines:
        raise NoSuchEngine(unknown("engine", word, ()))
    words = [*config.engines, *groups, ORDERED]
    engines = [e.name for e in config.engines.values() if e.role != VARIANT]
    raise NoSuchEngine(
        f"unknown engine or group {word!r}{nearest(word, words)};"
        f" engines: {', '.join(engines)} and their variants;"
        f" groups: {', '.join([*groups, ORDERED])}; or a glob, such as '{engines[0]}*'"
    )


def _is_ordered(engine: Engine) -> bool:
    """Return True if an engine keeps its keys in order; one not built may."""
    return engine.description is None or engine.description.is_ordered
