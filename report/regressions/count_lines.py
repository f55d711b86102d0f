"""The lines of counts.jsonl, read strictly: what the two builds did, never when."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from report.cells import CellName
from report.documents import (
    Line,
    ResultsError,
    parse_object,
    read_bytes,
    split_lines,
    validate,
)

COUNTS_FILE = "counts.jsonl"
COUNTS_SCHEMA = 1
CountLine = Mapping[str, Any]
Key = tuple[CellName, str, int]


@dataclass(frozen=True)
class CountFile:
    """The finished lines; `torn` says that an unfinished one follows them."""

    lines: tuple[CountLine, ...]
    sound_bytes: int
    torn: bool


def cell_of_count(line: CountLine) -> CellName:
    """The cell that a line belongs to."""
    return CellName(line["engine"], line["scenario"], line["benchmark"])


def key_of_count(line: CountLine) -> Key:
    """What no two lines of a run share: cell, side and number."""
    return cell_of_count(line), line["side"], line["number"]


def read_count_lines(path: Path, run: str, cells: Collection[CellName]) -> CountFile:
    """The lines of the file `path`, of the run and of the planned cells.

    No file: no lines.  Raises ResultsError for a damaged, foreign or doubled one.
    """
    if not path.exists():
        return CountFile((), 0, torn=False)
    content = read_bytes(path)
    texts, sound_bytes = split_lines(content)
    found: dict[Key, CountLine] = {}
    for text in texts:
        place = f"{path}:{text.number}"
        line = _line(text, place)
        if line["run"] != run:
            raise ResultsError(f"{place}: belongs to run {line['run']}")
        if cell_of_count(line) not in cells:
            raise ResultsError(f"{place}: {cell_of_count(line)} is not of this run")
        if key_of_count(line) in found:
            told = f"number {line['number']} of side {line['side']} is there twice"
            raise ResultsError(f"{place}: {cell_of_count(line)}: {told}")
        found[key_of_count(line)] = line
    torn = sound_bytes < len(content)
    return CountFile(tuple(found.values()), sound_bytes, torn)


def _line(text: Line, place: str) -> CountLine:
    line = parse_object(text.text, place)
    validate(line, "counts", place)
    if line["status"] == "ok" and not line["ops"]:
        raise ResultsError(f"{place}: ok without an operation")
    if line["status"] != "ok" and not line["reason"]:
        raise ResultsError(f"{place}: {line['status']} without a reason")
    return line
