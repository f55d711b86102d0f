"""The settings of engines that bear on durability."""

import fnmatch
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from report.config.config_types import Config, EngineConfig
from report.durability.durability_plan import PlannedSetting
from report.model.plan import Engine
from report.terms.rulebook import Flag
from scripts.planning.settings import resolve_trial_flags


@dataclass(frozen=True)
class EngineSetting:
    """One setting of an engine that is built."""

    engine: EngineConfig
    name: str  # of the setting: a level, or a word
    version: str  # of the engine
    flags: Mapping[str, Flag]

    @property
    def full_name(self) -> str:
        """The engine and the setting, such as "leveldb/durable"."""
        return f"{self.engine.name}/{self.name}"

    def planned(self) -> PlannedSetting:
        """Return this as the plan has it."""
        words = tuple(f"--{name}={_word(value)}" for name, value in self.flags.items())
        return PlannedSetting(
            *(self.full_name, self.engine.name, self.engine.title),
            *(self.version, words),
        )


def settings_of(
    config: Config, engines: Iterable[Engine], globs: Sequence[str]
) -> list[EngineSetting]:
    """Return the settings of built engines whose names match.  Raises ConfigError."""
    found = []
    for built in engines:
        if built.description is None:
            continue
        engine = config.engines[built.name]
        base = config.engines[engine.variant_of or engine.name]
        promises = built.description.document.get("promises", {})
        names = [level for level, promise in promises.items() if promise]
        if base is engine:
            names += base.durability_settings
        for name in names:
            if _matches(f"{engine.name}/{name}", globs):
                flags = resolve_trial_flags(engine, base, name, built.description)
                version = built.description.version
                found.append(EngineSetting(engine, name, version, flags))
    return found


def _matches(name: str, globs: Sequence[str]) -> bool:
    return any(fnmatch.fnmatchcase(name, glob) for glob in globs)


def _word(value: Flag) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
