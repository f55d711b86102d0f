"""Synthetic A/B runs in memory, built from times per operation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from report.model.ab_lines import side_at
from report.model.ab_plan import SIDES, AbPlan, Failure
from report.model.ab_rule import WALL, AbRule
from report.model.ab_run import AbCell, AbRun, Repetition, Round
from report.model.plan import CellName, Engine, Plan, Scenario, Suite
from report.stats.aligned_ranks import Floats

NS_PER_OP = 1000.0
Pair = tuple[Repetition, Repetition]
Rounds = tuple[Round, ...]


def cell_name(engine: str = "alpha", benchmark: str = "fillseq") -> CellName:
    return CellName(engine, "baseline", benchmark)


def round_of(
    number: int,
    a: Sequence[float],
    b: Sequence[float],
    disturbed: Mapping[int, Sequence[str]] | None = None,
) -> Round:
    """Return a round A B B A of times in ns/op; `disturbed` gives marks by slot."""
    times = (a[0], b[0], b[1], a[1])
    return slots_of(number, "a", times, 4 * (number - 1) + 1, disturbed)


def slots_of(
    number: int,
    lead: str,
    times: Sequence[float],
    first: int,
    disturbed: Mapping[int, Sequence[str]] | None = None,
) -> Round:
    """Return a round that side `lead` begins, with orders from `first`."""
    slots: dict[str, list[Repetition]] = {"a": [], "b": []}
    for slot, ns_per_op in enumerate(times):
        side, order = side_at(lead, slot), first + slot
        record: Any = {"order": order, "ab": {"side": side}}
        marks = tuple((disturbed or {}).get(slot, ()))
        slots[side].append(Repetition(side, slot, order, ns_per_op, record, marks))
    return Round(number, (slots["a"][0], slots["a"][1]), (slots["b"][0], slots["b"][1]))


def rounds_of(a: Floats, b: Floats, first: int = 1) -> Rounds:
    """Return rounds whose times are NS_PER_OP * exp(a) and exp(b), each (rounds, 2)."""
    times = NS_PER_OP * np.exp(a), NS_PER_OP * np.exp(b)
    return tuple(
        round_of(number, list(one), list(other))
        for number, (one, other) in enumerate(zip(*times, strict=True), first)
    )


def noisy(
    rounds: int, slower: float = 0.0, cv: float = 0.01, seed: int = 1, first: int = 1
) -> Rounds:
    """Return rounds of a machine without drift; b needs 1 + `slower` times as long."""
    a, b = np.random.default_rng(seed).normal(0, cv, (2, rounds, 2))
    return rounds_of(a, b + np.log1p(slower), first)


def with_cpu(rounds: Rounds, times: Rounds) -> Rounds:
    """Return rounds whose processor times are the wall times of others."""

    def side(one: Pair, other: Pair) -> Pair:
        first, second = (
            replace(m, cpu_ns_per_op=cpu.ns_per_op)
            for m, cpu in zip(one, other, strict=True)
        )
        return first, second

    return tuple(
        replace(r, a=side(r.a, t.a), b=side(r.b, t.b))
        for r, t in zip(rounds, times, strict=True)
    )


def cell(
    screen: Rounds = (),
    confirm: Rounds = (),
    failure: Failure | None = None,
    name: CellName | None = None,
) -> AbCell:
    return AbCell(name or cell_name(), screen, confirm, failure)


def plan_of(
    *cells: AbCell,
    rule: AbRule | None = None,
    engines: Mapping[str, tuple[Engine, ...]] | None = None,
    scenarios: tuple[Scenario, ...] = (),
) -> AbPlan:
    """Return the plan of these cells; `engines` has the engines of each side."""
    a, b = (
        Plan(
            run="20260102-030405-ab-synthetic",
            suite=Suite("synthetic", "Synthetic rates"),
            seed=301,
            repetitions=1,
            command="kvmatrix ab synthetic",
            engines=(engines or {}).get(side, ()),
            scenarios=scenarios,
            cells=tuple(cell.name for cell in cells),
            order=(),
            machine={"cpu_model": "Synthetic CPU", "logical_cpus": 2},
        )
        for side in SIDES
    )
    labels = {"a": "main", "b": "next"}
    return AbPlan(
        *(a, b, labels, rule or _rule_of(cells)), same_build=False, counted=False
    )


def _rule_of(cells: Iterable[AbCell]) -> AbRule:
    """Return the rule for the measures that the cells have."""
    own = (m for cell in cells for r in cell.screen for m in (*r.a, *r.b))
    return AbRule() if any(m.cpu_ns_per_op for m in own) else AbRule(measures=(WALL,))


def run_of(*cells: AbCell, rule: AbRule | None = None, **changes: Any) -> AbRun:
    values: dict[str, Any] = {
        "plan": plan_of(*cells, rule=rule),
        "cells": cells,
        "unfinished": False,
        "torn": False,
        "lines_sha256": "0" * 64,
        "document": {},
        "environment": {},
    }
    return AbRun(**(values | changes))


def planned_as(run: AbRun, **changes: Any) -> AbRun:
    """Return the run with changes of its plan."""
    return replace(run, plan=replace(run.plan, **changes))


def labelled(run: AbRun, label: str) -> AbRun:
    """Return the run with another label of side b."""
    return planned_as(run, labels={**run.plan.labels, "b": label})
