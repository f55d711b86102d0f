"""The plan before it is carried out: predicted time and disk, per cell and in all."""

from dataclasses import asdict
from typing import Any

from report import numbers
from report.text_table import TableRow, TextTable
from scripts.disk import cell_bytes, free_bytes, needed_bytes
from scripts.order import turns_of
from scripts.plan import Plan, Turn
from scripts.predict import Forecast, load_history
from scripts.session import Places


def dry_run_document(plan: Plan, places: Places) -> dict[str, Any]:
    """What a run would do; seconds and bytes are predictions."""
    forecast = Forecast(plan, load_history(places.results, plan))
    turns: dict[int, list[Turn]] = {index: [] for index in range(len(plan.cells))}
    for _, unit in turns_of(plan):
        for turn in unit:
            turns[turn.index].append(turn)
    cells = []
    for index, cell in enumerate(plan.cells):
        obstacle = plan.obstacle(cell)
        made = [] if obstacle else turns[index]
        seconds = sum(forecast.seconds(turn) for turn in made)
        cells.append(
            {
                **asdict(cell),
                "status": obstacle[0] if obstacle else "planned",
                "reason": obstacle[1] if obstacle else "",
                "repetitions": len(made),
                "rate_ops_per_sec": plan.rate(cell) if made else None,
                "predicted_s": round(seconds, 3),
                "predicted_bytes": round(cell_bytes(plan, index)),
                "from_history": bool(made) and all(map(forecast.known, made)),
            }
        )
    return {
        "suite": plan.suite["name"],
        "seed": plan.seed,
        "repetitions": plan.repetitions,
        "latency": plan.suite["latency"],
        "control": plan.suite["control"],
        "cells": cells,
        "predicted_s": round(sum(cell["predicted_s"] for cell in cells), 3),
        "needed_bytes": round(needed_bytes(plan)),
        "free_bytes": free_bytes(places.data_dir),
    }


def dry_run_lines(plan: Plan, places: Places) -> list[str]:
    """The same for people."""
    document = dry_run_document(plan, places)
    titles = ("cell",), ("times", "time", "disk"), ("note",)
    table = TextTable(*titles, tuple(map(_row, document["cells"])))
    lines = [line.text for line in table.lines()]
    planned = [cell for cell in document["cells"] if cell["status"] == "planned"]
    guessed = sum(not cell["from_history"] for cell in planned)
    guesses = numbers.count(guessed, "cell is", "cells are")
    lines += [
        "",
        f"{numbers.count(len(planned), 'cell')} x {document['repetitions']}"
        + (" and once for latency" if document["latency"] else "")
        + f", about {numbers.duration(document['predicted_s'])}"
        + (f" ({guesses} a rough guess: ~)" if guessed else ""),
        f"disk: {numbers.size(document['needed_bytes'])} needed at once,"
        f" {numbers.size(document['free_bytes'])} free in the data directory",
    ]
    return lines


def _row(cell: dict[str, Any]) -> TableRow:
    name = f"{cell['engine']}/{cell['scenario']}/{cell['benchmark']}"
    if cell["status"] != "planned":
        return TableRow((name, "", "", "", f"{cell['status']}: {cell['reason']}"))
    about = "" if cell["from_history"] else "~"
    time = about + numbers.duration(cell["predicted_s"])
    disk = numbers.size(cell["predicted_bytes"])
    return TableRow((name, str(cell["repetitions"]), time, disk, ""))
