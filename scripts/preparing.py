"""The state that a measurement starts from: filled and audited once, then copied.

The audit is made on a copy, where that of a cell will be: an audit opens and closes
a database, and what is measured is the state that the fill has left.
"""

import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from scripts.answer import Verdict
from scripts.auditing import audit
from scripts.calls import Bench, Call, benchmark_of, execute, without_places
from scripts.disk import looks_full
from scripts.executable import Benchmark
from scripts.plan import Turn
from scripts.store import DiskFull

FILL = "filluniquerandom"
_COPY = ("cp", "-a", "--reflink=auto", "--sparse=auto", "--")
_SYNC = ("sync", "--file-system")
# Preparation is not measured: a short time limit of measurements is not its limit.
_TOOL_TIMEOUT_S = 600.0


class Failed(Exception):
    """A step before the measurement failed: every cell of the unit shares this."""

    def __init__(self, verdict: Verdict, exit_text: str | None) -> None:
        super().__init__(verdict.reason)
        self.verdict, self.exit = verdict, exit_text


def fresh(folder: Path) -> Path:
    """The folder, empty."""
    if folder.exists():
        shutil.rmtree(folder)
    folder.mkdir(parents=True)
    return folder


def prepare(bench: Bench, turn: Turn) -> int | None:
    """Fills and audits the unit's database; the wall time, or None if it needs none.

    The time is that of both processes.  Raises Failed.
    """
    benchmark = benchmark_of(bench, turn)
    if not benchmark.prepare:
        return None
    settle = benchmark.prepare != "unsettled"
    cell = bench.plan.cells[turn.index]
    database = fresh(bench.work / "prepared")
    call = Call(cell, turn.repetition, database, FILL, settle=settle)
    outcome, verdict = execute(bench, call)
    wall_ns = outcome.wall_ns
    if verdict.ok:
        copy = bench.work / "cell"
        provide(bench, benchmark, copy)
        found = audit(bench, replace(call, database=copy), ((FILL, None),))
        outcome, verdict = found.outcome, found.judged("audit", verdict)
        wall_ns += outcome.wall_ns
        shutil.rmtree(copy, ignore_errors=True)
    if not verdict.ok:
        reason = f"preparing the database: {verdict.reason}"
        raise Failed(Verdict(verdict.status, reason, {}), outcome.exit)
    return wall_ns


def provide(bench: Bench, benchmark: Benchmark, database: Path) -> None:
    """Puts the state a cell starts from in place, with nothing left to write back."""
    fresh(database)
    if benchmark.prepare:
        database.rmdir()
        _tool(bench, (*_COPY, str(bench.work / "prepared"), str(database)))
    _tool(bench, (*_SYNC, str(bench.work)))


def _tool(bench: Bench, command: Sequence[str]) -> None:
    """Runs a preparation of the next measurement.  Raises DiskFull or Failed."""
    outcome = bench.spawner.run(command, max(bench.plan.timeout_s, _TOOL_TIMEOUT_S))
    if outcome.exit != "0":
        if looks_full(bench.work, outcome.stderr_tail):
            raise DiskFull("the data directory")
        problem = f"{command[0]} ended with {outcome.exit}: {outcome.stderr_tail}"
        reason = without_places(bench, problem)
        raise Failed(Verdict("error", reason, {}), outcome.exit)
