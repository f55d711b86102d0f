"""Synthetic A/B runs in memory, for tests of pages and texts.

run() draws rounds with normal noise around the rates of
tests/builders/synthetic_run.py.
"""

from __future__ import annotations

import functools
import math
import random
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from report.model.ab_lines import SLOTS, side_at
from report.model.ab_plan import SIDES, Failure
from report.model.ab_rule import AbRule
from report.model.ab_run import AbCell, AbRun, Round
from report.model.judgement import LESS, MORE, NOT_GATED, SAME
from report.model.plan import CellName, Engine
from report.model.plan_document import engines_of, scenarios_of
from report.verdict.ab_verdicts import AbResult, judge
from report.verdict.count_verdicts import CountResult
from tests.builders import ab_rounds, synthetic_ab, synthetic_run

RUN_ID = synthetic_ab.AB_RUN_ID

RANKED = synthetic_run.ENGINES[:3]
PLAN = synthetic_run.plan(RANKED)


def cell_names() -> list[CellName]:
    return [
        CellName(engine[0], scenario[0], benchmark)
        for engine in RANKED
        for scenario in synthetic_run.SCENARIOS
        for benchmark in scenario[2]
    ]


class RoundMaker:
    """Draws rounds, and numbers the repetitions of the whole run."""

    def __init__(self, seed: int) -> None:
        self.source = random.Random(seed)
        self.order = 0

    def rounds(
        self, ns: float, log_effect: float, sigma: float, count: int, first: int = 1
    ) -> tuple[Round, ...]:
        return tuple(
            self._round(ns, log_effect, sigma, number)
            for number in range(first, first + count)
        )

    def _round(self, ns: float, log_effect: float, sigma: float, number: int) -> Round:
        lead = self.source.choice("ab")
        slower = {"a": 0.0, "b": log_effect}
        times = [
            ns * math.exp(self.source.gauss(0, sigma) + slower[side_at(lead, slot)])
            for slot in range(SLOTS)
        ]
        self.order += SLOTS
        return ab_rounds.slots_of(number, lead, times, self.order - SLOTS + 1)


def run(
    effects: Mapping[str, float] | None = None,
    sigmas: Mapping[str, float] | None = None,
    failures: Mapping[str, Failure] | None = None,
    sigma: float = 0.01,
    seed: int = 1,
    **changes: Any,
) -> AbRun:
    """Return a run; `effects` and `sigmas` are natural logarithms by cell.

    Cells with an effect have confirm rounds; the others have screen rounds only.
    """
    effects, sigmas, failures = effects or {}, sigmas or {}, failures or {}
    rates = {
        (s[0], b): rate for s in synthetic_run.SCENARIOS for b, rate in s[2].items()
    }
    maker, rule = RoundMaker(seed), AbRule()
    cells = []
    for name in cell_names():
        key = str(name)
        ns = 1e9 / rates[name.scenario, name.benchmark]
        draw = (ns, effects.get(key, 0.0), sigmas.get(key, sigma))
        if key in failures:
            cells.append(AbCell(name, (), (), failures[key]))
            continue
        screen = maker.rounds(*draw, rule.screen_rounds)
        confirm = (
            maker.rounds(*draw, rule.confirm_rounds, rule.screen_rounds + 1)
            if effects.get(key)
            else ()
        )
        cells.append(AbCell(name, screen, confirm))
    values: dict[str, Any] = {
        "plan": ab_rounds.plan_of(
            *cells,
            engines={side: engines(side) for side in SIDES},
            scenarios=scenarios_of(PLAN["scenarios"], Path()),
        ),
        "document": {"run": RUN_ID, "kind": "ab"},
        "environment": synthetic_run.environment(),
        "lines": ({"run": RUN_ID, "order": 1}, {"run": RUN_ID, "order": 2}),
    }
    return ab_rounds.run_of(*cells, **{**values, **changes})


def engines(side: str) -> tuple[Engine, ...]:
    """Return the engines of one side."""
    return engines_of(synthetic_ab.side_document(RANKED, side)["engines"], Path())


def varied(**changes: Any) -> AbRun:
    """Return a run with every verdict, failures, a change off the axis and a mark."""
    base = run(
        effects={
            "alpha/baseline/fillrandom": 0.12,
            "gamma/sync/fillseqsync": 1.6,
            "beta-tree/batch/fillseqbatch": -0.08,
        },
        sigmas={
            "alpha/baseline/readrandom": 0.12,
            "gamma/baseline/fillseq": 0.05,
            "gamma/baseline/readseq": 0.4,
        },
        failures={
            "beta-tree/sync/fillrandsync": Failure("b", "wrong", "audit: 3 differ"),
            "gamma/batch/fillrandbatch": Failure("a", "missing", "no db_bench_gamma"),
        },
    )
    return with_mark(replace(base, **changes), "alpha/baseline/fillseq")


@functools.cache
def judged() -> AbResult:
    """Return the judged run of varied()."""
    return judge(varied())


def with_mark(run: AbRun, key: str) -> AbRun:
    """Return the run with one disturbed repetition in a cell."""
    cells = list(run.cells)
    (at,) = (i for i, cell in enumerate(cells) if str(cell.name) == key)
    first, *rest = cells[at].screen
    marked = replace(first.a[0], disturbed=("steal 3.1 %",))
    first = replace(first, a=(marked, first.a[1]))
    cells[at] = replace(cells[at], screen=(first, *rest))
    return replace(run, cells=tuple(cells))


def counts() -> tuple[CountResult, ...]:
    """Return one count with each verdict."""
    first, last = CellName("alpha", "baseline", "fillrandom"), cell_names()[-1]
    reason = "varies by 12 % between identical runs"
    return (
        CountResult(first, "disk_bytes", "bytes", 1000, 1000, 0.0, 0.005, SAME),
        CountResult(first, "write_calls", "calls", 1000, 900, -0.1, 0.002, LESS),
        CountResult(
            first, "instructions", "instructions", 12345678, 13580246, 0.1, 0.002, MORE
        ),
        CountResult(
            first, "sync_calls", "calls", 0, 3, None, 0.002, MORE, "nothing became some"
        ),
        CountResult(
            last, "peak_rss_bytes", "bytes", 7, 9, 0.3, None, NOT_GATED, reason
        ),
    )
