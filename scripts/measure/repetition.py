"""One unit of a run: prepare a database, then measure and audit each of its cells.

Databases and scratch files live in the work directory, which only the runner uses.  It
is emptied before and after.
"""

import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from report.model.plan import METHOD, SCHEMA, CellName, Plan, repetition_seed
from report.model.record import AbPlace, Record
from report.terms.class_stamp import LOSES_NOTHING
from report.trust.cell_context import context_of_cell
from report.trust.regime_rules import unreached
from scripts.machine.probes import sync_floor_ns
from scripts.machine.repetition_monitor import RepetitionMonitor
from scripts.measure.audit import audited_call
from scripts.measure.driver_call import (
    DriverCall,
    RunContext,
    benchmark_of,
    without_places,
)
from scripts.measure.loop import Finished, Task
from scripts.measure.preparation import PrepareFailed, prepare, provide
from scripts.measure.result_check import (
    CheckedAnswer,
    empty_record,
    failure_line,
    validated,
    without_figures,
)
from scripts.planning.disk_room import DiskFull, is_full_error
from scripts.planning.executable import history_of_cell
from scripts.planning.order import ScheduledRepetition, is_retried
from scripts.regime.regime_site import RegimeError, Site


def run_unit(
    context: RunContext, repetitions: Sequence[ScheduledRepetition]
) -> Iterator[Finished]:
    """Measure the repetitions of a unit, then remove their data.

    A disturbed repetition is retried at once, from the same prepared database.  Each
    line is complete when it is yielded, and on disk when the next is requested.  Raises
    Interrupted, DiskFull, ExecutableChanged or WorkFolderLost.
    """
    with emptied_folder(context):
        unit = Unit()
        for scheduled in repetitions:
            for attempt in range(scheduled.attempt, context.plan.attempts + 1):
                yield unit.make(context, replace(scheduled, attempt=attempt))
                if not is_retried(context.plan, context.lines):
                    break


@contextmanager
def emptied_folder(context: RunContext) -> Iterator[None]:
    """Empty the work folder afterwards.  Raises DiskFull if the disk was full."""
    try:
        yield
    except OSError as error:
        context.scratch.check()
        if is_full_error(error):
            raise DiskFull(f"the data directory {context.work.parent}") from error
        raise
    finally:
        context.scratch.empty()


class Unit:
    """The prepared database that the cells of a unit share."""

    def __init__(self) -> None:
        self._is_prepared = False
        # A failed preparation is not retried: it fails all cells.
        self._failure: PrepareFailed | None = None

    def make(self, context: RunContext, scheduled: ScheduledRepetition) -> Finished:
        """Run one attempt; the wall time of the first includes the preparation."""
        started_ns = time.monotonic_ns()
        context.scratch.fresh("tmp")
        prepare_ns = self._prepare(context, scheduled)
        fields = _fields(context, scheduled, self._failure)
        wall_ns = time.monotonic_ns() - started_ns
        if fields["status"] == "ok":
            fields |= {"prepare_ns": prepare_ns, "wall_ns": wall_ns}
        return Finished(scheduled, _line(context, scheduled, fields), wall_ns / 1e9)

    def _prepare(
        self, context: RunContext, scheduled: ScheduledRepetition
    ) -> int | None:
        if self._is_prepared:
            return None
        self._is_prepared = True
        try:
            return prepare(context, scheduled)
        except PrepareFailed as error:
            self._failure = error
            return None


def _is_watched(plan: Plan, cell: CellName, repetition: int) -> bool:
    """Return whether the idle engine is watched for long: once in each scenario.

    That takes time, so it is done where a process is killed, too: in suites with
    latency repetitions.
    """
    if repetition > 1 or not plan.latency_repetitions:
        return False
    writing = [
        other
        for other in plan.cells
        if (other.engine, other.scenario) == (cell.engine, cell.scenario)
        and (benchmark := plan.benchmark(other)) is not None
        and benchmark.writes
    ]
    return writing[-1:] == [cell]


def _measured(
    context: RunContext,
    scheduled: ScheduledRepetition,
    database: Path,
    site: Site | None,
) -> dict[str, Any]:
    """Return the fields of one repetition, from the executable and the runner.

    REQUIRES: `database` is in the cell's initial state.  It is removed, unless a duet
    reads it.
    """
    benchmark = benchmark_of(context, scheduled)
    cell = context.plan.cells[scheduled.index]
    latency = context.plan.is_latency(scheduled.repetition)
    call = DriverCall(
        cell,
        scheduled.repetition,
        database,
        benchmark.name,
        history_of_cell(context.plan, cell),
        measured=True,
        latency=latency,
        killed=latency and benchmark.writes,
        watch_idle=_is_watched(context.plan, cell, scheduled.repetition),
        site=site,
    )
    context.starts(scheduled)
    observer = RepetitionMonitor(context.surroundings, database)
    outcome, checked, audit = audited_call(context, call, benchmark, observer)
    observed = observer.fields(checked.record if checked.ok else {})
    audit_field = audit.document() if audit else None
    if not context.duet:  # the next process may read the same copies
        shutil.rmtree(database, ignore_errors=True)
    if checked.ok:
        regime_context = context_of_cell(context.plan, cell, latency)
        if reason := unreached(checked.record, regime_context):
            checked = CheckedAnswer("excluded", reason, checked.record)
    if not checked.ok:
        fields = {
            **failure_line(checked),
            **without_figures(checked.status, checked.reason),
        }
        return {**fields, **observed, "audit": audit_field, "exit": outcome.exit}
    times = {"prepare_ns": None, "wall_ns": None}  # filled in by the caller
    end: dict[str, Any] = {"audit": audit_field, "exit": outcome.exit}
    if benchmark.writes and checked.record.get("promise") == LOSES_NOTHING:
        end["sync_floor_ns"] = sync_floor_ns(context.work)
    return {**checked.record, **observed, **times, **end}


def _fields(
    context: RunContext, scheduled: ScheduledRepetition, failure: PrepareFailed | None
) -> dict[str, Any]:
    """Return the fields of a line, whether measured or failed before that."""
    try:
        if failure is None:
            cell = context.plan.cells[scheduled.index]
            regime = context.plan.scenario(cell.scenario).regime
            site = context.sites.site(regime, context.work) if regime else None
            database = provide(context, scheduled, site)
            return _measured(context, scheduled, database, site)
    except PrepareFailed as error:
        failure = error
    except RegimeError as error:
        reason = without_places(context, str(error))
        failure = PrepareFailed(CheckedAnswer("error", reason, {}), None)
    checked = failure.checked
    fields = {**empty_record(), **without_figures(checked.status, checked.reason)}
    return {**fields, "exit": failure.exit}


def _line(
    context: RunContext, scheduled: ScheduledRepetition, fields: dict[str, Any]
) -> Record:
    cell = context.plan.cells[scheduled.index]
    is_latency = context.plan.is_latency(scheduled.repetition)
    cell_context = replace(
        context_of_cell(context.plan, cell, is_latency), passes=context.passes
    )
    return validated(
        {
            "schema": SCHEMA,
            "method": METHOD,
            "run": context.plan.run,
            "engine": cell.engine,
            "scenario": cell.scenario,
            "benchmark": cell.benchmark,
            "repetition": scheduled.repetition,
            "pass": context.plan.pass_of(scheduled.repetition),
            "attempt": scheduled.attempt,
            "order": scheduled.order,
            "seed": repetition_seed(context.plan.seed, scheduled.repetition),
            **{k: v for k, v in fields.items() if k not in _FROM_PLAN},
        },
        cell_context,
    )


_FROM_PLAN = ("schema", "method", "run", "engine", "scenario", "benchmark", "seed")


def obstacle_line(context: RunContext, scheduled: ScheduledRepetition) -> Finished:
    """Return the line of a cell that cannot run."""
    obstacle = context.plan.obstacle(context.plan.cells[scheduled.index])
    assert obstacle is not None
    fields = {**empty_record(), **without_figures(*obstacle)}
    return Finished(scheduled, _line(context, scheduled, fields), 0.0)


def task_of(
    context: RunContext,
    repetitions: Sequence[ScheduledRepetition],
    place: AbPlace | None = None,
) -> Task:
    """Return the task that measures these cells, or records why they cannot run."""
    plan = context.plan
    if plan.obstacle(plan.cells[repetitions[0].index]) is None:
        return Task(plan, partial(run_unit, context, repetitions), False, place)
    lines = partial(map, partial(obstacle_line, context), repetitions)
    return Task(plan, lines, True, place)
