"""Reading the history, with checks beyond schema/history.schema.json."""

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
from report.terms.encoding import reason_of

# Files with these names would make the history look like a run folder.
_TAKEN = ("run", "ab", "environment")


def check_folder(folder: Path) -> None:
    """Raise ResultsError if the path of the history is not that of a folder."""
    if folder.exists() and not folder.is_dir():
        remedy = "remove it, or choose another with --history-dir"
        raise ResultsError(f"{folder}: not a directory; {remedy}")


def load(folder: Path) -> tuple[HistoryEntry, ...]:
    """Read all entries of a folder, oldest first; () if the folder does not exist.

    The order is that of the runs' names, which begin with their start time.  Raises
    ResultsError for a file that is not an entry.
    """
    check_folder(folder)
    if not folder.exists():
        return ()
    try:
        paths = sorted(folder.glob("*.json"), key=lambda path: path.stem)
    except OSError as error:
        raise ResultsError(f"{folder}: {reason_of(error)}") from None
    return tuple(read_entry(path) for path in paths)


def read_entry(path: Path) -> HistoryEntry:
    """Read and check one file of the history.  Raises ResultsError."""
    content = read_bytes(path)
    entry = entry_of_document(parse_object(content, str(path)), str(path))
    if path.name != f"{entry.run}.json":
        raise ResultsError(f"{path}: holds run {entry.run}; rename it {entry.run}.json")
    return entry


def entry_of_document(record: Mapping[str, Any], place: str) -> HistoryEntry:
    """Return the entry of a document.  Raises ResultsError beginning with `place`."""
    validate(record, "history", place)
    try:
        return _entry(record)
    except ValueError as error:
        raise ResultsError(f"{place}: {error}") from None


def _entry(record: Mapping[str, Any]) -> HistoryEntry:
    """Return the entry of a validated document, checked beyond its schema."""
    run, kind, reference = record["run"], record["kind"], record["reference"]
    if run in _TAKEN:
        raise ValueError(f"run: {run} is not a valid name for a run")
    if (kind == AB) != (reference is not None):
        raise ValueError("reference: required for an A/B run, null for any other")
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
                raise ValueError(f"{cell.name}: unknown engine {cell.name.engine}")
            if entry["kind"] != AB and cell.ratio:
                raise ValueError("ratio without a reference")
            if entry["kind"] != AB and cell.verdict:
                raise ValueError("verdict in a run that is not an A/B run")
            if entry["kind"] != AB and cell.verdicts:
                raise ValueError("verdicts in a run that is not an A/B run")
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
        raise ValueError(f"ops_per_sec and ratio do not fit status {status}")
    verdict = Verdict(record["verdict"]) if "verdict" in record else None
    if verdict:
        _check_verdict(verdict, status, ratio)
    digest, n = record["settings_sha256"], record["n"]
    measures = {
        measure: of
        for measure, band in record.get("measures", {}).items()
        if (of := _band(band, f"measures.{measure}"))
    }
    verdicts = record.get("verdicts", {})
    if (measures or verdicts) and status != "ok":
        raise ValueError(f"measures and verdicts do not fit status {status}")
    return EntryCell(name, digest, status, n, rate, ratio, verdict, measures, verdicts)


def _check_verdict(verdict: Verdict, status: str, ratio: MedianInterval | None) -> None:
    if status != "ok":
        raise ValueError(f"verdict: {verdict}, but the status is {status}")
    middle = ratio.median if ratio else 1.0
    if (verdict is Verdict.REGRESSED and middle > 1) or (
        verdict is Verdict.IMPROVED and middle < 1
    ):
        raise ValueError(f"verdict: {verdict}, but the ratio is {middle:g}")


def _band(band: Mapping[str, float] | None, where: str) -> MedianInterval | None:
    if band is None:
        return None
    median, low, high = band["median"], band["low"], band["high"]
    if not low <= median <= high:
        raise ValueError(f"{where}: expected low <= median <= high")
    return MedianInterval(float(median), float(low), float(high))
