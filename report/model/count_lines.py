"""The lines of counts.jsonl, read strictly: counts of work, without times."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NotRequired, TypedDict, cast

from report.model.plan import CellName
from report.terms.documents import (
    Line,
    ResultsError,
    check_document,
    parse_document,
    read_bytes,
    remedied,
    split_lines,
)
from report.terms.limits import MOST_LINES_BYTES
from report.terms.membership import check_belongs

COUNTS_FILE = "counts.jsonl"
COUNTS_SCHEMA = 1
_VERSIONS = {"schema": range(1, COUNTS_SCHEMA + 1)}
Key = tuple[CellName, str, int]


class CountLine(TypedDict):
    """One process that was counted; a count that failed or is unavailable is None."""

    schema: int
    run: str
    engine: str
    scenario: str
    benchmark: str
    side: str
    number: int
    seed: int
    status: str
    reason: str
    ops: int | None
    num: int
    instructions: int | None
    write_calls: int | None
    sync_calls: int | None
    threads_started: int | None
    exit: str | None
    plan: NotRequired[str]
    checksum: NotRequired[str]


@dataclass(frozen=True)
class CountFile:
    """The complete lines; `torn` is true if an incomplete one follows them.

    `tools` has the reason why each tool could not count, or "".  It is in the line
    that ends the file when counting has finished, and None before.
    """

    lines: tuple[CountLine, ...]
    valid_bytes: int
    torn: bool
    tools: Mapping[str, str] | None = None


def end_line(run: str, lines: int, tools: Mapping[str, str]) -> dict[str, Any]:
    """Return the line that ends the file, after `lines` others."""
    end = {"lines": lines, "tools": dict(tools)}
    return {"schema": COUNTS_SCHEMA, "run": run, "end": end}


def cell_of_count(line: CountLine) -> CellName:
    """Return the cell of a line."""
    return CellName(line["engine"], line["scenario"], line["benchmark"])


def key_of_count(line: CountLine) -> Key:
    """Return the identity of a line within its run: cell, side and number."""
    return cell_of_count(line), line["side"], line["number"]


def read_count_lines(
    path: Path, plan: Mapping[str, Any], cells: Collection[CellName]
) -> CountFile:
    """Read the lines of a run's planned cells; without a file there are none.

    `plan` is the content of ab.json.  Raises ResultsError for a damaged, foreign or
    duplicate line.
    """
    if not path.exists():
        return CountFile((), 0, torn=False)
    content = read_bytes(path, MOST_LINES_BYTES)
    texts, valid_bytes = split_lines(content)
    lines: dict[Key, CountLine] = {}
    tools: Mapping[str, str] | None = None
    for text in texts:
        place = f"{path}:{text.number}"
        if tools is not None:
            raise ResultsError(f"{place}: a line follows the one that ends the counts")
        document = _document(text, place)
        with remedied():
            check_belongs(document, plan, place)
        if end := document.get("end"):
            tools = _tools(end, len(lines), place)
            continue
        line = cast(CountLine, document)
        if cell_of_count(line) not in cells:
            raise ResultsError(f"{place}: {cell_of_count(line)} is not in the plan")
        if key_of_count(line) in lines:
            problem = f"duplicate number {line['number']} of side {line['side']}"
            raise ResultsError(f"{place}: {cell_of_count(line)}: {problem}")
        lines[key_of_count(line)] = line
    torn = valid_bytes < len(content)
    return CountFile(tuple(lines.values()), valid_bytes, torn, tools)


def _tools(end: Mapping[str, Any], before: int, place: str) -> Mapping[str, str]:
    counted, tools = end["lines"], end["tools"]
    if counted != before:
        raise ResultsError(f"{place}: {before} lines, but {counted} were counted")
    return {name: " ".join(str(problem).split()) for name, problem in tools.items()}


def _document(text: Line, place: str) -> dict[str, Any]:
    line = parse_document(text.text, place)
    schema_name = "counts_end" if "end" in line else "counts"
    check_document(line, schema_name, place, _VERSIONS)
    if "end" in line:
        return line
    if line["status"] == "ok" and not line["ops"]:
        raise ResultsError(f"{place}: status ok, but no operations")
    if line["status"] != "ok" and not line["reason"]:
        raise ResultsError(f"{place}: status {line['status']}, but no reason")
    return line
