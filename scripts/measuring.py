"""One cell measured once, and audited by a process that has not seen the first."""

import shutil
from typing import Any

from scripts.answer import AUDIT, Verdict, failure_line, nothing
from scripts.calls import Bench, Call, benchmark_of, execute
from scripts.plan import Cell, Plan, Turn
from scripts.preparing import FILL, provide


def measure(bench: Bench, turn: Turn) -> dict[str, Any]:
    """The executable's figures and the runner's own of one repetition."""
    benchmark = benchmark_of(bench, turn)
    cell = bench.plan.cells[turn.index]
    database = bench.work / "cell"
    provide(bench, benchmark, database)
    history = ((FILL, None),) if benchmark.prepare else ()
    bench.starts(turn)
    call = Call(cell, turn.repetition, database, benchmark.name, history, measured=True)
    outcome, verdict = execute(bench, call)
    audit = None
    if verdict.ok and benchmark.audited:
        ops = verdict.record["ops"]
        done = None if ops == verdict.record["planned_ops"] else ops
        own_part = ((benchmark.name, done),) if benchmark.writes else ()
        after = (*history, *own_part)
        audit, verdict = _audit(bench, call, after, verdict)
    shutil.rmtree(database, ignore_errors=True)
    if not verdict.ok:
        fields = {**failure_line(verdict), **nothing(verdict.status, verdict.reason)}
        return {**fields, "audit": audit, "exit": outcome.exit}
    own = {"prepare_ns": None, "audit": audit, "wall_ns": None, "exit": outcome.exit}
    return {**verdict.record, **own}


def _audit(
    bench: Bench,
    measured: Call,
    after: tuple[tuple[str, int | None], ...],
    verdict: Verdict,
) -> tuple[dict[str, Any], Verdict]:
    """A fresh process checks what the measured one left behind."""
    call = Call(measured.cell, measured.repetition, measured.database, AUDIT, after)
    outcome, audited = execute(bench, call)
    stores = _stores(bench.plan, measured.cell)
    audit = {
        "status": audited.status,
        "reason": audited.reason,
        "entries": audited.record["ops"] if audited.ok else None,
        "audit_ns": outcome.wall_ns if audited.ok else None,
    }
    if audited.ok or (audited.status == "unsupported" and not stores):
        return audit, verdict
    return audit, Verdict("wrong", f"audit: {audited.reason}", verdict.record)


def _stores(plan: Plan, cell: Cell) -> bool:
    description = plan.engine(cell.engine).description
    return description is not None and description.stores
