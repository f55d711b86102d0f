"""The flags of every engine: scenario, suite, engine and command line merged."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from report.config.config_types import (
    EngineConfig,
    FlagsBySize,
    ScenarioConfig,
    SuiteConfig,
)
from report.config.durability_table import LEVEL
from report.config.toml_table import ConfigError, TomlTable, as_number, unknown
from report.model.description import Description
from report.terms.rulebook import FLAGS, SCENARIO_FLAGS, Flag, flag_of, option_name
from report.terms.units import BYTES

_ACCEPTED = {
    "bool": "true or false",
    "double": "a number",
    "string": "a string",
}
_SIGNED = ("int32", "int64", "int")
_INTEGERS = (*_SIGNED, "uint32", "uint64", "uint")
_VALUE_CHARS = 200
_INSTEAD = ("duration", "warmup", "stream")  # of passes


@dataclass(frozen=True)
class _Layer:
    """The flags in one place of the configuration."""

    flags: Mapping[str, Flag]
    file_of: Callable[[str], str]  # the file that has a key
    path: str  # of the table that holds them

    def place(self, key: str) -> tuple[str, str]:
        """Return the file of a flag, and its key in it."""
        where = f"{self.path}.{key}" if self.path else key
        return self.file_of(where), where


def resolve_flags(
    scenario: ScenarioConfig,
    engine: EngineConfig,
    override: Mapping[str, Flag],
    chosen: Mapping[str, Flag],
    description: Description | None,
) -> dict[str, Flag]:
    """Return the flags of one engine in one scenario; sizes are in bytes.

    Later ones win: the engine's, the scenario's, the suite's override, the scenario's
    settings for the engine, and the command line's.  Flags and settings that a scenario
    has from some number of entries on come right after its other flags and settings.
    A time limit, a warm-up or a stream of the command line takes the place of passes,
    and the limit only ends a loop earlier: the amounts of work still hold.  Without a
    description, flags that only the executable knows are left out.  Raises ConfigError.
    """
    layers = _layers(scenario, engine, override)
    num = _merged(layers, None)["num"] if "num" not in chosen else chosen["num"]
    growth = [part for part in scenario.growth if int(num) >= part.num]
    if growth:
        layers = _layers(scenario, engine, override, growth)
    flags = {**_merged(layers, description), **chosen}
    if instead_of_passes(chosen):
        flags.pop("min_time", None)
    if "duration" in chosen:
        flags.setdefault("reads", flags["num"])
    return flags


def instead_of_passes(chosen: Mapping[str, Flag]) -> str:
    """Return the flag of the command line that takes the place of passes, or ""."""
    if "min_time" in chosen:
        return ""
    changed = (f for f in _INSTEAD if flag_of(chosen, f) != FLAGS[f].default)
    return next(changed, "")


def _layers(
    scenario: ScenarioConfig,
    engine: EngineConfig,
    override: Mapping[str, Flag],
    growth: Sequence[FlagsBySize] = (),
    suite_file: str = "",
) -> list[_Layer]:
    """Return the flags of all places, the weakest first."""
    name = engine.name
    settings = (scenario.settings.get(name, {}), scenario.file_of, f"settings.{name}")
    return [
        _own_layer(engine),
        _Layer(scenario.flags, scenario.file_of, ""),
        *(_Layer(part.flags, partial(_file, part), "from_num") for part in growth),
        _Layer(override, lambda _: suite_file, "override"),
        _Layer(*settings),
        *(
            _Layer(
                part.settings.get(name, {}),
                partial(_file, part),
                f"from_num.settings.{name}",
            )
            for part in growth
        ),
    ]


def check_own_flags(engine: EngineConfig, description: Description | None) -> None:
    """Raise ConfigError if an engine's file gives it flags that it does not accept."""
    _merged([_own_layer(engine)], description)


def resolve_trial_flags(
    engine: EngineConfig, base: EngineConfig, setting: str, description: Description
) -> dict[str, Flag]:
    """Return the flags of an engine's durability trials; sizes are in bytes.

    `base` is the engine whose executable it runs, which may be itself, and `setting` a
    level or one of its further settings.  Later ones win: the engine's own flags, those
    of all trials, and the setting's.  Raises ConfigError.
    """
    path = f"engine[{base.name}].durability"
    flags = base.durability_settings.get(setting, {LEVEL: setting})
    layers = [
        _own_layer(engine),
        _Layer(base.durability_flags, lambda _: base.file, f"{path}_flags"),
        _Layer(flags, lambda _: base.file, f"{path}.{setting}"),
    ]
    return _merged(layers, description)


def _own_layer(engine: EngineConfig) -> _Layer:
    path = f"engine[{engine.name}].flags"
    return _Layer(engine.flags, lambda _: engine.file, path)


def _file(part: FlagsBySize, _key: str) -> str:
    return part.file


def place_of(
    key: str,
    scenario: ScenarioConfig,
    engine: EngineConfig,
    suite: SuiteConfig,
    chosen: Mapping[str, Flag],
) -> tuple[str, str]:
    """Return where the value of a flag comes from: a file and the key in it."""
    if key in chosen:
        return "the command line", option_name(key)
    layers = _layers(scenario, engine, suite.override, (), suite.file)
    num = chosen.get("num") or _merged(layers, None)["num"]
    growth = [part for part in scenario.growth if int(num) >= part.num]
    layers = _layers(scenario, engine, suite.override, growth, suite.file)
    places = [layer.place(key) for layer in layers if key in layer.flags]
    return places[-1] if places else (scenario.file_of(key), key)


def _merged(
    layers: Iterable[_Layer], description: Description | None
) -> dict[str, Flag]:
    flags: dict[str, Flag] = {}
    for layer in layers:
        for key, value in layer.flags.items():
            if key in SCENARIO_FLAGS:
                flags[key] = value
            elif description is not None:
                flags[key] = _driver_flag(layer, key, value, description)
    return flags


def _driver_flag(
    layer: _Layer, key: str, value: Flag, description: Description
) -> Flag:
    file, where = layer.place(key)
    if key not in description.flags:
        flags = (*SCENARIO_FLAGS, *description.flags)
        raise ConfigError(file, where, unknown("flag", key, flags))
    kind = description.flags[key]
    if kind in (*_INTEGERS, "double"):
        value = as_number(TomlTable(file, "", {where: value}), where, value, BYTES)
    if not _fits(kind, value):
        integer = "an integer" if kind in _SIGNED else "an integer of at least 0"
        accepted = _ACCEPTED.get(kind, f'{integer}, or a size such as "4MiB"')
        shown = str(value).lower() if isinstance(value, bool) else repr(value)
        problem = f"{shown} is not valid; expected {accepted}"
        raise ConfigError(file, where, problem)
    return value


def _fits(kind: str, value: Flag) -> bool:
    if kind == "bool":
        return isinstance(value, bool)
    if kind == "string":
        return isinstance(value, str)
    if kind == "double":
        return type(value) in (int, float)
    return type(value) is int and (kind in _SIGNED or value >= 0)


def differences(
    old: Mapping[str, Mapping[str, Mapping[str, Flag]]],
    new: Mapping[str, Mapping[str, Mapping[str, Flag]]],
) -> list[str]:
    """Return one sentence for each flag that changed, in a fixed order."""
    texts = []
    for scenario in sorted(old):
        for engine in sorted(old[scenario]):
            was = old[scenario][engine]
            now = new.get(scenario, {}).get(engine, {})
            for key in sorted({*was, *now}):
                if was.get(key) != now.get(key):
                    words = difference(key, was.get(key), now.get(key))
                    texts.append(f"{engine}/{scenario}: {words}")
    return texts


def difference(key: str, was: object, now: object) -> str:
    """Return in words how a value changed, at most 200 characters of each."""
    return f"{key} was {_short(was)}, is now {_short(now)}"


def _short(value: object) -> str:
    text = "not set" if value is None else str(value)
    return text if len(text) <= _VALUE_CHARS else f"{text[:_VALUE_CHARS]}..."
