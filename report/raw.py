"""The raw results inside the report: nothing lost, nothing repeated.

Lines of one kind share their keys, and every line of an engine repeats the
same build, options and settings; both are written once.  Timelines and
histograms, which no two lines share, are written as pairs.py has it.  script.js
expands all of it to the lines of measurements.jsonl again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from report import pairs
from report.results import Run


def packed(run: Run) -> dict[str, Any]:
    """run.json, environment.json and the lines.

    A table is {"keys": [...], "rows": [[line, ...values]]}; a value [n] is
    number n of "shared", and {"~": "..."} anywhere is a list of pairs.
    """
    shared: dict[str, int] = {}
    tables: dict[tuple[str, ...], list[list[Any]]] = {}
    for m in run.measurements:
        row = [m.line, *(_packed_value(v, shared) for v in m.record.values())]
        tables.setdefault(tuple(m.record), []).append(row)
    return {
        "run": run.plan,
        "environment": run.environment,
        "tables": [{"keys": list(k), "rows": rows} for k, rows in tables.items()],
        "shared": [json.loads(text) for text in shared],
    }


def unpacked(document: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The lines again, in their order."""
    found: list[tuple[int, dict[str, Any]]] = []
    for table in document["tables"]:
        for line, *row in table["rows"]:
            values = (
                document["shared"][v[0]] if isinstance(v, list) else _with_lists(v)
                for v in row
            )
            found.append((line, dict(zip(table["keys"], values, strict=True))))
    return [record for _, record in sorted(found, key=lambda pair: pair[0])]


def script_json(document: Mapping[str, Any]) -> str:
    """JSON that is safe inside a <script> element: no "<" at all."""
    text = json.dumps(document, ensure_ascii=False, separators=(",", ":"))
    return (
        text.replace("<", "\\u003c")
        .replace("\u2028", "\\u2028")
        .replace("\u2029", "\\u2029")
    )


def _packed_value(value: Any, shared: dict[str, int]) -> Any:
    if pairs.are_pairs(value):
        return {pairs.KEY: pairs.encoded(value)}
    if isinstance(value, dict) and any(map(pairs.are_pairs, value.values())):
        return {
            key: {pairs.KEY: pairs.encoded(v)} if pairs.are_pairs(v) else v
            for key, v in value.items()
        }
    if isinstance(value, (dict, list)) or (isinstance(value, str) and len(value) > 5):
        text = json.dumps(value, ensure_ascii=False)
        return [shared.setdefault(text, len(shared))]
    return value


def _with_lists(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    if pairs.KEY in value:
        return pairs.decoded(value[pairs.KEY])
    return {key: _with_lists(v) for key, v in value.items()}
