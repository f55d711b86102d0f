"""The compiled schemas of report/schema/, with keywords of our own."""

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
_FLAGS: list[dict[str, Any]] = json.loads(
    Path(__file__).with_name("rulebook.json").read_text("utf-8")
)["common_flags"]
COMMON_FLAGS = {flag["name"] for flag in _FLAGS}
# Words of every command line that no configuration can set, and no engine can define,
# with the flags of a crash test (common/crash/crash_flags.cc), what the process is
# asked to do (common/cli/parse_flags.cc), and the file of a plug-in.
RESERVED_FLAGS = {
    *(flag["name"] for flag in _FLAGS if not flag["in_scenarios"]),
    *("crash_test", "trace", "phases", "crash_after", "cut_ns", "cut_end_ns"),
    *("help", "helpfull", "version", "describe", "check", "driver"),
} - {"settle"}  # which a plan may have


class _Generator(CodeGeneratorDraft07):
    """A compiler of JSON Schema with strict integers and keywords of our own.

    "countPairs": [0, 1] requires a list of pairs of integers, at least 0 and at least
    1.  A timeline or a histogram has hundreds of pairs; one call checks all of them.
    "notFlag": "reserved" forbids the flags that no configuration can set, and
    "common" those that every executable has.
    """

    def __init__(self, schema: Mapping[str, Any], resolver: RefResolver) -> None:
        super().__init__(  # type: ignore[no-untyped-call]
            schema, resolver=resolver, use_default=False
        )
        self._json_keywords_to_function["countPairs"] = self.generate_count_pairs
        self._json_keywords_to_function["notFlag"] = self.generate_not_flag

    def generate_type(self) -> None:
        """Reject 1.0 as an integer, as draft 4 does."""
        CodeGeneratorDraft04.generate_type(self)  # type: ignore[no-untyped-call]

    def generate_count_pairs(self) -> None:
        """Generate one call that checks all pairs of a list."""
        problem = "{name} must be pairs of counts"
        with self.l("if not are_pairs({variable}, {countPairs}):"):
            self.exc(problem, rule="countPairs")  # type: ignore[no-untyped-call]

    def generate_not_flag(self) -> None:
        """Generate a check that a name is not that of a flag with another meaning."""
        with self.l('if is_flag({variable}, "{notFlag}"):'):
            self.exc("{name} must not be a {notFlag} flag", rule="notFlag")  # type: ignore[no-untyped-call]


def is_flag(name: object, kind: str) -> bool:
    """Return True for the name of a reserved flag or, if asked, of any common one."""
    if not isinstance(name, str):  # "type" says so
        return False
    return name in RESERVED_FLAGS or (kind == "common" and name in COMMON_FLAGS)


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
    state: dict[str, Any] = {
        **generator.global_state,
        **{"are_pairs": are_pairs, "is_flag": is_flag},
    }
    exec(generator.func_code, state)
    compiled: Callable[[object], object] = state[resolver.get_scope_name()]
    return compiled


def schema(file: str) -> dict[str, Any]:
    """Return a file of report/schema/."""
    parsed: dict[str, Any] = json.loads((SCHEMA_DIR / file).read_text("utf-8"))
    return parsed
