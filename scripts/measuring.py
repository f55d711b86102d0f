"""One cell measured once, and audited by a process that has not seen the first."""

import shutil
from typing import Any

from scripts.answer import Verdict, failure_line, nothing
from scripts.calls import Bench, Call, benchmark_of, execute
from scripts.figures import AUDIT
from scripts.observing import Observer
from scripts.plan import Cell, Plan, Turn
from scripts.preparing import FILL, provide

# Of a process that died right after its flush: what it wrote is not all there.
NOT_HANDED_OVER = "not handed to the operating system"


def measure(bench: Bench, turn: Turn) -> dict[str, Any]:
    """The executable's figures and the runner's own of one repetition."""
    benchmark = benchmark_of(bench, turn)
    cell = bench.plan.cells[turn.index]
    database = bench.work / "cell"
    provide(bench, benchmark, database)
    history = ((FILL, None),) if benchmark.prepare else ()
    latency = bench.plan.is_latency(turn.repetition)
    call = Call(
        cell,
        turn.repetition,
        database,
        benchmark.name,
        history,
        measured=True,
        latency=latency,
        killed=latency and benchmark.writes,
    )
    bench.starts(turn)
    observer = Observer(bench.surroundings, database)
    outcome, verdict = execute(bench, call, observer)
    observed = observer.fields(verdict.record)
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
        return {**fields, **observed, "audit": audit, "exit": outcome.exit}
    own = {"prepare_ns": None, "audit": audit, "wall_ns": None, "exit": outcome.exit}
    return {**verdict.record, **observed, **own}


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
        "open_ns": audited.record["open_ns"] if audited.ok else None,
    }
    if audited.ok or (audited.status == "unsupported" and not stores):
        return audit, verdict
    what = NOT_HANDED_OVER if measured.killed else "audit"
    return audit, Verdict("wrong", f"{what}: {audited.reason}", verdict.record)


def _stores(plan: Plan, cell: Cell) -> bool:
    description = plan.engine(cell.engine).description
    return description is not None and description.stores
