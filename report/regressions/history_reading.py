"""Reading the history back, with every file checked.

The checks are those of schema/history.schema.json and a few that no schema can
say.  They are made by hand: jsonschema takes minutes for a thousand entries.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from report.cells import CellName
from report.documents import ResultsError, parse_object, read_bytes
from report.regressions.history_entries import (
    AB,
    LARGEST,
    RUN,
    SCHEMA,
    SMALLEST,
    Band,
    Build,
    Entry,
    EntryCell,
    Reference,
)
from report.regressions.judgement import Verdict

_LARGEST_BYTES = 64 << 20
_MOST_CELLS = 100_000
_LARGEST_FACT = 1e18
_RUN_ID = re.compile(r"[0-9A-Za-z][0-9A-Za-z._-]{0,199}")
_NAME = re.compile(r"(?=.{1,64}\Z)[a-z0-9]+(?:[-_][a-z0-9]+)*")
_BENCHMARK = re.compile(r"[A-Za-z][A-Za-z0-9]{0,63}")
# No control characters, line ends, or marks that turn the direction of a text.
_PLAIN = r"[^\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]"
_LABEL = re.compile(_PLAIN + "{0,200}")
_FACT = re.compile(_PLAIN + "{0,4096}")  # options of a mount can be long
_STATUS = re.compile(r"(?=.{1,64}\Z)[a-z]+(?: [a-z]+)*")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_BINARY = re.compile(r"(?:[0-9a-f]{64})?")
# A file of these names would make the history look like a run folder.
_TAKEN = ("run", "ab", "environment")
_KEYS = (
    *("schema", "method", "run", "kind", "label", "lines_sha256", "machine"),
    *("suite", "seed", "reference", "engines", "cells"),
)
_CELL_KEYS = {
    *("engine", "scenario", "benchmark", "settings_sha256", "status", "n"),
    *("ops_per_sec", "ratio"),
}
_VERDICTS: dict[object, Verdict] = {verdict.value: verdict for verdict in Verdict}


def load(folder: Path) -> tuple[Entry, ...]:
    """Every entry of a folder, oldest first; none if there is no folder.

    Runs are as old as their names say, which begin with the time of their start.
    Raises ResultsError for whatever is no entry.
    """
    if not folder.exists():
        return ()
    if not folder.is_dir():
        raise ResultsError(f"{folder}: not a folder")
    try:
        paths = sorted(folder.glob("*.json"), key=lambda path: path.stem)
    except OSError as error:
        raise ResultsError(f"{folder}: {error.strerror or error}") from None
    return tuple(read_entry(path) for path in paths)


def read_entry(path: Path) -> Entry:
    """One file of the history, checked.  Raises ResultsError."""
    try:
        if not path.is_file():
            raise ResultsError(f"{path}: not an ordinary file")
        if path.stat().st_size > _LARGEST_BYTES:
            raise ResultsError(f"{path}: larger than any entry of a history")
    except OSError as error:
        raise ResultsError(f"{path}: {error.strerror or error}") from None
    entry = entry_of_document(parse_object(read_bytes(path), str(path)), str(path))
    if path.name != f"{entry.run}.json":
        raise ResultsError(f"{path}: holds the entry of run {entry.run}")
    return entry


def entry_of_document(record: Mapping[str, Any], place: str) -> Entry:
    """The entry of a document.  Raises ResultsError that begins with `place`."""
    try:
        return _entry(record)
    except ValueError as error:
        raise ResultsError(f"{place}: {error}") from None


def _entry(record: Mapping[str, Any]) -> Entry:
    if record.get("schema") != SCHEMA or type(record["schema"]) is not int:
        raise ValueError(f"schema: {_told(record.get('schema'))} is not {SCHEMA}")
    _only(record, _KEYS, "")
    run = _matching(_RUN_ID, record["run"], "run")
    if run in _TAKEN:
        raise ValueError(f"run: {run} is no name for a run")
    kind = record["kind"]
    if kind not in (RUN, AB):
        raise ValueError(f"kind: {_told(kind)} is neither {RUN} nor {AB}")
    reference = _reference(record["reference"])
    if (kind == AB) != (reference is not None):
        raise ValueError("reference: an A/B run has one, any other run has none")
    engines = _mapping(record["engines"], "engines")
    return Entry(
        run=run,
        method=_count(record["method"], "method", 1, 10**6),
        kind=kind,
        label=_matching(_LABEL, record["label"], "label"),
        lines_sha256=_matching(_SHA256, record["lines_sha256"], "lines_sha256"),
        machine=_machine(record["machine"]),
        suite=_matching(_NAME, record["suite"], "suite"),
        seed=_count(record["seed"], "seed", 0, 2**64 - 1),
        reference=reference,
        engines={
            _matching(_NAME, name, "engines"): _build(entry, f"engines.{name}")
            for name, entry in engines.items()
        },
        cells=_cells(record["cells"], kind, engines),
    )


def _machine(found: object) -> Mapping[str, Any]:
    machine = _mapping(found, "machine")
    for key, fact in machine.items():
        _matching(_LABEL, key, "machine")
        if isinstance(fact, str):
            _matching(_FACT, fact, f"machine.{key}")
        elif not isinstance(fact, bool | None) and not _is_number(fact):
            raise ValueError(f"machine.{key}: {_told(fact)} is no plain fact")
    return machine


def _reference(found: object) -> Reference | None:
    if found is None:
        return None
    record = _mapping(found, "reference")
    _only(record, ("label", "engines"), "reference.")
    engines = {
        _matching(_NAME, name, "reference.engines"): _matching(
            _BINARY, sha256, f"reference.engines.{name}"
        )
        for name, sha256 in _mapping(record["engines"], "reference.engines").items()
    }
    return Reference(_matching(_LABEL, record["label"], "reference.label"), engines)


def _build(found: object, where: str) -> Build:
    record = _mapping(found, where)
    _only(record, ("version", "binary_sha256"), f"{where}.")
    return Build(
        _matching(_LABEL, record["version"], f"{where}.version"),
        _matching(_BINARY, record["binary_sha256"], f"{where}.binary_sha256"),
    )


def _cells(
    found: object, kind: str, engines: Mapping[str, Any]
) -> tuple[EntryCell, ...]:
    if not isinstance(found, list) or len(found) > _MOST_CELLS:
        raise ValueError("cells: not a list of cells")
    seen: dict[CellName, EntryCell] = {}
    for index, record in enumerate(found):
        try:
            cell = _cell(record)
        except ValueError as error:
            raise ValueError(f"cells.{index}: {error}") from None
        if cell.name in seen:
            raise ValueError(f"cells.{index}: {cell.name} is listed twice")
        if cell.name.engine not in engines:
            raise ValueError(f"cells.{index}: {cell.name} is of no engine of the entry")
        if cell.ratio and kind != AB:
            raise ValueError(f"cells.{index}: a ratio, and no reference")
        if cell.verdict and kind != AB:
            raise ValueError(f"cells.{index}: a verdict, and no A/B run")
        seen[cell.name] = cell
    return tuple(seen.values())


def _cell(record: object) -> EntryCell:
    if type(record) is not dict or record.keys() - {"verdict"} != _CELL_KEYS:
        raise ValueError("not a cell: a key is missing or too many")
    name = CellName(
        _matching(_NAME, record["engine"], "engine"),
        _matching(_NAME, record["scenario"], "scenario"),
        _matching(_BENCHMARK, record["benchmark"], "benchmark"),
    )
    status = _matching(_STATUS, record["status"], "status")
    rate = _band(record["ops_per_sec"], "ops_per_sec")
    ratio = _band(record["ratio"], "ratio")
    if (status == "ok") != (rate is not None) or (ratio and not rate):
        raise ValueError(f"status {status} and its figures do not go together")
    return EntryCell(
        name,
        _matching(_SHA256, record["settings_sha256"], "settings_sha256"),
        status,
        _count(record["n"], "n", 0, 10**6),
        rate,
        ratio,
        _verdict(record, ratio) if "verdict" in record else None,
    )


def _verdict(record: Mapping[str, Any], ratio: Band | None) -> Verdict:
    told = record["verdict"]
    found = _VERDICTS.get(told) if isinstance(told, str) else None
    if found is None:
        raise ValueError(f"verdict: {_told(told)} is not known")
    if record["status"] != "ok":
        raise ValueError(f"verdict: {found} of a cell that is not ok")
    middle = ratio.median if ratio else 1.0
    if (found is Verdict.REGRESSED and middle > 1) or (
        found is Verdict.IMPROVED and middle < 1
    ):
        raise ValueError(f"verdict: {found}, and a ratio of {middle:g}")
    return found


def _band(found: object, where: str) -> Band | None:
    if found is None:
        return None
    if type(found) is not dict or found.keys() != {"median", "low", "high"}:
        raise ValueError(f"{where}: not a median with its band")
    median, low, high = found["median"], found["low"], found["high"]
    if not {type(median), type(low), type(high)} <= {int, float}:
        raise ValueError(f"{where}: not numbers")
    if not low <= median <= high:
        raise ValueError(f"{where}: not low <= median <= high")
    if low < SMALLEST or high > LARGEST:
        raise ValueError(f"{where}: not from {SMALLEST:g} to {LARGEST:g}")
    return Band(float(median), float(low), float(high))


def _is_number(found: object) -> bool:
    return type(found) in (int, float) and -_LARGEST_FACT <= found <= _LARGEST_FACT  # type: ignore[operator]


def _count(found: object, where: str, least: int, most: int) -> int:
    if type(found) is not int or not least <= found <= most:
        raise ValueError(f"{where}: {_told(found)} is not from {least} to {most}")
    return found


def _matching(pattern: re.Pattern[str], found: object, where: str) -> str:
    if type(found) is not str or not pattern.fullmatch(found):
        raise ValueError(f"{where}: {_told(found)} is not acceptable")
    return found


def _mapping(found: object, where: str) -> Mapping[str, Any]:
    if not isinstance(found, dict):
        raise ValueError(f"{where}: not an object")
    return found


def _only(record: Mapping[str, Any], keys: tuple[str, ...], where: str) -> None:
    for key in keys:
        if key not in record:
            raise ValueError(f"{where}{key}: is missing")
    for key in record:
        if key not in keys:
            raise ValueError(f"{where}{_told(key)}: is not known")


def _told(found: object) -> str:
    shown = repr(found) if not isinstance(found, int) or abs(found) < 10**30 else "huge"
    return shown if len(shown) <= 60 else f"{shown[:57]}..."
