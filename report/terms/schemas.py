"""The compiled schemas of report/schema/, with keywords for long lists of integers."""

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


class _Generator(CodeGeneratorDraft07):
    """A compiler of JSON Schema with strict integers and pairs of counts.

    "countPairs": [0, 1] requires a list of pairs of integers, at least 0 and at least
    1.  A timeline or a histogram has hundreds of pairs; one call checks all of them.
    """

    def __init__(self, schema: Mapping[str, Any], resolver: RefResolver) -> None:
        super().__init__(  # type: ignore[no-untyped-call]
            schema, resolver=resolver, use_default=False
        )
        self._json_keywords_to_function["countPairs"] = self.generate_count_pairs

    def generate_type(self) -> None:
        """Reject 1.0 as an integer, as draft 4 does."""
        CodeGeneratorDraft04.generate_type(self)  # type: ignore[no-untyped-call]

    def generate_count_pairs(self) -> None:
        """Generate one call that checks all pairs of a list."""
        problem = "{name} must be pairs of counts"
        with self.l("if not are_pairs({variable}, {countPairs}):"):
            self.exc(problem, rule="countPairs")  # type: ignore[no-untyped-call]


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
    parsed = schema(f"{schema_name}.schema.json")
    resolver = RefResolver.from_schema(parsed, handlers={"": schema}, store={})
    generator = _Generator(parsed, resolver)
    state: dict[str, Any] = {**generator.global_state, "are_pairs": are_pairs}
    exec(generator.func_code, state)
    compiled: Callable[[object], object] = state[resolver.get_scope_name()]
    return compiled


def schema(file: str) -> dict[str, Any]:
    """Return a file of report/schema/."""
    parsed: dict[str, Any] = json.loads((SCHEMA_DIR / file).read_text("utf-8"))
    return parsed
