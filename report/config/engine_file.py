"""The files that list engines: the default ones, and those installed on request.

`engines.toml` lists the default engines.  Each file of `engines/` lists those of one
library, and so does each file of further folders, which other repositories have.
This module needs only the standard library, because the set-up uses it before
anything else is installed.
"""

import fnmatch
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from report.config.config_types import (
    ADVISED_FOR,
    COMPUTED_GROUPS,
    FLOOR,
    MEASURED,
    ROLES,
    TOOLCHAINS,
    VARIANT,
    EngineConfig,
)
from report.config.durability_table import (
    durability_acts_at,
    durability_flags,
    durability_settings,
)
from report.config.source_table import libraries_of, sources_of
from report.config.toml_table import (
    ConfigError,
    TomlTable,
    choices,
    known,
    read_flags,
    read_toml,
    short_path,
    toml_files,
    unknown,
)
from report.terms.encoding import bounded_content
from report.terms.limits import MOST_CONFIG_BYTES
from report.terms.name_rules import name_rule
from report.terms.row_settings import DEFAULTS
from report.terms.rulebook import AUDIT_OF
from report.terms.text_table import one_line

DEFAULT_ENGINES = "engines.toml"
ON_REQUEST = "engines"  # folder with one file for each library
_FLOOR = "null-"  # how the files of those begin that do nothing
_LONGEST_SETUP_S = 86_400
_LARGEST_SETUP_MB = 1_000_000
# How the file of an engine begins a table, for one that is not valid TOML.
_NAME = re.compile(r'(?m)^\s*\[\[engine\]\]\s*\n\s*name\s*=\s*"([a-z0-9_-]{1,64})"')


@dataclass(frozen=True)
class ReadEngines:
    """The engines of a configuration, in report order, and the broken files."""

    engines: Mapping[str, EngineConfig]
    # By the names of the engines, or by the file if another one has these engines.
    broken: Mapping[str, ConfigError]

    @property
    def names(self) -> tuple[str, ...]:
        """The names that may be used, which include those of broken files."""
        return tuple({**self.engines, **self.broken})


def read_engines(folder: Path, more: Iterable[Path] = ()) -> ReadEngines:
    """Read engines.toml and engines/ of a folder, then the files of other folders.

    A broken file stops only its own engines; so does a folder of `more` that cannot
    be read.  Raises ConfigError if engines.toml is broken.
    """
    engines = engines_of(read_toml(folder / DEFAULT_ENGINES), {})
    broken: dict[str, ConfigError] = {}
    files: list[Path] = []
    for other in (folder / ON_REQUEST, *more):
        try:
            if other.is_dir() or other != folder / ON_REQUEST:
                files += _files_of(other)
        except ConfigError as error:
            broken[error.file] = error
    for file in files:
        try:
            engines |= engines_of(read_toml(file), engines, is_on_request=True)
        except ConfigError as error:
            names = [name for name in _names_in(file) if name not in engines]
            broken |= dict.fromkeys(names or [error.file], error)
    return ReadEngines(engines, broken)


def _files_of(folder: Path) -> list[Path]:
    if not folder.is_dir():
        problem = "no such directory; correct KVMATRIX_DRIVERS"
        raise ConfigError(short_path(folder), "", problem)
    # Other engines name the floors, which stand first.
    return sorted(toml_files(folder), key=lambda file: not file.stem.startswith(_FLOOR))


def _names_in(file: Path) -> list[str]:
    """Return the names of the engines of a file that may be invalid."""
    try:
        text = bounded_content(file, MOST_CONFIG_BYTES).decode(errors="replace")
    except (OSError, ValueError):
        return []
    return _NAME.findall(text)


def engines_of(
    document: TomlTable,
    earlier: Mapping[str, EngineConfig],
    is_on_request: bool = False,
) -> dict[str, EngineConfig]:
    """Return the engines of one file; it may refer to those of earlier files.

    Raises ConfigError.
    """
    document.only("engine")
    tables = document.tables("engine")
    if not tables:
        problem = "lists no engine; expected tables [[engine]]"
        raise ConfigError(document.file, "", problem)
    engines: dict[str, EngineConfig] = {}
    for table in tables:
        engine = _engine(table, is_on_request)
        check_name("name", engine.name, table.file, table.at("name"))
        problem = f"{engine.name!r} is used twice; give each engine its own name"
        if engine.name in earlier:
            other = earlier[engine.name].file
            problem = f"{engine.name!r} is already used by {other}; rename one of them"
        if engine.name in engines or engine.name in earlier:
            raise ConfigError(table.file, table.at("name"), problem)
        engines[engine.name] = engine
    every = {**earlier, **engines}
    for engine in engines.values():
        if clash := next((word for word in engine.groups if word in every), ""):
            problem = f"{clash!r} is the name of an engine; rename the group"
            raise ConfigError(document.file, f"engine[{engine.name}].groups", problem)
        for key in ("sources_of", "floor", "binding_of"):
            if other := getattr(engine, key):
                at = f"engine[{engine.name}].{key}"
                known(document, at, other, every, "engine")
                if key == "floor" and every[other].role != FLOOR:
                    problem = f"{other!r} is not a floor; expected an engine with"
                    raise ConfigError(document.file, at, f'{problem} role = "{FLOOR}"')
        if engine.settings_of:
            at, words = f"engine[{engine.name}].settings_of", (DEFAULTS, *every)
            known(document, at, engine.settings_of, words, "source of settings")
        if engine.variant_of or engine.role == VARIANT:
            _check_variant(document, engine, every)
    return {name: _inheriting(engine, every) for name, engine in engines.items()}


def _inheriting(
    engine: EngineConfig, engines: Mapping[str, EngineConfig]
) -> EngineConfig:
    """Return a variant with what it shares with its engine; others as they are."""
    if not engine.variant_of:
        return engine
    of = engines[engine.variant_of]
    return replace(engine, plugin=of.plugin, floor=of.floor, binding_of=of.binding_of)


def _check_variant(
    document: TomlTable, engine: EngineConfig, engines: Mapping[str, EngineConfig]
) -> None:
    """Raise ConfigError unless a variant can run the executable of its engine.

    That engine must not be a variant itself, and the variant has no sources.
    """
    key = f"engine[{engine.name}].variant_of"
    names = [e.name for e in engines.values() if not e.variant_of and e != engine]
    expected = f"; expected {choices(names)}" if names else ""
    if not engine.variant_of:
        problem = f"'variant_of' is missing, but role is \"{VARIANT}\"{expected}"
        raise ConfigError(document.file, f"engine[{engine.name}]", problem)
    if engine.variant_of not in engines:
        problem = unknown("engine", engine.variant_of, names)
        raise ConfigError(document.file, key, problem)
    if engines[engine.variant_of].variant_of:
        problem = f"{engine.variant_of!r} is itself a variant{expected}"
        raise ConfigError(document.file, key, problem)
    if engine.role not in ("", VARIANT):
        problem = f"a variant cannot have the role {engine.role!r}"
        problem += f'; expected "" or "{VARIANT}"'
        raise ConfigError(document.file, f"engine[{engine.name}].role", problem)
    for shared in ("plugin", "floor", "binding_of"):
        if getattr(engine, shared):
            problem = f"is that of {engine.variant_of!r}, whose executable it runs"
            problem += "; remove it"
            at = f"engine[{engine.name}].{shared}"
            raise ConfigError(document.file, at, problem)
    if engine.sources or engine.sources_of or engine.libraries:
        problem = f"runs the executable of {engine.variant_of!r}, so it cannot have"
        problem += " sources; remove source, library and sources_of"
        raise ConfigError(document.file, key, problem)
    if engine.durability_flags or engine.durability_settings:
        problem = f"runs the executable of {engine.variant_of!r}, whose durability is"
        problem += " tried; remove durability_flags and durability"
        raise ConfigError(document.file, key, problem)


def _engine(table: TomlTable, is_on_request: bool) -> EngineConfig:
    table.only(
        *("name", "title", "url", "summary", "role", "sources_of", "source"),
        *("variant_of", "flags", "advice", "advised_for", "library", "toolchain"),
        *("setup_s", "setup_mb", "plugin", "floor", "binding_of"),
        *("known_failures", "groups", "settings_of"),
        *("durability_flags", "durability", "durability_acts_at"),
    )
    role = table.text("role", "")
    known(table, "role", role, ROLES, "role")
    advice, advised_for = _advice(table), table.text("advised_for", "")
    if "advised_for" in table.values:
        known(table, "advised_for", advised_for, ADVISED_FOR, "kind of data")
        if not advice:
            raise table.wrong("advised_for", "the addresses in [engine.advice] as well")
    toolchain = table.text("toolchain", "")
    settings = durability_settings(table)
    known(table, "toolchain", toolchain, ("", *TOOLCHAINS), "toolchain")
    return EngineConfig(
        name=table.text("name"),
        title=table.line("title"),
        url=table.line("url", ""),
        summary=table.text("summary"),
        role=role,
        sources_of=table.text("sources_of", ""),
        sources=sources_of(table),
        variant_of=table.text("variant_of", ""),
        flags=read_flags(table.table("flags")),
        advice=advice,
        advised_for=advised_for,
        groups=_groups(table),
        known_failures=_known_failures(table.table("known_failures")),
        file=table.file,
        plugin=_plugin(table),
        floor=table.text("floor", ""),
        binding_of=table.text("binding_of", ""),
        is_on_request=is_on_request,
        libraries=libraries_of(table),
        toolchain=toolchain,
        setup_s=table.count("setup_s", 0, 0, _LONGEST_SETUP_S),
        setup_mb=table.count("setup_mb", 0, 0, _LARGEST_SETUP_MB),
        durability_flags=durability_flags(table),
        durability_settings=settings,
        durability_acts_at=durability_acts_at(table, settings),
        settings_of=table.text("settings_of", ""),
    )


def _plugin(table: TomlTable) -> str:
    """Return the path of a plug-in, which is relative to the file; "" without one."""
    if "plugin" not in table.values:
        return ""
    return str((Path(table.file).parent / table.text("plugin")).absolute())


def _advice(table: TomlTable) -> dict[str, str]:
    """Return the address of the advice for each flag of an engine; {}: none is given.

    Raises ConfigError unless every flag has one.
    """
    flags, advice = table.table("flags"), table.table("advice")
    if not advice.values:
        return {}
    for flag in advice.values:
        known(table, "advice", flag, flags.values, "flag of this engine")
    for flag in flags.values:
        if not re.fullmatch(r"https?://[!-~]+", advice.text(flag)):
            raise advice.wrong(flag, "an address such as https://example.org/tuning")
    return {flag: advice.text(flag) for flag in flags.values}


def _groups(table: TomlTable) -> tuple[str, ...]:
    """Return the groups of an engine.  Raises ConfigError if one is not a word."""
    groups = table.texts("groups", ())
    for word in groups:
        if not re.fullmatch(r"[a-z][a-z0-9]*", word) or word in COMPUTED_GROUPS:
            expected = "words of lower-case letters and digits, other than"
            raise table.wrong("groups", f"{expected} {choices(COMPUTED_GROUPS)}")
    return groups


def _known_failures(table: TomlTable) -> dict[str, str]:
    """Return the evidence by benchmark or glob; "audit of" may precede either.

    Raises ConfigError if one matches no benchmark.
    """
    for key in table.values:
        pattern = key.removeprefix(AUDIT_OF)
        if not fnmatch.filter(MEASURED, pattern):
            problem = unknown("benchmark", pattern, MEASURED)
            raise ConfigError(table.file, table.at(key), problem)
    return {key: one_line(table.text(key)) for key in table.values}


def check_name(kind: str, name: str, file: str, key: str) -> None:
    """Raise ConfigError if a name cannot be recorded in a run."""
    pattern, most_chars = name_rule(kind)
    if not re.fullmatch(pattern, name) or len(name) > most_chars:
        signs = "-, _ and ." if kind == "suite" else "- and _"
        problem = f"{name!r} is not a valid name; expected at most {most_chars}"
        problem += f" lower-case letters and digits, with single {signs} between them"
        raise ConfigError(file, key, problem)
