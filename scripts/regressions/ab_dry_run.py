"""An A/B run before it is carried out: its cells, pairs, predicted time and disk."""

import json
from dataclasses import asdict
from typing import Any

import click

from report import numbers
from report.regressions.ab_lines import SLOTS
from report.regressions.rule import PAIRS_PER_ROUND
from scripts.cli_options import Output
from scripts.disk import cell_bytes, free_bytes, needed_bytes
from scripts.regressions.ab_plan import AbPlan, same_executables
from scripts.regressions.ab_runner import AbRunner


def show_dry_run(runner: AbRunner, plan: AbPlan, output: Output) -> int:
    """Prints what the run would do; the exit code."""
    document = dry_run_document(runner, plan)
    if output.as_json:
        click.echo(json.dumps(document, indent=1))
    else:
        click.echo("\n".join(dry_run_lines(document)))
    return 0


def dry_run_document(runner: AbRunner, plan: AbPlan) -> dict[str, Any]:
    """What an A/B run would do; seconds and bytes are predictions."""
    forecast, rule = runner.forecast(plan), plan.rule
    cells = []
    for index, cell in enumerate(plan.cells):
        found = plan.obstacle(cell)
        seconds = 0.0 if found else forecast.round_s(cell)
        cells.append(
            {
                **asdict(cell),
                "status": found[1] if found else "planned",
                "reason": f"side {found[0]}: {found[2]}" if found else "",
                "predicted_round_s": round(seconds, 3),
                "predicted_bytes": round(cell_bytes(plan.a, index)),
            }
        )
    return {
        "suite": plan.a.suite["name"],
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
        "from_history": forecast.is_known(),
        "counted": plan.counted,
        "needed_bytes": round(needed_bytes(plan.a)),
        "free_bytes": free_bytes(runner.a.places.data_dir),
    }


def dry_run_lines(document: dict[str, Any]) -> list[str]:
    """The same for people."""
    about = "" if document["from_history"] else "~"
    lines = [f"{'cell':<44} {'pairs':>5} {'round':>12} {'disk':>9}"]
    for cell in document["cells"]:
        name = f"{cell['engine']}/{cell['scenario']}/{cell['benchmark']}"
        if cell["status"] != "planned":
            lines.append(f"{name:<44} {cell['status']}: {cell['reason']}")
            continue
        time = about + numbers.duration(cell["predicted_round_s"])
        disk = numbers.size(cell["predicted_bytes"])
        lines.append(f"{name:<44} {document['screen_pairs']:>5} {time:>12} {disk:>9}")
    screen, confirm = document["predicted_screen_s"], document["predicted_confirm_s"]
    planned = sum(cell["status"] == "planned" for cell in document["cells"])
    lines += [
        "",
        f"screen: {planned} cells x {document['screen_pairs']} pairs, about"
        f" {about}{numbers.duration(screen)}",
        f"confirm: {document['confirm_pairs']} pairs of each suspect, about"
        f" {about}{numbers.duration(confirm)} if nothing has changed",
        f"disk: {numbers.size(document['needed_bytes'])} needed at once,"
        f" {numbers.size(document['free_bytes'])} free in the data directory",
    ]
    if document["same_executables"] and not document["same_build"]:
        lines.append("both sides are the same executables")
    return lines
