"""Making a history entry from a run, or from a judged A/B run.

An ordinary run gives each cell's rate; an A/B run gives that of side b, and the
ratio of b's rate to that of a, which the machine's drift does not touch.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Sequence

from report.model.history_entry import (
    AB,
    RUN,
    EntryBuild,
    EntryCell,
    HistoryEntry,
    MedianInterval,
    Reference,
    document,
)
from report.model.history_folder import entry_of_document
from report.model.plan import CONTROL, CellName, Engine, Scenario
from report.model.run import Run
from report.stats import repetition_stats
from report.verdict.ab_verdicts import AbResult, CellResult

# Recorded since there were histories, whose series would break.
_LATER = ("key_order", "types")


def entry_of(found: Run | AbResult, label: str = "") -> HistoryEntry:
    """The entry of a run; `label` is what people call its build: a commit.

    An A/B run has labels of its own, side b's is the default.  Raises ResultsError
    if something in the run cannot be written into an entry.
    """
    made = _of_run(found, label) if isinstance(found, Run) else _of_ab(found, label)
    return entry_of_document(document(made), f"the history entry of {made.run}")


def settings_sha256(
    engines: Sequence[Engine], scenarios: Sequence[Scenario], name: CellName
) -> str:
    """What decides a cell's work: its engine's flags and the benchmark's definition."""
    engine = next(e for e in engines if e.name == name.engine)
    scenario = next(s for s in scenarios if s.name == name.scenario)
    defined = engine.definition(name.benchmark).items()
    settled = {
        "flags": dict(scenario.flags.get(name.engine, {})),
        "benchmark": {key: value for key, value in defined if key not in _LATER},
    }
    return hashlib.sha256(json.dumps(settled, sort_keys=True).encode()).hexdigest()


def _of_run(run: Run, label: str) -> HistoryEntry:
    cells = []
    # One engine measured twice would be one step told twice.
    engines = [engine for engine in run.plan.engines if engine.role != CONTROL]
    names = {engine.name for engine in engines}
    for cell in run.cells.values():
        if cell.name.engine not in names:
            continue
        rate = _band(cell.rates)
        status = cell.status if rate or cell.status != "ok" else "error"
        key = settings_sha256(run.plan.engines, run.plan.scenarios, cell.name)
        cells.append(EntryCell(cell.name, key, status, len(cell.rates), rate, None))
    return HistoryEntry(
        run=run.plan.run,
        method=run.plan.method,
        kind=RUN,
        label=label,
        lines_sha256=run.lines_sha256,
        machine=dict(run.plan.machine),
        suite=run.plan.suite.name,
        seed=run.plan.seed,
        reference=None,
        engines=_builds(engines),
        cells=tuple(cells),
    )


def _of_ab(result: AbResult, label: str) -> HistoryEntry:
    run = result.run
    reference = Reference(run.a.label, {e.name: e.binary_sha256 for e in run.a.engines})
    return HistoryEntry(
        run=run.plan.run,
        method=run.plan.method,
        kind=AB,
        label=label or run.b.label,
        lines_sha256=run.lines_sha256,
        machine=dict(run.plan.machine),
        suite=run.plan.suite.name,
        seed=run.plan.seed,
        reference=reference,
        engines=_builds(run.b.engines),
        cells=tuple(
            _ab_cell(
                cell, settings_sha256(run.b.engines, run.plan.scenarios, cell.name)
            )
            for cell in result.cells
        ),
    )


def _builds(engines: Sequence[Engine]) -> dict[str, EntryBuild]:
    return {
        engine.name: EntryBuild(engine.version, engine.binary_sha256)
        for engine in engines
    }


def _ab_cell(cell: CellResult, settings: str) -> EntryCell:
    rate = None if cell.failure else _band(cell.b_rates)
    if cell.failure or rate is None:
        status = cell.failure.status if cell.failure else "not measured"
        return EntryCell(cell.name, settings, status, 0, None, None)
    judged = cell.judgement
    ratio = None
    if judged and judged.log_low is not None and judged.log_high is not None:
        points = (-judged.log_high, -judged.log_shift, -judged.log_low)
        low, median, high = (math.exp(point) for point in points)
        ratio = MedianInterval(median, low, high)
    count, verdict = len(cell.b_rates), judged.verdict if judged else None
    return EntryCell(cell.name, settings, "ok", count, rate, ratio, verdict)


def _band(rates: Sequence[float]) -> MedianInterval | None:
    summary = repetition_stats.summarize(rates)
    return (
        MedianInterval(summary.median, summary.low, summary.high) if summary else None
    )
