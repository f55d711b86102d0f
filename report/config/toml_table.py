"""Checked access to TOML tables, with the standard library alone.

read_toml() bounds what a file may contain: its size, nesting, numbers and texts.  After
that a wrong type, an unknown key or an unknown name raises ConfigError.  Its message
names the file and the key, shows the value, and says what is expected instead.
"""

import difflib
import math
import re
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from report.terms.encoding import bounded_content, decoded, reason_of
from report.terms.limits import (
    MOST_CONFIG_BYTES,
    MOST_CONFIG_FILES,
    MOST_INTEGER,
    MOST_ITEMS,
    MOST_KEY_CHARS,
    MOST_LEVELS,
    MOST_TEXT_CHARS,
    MOST_TITLE_CHARS,
)
from report.terms.rulebook import SCENARIO_FLAGS, Flag
from report.terms.text_table import printable, visible
from report.terms.units import COUNT, UnitError, parse, parse_number

_MOST_LISTED = 12  # names in an error
_SHOWN_CHARS = 100
_EXPECTED_CHARS = 300
_PROBLEM_CHARS = _SHOWN_CHARS + _EXPECTED_CHARS


class ConfigError(Exception):
    """A mistake in the configuration; str() is fit for the user.

    `key` is "" if the file as a whole is wrong.  A long problem is cut in the middle:
    it may begin with a value of any length.
    """

    def __init__(self, file: str, key: str, problem: str) -> None:
        if len(problem) > _PROBLEM_CHARS:
            problem = f"{problem[:_SHOWN_CHARS]}...{problem[-_EXPECTED_CHARS:]}"
        where = f"{file}: {key}" if key else file
        super().__init__(f"{where}: {problem}")
        self.file, self.key, self.problem = file, key, problem


def nearest(word: str, accepted: Iterable[str], least: float = 0.5) -> str:
    """Return a hint such as " (did you mean 'baseline'?)", or "".

    `least` is the smallest ratio of similarity, from 0 to 1.
    """
    close = difflib.get_close_matches(word, list(accepted), n=1, cutoff=least)
    return f" (did you mean {close[0]!r}?)" if close else ""


def choices(names: Iterable[str]) -> str:
    """Return names as alternatives: "a, b or c"; an empty one is shown as "".

    REQUIRES: `names` is not empty.
    """
    *others, last = [name or '""' for name in names]
    return f"{', '.join(others)} or {last}" if others else last


def unknown(kind: str, word: str, accepted: Iterable[str]) -> str:
    """Return what is wrong with an unknown name, the nearest one and the known ones.

    If more than a dozen names are known, only the first ones are listed.
    """
    names = list(accepted)
    expected = f"expected {choices(names)}" if names else f"no {kind} is defined"
    if len(names) > _MOST_LISTED:
        more = len(names) - _MOST_LISTED
        expected = f"expected {', '.join(names[:_MOST_LISTED])} or one of {more} more"
    return f"unknown {kind} {_shown(word)}{nearest(word, names)}; {expected}"


def _index(table: dict[str, Any], number: int) -> str:
    """Return what identifies a table in a list: its name, if that can be shown."""
    name = table.get("name")
    if not isinstance(name, str) or len(name) > MOST_KEY_CHARS or visible(name) != name:
        return str(number)
    return name


def _shown(value: object) -> str:
    """Return a value as TOML has it, which spells booleans in lower case, and short."""
    text = str(value).lower() if isinstance(value, bool) else ascii(value)
    return text if len(text) <= _SHOWN_CHARS else f"{text[: _SHOWN_CHARS - 3]}..."


@dataclass(frozen=True)
class TomlTable:
    """One TOML table and its location."""

    file: str
    path: str  # "settings.x", or "" for the whole document
    values: dict[str, Any]

    def at(self, key: str) -> str:
        """Return the full name of a key: "settings.x.num"."""
        return f"{self.path}.{key}" if self.path else key

    def wrong(
        self,
        key: str,
        expected: str,
        least: float | None = None,
        most: float | None = None,
    ) -> ConfigError:
        """Return the error for a value that is invalid, out of range or missing."""
        if key not in self.values:
            problem = f"{key!r} is missing; expected {expected}"
            return ConfigError(self.file, self.path, problem)
        value, fault = self.values[key], "is not valid"
        if type(value) in (int, float):
            if least is not None and value < least:
                fault = "is too small"
            elif most is not None and value > most:
                fault = "is too large"
        problem = f"{_shown(value)} {fault}; expected {expected}"
        return ConfigError(self.file, self.at(key), problem)

    def only(self, *keys: str) -> None:
        """Raise ConfigError if there is any other key."""
        for key in self.values:
            if key not in keys:
                raise ConfigError(self.file, self.at(key), unknown("key", key, keys))

    def text(self, key: str, default: str | None = None) -> str:
        """Return a string; without a default it is required and must not be blank."""
        value = self.values.get(key, default)
        if not isinstance(value, str):
            raise self.wrong(key, "a string")
        if default is None and not value.strip():
            raise self.wrong(key, "a string that is not blank")
        return value

    def line(self, key: str, default: str | None = None) -> str:
        """Return a title: a short string on one line."""
        value = self.text(key, default)
        if "\n" in value or len(value) > MOST_TITLE_CHARS:
            raise self.wrong(key, f"one line of at most {MOST_TITLE_CHARS} characters")
        return value

    def texts(
        self, key: str, default: tuple[str, ...] | None = None
    ) -> tuple[str, ...]:
        """Return distinct strings; without a default at least one is required."""
        value = self.values.get(key, default)
        if not isinstance(value, list | tuple):
            raise self.wrong(key, 'a list of strings, such as ["a", "b"]')
        if not all(isinstance(item, str) for item in value):
            raise self.wrong(key, 'a list of strings, such as ["a", "b"]')
        if len({item.strip() for item in value}) != len(value):
            raise self.wrong(key, "a list without duplicates")
        if default is None and not value:
            raise self.wrong(key, "a non-empty list")
        return tuple(item.strip() for item in value)

    def count(
        self, key: str, default: int, least: int = 1, most: int | None = None
    ) -> int:
        """Return an integer from `least` to `most`."""
        value = as_number(self, key, self.values.get(key, default))
        if type(value) is not int or value < least or (most and value > most):
            within = f"from {least:,} to {most:,}" if most else f"of at least {least:,}"
            raise self.wrong(key, f"an integer {within}", least, most)
        return value

    def switch(self, key: str, default: bool) -> bool:
        """Return a boolean."""
        value = self.values.get(key, default)
        if not isinstance(value, bool):
            raise self.wrong(key, "true or false")
        return value

    def table(self, key: str) -> "TomlTable":
        """Return the table under a key; an absent one is empty."""
        value = self.values.get(key, {})
        if not isinstance(value, dict):
            raise self.wrong(key, f"a table, written as [{self.at(key)}]")
        return TomlTable(self.file, self.at(key), value)

    def tables(self, key: str) -> list["TomlTable"]:
        """Return a list of tables; an absent one is empty."""
        value = self.values.get(key, [])
        if not isinstance(value, list) or not all(isinstance(v, dict) for v in value):
            raise self.wrong(key, f"tables, each written as [[{self.at(key)}]]")
        return [
            TomlTable(self.file, f"{self.at(key)}[{_index(item, number)}]", item)
            for number, item in enumerate(value)
        ]

    def tables_by_name(self) -> Iterator[tuple[str, "TomlTable"]]:
        """Yield each key with its table; every value must be one."""
        for key in self.values:
            yield key, self.table(key)


def short_path(path: Path) -> str:
    """Return a path for messages: relative if it is below the current directory.

    Below the root, it is whole: without its slash it would be another's.
    """
    here, whole = Path.cwd(), path.absolute()
    if not here.name:
        return str(whole)
    return str(whole.relative_to(here) if whole.is_relative_to(here) else path)


def read_toml(file: Path) -> TomlTable:
    """Return a whole file as one table.

    Raises ConfigError if it is not TOML or exceeds a limit.
    """
    name = short_path(file)
    try:
        text = decoded(bounded_content(file, MOST_CONFIG_BYTES))
        table = TomlTable(name, "", tomllib.loads(text))
    except OSError as error:
        raise ConfigError(name, "", f"cannot read: {reason_of(error)}") from error
    except RecursionError:
        raise ConfigError(name, "", "nested too deep") from None
    except ValueError as error:
        raise ConfigError(name, "", f"not valid TOML: {error}") from error
    _check_limits(table)
    return table


def toml_files(folder: Path) -> list[Path]:
    """Return the TOML files of a folder, sorted.  Raises ConfigError."""
    try:
        files = sorted(folder.glob("*.toml"))
    except OSError as error:
        name = short_path(folder)
        raise ConfigError(name, "", f"cannot read: {reason_of(error)}") from error
    if len(files) > MOST_CONFIG_FILES:
        problem = f"has {len(files)} files; expected at most {MOST_CONFIG_FILES}"
        raise ConfigError(short_path(folder), "", problem)
    return files


def _check_limits(document: TomlTable) -> None:
    """Raise ConfigError if a value of a document exceeds a limit."""
    level: list[tuple[str, Any]] = [("", document.values)]
    for _ in range(MOST_LEVELS):
        below: list[tuple[str, Any]] = []
        for path, value in level:
            if problem := _excess(value):
                raise ConfigError(document.file, path, problem)
            below += _inner(path, value)
        level = below
    if level:
        path = re.split(r"[.\[]", level[0][0], maxsplit=1)[0]
        problem = f"nested more than {MOST_LEVELS} levels deep"
        raise ConfigError(document.file, path, problem)


def _inner(path: str, value: Any) -> list[tuple[str, Any]]:
    """Return the values in a table or a list, with their paths."""
    if isinstance(value, dict):
        return [(f"{path}.{k}" if path else k, inner) for k, inner in value.items()]
    if isinstance(value, list):
        return [(f"{path}[{n}]", inner) for n, inner in enumerate(value)]
    return []


def _excess(value: Any) -> str:
    """Return how a value exceeds the limits, or ""."""
    if isinstance(value, dict | list) and len(value) > MOST_ITEMS:
        return f"has {len(value)} items; expected at most {MOST_ITEMS}"
    if isinstance(value, dict):
        odd = (k for k in value if len(k) > MOST_KEY_CHARS or visible(k) != k)
        if (key := next(odd, None)) is not None:
            accepted = f"at most {MOST_KEY_CHARS} visible characters"
            return f"{_shown(key)} is not a valid key; expected {accepted}"
    if isinstance(value, str) and len(value) > MOST_TEXT_CHARS:
        return f"has {len(value)} characters; expected at most {MOST_TEXT_CHARS}"
    if isinstance(value, str) and printable(value) != value:
        return f"{_shown(value)} has control characters; remove them"
    if type(value) is int and abs(value) > MOST_INTEGER:
        return "the integer is too large; expected at most 20 digits"
    if isinstance(value, float) and not math.isfinite(value):
        return f"{value} is not valid; expected a finite number"
    return ""


def known(
    table: TomlTable, key: str, word: str, accepted: Iterable[str], kind: str
) -> None:
    """Raise ConfigError unless the word is one of the accepted ones."""
    names = list(accepted)
    if word not in names:
        raise ConfigError(table.file, table.at(key), unknown(kind, word, names))


def read_flag(table: TomlTable, key: str, value: Any) -> Flag:
    """Return a flag's value: a size in bytes, a duration in seconds, or as written.

    A flag that is not common to all executables passes with any plain value: the
    executable that has it checks it.
    """
    rule = SCENARIO_FLAGS.get(key)
    if rule is None:
        if not isinstance(value, bool | int | float | str):
            raise table.wrong(key, "a number, a string, true or false")
        return value
    if rule.choices and isinstance(value, str):
        known(table, key, value, rule.choices, "value")
    read = value
    if rule.type not in ("bool", "string"):
        read = as_number(table, key, value, rule.measure)
    if not rule.accepts(read):
        shown = TomlTable(table.file, table.path, {key: read})
        raise shown.wrong(key, rule.accepted, rule.least, rule.most)
    return float(read) if rule.type == "double" else read


def read_flags(table: TomlTable, only: Iterable[str] | None = None) -> dict[str, Flag]:
    """Return the flags of a table; with `only`, just those with these names."""
    names = set(table.values if only is None else only)
    return {
        key: read_flag(table, key, value)
        for key, value in table.values.items()
        if key in names
    }


def as_number(table: TomlTable, key: str, value: Any, measure: str = COUNT) -> Any:
    """Return the number that a text is, an integer if it is whole; else the value.

    Raises ConfigError if the text is not a size or a duration where one is expected.
    """
    if isinstance(value, float):
        return (
            int(value) if value.is_integer() and abs(value) <= MOST_INTEGER else value
        )
    if not isinstance(value, str):
        return value
    try:
        number = parse(value, measure)
    except UnitError as error:
        if measure == COUNT:
            return value  # the caller knows the range
        raise ConfigError(table.file, table.at(key), str(error)) from error
    if number.denominator == 1 and abs(number) <= MOST_INTEGER:
        return int(number)
    return parse_number(value, measure)
