"""The plan of an A/B run: cells, pairs, predicted time and disk space."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from report.model.ab_lines import SLOTS
from report.model.ab_plan import AbPlan
from report.model.ab_rule import PAIRS_PER_ROUND
from report.terms import numbers
from report.terms.text_table import TextLine
from scripts.ab.ab_forecast import AbForecast
from scripts.ab.ab_pairing import same_executables
from scripts.planning.disk_room import cell_bytes
from scripts.show.dry_run import cell_lines, disk_line, disk_space, guess_line
from scripts.store.run_places import RunPlaces


def dry_run_document(
    plan: AbPlan, forecast: AbForecast, places: RunPlaces
) -> dict[str, Any]:
    """Return what an A/B run would do; seconds and bytes are predictions."""
    rule = plan.rule
    cells = []
    for index, cell in enumerate(plan.cells):
        obstacle = plan.obstacle(cell)
        seconds = 0.0 if obstacle else forecast.round_s(cell)
        cells.append(
            {
                **asdict(cell),
                "status": obstacle.status if obstacle else "planned",
                "reason": f"side {obstacle.side}: {obstacle.reason}"
                if obstacle
                else "",
                "predicted_round_s": round(seconds, 3),
                "predicted_bytes": round(cell_bytes(plan.a, index)),
            }
        )
    return {
        "suite": plan.suite.name,
        "seed": plan.seed,
        "same_build": plan.same_build,
        "same_executables": same_executables(plan),
        "cells": cells,
        "screen_rounds": rule.screen_rounds,
        "confirm_rounds": rule.confirm_rounds,
        "screen_pairs": rule.screen_rounds * PAIRS_PER_ROUND,
        "confirm_pairs": rule.confirm_rounds * PAIRS_PER_ROUND,
        "screen_repetitions": rule.screen_rounds * SLOTS * len(plan.able),
        "predicted_screen_s": round(forecast.screen_s(), 3),
        "predicted_confirm_s": round(forecast.confirm_s(), 3),
        "predicted_count_s": round(forecast.count_s(), 3),
        "from_history": forecast.is_known(),
        "counted": plan.counted,
        **disk_space(plan.a, places),
    }


def dry_run_lines(document: Mapping[str, Any]) -> list[str | TextLine]:
    """Return the document as human-readable lines."""
    pairs, is_known = document["screen_pairs"], document["from_history"]
    screen, confirm = document["predicted_screen_s"], document["predicted_confirm_s"]
    planned = sum(cell["status"] == "planned" for cell in document["cells"])
    lines = cell_lines(
        document,
        ("pairs", "time per round"),
        lambda cell: (pairs, cell["predicted_round_s"], is_known),
    )
    lines += [
        "",
        f"screen: {numbers.count(planned, 'cell')}, {pairs} pairs each: about"
        f" {numbers.duration(screen)}",
        f"confirm: {document['confirm_pairs']} pairs of each cell that looks different:"
        f" about {numbers.duration(confirm)} if nothing changed (some look different by"
        " chance)",
    ]
    if document["counted"]:
        count = numbers.duration(document["predicted_count_s"])
        lines.append(f"count: instructions and system calls, about {count}")
    if not is_known:
        lines.append(guess_line(planned))
    lines.append(disk_line(document))
    return lines
