"""One unit of a run: prepare a database, then measure and audit each of its cells.

Databases and scratch files live in the work directory, which only the runner uses.  It
is emptied before and after.
"""

import shutil
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from report.model.plan import METHOD, SCHEMA
from report.model.record import AbPlace, Record
from report.model.run import LATENCY, THROUGHPUT
from report.trust.cell_context import context_of_cell
from scripts.machine.repetition_monitor import RepetitionMonitor
from scripts.measure.audit import audited_call
from scripts.measure.driver_call import DriverCall, RunContext, benchmark_of
from scripts.measure.loop import Finished, Task
from scripts.measure.preparation import PrepareFailed, fresh, prepare, provide
from scripts.measure.result_check import (
    empty_record,
    failure_line,
    validated,
    without_figures,
)
from scripts.planning.disk_room import DiskFull, is_full_error
from scripts.planning.executable import history_of_cell
from scripts.planning.order import ScheduledRepetition, is_superseded, repetition_seed


def run_unit(
    bench: RunContext, turns: Sequence[ScheduledRepetition]
) -> Iterator[Finished]:
    """Measure the repetitions of a unit, then remove their data.

    A disturbed repetition is retried at once, from the same prepared database.  Each
    line is complete when it is yielded; the next attempt starts after that.  Raises
    Interrupted, DiskFull or ExecutableChanged.
    """
    unit = _Unit(bench)
    try:
        for turn in turns:
            for attempt in range(turn.attempt, bench.plan.attempts + 1):
                finished = unit.make(replace(turn, attempt=attempt))
                yield finished
                if not is_superseded(bench.plan, finished.line):
                    break
    except OSError as error:
        if is_full_error(error):
            raise DiskFull("the data directory") from error
        raise
    finally:
        bench.clean()


class _Unit:
    """The prepared database that the cells of a unit share."""

    def __init__(self, bench: RunContext) -> None:
        self._bench = bench
        self._is_prepared = False
        # A failed preparation is not retried: it fails all cells.
        self._failure: PrepareFailed | None = None

    def make(self, turn: ScheduledRepetition) -> Finished:
        """Run one attempt; the wall time of the first includes the preparation."""
        started_ns = time.monotonic_ns()
        fresh(self._bench.work / "tmp")
        prepare_ns = self._prepare(turn)
        fields = _fields(self._bench, turn, self._failure)
        wall_ns = time.monotonic_ns() - started_ns
        if fields["status"] == "ok":
            fields |= {"prepare_ns": prepare_ns, "wall_ns": wall_ns}
        return Finished(turn, _line(self._bench, turn, fields), wall_ns / 1e9)

    def _prepare(self, turn: ScheduledRepetition) -> int | None:
        if self._is_prepared:
            return None
        self._is_prepared = True
        try:
            return prepare(self._bench, turn)
        except PrepareFailed as error:
            self._failure = error
            return None


def _measured(
    bench: RunContext, turn: ScheduledRepetition, database: Path
) -> dict[str, Any]:
    """Return the fields of one repetition, from the executable and the runner.

    REQUIRES: `database` is in the cell's initial state.  It is removed.
    """
    benchmark = benchmark_of(bench, turn)
    cell = bench.plan.cells[turn.index]
    latency = bench.plan.is_latency(turn.repetition)
    call = DriverCall(
        cell,
        turn.repetition,
        database,
        benchmark.name,
        history_of_cell(bench.plan, cell),
        measured=True,
        latency=latency,
        killed=latency and benchmark.writes,
    )
    bench.starts(turn)
    observer = RepetitionMonitor(bench.surroundings, database)
    outcome, verdict, audit = audited_call(bench, call, benchmark, observer)
    observed = observer.fields(verdict.record)
    audit_field = audit.document() if audit else None
    shutil.rmtree(database, ignore_errors=True)
    if not verdict.ok:
        fields = {
            **failure_line(verdict),
            **without_figures(verdict.status, verdict.reason),
        }
        return {**fields, **observed, "audit": audit_field, "exit": outcome.exit}
    times = {"prepare_ns": None, "wall_ns": None}  # filled in by the caller
    end = {"audit": audit_field, "exit": outcome.exit}
    return {**verdict.record, **observed, **times, **end}


def _fields(
    bench: RunContext, turn: ScheduledRepetition, failure: PrepareFailed | None
) -> dict[str, Any]:
    """Return the fields of a line, whether measured or failed before that."""
    try:
        if failure is None:
            database = bench.work / "cell"
            provide(bench, bench.plan.start(bench.plan.cells[turn.index]), database)
            return _measured(bench, turn, database)
    except PrepareFailed as error:
        failure = error
    verdict = failure.verdict
    fields = {**empty_record(), **without_figures(verdict.status, verdict.reason)}
    return {**fields, "exit": failure.exit}


def _line(
    bench: RunContext, turn: ScheduledRepetition, fields: dict[str, Any]
) -> Record:
    cell = bench.plan.cells[turn.index]
    is_latency = bench.plan.is_latency(turn.repetition)
    context = context_of_cell(bench.plan, cell, is_latency)
    return validated(
        {
            "schema": SCHEMA,
            "method": METHOD,
            "run": bench.plan.run,
            "engine": cell.engine,
            "scenario": cell.scenario,
            "benchmark": cell.benchmark,
            "repetition": turn.repetition,
            "pass": LATENCY if is_latency else THROUGHPUT,
            "attempt": turn.attempt,
            "order": turn.order,
            "seed": repetition_seed(bench.plan.seed, turn.repetition),
            **{k: v for k, v in fields.items() if k not in _FROM_PLAN},
        },
        context,
    )


_FROM_PLAN = ("schema", "method", "run", "engine", "scenario", "benchmark", "seed")


def obstacle_line(bench: RunContext, turn: ScheduledRepetition) -> Finished:
    """Return the line of a cell that cannot run."""
    obstacle = bench.plan.obstacle(bench.plan.cells[turn.index])
    assert obstacle is not None
    fields = {**empty_record(), **without_figures(*obstacle)}
    return Finished(turn, _line(bench, turn, fields), 0.0)


def task_of(
    bench: RunContext,
    turns: Sequence[ScheduledRepetition],
    place: AbPlace | None = None,
) -> Task:
    """Return the task that measures these cells, or records why they cannot run."""
    plan = bench.plan
    if plan.obstacle(plan.cells[turns[0].index]) is None:
        return Task(plan, partial(run_unit, bench, turns), False, place)
    lines = partial(map, partial(obstacle_line, bench), turns)
    return Task(plan, lines, True, place)
