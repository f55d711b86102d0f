"""Reading the history back: schema/history.schema.json, and what no schema can say."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from report.model.history_entry import (
    AB,
    EntryBuild,
    EntryCell,
    HistoryEntry,
    MedianInterval,
    Reference,
)
from report.model.judgement import Verdict
from report.model.plan import CellName
from report.terms.documents import ResultsError, parse_object, read_bytes, validate

_LARGEST_BYTES = 64 << 20
# A file of these names would make the history look like a run folder.
_TAKEN = ("run", "ab", "environment")


def load(folder: Path) -> tuple[HistoryEntry, ...]:
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


def read_entry(path: Path) -> HistoryEntry:
    """Return one file of the history, checked.  Raises ResultsError."""
    content = read_bytes(path, _LARGEST_BYTES)
    entry = entry_of_document(parse_object(content, str(path)), str(path))
    if path.name != f"{entry.run}.json":
        raise ResultsError(f"{path}: holds the entry of run {entry.run}")
    return entry


def entry_of_document(record: Mapping[str, Any], place: str) -> HistoryEntry:
    """Return the entry of a document.  Raises ResultsError beginning with `place`."""
    validate(record, "history", place)
    try:
        return _entry(record)
    except ValueError as error:
        raise ResultsError(f"{place}: {error}") from None


def _entry(record: Mapping[str, Any]) -> HistoryEntry:
    """Return the entry of a document that fits its schema, checked beyond that."""
    run, kind, reference = record["run"], record["kind"], record["reference"]
    if run in _TAKEN:
        raise ValueError(f"run: {run} is no name for a run")
    if (kind == AB) != (reference is not None):
        raise ValueError("reference: an A/B run has one, any other run has none")
    return HistoryEntry(
        run=run,
        method=record["method"],
        kind=kind,
        label=record["label"],
        lines_sha256=record["lines_sha256"],
        machine=record["machine"],
        suite=record["suite"],
        seed=record["seed"],
        reference=reference and Reference(reference["label"], reference["engines"]),
        engines={
            name: EntryBuild(build["version"], build["binary_sha256"])
            for name, build in record["engines"].items()
        },
        cells=_cells(record),
    )


def _cells(entry: Mapping[str, Any]) -> tuple[EntryCell, ...]:
    seen: dict[CellName, EntryCell] = {}
    for index, record in enumerate(entry["cells"]):
        try:
            cell = _cell(record)
            if cell.name in seen:
                raise ValueError(f"{cell.name} is listed twice")
            if cell.name.engine not in entry["engines"]:
                raise ValueError(f"{cell.name} is of no engine of the entry")
            if entry["kind"] != AB and cell.ratio:
                raise ValueError("a ratio, and no reference")
            if entry["kind"] != AB and cell.verdict:
                raise ValueError("a verdict, and no A/B run")
        except ValueError as error:
            raise ValueError(f"cells.{index}: {error}") from None
        seen[cell.name] = cell
    return tuple(seen.values())


def _cell(record: Mapping[str, Any]) -> EntryCell:
    name = CellName(record["engine"], record["scenario"], record["benchmark"])
    status = record["status"]
    rate = _band(record["ops_per_sec"], "ops_per_sec")
    ratio = _band(record["ratio"], "ratio")
    if (status == "ok") != (rate is not None) or (ratio and not rate):
        raise ValueError(f"status {status} and its figures do not go together")
    verdict = Verdict(record["verdict"]) if "verdict" in record else None
    if verdict:
        _check_verdict(verdict, status, ratio)
    digest, n = record["settings_sha256"], record["n"]
    return EntryCell(name, digest, status, n, rate, ratio, verdict)


def _check_verdict(verdict: Verdict, status: str, ratio: MedianInterval | None) -> None:
    if status != "ok":
        raise ValueError(f"verdict: {verdict} of a cell that is not ok")
    middle = ratio.median if ratio else 1.0
    if (verdict is Verdict.REGRESSED and middle > 1) or (
        verdict is Verdict.IMPROVED and middle < 1
    ):
        raise ValueError(f"verdict: {verdict}, and a ratio of {middle:g}")


def _band(found: Mapping[str, float] | None, where: str) -> MedianInterval | None:
    if found is None:
        return None
    median, low, high = found["median"], found["low"], found["high"]
    if not low <= median <= high:
        raise ValueError(f"{where}: not low <= median <= high")
    return MedianInterval(float(median), float(low), float(high))
