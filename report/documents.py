"""Strict reading of the JSON documents of a run.

Everything that can be wrong with a file becomes a ResultsError that names the
file, the line and what is wrong, so that no damaged file ends in a traceback.
"""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import jsonschema
import referencing
from referencing.jsonschema import DRAFT202012

SCHEMA_DIR = Path(__file__).with_name("schema")
_REASON_CHARS = 200
_MOST = 2**64 - 1
_DEEPEST = 32  # of a document; ours are a third as deep


class ResultsError(Exception):
    """A results file that cannot be used; str() is fit for the user."""


@dataclass(frozen=True)
class Line:
    """One line of a JSON Lines file; `number` counts from 1."""

    number: int
    text: bytes


def read_bytes(path: Path) -> bytes:
    """The file's content; a ResultsError if it cannot be read."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise ResultsError(f"{path}: {error.strerror or error}") from None


def split_lines(content: bytes) -> tuple[list[Line], int]:
    """The finished lines, and how many bytes they take with their ends.

    A line counts as finished once its newline is there; what follows the last
    newline was torn by a crash in the middle of a write.
    """
    sound_bytes = content.rfind(b"\n") + 1
    texts = content[:sound_bytes].split(b"\n")[:-1]
    return [Line(i, text) for i, text in enumerate(texts, 1)], sound_bytes


def parse_object(text: bytes, place: str) -> dict[str, Any]:
    """One strict JSON object; `place` begins every error message."""
    try:
        document = json.loads(
            text.decode("utf-8"),
            parse_constant=_reject_constant,
            parse_float=_finite,
            object_pairs_hook=_unique_keys,
        )
        # A lone surrogate is valid JSON, and no text that could be written.
        json.dumps(document, ensure_ascii=False).encode("utf-8")
    except (ValueError, RecursionError) as error:
        raise ResultsError(f"{place}: not valid JSON: {_short(error)}") from None
    if not isinstance(document, dict):
        raise ResultsError(f"{place}: expected a JSON object")
    if _is_deeper(document, _DEEPEST):
        raise ResultsError(f"{place}: nested more than {_DEEPEST} deep")
    return document


def validate(document: Mapping[str, Any], schema_name: str, place: str) -> None:
    """Checks `document` against report/schema/<schema_name>.schema.json."""
    errors = _validator(schema_name).iter_errors(document)
    found = jsonschema.exceptions.best_match(errors)
    if found is not None:
        where = ".".join(str(step) for step in found.absolute_path)
        raise ResultsError(f"{place}: {where + ': ' if where else ''}{_short(found)}")


@functools.cache
def _validator(schema_name: str) -> Any:
    file = f"{schema_name}.schema.json"
    return _Validator(_registry()[file].contents, registry=_registry())


@functools.cache
def _registry() -> referencing.Registry[Any]:
    """Every schema under the name of its file, so that one can refer to another."""
    found = (
        (path.name, json.loads(path.read_text("utf-8")))
        for path in sorted(SCHEMA_DIR.glob("*.schema.json"))
    )
    resources = ((name, DRAFT202012.create_resource(text)) for name, text in found)
    return referencing.Registry[Any]().with_resources(resources)


def _count_pairs(
    validator: Any, least: Sequence[int], instance: Any, schema: Any
) -> Iterator[jsonschema.ValidationError]:
    """The keyword "countPairs": an array of two counts each, of those or more.

    Timelines and histograms have hundreds of them in each line.  In the words of
    JSON Schema the same rule takes seven times as long as reading all the rest.
    """
    if not isinstance(instance, list):
        return
    for index, pair in enumerate(instance):
        if not (
            type(pair) is list
            and len(pair) == 2
            and type(pair[0]) is type(pair[1]) is int
            and least[0] <= pair[0] <= _MOST
            and least[1] <= pair[1] <= _MOST
        ):
            told = f"{pair!r} at {index} is not a pair of counts"
            yield jsonschema.ValidationError(told)
            return


_Validator = jsonschema.validators.extend(  # type: ignore[no-untyped-call]
    jsonschema.Draft202012Validator, {"countPairs": _count_pairs}
)


def _is_deeper(document: Mapping[str, Any], most: int) -> bool:
    """Whether it is nested deeper: what walks through it would not come back."""
    level: list[Any] = [document]
    for _ in range(most):
        level = [
            inner
            for outer in level
            for inner in (outer.values() if type(outer) is dict else outer)
            if type(inner) in (dict, list)
        ]
    return bool(level)


def _reject_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")


def _finite(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        raise ValueError(f"{digits} is out of range")
    return number


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    document = dict(pairs)
    if len(document) != len(pairs):
        raise ValueError("a key is given twice")
    return document


def _short(error: Exception) -> str:
    reason = getattr(error, "message", None) or str(error)
    if len(reason) <= _REASON_CHARS:
        return reason
    return f"{reason[: _REASON_CHARS // 2]} ... {reason[-_REASON_CHARS // 2 :]}"
