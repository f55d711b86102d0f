"""Configurations as materials: TOML documents, with rules from the rulebook.

TOML files have no schema.  Their rules here come from the table of flags, which the
executables print, and from the names and bounds of configs/README.md.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from typing import Any

from report.config.durability_suite import METHODS, MOST_STATES
from report.terms.limits import MOST_REPETITIONS, MOST_TITLE_CHARS
from report.terms.rulebook import SCENARIO_FLAGS, STATES, FlagRule
from tests.hostile.json_tokens import Raw
from tests.hostile.material import FilePart, Material
from tests.places import ROOT

Rules = dict[str, Any]
# TOML that no JSON library writes, and values with units; tried at every spot.
TEXTS = (
    *("inf", "-inf", "nan", "+nan", "0x" + "f" * 5000, "0xffffffffffffffff", "0b1"),
    *("1_000", "1979-05-27T07:32:00Z", "07:32:00", "1979-05-27", "'''a\nb'''", "{}"),
    *('"1KiB"', '"0B"', '"-1MiB"', '"1.5GiB"', '"1e9B"', '"8388608TiB"', '"GiB"'),
    *(f'"{"9" * 400}GiB"', f'"{"9" * 20}B"', '"0s"', '"-1s"', '"1e400s"', '"1e-9s"'),
    *(f'"{"9" * 400}h"', '"8761h"', '"365d"', '"10min"', '"nans"', '"infs"', '"5 min"'),
    *('"../../x"', '"a b"', '"A"', '"a\\nb"', '"one"', '"two"', '"base"', '"lab"'),
    *('"fillrandom,overwrite"', '"fillseq"', '["fillseq"]', '["one"]', '["base"]'),
    *(
        '["base", "base"]',
        "[1, 1]",
        "[1, 2, 3]",
        "{ num = [1, 2] }",
        "{ a = { b = 1 } }",
    ),
    *("1000000000000", "20000", "10000", "200", "10000000000000000"),
)


def _flag_rules(rule: FlagRule) -> Rules:
    if rule.measure == "seconds":  # 10 or "10s"
        return {"type": ["string", "number"]}
    if rule.measure or rule.type == "string":
        text: Rules = {"type": "string"}
        return {**text, "enum": list(rule.choices)} if rule.choices else text
    if rule.type == "bool":
        return {"type": "boolean"}
    number = {"type": "number" if rule.type == "double" else "whole"}
    if rule.also is not None:
        return number
    return {**number, "minimum": rule.least, "maximum": rule.most}


_FLAGS = {name: _flag_rules(rule) for name, rule in SCENARIO_FLAGS.items()}
_FLAG_TABLE = {"type": "object", "properties": _FLAGS}
_TITLE = {"type": "string", "minLength": 1, "maxLength": MOST_TITLE_CHARS}
_TEXT = {"type": "string"}
_TEXTS = {"type": "array", "items": _TEXT}
_TABLES = {"type": "object", "additionalProperties": {"type": "object"}}
SCENARIO_RULES: Rules = {
    "type": "object",
    "properties": {
        **_FLAGS,
        **{"title": _TITLE, "analysis": _TEXT, "extends": _TEXT, "fill": _TEXT},
        **{"benchmarks": _TEXTS, "state": {"enum": ["", *STATES]}},
        **{"settings": _TABLES, "exclude": {"type": "object"}},
        **{"sweep": {"type": "object"}, "from_num": {"type": "array"}},
    },
    "required": ["title", "analysis"],
    "additionalProperties": False,
}
SUITE_RULES: Rules = {
    "type": "object",
    "properties": {
        **{"title": _TITLE, "summary": _TEXT, "scenarios": _TEXTS, "engines": _TEXTS},
        "repetitions": {"type": "whole", "minimum": 1, "maximum": MOST_REPETITIONS},
        "repeat_disturbed": {"type": "whole", "minimum": 0, "maximum": 2},
        **{
            "timeout": _TEXT,
            "latency_repetitions": {"type": "whole"},
            "control": _TEXT,
        },
        **{"published": {"anyOf": [_TEXT, _TEXTS]}, "override": _FLAG_TABLE},
    },
    "required": ["title", "summary", "scenarios"],
    "additionalProperties": False,
}
_STATES = {"type": "whole", "minimum": 1, "maximum": MOST_STATES}
DURABILITY_RULES: Rules = {
    "type": "object",
    "properties": {
        **{"title": _TITLE, "summary": _TEXT, "settings": _TEXTS},
        "methods": {"type": "array", "minItems": 1, "items": {"enum": [*METHODS]}},
        "file_systems": {"type": "array", "minItems": 1, "items": _TEXT},
        "recordings": {"type": "whole", "minimum": 1, "maximum": 100},
        **{"states": _STATES, "shutdowns": _STATES, "kills": _STATES},
    },
    "required": ["title", "summary", "settings"],
    "additionalProperties": False,
}
ENGINES_RULES: Rules = {
    "type": "object",
    "properties": {
        "engine": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    **{"name": _TEXT, "title": _TITLE, "summary": _TEXT, "url": _TEXT},
                    **{"role": _TEXT, "variant_of": _TEXT, "sources_of": _TEXT},
                    **{"flags": {"type": "object"}, "source": {"type": "array"}},
                    **{"library": {"type": "array"}, "toolchain": _TEXT},
                    **{"plugin": _TEXT, "floor": _TEXT, "binding_of": _TEXT},
                    **{"advised_for": _TEXT},
                    **{"setup_s": {"type": "whole"}, "groups": _TEXTS},
                    **{"setup_mb": {"type": "whole"}, "advice": {"type": "object"}},
                    "known_failures": {"type": "object"},
                },
                "required": ["name", "title", "summary"],
                "additionalProperties": False,
            },
        }
    },
    "additionalProperties": False,
}


def toml_text(document: Any) -> str:
    """Return a document as TOML; Raw values are JSON texts or TOML as they are."""
    if isinstance(document, Raw):
        return document.text
    lines: list[str] = []
    _table(document, (), lines)
    return "\n".join(lines)


def _table(table: Mapping[str, Any], path: tuple[str, ...], lines: list[str]) -> None:
    """Add the plain keys of a table, then its tables, as TOML wants them."""
    later = []
    for key, value in table.items():
        is_tables = isinstance(value, list) and value
        if isinstance(value, dict):
            later.append((key, [value], "[{}]"))
        elif is_tables and all(isinstance(item, dict) for item in value):
            later.append((key, value, "[[{}]]"))
        else:
            lines.append(f"{_key(key)} = {_value(value)}")
    for key, tables, form in later:
        for inner in tables:
            name = ".".join(map(_key, (*path, key)))
            lines.append(form.format(name))
            _table(inner, (*path, key), lines)


def _key(key: str) -> str:
    return json.dumps(key)


def _value(value: Any) -> str:
    if isinstance(value, Raw):
        return _of_json(value.text)
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{_key(k)} = {_value(v)}' for k, v in value.items())}}}"
    return json.dumps(value)


def _of_json(text: str) -> str:
    """Return a JSON text as TOML where that differs; other text as it is."""
    if not text.startswith(("{", "[", "N", "I", "-I")) or "1979" in text:
        return text
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return text
    if isinstance(document, float):
        return str(document)
    return _value(document) if isinstance(document, dict | list) else text


def is_toml(text: str) -> bool:
    """Return True if a JSON text, or TOML as it is, can be a value of a TOML file."""
    try:
        tomllib.loads(f"x = {_of_json(text)}")
    except (ValueError, RecursionError):
        return False
    return True


def _part(file: str, text: str) -> FilePart:
    rules = {
        "scenarios": SCENARIO_RULES,
        "suites": SUITE_RULES,
        "durability": DURABILITY_RULES,
    }
    folder = file.partition("/")[0]
    return FilePart(
        file,
        "",
        (tomllib.loads(text),),
        rules=rules.get(folder, ENGINES_RULES),
        write=toml_text,
        more_values=TEXTS,
    )


def configs() -> Material:
    """Return the configuration that is shipped."""
    folder = ROOT / "configs"
    files = [folder / "engines.toml", *sorted(folder.glob("*/*.toml"))]
    return Material(
        tuple(_part(str(f.relative_to(folder)), f.read_text("utf-8")) for f in files)
    )


_LAB = {
    "engines.toml": """
[[engine]]
name = "one"
title = "One"
summary = "a fake"
[[engine]]
name = "two"
title = "Two"
summary = "a fake"
role = "variant"
variant_of = "one"
url = "https://example.org"
[engine.flags]
cache_size = "4MiB"
""",
    "scenarios/base.toml": """
title = "T"
analysis = "A"
benchmarks = ["fillseq", "readrandom"]
num = 64
key_size = 16
value_size = 100
fill = "fillrandom,overwrite"
state = "settled"
[settings.one]
batch_size = 2
[exclude]
two = "no reason"
[[from_num]]
num = 1000
cache_size = "8MiB"
[from_num.settings.one]
batch_size = 3
""",
    "scenarios/wide.toml": """
title = "W"
analysis = "A"
extends = "base"
duration = "1s"
[sweep]
value_size = [10, 100]
[settings]
""",
    "suites/lab.toml": """
title = "T"
summary = "S"
scenarios = ["base"]
engines = ["one", "two"]
repetitions = 2
timeout = "1min"
latency_repetitions = 1
repeat_disturbed = 1
control = "one"
published = "leveldb-2011"
[override]
reads = 10
""",
}


def lab() -> Material:
    """Return a small configuration of fake engines."""
    return Material(tuple(_part(file, text) for file, text in _LAB.items()))
