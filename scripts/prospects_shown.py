"""What a run will take, as it is shown: one JSON document, or lines for people."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any

from report import numbers
from report.scaling.growth import LEVEL, Prediction
from scripts.plan import Cell, Plan
from scripts.prospects import Prospect, Prospects, Room, Trouble


def document(
    found: Prospects, plan: Plan, room: Room, measured: Mapping[Cell, float]
) -> dict[str, Any]:
    """All of it, for programs; predictions are median and interval.

    `measured` has seconds of one repetition, to compare with.
    """
    return {
        "suite": plan.suite["name"],
        "interval": LEVEL,
        "cells": [
            {**_cell_document(plan, cell), "measured_s": measured.get(cell.cell)}
            for cell in found.cells
        ],
        "fills_s": asdict(found.fills_s),
        "total_s": asdict(found.time_s) if not found.unknown else None,
        "free": asdict(room),
        "unfit": [_trouble_document(trouble) for trouble in found.unfit],
        "doubts": [_trouble_document(trouble) for trouble in found.doubts],
    }


def _trouble_document(trouble: Trouble) -> dict[str, str]:
    return {"cell": str(trouble.cell), "words": trouble.words}


def _cell_document(plan: Plan, found: Prospect) -> dict[str, Any]:
    def shown(prediction: Prediction | None) -> dict[str, float] | None:
        return asdict(prediction) if prediction else None

    outlook = found.outlook
    return {
        **asdict(found.cell),
        "status": found.status,
        "reason": found.reason,
        "num": plan.flags(found.cell).get("num"),
        "repetitions": found.repetitions,
        "sizes": list(outlook.sizes) if outlook else [],
        "repetition_s": shown(outlook.wall_s) if outlook else None,
        "parts_s": {part: asdict(p) for part, p in outlook.seconds.items()}
        if outlook
        else {},
        "all_s": shown(found.time_s),
        "memory_bytes": shown(found.memory_bytes),
        "disk_bytes": shown(found.disk_bytes),
    }


def text(found: Prospects, room: Room, measured: Mapping[Cell, float]) -> list[str]:
    """The same for people."""
    width = max(len(str(cell.cell)) for cell in found.cells)
    head = f"{'cell':<{width}} {'times':>5} {'one repetition':>40}"
    head += f" {'memory':>9} {'disk':>9}"
    lines = [head + (f" {'measured':>11} {'ratio':>6}" if measured else "")]
    for cell in found.cells:
        lines.append(f"{cell.cell!s:<{width}} {_row(cell, measured.get(cell.cell))}")
    total = found.time_s
    known = f"{numbers.count(len(found.known), 'cell')} predicted"
    if found.unknown:
        known += f", {len(found.unknown)} not: their time is not in the sum"
    lines += [
        "",
        f"{known}; in all {_timed(total)}, {_timed(found.fills_s)} of it filling",
        f"the interval holds {numbers.limit(LEVEL)} of what is to be expected;"
        f" {_free(room)}",
    ]
    return [*lines, *_doubts(found.doubts)]


def _doubts(doubts: Iterable[Trouble]) -> Iterable[str]:
    """Each doubt once, with the cells that it is about."""
    cells: dict[str, list[str]] = {}
    for doubt in doubts:
        cells.setdefault(doubt.words, []).append(str(doubt.cell))
    for words, names in cells.items():
        more = (
            f" and {numbers.count(len(names) - 1, 'cell')} more:" if names[1:] else ""
        )
        yield f"doubt: {names[0]}{more} {words}"


def _row(found: Prospect, measured_s: float | None) -> str:
    if found.outlook is None:
        return f"{found.status if not found.repetitions else 'unknown'}: {found.reason}"
    memory, disk = (
        numbers.size(p.middle) if p else "-"
        for p in (found.memory_bytes, found.disk_bytes)
    )
    once = _timed(found.outlook.wall_s)
    row = f"{found.repetitions:>5} {once:>40} {memory:>9} {disk:>9}"
    if measured_s is None:
        return row
    ratio = found.outlook.wall_s.middle / measured_s
    return f"{row} {numbers.duration(measured_s):>11} {ratio:>6.2f}"


def _timed(found: Prediction) -> str:
    low, high = numbers.duration(found.low), numbers.duration(found.high)
    return f"{numbers.duration(found.middle)} ({low} to {high})"


def _free(room: Room) -> str:
    memory = room.memory_bytes
    told = (
        f"{numbers.size(memory)} of memory" if memory is not None else "memory unknown"
    )
    return f"free: {numbers.size(room.disk_bytes)} of disk, {told}"
