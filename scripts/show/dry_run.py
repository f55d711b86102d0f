"""The plan of a run: predicted time and disk space, per cell and in total."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from report.model.plan import Plan
from report.model.record import Record
from report.terms import numbers
from report.terms.text_table import TableRow, TextLine, TextTable
from scripts.forecast.prediction import Forecast, load_history
from scripts.planning.disk_room import (
    SPARE_BYTES,
    cell_bytes,
    free_bytes,
    needed_bytes,
)
from scripts.planning.order import ScheduledRepetition, missing_repetitions
from scripts.show.output import Output, say, say_json
from scripts.store.run_places import RunPlaces


def dry_run_document(
    plan: Plan, places: RunPlaces, done: Sequence[Record] | None = None
) -> dict[str, Any]:
    """Return what a run would do; seconds and bytes are predictions.

    `done` are the lines of a run that is resumed; "left" is null for a new one.
    """
    forecast = Forecast(plan, load_history(places.results, plan))
    by_cell: dict[int, list[ScheduledRepetition]] = {
        index: [] for index in range(len(plan.cells))
    }
    for _, unit in missing_repetitions(plan, done or ()):
        for scheduled in unit:
            by_cell[scheduled.index].append(scheduled)
    cells = []
    for index, cell in enumerate(plan.cells):
        obstacle = plan.obstacle(cell)
        repetitions = [] if obstacle else by_cell[index]
        seconds = sum(forecast.seconds(scheduled) for scheduled in repetitions)
        pace = plan.pace(cell) if repetitions else {}
        cells.append(
            {
                **asdict(cell),
                "status": obstacle[0] if obstacle else "planned",
                "reason": obstacle[1] if obstacle else "",
                "repetitions": len(repetitions),
                "rate_ops_per_sec": pace.get("rate"),
                "rate_share": pace.get("rate_share"),
                "predicted_s": round(seconds, 3),
                "predicted_bytes": round(cell_bytes(plan, index)),
                "from_history": bool(repetitions)
                and all(map(forecast.known, repetitions)),
            }
        )
    seconds = sum(cell["predicted_s"] for cell in cells)
    return {
        "suite": plan.suite.name,
        "seed": plan.seed,
        "repetitions": plan.repetitions,
        "latency_repetitions": plan.latency_repetitions,
        "left": sum(c["repetitions"] for c in cells) if done is not None else None,
        "control": plan.suite.control,
        "cells": cells,
        "regimes": {s.name: s.regime.text for s in plan.scenarios if s.regime},
        "predicted_s": round(seconds, 3),
        "predicted_most_s": round(seconds * plan.attempts, 3),
        **disk_space(plan, places),
    }


def dry_run_lines(document: Mapping[str, Any]) -> list[str | TextLine]:
    """Return the document as human-readable lines."""

    def columns_of(cell: Mapping[str, Any]) -> tuple[int, float, bool]:
        return cell["repetitions"], cell["predicted_s"], cell["from_history"]

    planned = [cell for cell in document["cells"] if cell["status"] == "planned"]
    guessed = sum(not cell["from_history"] for cell in planned)
    latency = document["latency_repetitions"]
    seconds, most = document["predicted_s"], document["predicted_most_s"]
    retried = f"with retries of disturbed repetitions: at most {numbers.duration(most)}"
    each = f"{numbers.count(document['repetitions'], 'repetition')} each"
    each += f", plus {latency} for latency" if latency else ""
    if document["left"] is not None:
        each = f"{numbers.count(document['left'], 'repetition is', 'repetitions are')}"
        each += " left"
    return [
        *cell_lines(document, ("repetitions", "time"), columns_of),
        "",
        f"{numbers.count(len(planned), 'cell')}, {each}:"
        f" about {numbers.duration(seconds)}",
        *([guess_line(guessed)] if guessed else []),
        *([retried] if most > seconds else []),
        *(f"{name}: {text}" for name, text in document["regimes"].items()),
        disk_line(document),
    ]


def guess_line(cells: int) -> str:
    """Return the meaning of "~", which marks the times of this many cells."""
    marked = numbers.count(cells, "cell")
    return f"~ marks a rough guess, not based on measurements ({marked})"


def cell_lines(
    document: Mapping[str, Any],
    headings: tuple[str, str],
    columns_of: Callable[[Mapping[str, Any]], tuple[int, float, bool]],
) -> list[str | TextLine]:
    """Return the table of the cells of any run.

    `columns_of` returns a cell's values for the two `headings` (a number and a time in
    seconds), and whether the time is based on measurements.
    """
    rows = []
    for cell in document["cells"]:
        name = f"{cell['engine']}/{cell['scenario']}/{cell['benchmark']}"
        if cell["status"] != "planned":
            note = f"{cell['status']}: {cell['reason']}"
            rows.append(TableRow((name, "", "", "", note)))
            continue
        number, seconds, is_known = columns_of(cell)
        time = ("" if is_known else "~") + numbers.duration(seconds)
        disk = numbers.size(cell["predicted_bytes"])
        rows.append(TableRow((name, str(number), time, disk, "")))
    table = TextTable(("cell",), (*headings, "disk"), ("note",), tuple(rows))
    return [*table.lines()]


def disk_space(plan: Plan, places: RunPlaces) -> dict[str, int]:
    """Return the run's peak disk use and the free disk space, in bytes."""
    return {
        "needed_bytes": round(needed_bytes(plan)),
        "free_bytes": free_bytes(places.data_dir),
    }


def disk_line(document: Mapping[str, Any]) -> str:
    """Return the disk space as a line of text."""
    needed, free = document["needed_bytes"], document["free_bytes"]
    return (
        f"disk: peak {numbers.size(needed)}, of which {numbers.size(SPARE_BYTES)} is a"
        f" reserve; {numbers.size(free)} free in the data directory"
        f"{'; this does not fit' if needed > free else ''}"
    )


def show_dry_run(
    document: Mapping[str, Any],
    lines_of: Callable[[Mapping[str, Any]], list[str | TextLine]],
    output: Output,
) -> int:
    """Print what a run would do; return the exit code."""
    if output.as_json:
        say_json(document)
    else:
        say(*lines_of(document))
    return 0
