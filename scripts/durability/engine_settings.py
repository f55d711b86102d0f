"""The settings of engines that bear on durability."""

import fnmatch
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from report.config.config_types import Config, EngineConfig
from report.durability.durability_plan import PlannedSetting
from report.model.description import Description
from report.model.plan import Engine
from report.terms.rulebook import SCENARIO_FLAGS, Flag
from report.terms.schemas import FLAGS_OF_ALL
from scripts.planning.executable import flag_text
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
        words = tuple(
            f"--{name}={flag_text(value)}" for name, value in self.flags.items()
        )
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


def why_no_setting(name: str, value: str, description: Description | None) -> str:
    """Return why a flag, as a command line has it, is no setting of an engine, or "".

    For flags from elsewhere: also a text must not name a file.
    """
    own = description.flags if description else {}
    rule = SCENARIO_FLAGS.get(name)
    if rule is None and (name not in own or name in FLAGS_OF_ALL):
        return "is no setting of the engine"
    kind = rule.type if rule else own[name]
    typed = _typed(kind, value)
    if typed is None:
        return f"has no value of the type {kind}"
    if rule and not rule.accepts(typed):
        return f"has no value that is {rule.accepted}"
    return ""


_BITS = {"int32": 31, "int64": 63, "int": 31, "uint32": 32, "uint64": 64, "uint": 32}
_INTEGER = re.compile(r"-?[0-9]{1,20}", re.ASCII)
_NUMBER = re.compile(r"-?[0-9]{1,20}(\.[0-9]{1,20})?(e[-+]?[0-9]{1,3})?", re.ASCII)
_TEXT = re.compile(r"([A-Za-z0-9][A-Za-z0-9_:,.+-]{0,99})?", re.ASCII)


def _typed(kind: str, value: str) -> Flag | None:
    """Return the value of a flag of a type; None if it is not one."""
    if kind == "bool":
        return {"true": True, "false": False}.get(value)
    if kind == "string":
        return value if _TEXT.fullmatch(value) else None
    if kind == "double":
        number = float(value) if _NUMBER.fullmatch(value) else math.inf
        return number if math.isfinite(number) else None
    if kind not in _BITS or not _INTEGER.fullmatch(value):
        return None
    least = 0 if kind.startswith("u") else -(2 ** _BITS[kind])
    return int(value) if least <= int(value) < 2 ** _BITS[kind] else None


def _matches(name: str, globs: Sequence[str]) -> bool:
    return any(fnmatch.fnmatchcase(name, glob) for glob in globs)
