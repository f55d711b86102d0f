"""The schemas of report/schema/: compiled, and each as one document for others."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from fastjsonschema.draft04 import CodeGeneratorDraft04
from fastjsonschema.draft07 import CodeGeneratorDraft07
from fastjsonschema.ref_resolver import RefResolver

SCHEMA_DIR = Path(__file__).parents[1] / "schema"
_SUFFIX = ".schema.json"


def schema(name: str) -> dict[str, Any]:
    """Return a file of report/schema/ by its name, such as "run"."""
    text = (SCHEMA_DIR / f"{name}{_SUFFIX}").read_text("utf-8")
    parsed: dict[str, Any] = json.loads(text)
    return parsed


def schema_names() -> tuple[str, ...]:
    """Return the names of all schemas."""
    files = sorted(SCHEMA_DIR.glob(f"*{_SUFFIX}"))
    return tuple(path.name.removesuffix(_SUFFIX) for path in files)


# What schema/flags.schema.json lists: words of every command line that no configuration
# can set, and all names that an engine's own flag cannot have.
RESERVED_FLAGS, FLAGS_OF_ALL = (
    frozenset(schema("flags")["$defs"][part]["enum"]) for part in ("reserved", "of_all")
)


class _Generator(CodeGeneratorDraft07):
    """A compiler of JSON Schema with strict integers, and a short cut for pairs.

    A timeline or a histogram has hundreds of pairs: one call checks all of them.
    """

    def __init__(self, schema: Mapping[str, Any], resolver: RefResolver) -> None:
        super().__init__(  # type: ignore[no-untyped-call]
            schema, resolver=resolver, use_default=False
        )

    def generate_type(self) -> None:
        """Reject 1.0 as an integer, as draft 4 does."""
        CodeGeneratorDraft04.generate_type(self)  # type: ignore[no-untyped-call]

    def generate_items(self) -> None:
        """Generate one call if the items are pairs of counts."""
        least = least_of_pairs((self._definition or {})["items"])
        if least is None:
            super().generate_items()  # type: ignore[no-untyped-call]
            return
        with self.l(f"if not are_pairs({{variable}}, {least}):"):
            self.exc("{name} must be pairs of counts", rule="items")  # type: ignore[no-untyped-call]


def least_of_pairs(items: object) -> tuple[int, int] | None:
    """Return the minima of a schema for pairs of integers, None of any other schema."""
    match items:
        case {
            "type": "array",
            "items": [
                {"type": "integer", "minimum": int(first)},
                {"type": "integer", "minimum": int(second)},
            ],
            "minItems": 2,
            "maxItems": 2,
        }:
            return first, second
    return None


def are_pairs(values: object, least: Sequence[int]) -> bool:
    """Return True if every item is a pair, or if it is not a list ("type" says so)."""
    first, second = least
    if type(values) is not list:
        return True
    for pair in values:  # a loop costs half of all() with a generator
        if type(pair) is not list or len(pair) != 2:
            return False
        one, other = pair
        if type(one) is not int or type(other) is not int:
            return False
        if one < first or other < second:
            return False
    return True


@functools.cache
def validator(schema_name: str) -> Callable[[object], object]:
    """Compile a schema; the code comes only from files of this repository."""
    parsed = {k: v for k, v in published(schema_name).items() if k != "$id"}
    resolver = RefResolver.from_schema(parsed, store={})
    generator = _Generator(parsed, resolver)
    state: dict[str, Any] = {**generator.global_state, "are_pairs": are_pairs}
    exec(generator.func_code, state)
    compiled: Callable[[object], object] = state[resolver.get_scope_name()]
    return compiled


def published(name: str) -> dict[str, Any]:
    """Return a schema that refers to no other: its definitions include theirs.

    Any validator of draft 7 reads it.  It accepts what our own accepts, and also 1.0
    where an integer is required.
    """
    definitions: dict[str, Any] = {}
    document = schema(name)
    parts = document.pop("$defs", {})

    def local(value: Any, home: str) -> Any:
        if isinstance(value, list):
            return [local(item, home) for item in value]
        if not isinstance(value, dict):
            return value
        copy = {key: local(inner, home) for key, inner in value.items()}
        if isinstance(ref := copy.get("$ref"), str):
            uri, _, pointer = ref.partition("#/$defs/")
            part, *below = pointer.split("/")
            key = defined(part, uri.split(":")[-2] if uri else home)
            copy["$ref"] = "/".join(("#/definitions", key, *below))
        return copy

    def defined(part: str, home: str) -> str:
        key = part if home == name else f"{home}.{part}"
        if key not in definitions:
            definitions[key] = {}  # it may refer to itself
            definitions[key] = local(schema(home)["$defs"][part], home)
        return key

    document = local(document, name)
    for part in parts:
        defined(part, name)
    return {**document, "definitions": definitions}
