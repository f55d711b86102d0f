"""A/B runs in memory for tests: every time is invented."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from report.cells import CellName
from report.regressions.ab_lines import side_at
from report.regressions.ab_run import (
    AbCell,
    AbRun,
    Failure,
    Repetition,
    Round,
    Side,
)
from report.regressions.aligned_ranks import Floats
from report.regressions.rule import Rule

NS_PER_OP = 1000.0
Rounds = tuple[Round, ...]


def cell_name(engine: str = "alpha", benchmark: str = "fillseq") -> CellName:
    return CellName(engine, "baseline", benchmark)


def round_of(
    number: int,
    a: Sequence[float],
    b: Sequence[float],
    disturbed: Mapping[int, Sequence[str]] | None = None,
) -> Round:
    """Return A B B A, of times per operation; `disturbed` are marks by slot."""
    times = (a[0], b[0], b[1], a[1])
    return slots_of(number, "a", times, 4 * (number - 1) + 1, disturbed)


def slots_of(
    number: int,
    lead: str,
    times: Sequence[float],
    first: int,
    disturbed: Mapping[int, Sequence[str]] | None = None,
) -> Round:
    """Return a round that a side leads, whose repetitions are counted from `first`."""
    made: dict[str, list[Repetition]] = {"a": [], "b": []}
    for slot, ns_per_op in enumerate(times):
        side, order = side_at(lead, slot), first + slot
        record = {"order": order, "ab": {"side": side}}
        marks = tuple((disturbed or {}).get(slot, ()))
        made[side].append(Repetition(side, slot, order, ns_per_op, record, marks))
    return Round(number, (made["a"][0], made["a"][1]), (made["b"][0], made["b"][1]))


def rounds_of(a: Floats, b: Floats, first: int = 1) -> Rounds:
    """Rounds of logs (rounds, 2) about NS_PER_OP."""
    times = NS_PER_OP * np.exp(a), NS_PER_OP * np.exp(b)
    return tuple(
        round_of(number, list(one), list(other))
        for number, (one, other) in enumerate(zip(*times, strict=True), first)
    )


def noisy(
    rounds: int, slower: float = 0.0, cv: float = 0.01, seed: int = 1, first: int = 1
) -> Rounds:
    """Rounds of a machine without drift; `slower` is a share of the time."""
    a, b = np.random.default_rng(seed).normal(0, cv, (2, rounds, 2))
    return rounds_of(a, b + np.log1p(slower), first)


def cell(
    screen: Rounds = (),
    confirm: Rounds = (),
    failure: Failure | None = None,
    name: CellName | None = None,
) -> AbCell:
    return AbCell(name or cell_name(), screen, confirm, failure)


def run_of(*cells: AbCell, **changes: Any) -> AbRun:
    values: dict[str, Any] = {
        "run_id": "20260101-000000-ab-quick",
        "same_build": False,
        "seed": 1,
        "command": "kvmatrix ab quick --a one --b two",
        "rule": Rule(),
        "suite": {},
        "a": Side("one", ()),
        "b": Side("two", ()),
        "scenarios": (),
        "cells": cells,
        "unfinished": False,
        "torn": False,
        "lines_sha256": "",
        "plan": {},
        "environment": {},
    }
    return AbRun(**(values | changes))
