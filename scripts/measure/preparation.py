"""The state that a measurement starts from: filled and audited once, then copied.

The audit is made on a copy, where that of a cell will be: an audit opens and closes
a database, and what is measured is the state that the fill has left.
"""

import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from report.model.plan import InitialState
from scripts.machine.child_process import ProcessResult
from scripts.measure.audit import audit
from scripts.measure.driver_call import DriverCall, RunContext, without_places
from scripts.measure.result_check import CheckedAnswer, run_driver
from scripts.planning.disk_room import DiskFull, looks_full
from scripts.planning.order import ScheduledRepetition

_COPY = ("cp", "-a", "--reflink=auto", "--sparse=auto", "--")
_SYNC = ("sync", "--file-system")
# Preparation is not measured: a short time limit of measurements is not its limit.
_TOOL_TIMEOUT_S = 600.0


class PrepareFailed(Exception):
    """A step before the measurement failed: every cell of the unit shares this."""

    def __init__(self, verdict: CheckedAnswer, exit_text: str | None) -> None:
        super().__init__(verdict.reason)
        self.verdict, self.exit = verdict, exit_text


def fresh(folder: Path) -> Path:
    """The folder, empty."""
    if folder.exists():
        shutil.rmtree(folder)
    folder.mkdir(parents=True)
    return folder


def prepare(bench: RunContext, turn: ScheduledRepetition) -> int | None:
    """Fills and audits the unit's database; the wall time, or None if it needs none.

    The time is that of both processes.  Raises Failed.
    """
    cell = bench.plan.cells[turn.index]
    start = bench.plan.start(cell)
    if start is None:
        return None
    database = fresh(bench.work / "prepared")
    call, wall_ns = DriverCall(cell, turn.repetition, database, ""), 0
    for number, name in enumerate(start.fill, 1):
        is_last = number == len(start.fill)
        after = tuple((step, ()) for step in start.fill[: number - 1])
        settle = start.settled and is_last
        call = replace(call, benchmark=name, after=after, settle=settle)
        outcome, verdict = run_driver(bench, call)
        wall_ns += outcome.wall_ns
        _check(verdict, outcome)
    copy = bench.work / "cell"
    provide(bench, start, copy)
    all_of_it = tuple((step, ()) for step in start.fill)
    found = audit(bench, replace(call, database=copy), all_of_it)
    _check(found.judged("audit", verdict), found.outcome)
    shutil.rmtree(copy, ignore_errors=True)
    return wall_ns + found.outcome.wall_ns


def _check(verdict: CheckedAnswer, outcome: ProcessResult) -> None:
    """Raises Failed unless all is well."""
    if not verdict.ok:
        reason = f"preparing the database: {verdict.reason}"
        raise PrepareFailed(CheckedAnswer(verdict.status, reason, {}), outcome.exit)


def provide(bench: RunContext, start: InitialState | None, database: Path) -> None:
    """Puts the state a cell starts from in place, with nothing left to write back."""
    fresh(database)
    if start is not None:
        database.rmdir()
        _tool(bench, (*_COPY, str(bench.work / "prepared"), str(database)))
    _tool(bench, (*_SYNC, str(bench.work)))


def _tool(bench: RunContext, command: Sequence[str]) -> None:
    """Runs a preparation of the next measurement.  Raises DiskFull or Failed."""
    outcome = bench.executor.run(
        command, max(bench.plan.suite.timeout_s, _TOOL_TIMEOUT_S)
    )
    if outcome.exit != "0":
        if looks_full(bench.work, outcome.stderr_tail):
            raise DiskFull("the data directory")
        problem = f"{command[0]} ended with {outcome.exit}: {outcome.stderr_tail}"
        reason = without_places(bench, problem)
        raise PrepareFailed(CheckedAnswer("error", reason, {}), outcome.exit)
