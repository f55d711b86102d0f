"""Synthetic folders of A/B runs, the same each time.

write_ab_run() writes a whole run folder over the engines of synthetic_run.py; a test
then changes what it is about.
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from report.model.ab_lines import SLOTS, side_at, stage_of
from report.model.ab_plan import SIDES
from report.model.ab_rule import AbRule
from report.model.count_lines import end_line
from report.model.plan import METHOD, CellName, repetition_seed
from report.verdict.ab_judge import load_ab_run
from report.verdict.ab_verdicts import suspects
from tests.builders import synthetic_records, synthetic_run

Document = dict[str, Any]

AB_RUN_ID = "20260102-030405-ab-synthetic"
LABELS = {"a": "base 1.0", "b": "new 1.1"}
CELLS = tuple(
    f"{engine}/baseline/{benchmark}"
    for engine in ("alpha", "beta-tree")
    for benchmark in ("readrandom", "fillseq", "fillrandom")
)
# (side, status, reason) of a cell that fails in its first round.
Failures = Mapping[str, tuple[str, str, str]]


def ab_plan(
    cells: Sequence[str] = CELLS,
    *,
    rule: AbRule | None = None,
    seed: int = 301,
    same_build: bool = False,
    missing: Mapping[str, tuple[str, str]] | None = None,
    counted: bool = False,
) -> Document:
    """Return ab.json over these cells; `missing` maps an engine to (side, reason)."""
    rule = rule or AbRule()
    names = [CellName(*cell.split("/")) for cell in cells]
    engines = [e for e in synthetic_run.ENGINES if e[0] in {n.engine for n in names}]
    whole = synthetic_run.plan(engines)
    sides = {name: side_document(engines, name, missing) for name in SIDES}
    if same_build:
        sides["b"] = {**sides["a"], "label": f"{LABELS['a']} again"}
    used = {(n.scenario, n.benchmark) for n in names}
    scenarios = [
        {**s, "benchmarks": [b for b in s["benchmarks"] if (s["name"], b) in used]}
        for s in whole["scenarios"]
        if s["name"] in {n.scenario for n in names}
    ]
    return {
        "schema": 1,
        "method": METHOD,
        "kind": "ab",
        "run": AB_RUN_ID,
        "same_build": same_build,
        "seed": seed,
        "command": "kvmatrix ab synthetic --a base --b new",
        "rule": rule.document(),
        "suite": {**whole["suite"], "latency_repetitions": 0},
        "sides": sides,
        "scenarios": scenarios,
        "cells": [asdict(name) for name in names],
        "machine": whole["machine"],
        "settings_sha256": whole["settings_sha256"],
        "counted": counted,
    }


def ab_lines(
    plan: Document,
    *,
    effects: Mapping[str, float] | None = None,
    sigma: float = 0.01,
    seed: int = 1,
    confirm: Sequence[str] = (),
    failures: Failures | None = None,
    disturbed: Mapping[str, str] | None = None,
) -> list[Document]:
    """Return the lines of all screen rounds, and of the confirm rounds of some cells.

    `effects` gives, by cell, the logarithm of b's time per operation over a's; `sigma`
    is the standard deviation of the logarithm of one process's time; `disturbed` marks
    the first repetition of a cell.
    """
    rule, draw = AbRule(**plan["rule"]), random.Random(seed)
    absent = {e["name"] for s in SIDES for e in _missing(plan, s)}
    lines: list[Document] = []
    leads: dict[str, str] = {}
    for number in range(1, rule.screen_rounds + rule.confirm_rounds + 1):
        for cell in plan["cells"]:
            name = "/".join(cell.values())
            screened = number <= rule.screen_rounds
            failed = (failures or {}).get(name)
            if cell["engine"] in absent or not (screened or name in confirm):
                continue
            if failed and number > 1:
                continue
            leader = SIDES[leads.get(name) == "a"]
            leads[name] = leader if number % 2 == 0 else draw.choice(SIDES)
            sides = [side_at(leads[name], slot) for slot in range(SLOTS)]
            for slot, side in enumerate(sides):
                slower = (effects or {}).get(name, 0.0) if side == "b" else 0.0
                rate = synthetic_run.rate_of(cell) / math.exp(
                    draw.gauss(0, sigma) + slower
                )
                line = synthetic_records.line(cell, number, rate)
                if failed and failed[0] == side:
                    if side in sides[:slot]:
                        continue
                    line = synthetic_records.failure(cell, *failed[1:])
                if number == 1 and slot == 0 and name in (disturbed or {}):
                    line = synthetic_run.disturbed(line, (disturbed or {})[name])
                line |= {"run": plan["run"], "repetition": number, "order": len(lines)}
                place = {"side": side, "stage": stage_of(rule, number), "round": number}
                place |= {"slot": slot, "padding_bytes": draw.randrange(4096)}
                line["seed"] = repetition_seed(plan["seed"], number)
                lines.append({**line, "ab": place})
    return lines


def write_ab_run(
    folder: Path,
    *,
    cells: Sequence[str] = CELLS,
    screen_rounds: int = 4,
    confirm_rounds: int = 15,
    confirm: Sequence[str] | None = None,
    same_build: bool = False,
    missing: Mapping[str, tuple[str, str]] | None = None,
    counts: Sequence[Mapping[str, Any]] = (),
    **drawn: Any,
) -> Path:
    """Write a run folder and return it; load_ab_run() accepts it.

    `drawn` is what ab_lines() takes.  `confirm` names the cells that have confirm
    rounds; None: the suspects of the screen, so that the run is whole.  What
    load_ab_run() says of other parts of the folder is up to them.
    """
    rule = replace(AbRule(), screen_rounds=screen_rounds, confirm_rounds=confirm_rounds)
    choices: dict[str, Any] = {"same_build": same_build, "missing": missing}
    plan = ab_plan(cells, rule=rule, counted=bool(counts), **choices)
    write_documents(folder, plan, ab_lines(plan, confirm=confirm or (), **drawn))
    if confirm is None and (nominated := suspects(load_ab_run(folder)).all):
        confirmed = [str(name) for name in nominated]
        write_documents(folder, plan, ab_lines(plan, confirm=confirmed, **drawn))
    if counts:
        tools = {"strace": "", "valgrind": ""}
        ended = [*counts, end_line(AB_RUN_ID, len(counts), tools)]
        (folder / "counts.jsonl").write_text(synthetic_run.json_lines(ended), "utf-8")
    return folder


def count_line(cell: str, side: str = "a", number: int = 1, **changed: Any) -> Document:
    """Return a line of the counts of a cell."""
    name = asdict(CellName(*cell.split("/")))
    return synthetic_records.counted(
        name, side, number, **{"run": AB_RUN_ID, **changed}
    )


def write_documents(
    folder: Path, plan: Document, lines: Sequence[Mapping[str, Any]]
) -> Path:
    """Write the files of a run as they are given, and return the folder."""
    return synthetic_run.write_run(folder, plan, lines, "ab")


def side_document(
    engines: Sequence[tuple[str, str, str, float]],
    side: str,
    missing: Mapping[str, tuple[str, str]] | None = None,
) -> Document:
    """Return one side of ab.json, with a build of its own."""
    absent = {name: why for name, (of, why) in (missing or {}).items() if of == side}
    documents = synthetic_run.plan(engines, missing=absent)["engines"]
    for engine in documents:
        if not engine["missing"]:
            engine["binary_sha256"] = ("1" if side == "a" else "2") * 64
            engine["describe"]["version"] = "1.0" if side == "a" else "1.1"
    return {"label": LABELS[side], "engines": documents}


def _missing(plan: Document, side: str) -> list[Document]:
    return [e for e in plan["sides"][side]["engines"] if e["missing"]]
