"""One cell measured once, and audited by a process that has not seen the first."""

import shutil
from typing import Any

from report.model.record import Record
from report.terms.rulebook import Benchmark
from report.trust.ending_rules import NOT_HANDED_OVER
from scripts.machine.child_process import ProcessResult
from scripts.machine.repetition_monitor import RepetitionMonitor
from scripts.measure.audit import Audit, audit
from scripts.measure.driver_call import DriverCall, RunContext, benchmark_of, run_driver
from scripts.measure.preparation import history_of_cell, provide
from scripts.measure.result_check import CheckedAnswer, failure_line, without_figures
from scripts.planning.executable import Step
from scripts.planning.order import ScheduledRepetition


def measure(bench: RunContext, turn: ScheduledRepetition) -> dict[str, Any]:
    """The executable's figures and the runner's own of one repetition."""
    benchmark = benchmark_of(bench, turn)
    cell = bench.plan.cells[turn.index]
    database = bench.work / "cell"
    provide(bench, bench.plan.start(cell), database)
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
    outcome, verdict, found = audited_call(bench, call, benchmark, observer)
    observed = observer.fields(verdict.record)
    audited = found.document() if found else None
    shutil.rmtree(database, ignore_errors=True)
    if not verdict.ok:
        fields = {
            **failure_line(verdict),
            **without_figures(verdict.status, verdict.reason),
        }
        return {**fields, **observed, "audit": audited, "exit": outcome.exit}
    own = {"prepare_ns": None, "audit": audited, "wall_ns": None, "exit": outcome.exit}
    return {**verdict.record, **observed, **own}


def audited_call(
    bench: RunContext,
    call: DriverCall,
    benchmark: Benchmark,
    observer: RepetitionMonitor | None = None,
) -> tuple[ProcessResult, CheckedAnswer, Audit | None]:
    """One measured process, judged by what a fresh one finds if it changed anything."""
    outcome, verdict = run_driver(bench, call, observer)
    if not verdict.ok or not benchmark.audited:
        return outcome, verdict, None
    own_part = (_step(benchmark, verdict.record),) if benchmark.writes else ()
    found = audit(bench, call, (*call.after, *own_part))
    what = NOT_HANDED_OVER if call.killed else "audit"
    return outcome, found.judged(what, verdict), found


def _step(benchmark: Benchmark, record: Record) -> Step:
    """What a process did to its database, as far as its flags do not tell."""
    by_thread = tuple(record.get("ops_by_thread") or (record["ops"],))
    is_whole = benchmark.kind in ("write", "delete") and len(by_thread) == 1
    if is_whole and record["ops"] == record["planned_ops"]:
        return benchmark.name, ()
    return benchmark.name, by_thread
