"""Hostile values as JSON texts, and JSON with such texts in place of its values.

A token is a JSON text, or "@" and a name of TOKENS: texts that are long, or that no
JSON library writes.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

Path = tuple[str | int, ...]

MARK = "<b id=hostile>"  # markup that must not reach a page
TOKENS: Mapping[str, str] = {
    "@nan": "NaN",
    "@infinity": "Infinity",
    "@minus infinity": "-Infinity",
    "@1e999": "1e999",
    "@minus 1e400": "-1e400",
    "@tiny": "1e-400",
    "@subnormal": "5e-324",
    "@largest double": "1.7976931348623157e308",
    "@minus zero": "-0.0",
    "@2^53+1": str(2**53 + 1),
    "@2^63-1": str(2**63 - 1),
    "@2^63": str(2**63),
    "@-2^63-1": str(-(2**63) - 1),
    "@2^64-1": str(2**64 - 1),
    "@2^64": str(2**64),
    "@10^19": str(10**19),
    "@10^400": "1" + "0" * 400,
    "@-10^400": "-1" + "0" * 400,
    "@10^5000": "1" + "0" * 5000,
    "@deep list": "[" * 33 + "]" * 33,
    "@deeper list": "[" * 5000 + "]" * 5000,
    "@deep object": '{"a":' * 33 + "0" + "}" * 33,
    "@deeper object": '{"a":' * 5000 + "0" + "}" * 5000,
    "@open list": "[" * 20000,
    "@long text": '"' + "x" * 100_000 + '"',
    "@long name": '"' + "x" * 65 + '"',
    "@many items": json.dumps([0] * 2000),
    "@many keys": json.dumps({f"k{n}": n for n in range(2000)}),
    "@same keys": '{"a": 1, "a": 2}',
    "@lone surrogate": '"\\ud800"',
    "@surrogates": '"\\ude00\\ud83d"',
    "@surrogate key": '{"\\udfff": 1}',
    "@nul": '"\\u0000"',
    "@controls": '"a\\u001b[2J\\u0007\\u009b2Jb"',
    "@line breaks": '"a\\r=1+1\\n::error::x\\r\\n\\u2028y\\u0085z\\u000bw\\tv"',
    "@bidi": '"\\u202eabc\\u2066def\\u200b\\ufeff"',
    "@raw bidi": '"\u202eabc\u2066\ufeff"',
    "@raw control": '"\x1b[2J"',
    "@formula": '"=HYPERLINK(1)"',
    "@other formulas": "\"@SUM(1+1)*cmd|' /C calc'!A0\"",
    "@full-width formula": '"＝1+1"',
    "@space and formula": '" \\t=1+1"',
    "@markup": json.dumps(f"</script>{MARK}<img src=x onerror=1>"),
    "@markdown": '"a|b\\n\\n# c `d` [e](javascript:f) <g>"',
    "@quotes": json.dumps("'\"\\`;$(id)\n%s{0}{{x}}"),
    "@path": '"../../../../etc/passwd"',
    "@words": '"a b  c"',
    "@accents": '"é\\u0301\\ud83d\\ude00"',
}
# Names of canaries, which are below a folder that differs from test to test.
_HOME = "/@canaries@/"
CANARIES: Mapping[str, str] = {
    "@canary program": f'"{_HOME}db_bench_canary"',
    "@canary library": f'"{_HOME}canary.so"',
    "@canary file": f'"{_HOME}target"',
    "@canary folder": f'"{_HOME}folder"',
    "@canary device": f'"{_HOME}device"',
    "@canary to be": f'"{_HOME}nothing"',
    "@canary driver": f'"--driver={_HOME}canary.so"',
    "@canary drivers": f'["--driver={_HOME}canary.so", "--db={_HOME}folder"]',
    "@canary output": f'"--json={_HOME}target"',
    "@canary flags": f'{{"driver": "{_HOME}canary.so", "json": "{_HOME}target"}}',
    "@canary build": f'["--build-dir", "{_HOME}folder"]',
    "@canary line": f'"{_HOME}target\\n::error::x"',
    "@canary relative": f'"../../../../../../../../../..{_HOME}db_bench_canary"',
}
_home = [_HOME]
_RAW = re.compile(r'"\\u0001(\d+)\\u0001"')


def text_of(token: str) -> str:
    """Return the JSON text of a token."""
    text = CANARIES.get(token)
    return text.replace(_HOME, _home[0]) if text else TOKENS.get(token, token)


def let_canaries_be_in(folder: str) -> None:
    """Let the tokens of CANARIES name files of this folder from now on."""
    _home[0] = f"{folder}/"


class Raw:
    """A value that is written as this text, whatever it is."""

    def __init__(self, text: str) -> None:
        self.text = text


def written(document: Any) -> str:
    """Return a document as JSON on one line, its Raw values as they are."""
    raws: list[str] = []

    def marked(value: Any) -> Any:
        if isinstance(value, Raw):
            raws.append(value.text)
            return f"\x01{len(raws) - 1}\x01"
        raise TypeError(f"{value!r} is not JSON")

    text = json.dumps(document, default=marked, ensure_ascii=False)
    return _RAW.sub(lambda match: raws[int(match[1])], text) if raws else text


def value_at(document: Any, path: Path) -> Any:
    """Return the value at a path.  Raises LookupError if there is none."""
    for key in path:
        if not isinstance(document, dict | list):
            raise LookupError(key)
        document = document[key]  # type: ignore[index]
    return document


def change(document: Any, do: str, path: Path, token: str) -> Any:
    """Return a document with one change in place; unchanged if the path is gone.

    `do` is "set", "drop", "double" (the key appears twice) or "rename".
    """
    raw = Raw(text_of(token))
    if not path:
        return raw if do == "set" else document
    try:
        outer, key = value_at(document, path[:-1]), path[-1]
    except (LookupError, TypeError):
        return document
    if isinstance(outer, list) and isinstance(key, int):
        _change_list(outer, do, key, raw)
    elif isinstance(outer, dict) and isinstance(key, str):
        _change_object(outer, do, key, raw)
    return document


def _change_list(outer: list[Any], do: str, key: int, raw: Raw) -> None:
    if key >= len(outer):
        outer.append(raw)
    elif do == "drop":
        del outer[key]
    elif do == "double":
        outer.insert(key, outer[key])
    else:
        outer[key] = raw


def _change_object(outer: dict[str, Any], do: str, key: str, raw: Raw) -> None:
    if do == "drop":
        outer.pop(key, None)
    elif do == "rename" and key in outer:
        outer[f"{key}x"] = outer.pop(key)
    elif do == "double" and key in outer:
        again = f"{written(outer[key])}, {json.dumps(key)}: {raw.text}"
        outer[key] = Raw(again)
    else:
        outer[key] = raw


def copied(document: Any) -> Any:
    """Return a deep copy of plain JSON."""
    if isinstance(document, dict):
        return {key: copied(value) for key, value in document.items()}
    if isinstance(document, list | tuple):
        return [copied(value) for value in document]
    return document


def joined(path: Sequence[str | int]) -> str:
    """Return a path as messages have it: cells.0.engine."""
    return ".".join(map(str, path))
