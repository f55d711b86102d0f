"""The raw results inside the report: nothing lost, nothing repeated.

Lines of one kind share their keys, and every line of an engine repeats the
same build, options and settings; both are written once.  script.js expands
them to the lines of measurements.jsonl again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from report.results import Run


def packed(run: Run) -> dict[str, Any]:
    """run.json, environment.json and the lines.

    A table is {"keys": [...], "rows": [[line, ...values]]}; a value [n] is
    number n of "shared".
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
                document["shared"][v[0]] if isinstance(v, list) else v for v in row
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
    if isinstance(value, (dict, list)) or (isinstance(value, str) and len(value) > 5):
        text = json.dumps(value, ensure_ascii=False)
        return [shared.setdefault(text, len(shared))]
    return value
