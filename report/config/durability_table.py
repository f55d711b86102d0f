"""The tables of an engine that say how its durability is tried.

    [engine.durability_flags]          # flags of each trial of this engine
    write_buffer_size = "64KiB"

    [engine.durability.no-log]         # a further setting, in addition to the levels
    durability = "buffered"            # the level; "durable" unless it is given
    disable_log = true

    [engine.durability_acts_at]        # a flag that acts at one level alone
    disable_log = "buffered"

This module needs only the standard library, as engine_file.py does.
"""

import re
from collections.abc import Mapping

from report.config.toml_table import ConfigError, TomlTable, choices, read_flags
from report.terms.name_rules import name_rule
from report.terms.rulebook import FLAGS, Flag

LEVEL = "durability"  # the flag that selects a level
LEVELS = FLAGS[LEVEL].choices
_STRONGEST = LEVELS[-1]
_SYNC = "sync"  # the flag that is short for the strongest level


def durability_flags(table: TomlTable) -> dict[str, Flag]:
    """Return the flags of every durability trial of an engine; {}: none are given.

    Raises ConfigError if one of them would select a level.
    """
    flags = table.table("durability_flags")
    _without(flags, (LEVEL, _SYNC))
    return read_flags(flags)


def durability_settings(table: TomlTable) -> dict[str, Mapping[str, Flag]]:
    """Return the flags of an engine's further settings by name, each with its level.

    Raises ConfigError if a name is not valid, or is that of a level.
    """
    settings: dict[str, Mapping[str, Flag]] = {}
    for name, flags in table.table("durability").tables_by_name():
        _check_name(name, flags)
        _without(flags, (_SYNC,))
        settings[name] = {LEVEL: _STRONGEST, **read_flags(flags)}
    return settings


def durability_acts_at(
    table: TomlTable, settings: Mapping[str, Mapping[str, Flag]]
) -> dict[str, str]:
    """Return the level at which alone a flag acts; those of all levels are not there.

    Raises ConfigError unless an engine's further settings have it, each at this level.
    """
    flags = table.table("durability_acts_at")
    _without(flags, (LEVEL, _SYNC))
    levels = {flag: flags.text(flag) for flag in flags.values}
    for flag, level in levels.items():
        tried = {str(of[LEVEL]) for of in settings.values() if flag in of}
        if not tried:
            raise flags.wrong(flag, "a flag of [engine.durability.NAME]")
        if tried != {level}:
            problem = f"its settings have the level {choices(sorted(tried))}"
            raise ConfigError(table.file, flags.at(flag), problem)
    return levels


def _check_name(name: str, flags: TomlTable) -> None:
    pattern, most_chars = name_rule("name")
    problem = ""
    if name in LEVELS:
        problem = f"{name!r} is a level of durability; rename the setting"
    elif not re.fullmatch(pattern, name) or len(name) > most_chars:
        problem = f"{name!r} is not a valid name; expected at most {most_chars}"
        problem += " lower-case letters and digits, with single - and _ between them"
    if problem:
        raise ConfigError(flags.file, flags.path, problem)


def _without(flags: TomlTable, keys: tuple[str, ...]) -> None:
    """Raise ConfigError if a table has one of the keys."""
    for key in keys:
        if key in flags.values:
            problem = f"selects a level, which is one of {choices(LEVELS)}"
            problem += f"; write [engine.durability.NAME] with the key {LEVEL!r}"
            raise ConfigError(flags.file, flags.at(key), problem)
