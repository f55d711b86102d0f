"""A sweep: one scenario for each value of one flag.

Nothing else may set that flag: a chart plots each member at the value in its sweep,
so that value must be the one that was measured.
"""

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from report.config.config_types import ScenarioConfig
from report.config.toml_table import ConfigError, TomlTable, read_flag
from report.terms import titles
from report.terms.limits import MOST_SWEEP_VALUES
from report.terms.rulebook import SCENARIO_FLAGS

_REMEDY = "this flag is swept; remove it here or sweep another flag"


def swept(
    scenario: ScenarioConfig,
    owner: TomlTable,
    later: Iterable[TomlTable],
    parts: Iterable[TomlTable],
) -> tuple[ScenarioConfig, ...]:
    """Return the scenario, or one for each value of the flag that `owner` sweeps.

    Raises ConfigError if one of `later`, or the settings of one of `parts`, has
    that flag.
    """
    sweep = owner.table("sweep")
    if not sweep.values:
        return (scenario,)
    sweep.only(*SCENARIO_FLAGS)
    if len(sweep.values) > 1:
        problem = f"expected one flag, not {len(sweep.values)}"
        problem += f" ({', '.join(sweep.values)}); keep one"
        raise ConfigError(sweep.file, sweep.path, problem)
    ((flag, values),) = sweep.values.items()
    if not isinstance(values, list) or not values:
        raise sweep.wrong(flag, "a non-empty list of values")
    if len(values) > MOST_SWEEP_VALUES:
        problem = f"has {len(values)} values; expected at most {MOST_SWEEP_VALUES}"
        raise ConfigError(sweep.file, sweep.at(flag), problem)
    _check_free(flag, later, parts)
    members = [_member(scenario, sweep, flag, value) for value in values]
    names = {member.name for member in members}
    if min(len(names), len({m.swept[flag] for m in members})) != len(members):
        raise sweep.wrong(flag, "a list without duplicates")
    return tuple(members)


def check_not_swept(
    file: str, path: str, flags: Iterable[str], scenario: ScenarioConfig
) -> None:
    """Raise ConfigError if one of these flags is the one that the scenario sweeps."""
    for flag in flags:
        if flag in scenario.swept:
            problem = f"scenario {scenario.family!r} sweeps this flag"
            problem += "; remove it here or sweep another flag"
            raise ConfigError(file, f"{path}.{flag}", problem)


def _check_free(
    flag: str, later: Iterable[TomlTable], parts: Iterable[TomlTable]
) -> None:
    """Raise ConfigError if a stronger table sets the flag of a sweep too."""
    tables = list(later)
    for part in parts:
        growths = part.tables("from_num")
        tables += growths
        for owner in (part, *growths):
            settings = owner.table("settings")
            tables += [engine for _, engine in settings.tables_by_name()]
    for table in tables:
        # There num is the size from which the table applies, and sets nothing.
        is_threshold = flag == "num" and table.path.startswith("from_num[")
        if flag in table.values and not is_threshold:
            raise ConfigError(table.file, table.at(flag), _REMEDY)


def _member(
    scenario: ScenarioConfig, sweep: TomlTable, flag: str, written: Any
) -> ScenarioConfig:
    # In a table of its own, so that an error shows this value instead of the list.
    value = read_flag(TomlTable(sweep.file, sweep.path, {flag: written}), flag, written)
    word = re.sub(r"[^a-z0-9]+", "_", str(written).lower()).strip("_")
    if not word:
        raise sweep.wrong(flag, "values with a letter or digit, to name scenarios by")
    return replace(
        scenario,
        name=f"{scenario.name}-{word}",
        title=titles.member(scenario.title, flag, value),
        flags={**scenario.flags, flag: value},
        family=scenario.name,
        swept={flag: value},
    )
