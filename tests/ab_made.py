"""A/B runs in memory for tests: every time is invented."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from report.cells import CellName
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
    """A B B A, of times per operation; `disturbed` are marks by slot."""

    def made(side: str, slot: int, ns_per_op: float) -> Repetition:
        order = 4 * (number - 1) + slot + 1
        marks = tuple((disturbed or {}).get(slot, ()))
        return Repetition(side, slot, order, ns_per_op, {}, marks)

    return Round(
        number,
        (made("a", 0, a[0]), made("a", 3, a[1])),
        (made("b", 1, b[0]), made("b", 2, b[1])),
    )


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
