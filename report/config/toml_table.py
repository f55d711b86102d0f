"""Checked access to TOML tables: every complaint names file, key and what is accepted.

A value of the wrong type, an unknown key or an unknown name raises ConfigError.
"""

import difflib
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from report.terms.rulebook import SCENARIO_FLAGS, Flag, FlagRule
from report.terms.units import UnitError, parse_duration, parse_size


class ConfigError(Exception):
    """The configuration is wrong: which file, which key, and what is accepted."""

    def __init__(self, file: str, key: str, problem: str) -> None:
        where = f"{file}: {key}" if key else file
        super().__init__(f"{where}: {problem}")
        self.file, self.key, self.problem = file, key, problem


def nearest(word: str, accepted: Iterable[str]) -> str:
    """A hint such as " (did you mean 'baseline'?)", or nothing."""
    close = difflib.get_close_matches(word, list(accepted), n=1, cutoff=0.5)
    return f" (did you mean {close[0]!r}?)" if close else ""


def unknown(kind: str, word: str, accepted: Iterable[str]) -> str:
    """A sentence about an unknown name: the nearest match and all accepted ones."""
    names = list(accepted)
    listed = ", ".join(name if name else '""' for name in names) or "none"
    return f"unknown {kind} {word!r}{nearest(word, names)}; accepted: {listed}"


@dataclass(frozen=True)
class TomlTable:
    """One TOML table and where it stands."""

    file: str
    path: str  # "settings.x", or "" for the whole document
    values: dict[str, Any]

    def at(self, key: str) -> str:
        """The full name of a key."""
        return f"{self.path}.{key}" if self.path else key

    def wrong(self, key: str, accepted: str) -> ConfigError:
        """The error for a value of the wrong kind, or for a missing one."""
        if key not in self.values:
            return ConfigError(
                self.file, self.at(key), f"missing; accepted: {accepted}"
            )
        value = self.values[key]
        return ConfigError(
            self.file, self.at(key), f"{value!r} is not accepted; accepted: {accepted}"
        )

    def only(self, *keys: str) -> None:
        """Raises ConfigError if there is any other key."""
        for key in self.values:
            if key not in keys:
                raise ConfigError(self.file, self.at(key), unknown("key", key, keys))

    def text(self, key: str, default: str | None = None) -> str:
        """A text; required if there is no default."""
        value = self.values.get(key, default)
        if not isinstance(value, str) or (default is None and not value.strip()):
            raise self.wrong(key, "a text")
        return value

    def texts(
        self, key: str, default: tuple[str, ...] | None = None
    ) -> tuple[str, ...]:
        """A list of texts without repetition; not empty if there is no default."""
        value = self.values.get(key, default)
        if not isinstance(value, list | tuple):
            raise self.wrong(key, "a list of texts")
        if not all(isinstance(item, str) for item in value):
            raise self.wrong(key, "a list of texts")
        if len(set(value)) != len(value) or (default is None and not value):
            raise self.wrong(key, "a list of texts, not empty, each of them once")
        return tuple(value)

    def count(
        self, key: str, default: int, least: int = 1, most: int | None = None
    ) -> int:
        """An integer of at least `least`, and at most `most`."""
        value = self.values.get(key, default)
        if type(value) is not int or value < least or (most and value > most):
            above = f"an integer of at least {least}"
            raise self.wrong(key, f"{above} and at most {most}" if most else above)
        return value

    def switch(self, key: str, default: bool) -> bool:
        """True or false."""
        value = self.values.get(key, default)
        if not isinstance(value, bool):
            raise self.wrong(key, "true or false")
        return value

    def table(self, key: str) -> "TomlTable":
        """A table; an absent one is empty."""
        value = self.values.get(key, {})
        if not isinstance(value, dict):
            raise self.wrong(key, f"a table: [{self.at(key)}]")
        return TomlTable(self.file, self.at(key), value)

    def tables(self, key: str) -> list["TomlTable"]:
        """A list of tables; an absent one is empty."""
        value = self.values.get(key, [])
        if not isinstance(value, list) or not all(isinstance(v, dict) for v in value):
            raise self.wrong(key, f"tables: [[{self.at(key)}]]")
        return [
            TomlTable(self.file, f"{self.at(key)}[{item.get('name', number)}]", item)
            for number, item in enumerate(value)
        ]

    def tables_by_name(self) -> Iterator[tuple[str, "TomlTable"]]:
        """The tables inside this one."""
        for key in self.values:
            yield key, self.table(key)


def read_toml(file: Path) -> TomlTable:
    """Return the document of a file; a ConfigError if it cannot be read."""
    name = "/".join(file.parts[-3:] if file.name != "engines.toml" else file.parts[-2:])
    try:
        return TomlTable(name, "", tomllib.loads(file.read_text("utf-8")))
    except OSError as error:
        raise ConfigError(name, "", f"cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise ConfigError(name, "", f"is not TOML: {error}") from error


def known(
    table: TomlTable, key: str, word: str, accepted: Iterable[str], kind: str
) -> None:
    """Raises ConfigError unless the word is one of the accepted ones."""
    names = list(accepted)
    if word not in names:
        raise ConfigError(table.file, table.at(key), unknown(kind, word, names))


def read_flag(table: TomlTable, key: str, value: Any) -> Flag:
    """Return a flag's value: a size in bytes, a duration in seconds, or as written.

    A key that is no flag of every executable is one of a single executable, which
    checks it; any plain value passes here.
    """
    rule = SCENARIO_FLAGS.get(key)
    if rule is None:
        if not isinstance(value, bool | int | float | str):
            raise table.wrong(key, "a number, a text, true or false")
        return value
    if rule.choices and isinstance(value, str):
        known(table, key, value, rule.choices, "value")
    read = _quantity(table, key, value, rule) if rule.is_quantity else value
    if not rule.accepts(read):
        raise table.wrong(key, rule.accepted)
    return float(read) if rule.type == "double" else read


def read_flags(table: TomlTable, only: Iterable[str] | None = None) -> dict[str, Flag]:
    """The flags of a table; with `only`, those of these names alone."""
    wanted = set(table.values if only is None else only)
    return {
        key: read_flag(table, key, value)
        for key, value in table.values.items()
        if key in wanted
    }


def _quantity(table: TomlTable, key: str, value: Any, rule: FlagRule) -> Flag:
    if not isinstance(value, str):
        raise table.wrong(key, rule.accepted)
    try:
        return parse_size(value) if rule.unit == "bytes" else parse_duration(value)
    except UnitError as error:
        raise ConfigError(table.file, table.at(key), str(error)) from error
