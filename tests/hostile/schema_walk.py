"""A walk through a JSON schema along a valid document.

spots() finds every value that the schema names, present or absent, and one unknown key
per object.  breaks() says whether a value breaks the rules of its spot: written
separately from the validator that the program uses, so that one can contradict the
other.
"""

from __future__ import annotations

import functools
import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from report.terms.limits import MOST_LEVELS
from report.terms.schemas import published
from tests.hostile.json_tokens import Path, text_of

UNKNOWN = "unheard_of"
_TYPES: dict[str, tuple[type, ...]] = {
    "integer": (int,),
    "number": (int, float),
    "string": (str,),
    "boolean": (bool,),
    "object": (dict,),
    "array": (list,),
    "null": (type(None),),
}
_MOST_PARTS = 40


@dataclass(frozen=True)
class Part:
    """A part of a schema that applies to a value.

    `certain` is False if it applies only in some documents: it is below anyOf, if, then
    or else.
    """

    rule: dict[str, Any]
    file: str
    certain: bool


@dataclass(frozen=True)
class Spot:
    """A location in a document, the parts of the schema for it, and its value.

    `required` and `closed` are of the object around it: whether the key must be there,
    and whether the key must not be there.
    """

    path: Path
    parts: tuple[Part, ...]
    value: Any
    present: bool
    required: bool = False
    closed: bool = False


@functools.cache
def schema(file: str) -> dict[str, Any]:
    """Return a schema by its file in report/schema/, with all that it refers to."""
    return published(file.removesuffix(".schema.json"))


def spots(rules: dict[str, Any], document: Any, file: str) -> tuple[Spot, ...]:
    """Return all spots of a document that these rules describe; `file` has them."""
    return tuple(_walk(document, _expanded([Part(rules, file, True)]), ()))


def _walk(value: Any, parts: tuple[Part, ...], path: Path) -> Iterator[Spot]:
    children: dict[Any, Any] = {}
    if isinstance(value, dict):
        named = (k for part in parts for k in part.rule.get("properties", {}))
        children = dict.fromkeys([*value, *named, UNKNOWN])
    elif isinstance(value, list):
        last = len(value) - 1
        children = dict.fromkeys(sorted({i for i in (0, last) if 0 <= i <= last}))
        children[len(value)] = None
    certain = [part.rule for part in parts if part.certain]
    for key in children:
        below = _expanded(_inner(parts, key))
        has = key in value if isinstance(value, dict) else key < len(value)
        inner = value[key] if has else None
        yield Spot(
            (*path, key),
            below,
            inner,
            has,
            required=any(key in rule.get("required", ()) for rule in certain),
            closed=any(_is_closed(rule, key) for rule in certain),
        )
        if has:
            yield from _walk(inner, below, (*path, key))


def _is_closed(rule: dict[str, Any], key: str | int) -> bool:
    is_named = key in rule.get("properties", {})
    return rule.get("additionalProperties") is False and not is_named


def _inner(parts: tuple[Part, ...], key: str | int) -> list[Part]:
    """Return the parts for the value at a key of an object or a list."""
    found = []
    for part in parts:
        rule = part.rule
        if isinstance(key, str):
            inner = rule.get("properties", {}).get(key)
            inner = rule.get("additionalProperties") if inner is None else inner
        else:
            inner = rule.get("items")
            if isinstance(inner, list):
                inner = inner[key] if key < len(inner) else None
        if isinstance(inner, dict):
            found.append(Part(inner, part.file, part.certain))
    return found


def _expanded(parts: list[Part]) -> tuple[Part, ...]:
    """Return the parts with all those that they refer to, combine or choose from."""
    found: list[Part] = []
    waiting = list(parts)
    while waiting and len(found) < _MOST_PARTS:
        part = waiting.pop(0)
        if "$ref" in part.rule:  # in draft 7, its siblings are ignored
            waiting.insert(0, _target(part))
            continue
        found.append(part)
        rule, file = part.rule, part.file
        waiting += [Part(r, file, part.certain) for r in rule.get("allOf", ())]
        choices = [*rule.get("anyOf", ())]
        choices += [rule[word] for word in ("then", "else") if word in rule]
        waiting += [Part(r, file, False) for r in choices]
    return tuple(found)


def _target(part: Part) -> Part:
    rule = schema(part.file)
    for word in part.rule["$ref"].removeprefix("#/").split("/"):
        rule = rule[word]
    return Part(rule, part.file, part.certain)


def breaks(spot: Spot, do: str, token: str) -> bool:
    """Return True if the schema certainly does not allow this change of its document.

    False if it does, or if that depends on the rest of the document.
    """
    if do == "double" and spot.path and isinstance(spot.path[-1], str):
        return spot.present
    if do == "drop":
        return spot.required and spot.present
    if do != "set":
        return False
    if spot.closed:
        return True
    parsed = _parsed(token)
    if parsed is None:
        return True
    value, _ = parsed
    return is_too_deep(spot, token) or any(
        _contradicts(part.rule, value) for part in spot.parts if part.certain
    )


def is_json(token: str) -> bool:
    """Return True if a token is a strict JSON value, which the schema can judge."""
    return _parsed(token) is not None


def is_too_deep(spot: Spot, token: str) -> bool:
    """Return True if a value is nested too deep; its message has no full path."""
    parsed = _parsed(token)
    return parsed is not None and len(spot.path) + parsed[1] > MOST_LEVELS


@functools.lru_cache(maxsize=10_000)
def _parsed(token: str) -> tuple[Any, int] | None:
    """Return the value of a token and its depth; None if it is not strict JSON."""
    try:
        value = json.loads(text_of(token), object_pairs_hook=_unique)
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, RecursionError):
        return None
    return value, depth(value)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object; raise ValueError for a key that it has twice."""
    if len(dict(pairs)) != len(pairs):
        raise ValueError("the same key twice")
    return dict(pairs)


def depth(value: Any) -> int:
    """Return how deep a value is nested: 0 for a number."""
    if isinstance(value, dict):
        value = list(value.values())
    return 1 + max(map(depth, value), default=0) if isinstance(value, list) else 0


def _contradicts(rule: dict[str, Any], value: Any) -> bool:
    if "enum" in rule and not any(_same(value, item) for item in rule["enum"]):
        return True
    if "const" in rule and not _same(value, rule["const"]):
        return True
    names = rule.get("type", ())
    names = [names] if isinstance(names, str) else names
    if names and not any(_is_a(value, name) for name in names):
        return True
    if isinstance(value, str):
        return _text_contradicts(rule, value)
    if isinstance(value, list):
        return not rule.get("minItems", 0) <= len(value) <= rule.get("maxItems", 1e9)
    if isinstance(value, dict):
        most = rule.get("maxProperties", 1e9)
        missing = any(key not in value for key in rule.get("required", ()))
        return missing or not rule.get("minProperties", 0) <= len(value) <= most
    return _is_a(value, "number") and _number_contradicts(rule, value)


def _is_a(value: Any, name: str) -> bool:
    if name == "whole":  # an integer of TOML files, such as 1e6
        return _is_a(value, "number") and value % 1 == 0
    is_kind = isinstance(value, _TYPES[name])
    return is_kind and (name == "boolean" or not isinstance(value, bool))


def _same(value: Any, item: Any) -> bool:
    return value == item and isinstance(value, bool) == isinstance(item, bool)


def _text_contradicts(rule: dict[str, Any], text: str) -> bool:
    pattern = rule.get("pattern", "").replace("$", r"\Z")
    if not text.isprintable():  # it is made printable before it is checked
        pattern = ""
    is_short = len(text) < rule.get("minLength", 0)
    return (
        is_short
        or len(text) > rule.get("maxLength", 1e9)
        or not re.search(pattern, text)
    )


def _number_contradicts(rule: dict[str, Any], number: float) -> bool:
    return (
        (isinstance(number, float) and math.isnan(number))
        or number < rule.get("minimum", -math.inf)
        or number > rule.get("maximum", math.inf)
        or number <= rule.get("exclusiveMinimum", -math.inf)
        or number >= rule.get("exclusiveMaximum", math.inf)
    )
