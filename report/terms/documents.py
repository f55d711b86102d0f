"""Strict reading of JSON: files of a run, answers of executables, other tools' files.

All JSON from outside passes through here once: limits of size and depth, strict syntax,
printable text, checksums, and a compiled schema.  Every defect raises ResultsError with
the file, the line and the problem, so that a damaged file never ends in a traceback.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

from fastjsonschema import JsonSchemaValueException

from report.terms.checksum import is_intact
from report.terms.encoding import bounded_content, decoded, reason_of
from report.terms.limits import (
    FRACTIONS,
    MOST_DOCUMENT_BYTES,
    MOST_INTEGER,
    MOST_LEVELS,
)
from report.terms.schemas import are_pairs, least_of_pairs, schema, validator
from report.terms.text_table import printable, visible

DAMAGED = "the run is damaged: restore the file or delete the run"
_REASON_CHARS = 200
_SHOWN_CHARS = 60
_BOUNDS = {"minimum": "at least", "maximum": "at most", "exclusiveMinimum": "above"}
_TYPES = {
    "integer": "an integer",
    "number": "a number",
    "string": "a string",
    "boolean": "true or false",
    "object": "an object",
    "array": "a list",
}
Versions = Mapping[str, range]  # of "schema" and "method"
# For finding large integers: an expression takes as long as the JSON parser itself.
_DIGITS = re.compile(rb"[0-9]+")
_LARGEST = b"%d" % MOST_INTEGER
_AS_ZEROS = bytes.maketrans(b"0123456789", b"0" * 10)
_AS_MANY_ZEROS = b"0" * len(_LARGEST)
_ESCAPE = b"\\u"  # begins each character that is written by its number
_NO_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
_HIDING_ESCAPE = re.compile(rb"\\[bfru]")


class ResultsError(Exception):
    """A results file that cannot be used; str() is fit for the user.

    `listed` are lines below it.
    """

    def __init__(self, message: str, *listed: str) -> None:
        super().__init__(message)
        self.listed = listed


@dataclass(frozen=True)
class Line:
    """One line of a JSON Lines file; `number` counts from 1."""

    number: int
    text: bytes


def read_bytes(path: Path, most: int = MOST_DOCUMENT_BYTES) -> bytes:
    """Return the content of a regular file of at most `most` bytes.

    Never waits, even for a pipe.  Raises ResultsError.
    """
    try:
        return bounded_content(path, most)
    except OSError as error:
        raise ResultsError(f"{path}: {reason_of(error)}") from None


def canonical(document: object) -> str:
    """Return JSON that is the same text for equal documents, for checksums."""
    return json.dumps(document, sort_keys=True, separators=(",", ":"))


def split_lines(content: bytes) -> tuple[list[Line], int]:
    """Return the complete lines and their length in bytes, newlines included.

    A line is complete once its newline is written; a crash during a write can leave
    a torn line after the last newline.
    """
    valid_bytes = content.rfind(b"\n") + 1
    texts = content[:valid_bytes].split(b"\n")[:-1]
    return [Line(i, text) for i, text in enumerate(texts, 1)], valid_bytes


def parse_object(text: bytes, place: str) -> dict[str, Any]:
    """Parse one strict JSON object; `place` begins every error message."""
    fractions: list[float] = []
    document = _parsed(
        text,
        place,
        parse_constant=_reject_constant,
        parse_float=partial(_finite, fractions),
    )
    if _may_be_large(text) and (key := _key_of(document, _is_large)):
        problem = f"the integer is too large; expected at most {MOST_INTEGER}"
        raise ResultsError(f"{place}: {key}: {problem}")
    if any(map(_is_extreme, fractions)):
        key = _key_of(document, _is_extreme)
        expected = f"0, or {FRACTIONS[0]:g} to {FRACTIONS[1]:g} of either sign"
        raise ResultsError(
            f"{place}: {key}: a number out of range; expected {expected}"
        )
    return document


def parse_foreign(text: bytes, place: str) -> dict[str, Any]:
    """Parse one JSON object of another program, whose numbers need not be finite.

    Most of them are never read; whoever reads one checks its range.
    """
    return _parsed(text, place, parse_int=_number)


def _number(digits: str) -> int | float:
    """Return an integer, or a fraction near one of which Python makes no text."""
    return int(digits) if len(digits) <= len(str(MOST_INTEGER)) else float(digits)


def _parsed(text: bytes, place: str, **numbers: Any) -> dict[str, Any]:
    """Parse one JSON object with these functions for its numbers."""
    try:
        document = json.loads(decoded(text), object_pairs_hook=_unique_keys, **numbers)
        if _ESCAPE in text:
            # A lone surrogate is valid JSON but cannot be encoded when it is written.
            json.dumps(document, ensure_ascii=False).encode("utf-8")
    except json.JSONDecodeError as error:
        raise ResultsError(f"{place}: {_fault(text, error)}") from None
    except RecursionError:
        raise ResultsError(f"{place}: nested too deep") from None
    except ValueError as error:
        raise ResultsError(f"{place}: not valid JSON: {_reason(error)}") from None
    if not isinstance(document, dict):
        raise ResultsError(f"{place}: expected a JSON object")
    if _may_be_deeper(text, MOST_LEVELS) and _is_deeper(document, MOST_LEVELS):
        raise ResultsError(f"{place}: nested more than {MOST_LEVELS} levels deep")
    if _may_be_hidden(text):
        document = {printable(key): _printed(v) for key, v in document.items()}
    return document


def _printed(value: Any) -> Any:
    """Return a value with printable text only; keys and texts at every depth."""
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, dict):
        return {printable(key): _printed(inner) for key, inner in value.items()}
    return [_printed(inner) for inner in value] if isinstance(value, list) else value


def _fault(text: bytes, error: json.JSONDecodeError) -> str:
    """Return why a text is not JSON, and where; the line only if it has several."""
    if not text.strip():
        return "empty; expected a JSON object"
    line = f"line {error.lineno}, " if b"\n" in text else ""
    reason = error.msg[0].lower() + error.msg[1:].removesuffix(" at")
    return f"not valid JSON: {reason} at {line}column {error.colno}"


def validate(document: Mapping[str, Any], schema_name: str, place: str) -> None:
    """Check `document` against report/schema/<schema_name>.schema.json."""
    try:
        validator(schema_name)(document)
    except JsonSchemaValueException as error:
        where = visible(".".join(error.path[1:]))
        problem = _problem(error)
        raise ResultsError(
            f"{place}: {where + ': ' if where else ''}{problem}"
        ) from None


def document_of(
    text: bytes, schema_name: str, place: str, versions: Versions
) -> dict[str, Any]:
    """Parse and check a file or a line of a run folder, as the two functions below."""
    document = parse_document(text, place)
    check_document(document, schema_name, place, versions)
    return document


def parse_document(text: bytes, place: str) -> dict[str, Any]:
    """Parse a file or a line of a run folder.

    Raises ResultsError with the remedy for a damaged run.
    """
    with remedied():
        document = parse_object(text, place)
        if not is_intact(text, document):
            problem = "its checksum differs: it was changed after it was written"
            raise ResultsError(f"{place}: {problem}")
        return document


def check_document(
    document: Mapping[str, Any], schema_name: str, place: str, versions: Versions
) -> None:
    """Raise ResultsError unless a parsed file or line is valid.

    `versions` are those that can be read, by key; they are checked before the rest,
    because a run of another version is not damaged.
    """
    for key, readable in versions.items():
        version = document.get(key)
        if isinstance(version, int | float) and version not in readable:
            expected = f"{'1 to ' if len(readable) > 1 else ''}{readable[-1]}"
            problem = f"unknown {key} {version}; expected {expected}"
            raise ResultsError(f"{place}: {problem}")
    with remedied():
        validate(document, schema_name, place)


@contextmanager
def remedied() -> Iterator[None]:
    """Add the remedy for a damaged run to a ResultsError."""
    try:
        yield
    except ResultsError as error:
        raise ResultsError(f"{error}; {DAMAGED}", *error.listed) from None


def keys_of(schema_name: str, part: str) -> tuple[str, ...]:
    """Return the keys of one definition ("$defs") of a schema."""
    return tuple(schema(schema_name)["$defs"][part]["properties"])


def _problem(error: JsonSchemaValueException) -> str:
    """Return what is wrong with a value and, where it is short, what is expected."""
    value, accepted = error.value, error.rule_definition
    if error.rule == "required":
        missing = next(key for key in accepted if key not in value)
        kind = "not a kvmatrix document: " if missing == "schema" else ""
        return f"{kind}{missing!r} is missing"
    if error.rule == "additionalProperties":
        names = (error.definition or {}).get("properties", {})
        odd = next(key for key in value if key not in names)
        return f"unknown key {shown(odd)}"
    if error.rule == "items" and (least := least_of_pairs(accepted)):
        pairs = enumerate(value)
        at, odd = next((at, p) for at, p in pairs if not are_pairs([p], least))
        return f"{shown(odd)} at {at} is not a pair of counts"
    if error.rule == "propertyNames":
        value = list(value)
    if error.rule == "not":
        return f"{shown(value)} is the name of another flag, which every engine has"
    if error.rule == "const":
        return f"{shown(value)} is not valid; expected {shown(accepted)}"
    if error.rule == "minItems" and not value:
        return "empty; expected at least one item"
    if error.rule in ("anyOf", "propertyNames"):
        return f"{shown(value)} is not valid"
    if error.rule == "type":
        types = [accepted] if isinstance(accepted, str) else accepted
        expected = " or ".join(_TYPES.get(name, name) for name in types)
        return f"{shown(value)} is not {expected}"
    problem = error.message.removeprefix(f"{error.name} ")
    if error.rule in _BOUNDS:
        problem = f"must be {_BOUNDS[error.rule]} {accepted}"
    return short(f"{shown(value)} {problem}")


def shown(value: object) -> str:
    """Return a value for a message: in visible ASCII, at most 60 characters."""
    literal = value is None or isinstance(value, bool)
    text = json.dumps(value) if literal else visible(ascii(value))
    return text if len(text) <= _SHOWN_CHARS else f"{text[: _SHOWN_CHARS - 3]}..."


def _may_be_deeper(text: bytes, most: int) -> bool:
    """Return False if a JSON text is surely not nested deeper than `most`.

    Each step removes the innermost brackets.  Brackets in strings may remain.
    """
    brackets = text.translate(None, _NO_BRACKETS)
    for _ in range(most // 2):  # far below the limit
        brackets = brackets.replace(b"[]", b"").replace(b"{}", b"")
        if not brackets:
            return False
    return True


def _is_deeper(document: Mapping[str, Any], most: int) -> bool:
    """Return True if it is nested deeper than `most`: recursion might overflow."""
    level: list[Any] = [document]
    for _ in range(most):
        level = [
            inner
            for outer in level
            for inner in (outer.values() if type(outer) is dict else outer)
            if type(inner) in (dict, list)
        ]
    return bool(level)


def _may_be_hidden(text: bytes) -> bool:
    """Return False if all characters of a JSON text are surely printable."""
    if not text.isascii() or b"\x7f" in text:
        return True
    return b"\\" in text and bool(_HIDING_ESCAPE.search(text))


def _may_be_large(text: bytes) -> bool:
    """Return False if a JSON text surely has no integer above MOST_INTEGER."""
    zeros = text.translate(_AS_ZEROS)
    start = zeros.find(_AS_MANY_ZEROS)
    while start >= 0:
        digits = _DIGITS.match(text, start)
        assert digits
        if (len(digits[0]), digits[0]) > (len(_LARGEST), _LARGEST):
            return True
        start = zeros.find(_AS_MANY_ZEROS, digits.end())
    return False


def _is_large(value: object) -> bool:
    """Return True for an integer of which Python may not be able to make a float."""
    return type(value) is int and abs(value) > MOST_INTEGER


def _is_extreme(value: object) -> bool:
    """Return True for a fraction whose products and ratios may not be finite."""
    if type(value) is not float or not value:
        return False
    least, most = FRACTIONS
    return not least <= abs(value) <= most


def _key_of(document: Any, is_odd: Callable[[object], bool]) -> str:
    """Return the key of the first odd value for a message, or ""."""
    keys = _keys_of_odd(document, is_odd)
    return short(visible(".".join(keys))) if keys else ""


def _keys_of_odd(value: Any, is_odd: Callable[[object], bool]) -> list[str]:
    inner = value.items() if type(value) is dict else enumerate(value)
    for key, item in inner:
        if is_odd(item):
            return [str(key)]
        if type(item) in (dict, list) and (below := _keys_of_odd(item, is_odd)):
            return [str(key), *below]
    return []


def _reject_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")


def _finite(fractions: list[float], digits: str) -> float:
    """Return a number and add it to all those of a document."""
    number = float(digits)
    if math.isinf(number):
        raise ValueError(f"{digits} is out of range")
    fractions.append(number)
    return number


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    document = dict(pairs)
    if len(document) != len(pairs):
        counts = Counter(name for name, _ in pairs)
        raise ValueError(f"duplicate key {shown(counts.most_common(1)[0][0])}")
    return document


def _reason(error: ValueError) -> str:
    """Return why a text is not accepted, without Python's advice to programmers."""
    if "set_int_max_str_digits" in str(error):
        return "an integer that is too large"
    return short(str(error))


def short(reason: str) -> str:
    """Return a reason without its middle if it is long."""
    if len(reason) <= _REASON_CHARS:
        return reason
    return f"{reason[: _REASON_CHARS // 2]} ... {reason[-_REASON_CHARS // 2 :]}"
