"""Java's property files, as java.util.Properties reads them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from report.config.toml_table import ConfigError, short_path
from report.terms.encoding import bounded_content, decoded, reason_of
from report.terms.limits import MOST_CONFIG_BYTES, MOST_ITEMS

_LINE_END = re.compile(r"\r\n|\n|\r")
_BLANK = " \t\f"
_COMMENT = ("#", "!")
_KEY = re.compile(r"((?:\\.|[^\\=: \t\f])*)[ \t\f]*[=:]?[ \t\f]*", re.DOTALL)
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_ESCAPED = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}


@dataclass(frozen=True)
class Property:
    """A value as it is written, without blanks at its end, and where: for messages."""

    value: str
    place: str


def read_properties(file: Path) -> tuple[dict[str, Property], bytes]:
    """Return the properties of a file, the last of each name, and its content.

    Raises ConfigError if it cannot be read, or is not a text.
    """
    name = short_path(file)
    try:
        content = bounded_content(file, MOST_CONFIG_BYTES)
        text = decoded(content, is_latin=True)
    except OSError as error:
        raise ConfigError(name, "", f"cannot read: {reason_of(error)}") from error
    except ValueError as error:
        raise ConfigError(name, "", str(error)) from error
    if "\0" in text:
        raise ConfigError(name, "", "not a text: it has null characters")
    properties = {}
    for number, line in _logical_lines(text):
        key, value = _pair(line)
        properties[key] = Property(value, f"{name}: line {number}")
    if len(properties) > MOST_ITEMS:
        problem = f"has {len(properties):,} properties; expected at most {MOST_ITEMS:,}"
        raise ConfigError(name, "", problem)
    return properties, content


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines that are no comments, each with the lines that continue it."""
    begun: list[str] = []
    first = 0
    for number, natural in enumerate(_LINE_END.split(text), 1):
        line = natural.lstrip(_BLANK)
        if not begun:
            first = number
            if not line or line.startswith(_COMMENT):
                continue
        backslashes = len(line) - len(line.rstrip("\\"))
        if backslashes % 2:
            begun.append(line[:-1])
            continue
        yield first, "".join([*begun, line])
        begun = []
    if begun:
        yield first, "".join(begun)


def _pair(line: str) -> tuple[str, str]:
    """Return the key and the value of a logical line."""
    match = _KEY.match(line)
    assert match, "it matches the empty text"
    return _unescaped(match[1]), _unescaped(line[match.end() :]).rstrip()


def _unescaped(text: str) -> str:
    def character(match: re.Match[str]) -> str:
        escape = match[1]
        if len(escape) > 1:
            return chr(int(escape[1:], 16))
        return _ESCAPED.get(escape, escape)

    return _ESCAPE.sub(character, text)
