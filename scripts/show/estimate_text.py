"""The prediction of a run: one JSON document, or lines for people."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any

from report.model.plan import CellName, Plan
from report.stats.scaling import LEVEL, Prediction
from report.terms import numbers
from report.terms.text_table import TableRow, TextLine, TextTable
from scripts.forecast.suite_estimate import (
    CellEstimate,
    CellProblem,
    Room,
    SuiteEstimate,
)


def document(
    estimate: SuiteEstimate, plan: Plan, room: Room, measured: Mapping[CellName, float]
) -> dict[str, Any]:
    """Return the prediction for programs: medians with their intervals.

    `measured` has the seconds of one repetition, to compare with.
    """
    return {
        "suite": plan.suite.name,
        "interval": LEVEL,
        "cells": [
            {**_cell_document(plan, cell), "measured_s": measured.get(cell.cell)}
            for cell in estimate.cells
        ],
        "fills_s": asdict(estimate.fills_s) if not estimate.unknown else None,
        "total_s": asdict(estimate.time_s) if not estimate.unknown else None,
        "free": asdict(room),
        "unfit": [_trouble_document(trouble) for trouble in estimate.unfit],
        "doubts": [_trouble_document(trouble) for trouble in estimate.doubts],
    }


def _trouble_document(trouble: CellProblem) -> dict[str, str]:
    return {"cell": str(trouble.cell), "words": trouble.words}


def _cell_document(plan: Plan, estimated: CellEstimate) -> dict[str, Any]:
    def shown(prediction: Prediction | None) -> dict[str, float] | None:
        return asdict(prediction) if prediction else None

    once = estimated.repetition
    return {
        **asdict(estimated.cell),
        "status": estimated.status,
        "reason": estimated.reason,
        "num": plan.flags(estimated.cell).get("num"),
        "repetitions": estimated.repetitions,
        "sizes": list(once.sizes) if once else [],
        "repetition_s": shown(once.wall_s) if once else None,
        "parts_s": {part: asdict(p) for part, p in once.seconds.items()}
        if once
        else {},
        "all_s": shown(estimated.time_s),
        "memory_bytes": shown(estimated.memory_bytes),
        "disk_bytes": shown(estimated.disk_bytes),
    }


def text(
    estimate: SuiteEstimate, room: Room, measured: Mapping[CellName, float]
) -> list[TextLine]:
    """Return the lines for people; cells not predicted share a line per reason."""
    missing = (
        (cell.cell, _why_not(cell)) for cell in estimate.cells if not cell.repetition
    )
    table = _table(estimate, room, measured) if estimate.known else []
    doubts = ((doubt.cell, doubt.words) for doubt in estimate.doubts)
    lines = (*table, *_grouped("", missing), *_grouped("doubt: ", doubts))
    return [TextLine(line) if isinstance(line, str) else line for line in lines]


def _table(
    estimate: SuiteEstimate, room: Room, measured: Mapping[CellName, float]
) -> Iterable[str | TextLine]:
    titles: tuple[str, ...] = ("times", "one repetition", "anonymous memory", "disk")
    if measured:
        titles = (*titles, "measured", "ratio")
    rows = tuple(_row(cell, measured) for cell in estimate.known)
    yield from TextTable(("cell",), titles, (), rows).lines()
    known = f"{numbers.count(len(estimate.known), 'cell')} predicted"
    filling = "no database needs filling"
    if estimate.fills_s.middle:
        filling = f"{_timed(estimate.fills_s)} of it filling"
    elif estimate.unknown:
        filling = "filling unknown"
    yield ""
    yield f"{known}; total {_timed(estimate.time_s)}, {filling}"
    if estimate.unknown:
        others = numbers.count(len(estimate.unknown), "cell")
        yield f"{others} not predicted and not in the total"
    yield (
        "anonymous memory: the engine's own and the harness's table of keys, without"
        " the mapped files that the report's resident memory includes"
    )
    level = numbers.limit(LEVEL)
    yield f"intervals are {level} prediction intervals; {_free(room)}"


def _why_not(cell: CellEstimate) -> str:
    return f"{'not predicted' if cell.repetitions else cell.status}: {cell.reason}"


def _grouped(head: str, words_of: Iterable[tuple[CellName, str]]) -> Iterable[str]:
    """Yield each text once, with the cells that it is about."""
    cells: dict[str, list[CellName]] = {}
    for cell, words in words_of:
        cells.setdefault(words, []).append(cell)
    for words, names in cells.items():
        others = numbers.count(len(names) - 1, "more cell")
        more = f" and {others}:" if names[1:] else ""
        yield f"{head}{names[0]}{more} {words}"


def _row(estimated: CellEstimate, measured: Mapping[CellName, float]) -> TableRow:
    assert estimated.repetition is not None, "only predicted cells have a row"
    memory, disk = (
        numbers.size(p.middle) if p else "-"
        for p in (estimated.memory_bytes, estimated.disk_bytes)
    )
    once = estimated.repetition.wall_s
    cells = [
        str(estimated.cell),
        str(estimated.repetitions),
        _timed(once),
        memory,
        disk,
    ]
    if (measured_s := measured.get(estimated.cell)) is not None:
        cells += [numbers.duration(measured_s), f"{once.middle / measured_s:.2f}"]
    elif measured:
        cells += ["", ""]
    return TableRow(tuple(cells))


def _timed(time: Prediction) -> str:
    low, high = numbers.duration(time.low), numbers.duration(time.high)
    return f"{numbers.duration(time.middle)} ({low} to {high})"


def _free(room: Room) -> str:
    memory = room.memory_bytes
    free = f"{numbers.size(memory)} memory" if memory is not None else "memory unknown"
    return f"free: {numbers.size(room.disk_bytes)} disk, {free}"
