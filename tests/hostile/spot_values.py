"""The values to try at a spot: allowed, just outside each bound, of another type."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from report.terms.schemas import least_of_pairs
from tests.hostile.json_tokens import TOKENS
from tests.hostile.schema_walk import Spot

_PLAIN = (
    *("null", "true", "false", "0", "1", "-1", "0.5", "-0.5", "1e300", '""', '" "'),
    *('"0"', '"true"', "[]", "{}", "[[]]", "[null]", '{"": null}', "[[0,1]]", "[1]"),
    *('["a","a"]', '{"a":{"b":[]}}', "1.0", "1e3", '"-"', '"a"', '"ok"'),
)
_SAMPLES = {
    "integer": "7",
    "whole": "7",
    "number": "0.25",
    "string": '"sample"',
    "boolean": "true",
    "object": "{}",
    "array": "[]",
    "null": "null",
}


def values_of(spot: Spot) -> tuple[str, ...]:
    """Return the tokens to try at a spot."""
    special = [*_of_rules(spot), *_near(spot.value)]
    return tuple(dict.fromkeys([*special, *special, *_PLAIN, *TOKENS]))


def _of_rules(spot: Spot) -> Iterator[str]:
    for part in spot.parts:
        rule = part.rule
        names = rule.get("type", ())
        for name in [names] if isinstance(names, str) else names:
            yield _SAMPLES[name]
        for item in (
            *rule.get("enum", ()),
            *([rule["const"]] if "const" in rule else ()),
        ):
            yield json.dumps(item)
            yield json.dumps(f"{item}x")
        for word in ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"):
            if word in rule:
                yield from _around(rule[word])
        yield from _lengths(rule, spot.value)


def _around(bound: float) -> Iterator[str]:
    if isinstance(bound, int):
        yield from map(str, (bound - 1, bound, bound + 1))
        yield f"{bound}.0"
        return
    yield from (repr(bound), repr(bound * 0.999), repr(bound * 1.001))


def _lengths(rule: dict[str, Any], value: Any) -> Iterator[str]:
    """Yield texts, lists and objects at the bounds of their lengths, and beyond."""
    for word in ("minLength", "maxLength"):
        if word in rule:
            yield from (json.dumps("a" * n) for n in _next_to(rule[word]))
    item = value[0] if isinstance(value, list) and value else 0
    for word in ("minItems", "maxItems"):
        if word in rule:
            yield from (json.dumps([item] * n) for n in _next_to(rule[word]))
    for word in ("minProperties", "maxProperties"):
        if word in rule:
            for n in _next_to(rule[word]):
                yield json.dumps({f"k{i}": 1 for i in range(n)})
    if least := least_of_pairs(rule.get("items")):
        first, second = least
        for pair in ([first, second], [first - 1, second], [first, second - 1]):
            yield json.dumps([pair])
        yield from ("[[1]]", "[[1,2,3]]", "[[1,2.0]]", "[[2,1],[1,1]]", "[[5,5],[5,5]]")
        yield f"[[{2**64 - 1},{2**64 - 1}],[{2**64 - 1},{2**64 - 1}]]"
        yield f"[[1,{2**64}]]"


def _next_to(length: int) -> list[int]:
    return [n for n in (length - 1, length, length + 1) if 0 <= n <= 100_000]


def _near(value: Any) -> Iterator[str]:
    """Yield values that resemble the present one."""
    if isinstance(value, bool) or value is None:
        yield json.dumps(not value)
    elif isinstance(value, int | float):
        for near in (
            value + 1,
            value - 1,
            -value,
            value * 2,
            value // 2,
            value * 10**6,
        ):
            yield json.dumps(near)
        yield from (json.dumps(float(value)), json.dumps(str(value)), f"[{value}]")
    elif isinstance(value, str):
        for text in (f"{value}x", value[:-1], value.upper(), f" {value}", f"{value}\n"):
            yield json.dumps(text)
        yield json.dumps(f"{value}<b id=hostile>")
        yield json.dumps(f"::error::{value}")
        yield json.dumps(f"{value}\n::error::\t##[error]{value}")
        yield json.dumps([value])
    elif isinstance(value, list):
        for items in (value[::-1], value[1:], value + value, [value]):
            yield json.dumps(items)
    elif isinstance(value, dict):
        yield json.dumps(list(value.items()))
        yield json.dumps({"inner": value})
        yield json.dumps(dict(list(value.items())[1:]))
