"""A sweep: one scenario for each value of one flag, which nothing else may set.

A point is drawn at the value of its sweep, so that value must be what was measured.
"""

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from report.config.config_types import ScenarioConfig
from report.config.toml_table import ConfigError, TomlTable, read_flag
from report.terms import titles
from report.terms.rulebook import SCENARIO_FLAGS

_REMEDY = "is swept: leave it out here, or sweep another flag"


def swept(
    scenario: ScenarioConfig,
    owner: TomlTable,
    later: Iterable[TomlTable],
    parts: Iterable[TomlTable],
) -> tuple[ScenarioConfig, ...]:
    """The scenario, or one for each value of the flag that `owner` sweeps.

    No part in `later` may have that flag, and no settings of any of the `parts`.
    Raises ConfigError.
    """
    sweep = owner.table("sweep")
    if not sweep.values:
        return (scenario,)
    sweep.only(*SCENARIO_FLAGS)
    if len(sweep.values) > 1:
        told = "sweeps one flag; accepted: one key, a list of values"
        raise ConfigError(sweep.file, sweep.path, told)
    ((flag, values),) = sweep.values.items()
    if not isinstance(values, list) or not values:
        raise sweep.wrong(flag, "a list of values, not empty")
    if flag == "rate":
        told = "is of the latency repetition alone: a line of rates would not show it"
        raise ConfigError(sweep.file, sweep.at(flag), f"{told}; sweep another flag")
    _check_free(flag, later, parts)
    made = [_member(scenario, sweep, flag, value) for value in values]
    names = {member.name for member in made}
    if min(len(names), len({m.swept[flag] for m in made})) != len(made):
        raise sweep.wrong(flag, "a list of values, each of them once")
    return tuple(made)


def check_not_swept(
    file: str, path: str, flags: Iterable[str], scenario: ScenarioConfig
) -> None:
    """Raises ConfigError if one of these flags is the one that the scenario sweeps."""
    for flag in flags:
        if flag in scenario.swept:
            told = f"{_REMEDY}: scenario {scenario.family!r} decides it"
            raise ConfigError(file, f"{path}.{flag}", told)


def _check_free(
    flag: str, later: Iterable[TomlTable], parts: Iterable[TomlTable]
) -> None:
    """Raises ConfigError where the flag of a sweep is set by something stronger."""
    places = list(later)
    for part in parts:
        growths = part.tables("from_num")
        places += growths
        for table in (part, *growths):
            places += [own for _, own in table.table("settings").tables_by_name()]
    for place in places:
        is_threshold = flag == "num" and place.path.startswith("from_num[")
        if flag in place.values and not is_threshold:
            raise ConfigError(place.file, place.at(flag), _REMEDY)


def _member(
    scenario: ScenarioConfig, sweep: TomlTable, flag: str, written: Any
) -> ScenarioConfig:
    # As if the flag stood in the table by itself: complaints name its value.
    value = read_flag(TomlTable(sweep.file, sweep.path, {flag: written}), flag, written)
    word = re.sub(r"[^a-z0-9]+", "_", str(written).lower()).strip("_")
    if not word:
        raise sweep.wrong(flag, "values that make a name: letters and digits")
    return replace(
        scenario,
        name=f"{scenario.name}-{word}",
        title=titles.member(scenario.title, flag, value),
        flags={**scenario.flags, flag: value},
        family=scenario.name,
        swept={flag: value},
    )
