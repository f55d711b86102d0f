"""The raw results inside the report, packed without loss.

Lines of one kind share their keys, and every line of an engine repeats the same
build, options and settings; both are written once.  For other objects only the keys
are shared.  Timelines and histograms are encoded by delta_encoding.py.  script.js
expands all of it to measurements.jsonl.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from report.model.run import Run
from report.page import delta_encoding

_OBJECT = "="
_LONGEST_INLINE = 5  # characters of a text; a reference needs as many


def packed(run: Run) -> dict[str, Any]:
    """Return run.json, environment.json and the lines as one document."""
    numbered = [(m.line, m.record) for m in run.measurements]
    documents = {"run": run.document, "environment": run.environment}
    return {**documents, **packed_lines(numbered)}


def packed_lines(
    numbered: Sequence[tuple[int, Mapping[str, Any]]],
) -> dict[str, Any]:
    """Pack lines with their numbers into "tables" and "shared".

    A table is {"keys": [...], "rows": [[line, ...values]]}.  A value [n] is number
    n of "shared", {"=": [n, ...values]} an object whose keys are that number, and
    {"~": "..."} a list of pairs.
    """
    values = (v for _, record in numbered for v in record.values())
    often = Counter(_text(value) for value in values if isinstance(value, dict))
    packer = _Packer({text for text, times in often.items() if times > 1})
    tables: dict[tuple[str, ...], list[list[Any]]] = {}
    for number, record in numbered:
        row = [number, *(packer.packed(value) for value in record.values())]
        tables.setdefault(tuple(record), []).append(row)
    return {
        "tables": [{"keys": list(k), "rows": rows} for k, rows in tables.items()],
        "shared": [json.loads(text) for text in packer.shared],
    }


def unpacked(document: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the lines of a packed document, in their order."""
    shared = document["shared"]
    records: list[tuple[int, dict[str, Any]]] = []
    for table in document["tables"]:
        for line, *row in table["rows"]:
            values = (_expanded(value, shared) for value in row)
            records.append((line, dict(zip(table["keys"], values, strict=True))))
    return [record for _, record in sorted(records, key=lambda pair: pair[0])]


def script_json(document: Mapping[str, Any]) -> str:
    """Return JSON that is safe inside a <script> element: it contains no "<"."""
    text = json.dumps(document, ensure_ascii=False, separators=(",", ":"))
    return (
        text.replace("<", "\\u003c")
        .replace("\u2028", "\\u2028")
        .replace("\u2029", "\\u2029")
    )


class _Packer:
    """Packs values and collects the texts of what they share, by number."""

    def __init__(self, repeated: Collection[str]) -> None:
        self.shared: dict[str, int] = {}
        self._repeated = repeated

    def packed(self, value: Any) -> Any:
        if delta_encoding.are_pairs(value):
            return {delta_encoding.KEY: delta_encoding.encoded(value)}
        if isinstance(value, dict) and _text(value) not in self._repeated:
            keys = self._number(list(value))
            return {_OBJECT: [keys, *(self.packed(v) for v in value.values())]}
        is_long = isinstance(value, str) and len(value) > _LONGEST_INLINE
        if isinstance(value, (dict, list)) or is_long:
            return [self._number(value)]
        return value

    def _number(self, value: Any) -> int:
        return self.shared.setdefault(_text(value), len(self.shared))


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _expanded(value: Any, shared: Sequence[Any]) -> Any:
    if isinstance(value, list):
        return shared[value[0]]
    if not isinstance(value, dict):
        return value
    if delta_encoding.KEY in value:
        return delta_encoding.decoded(value[delta_encoding.KEY])
    number, *own = value[_OBJECT]
    values = (_expanded(v, shared) for v in own)
    return dict(zip(shared[number], values, strict=True))
