"""The audit: a fresh process checks what another one has left in a database."""

from dataclasses import dataclass
from typing import Any

from report.model.plan import CellName, Plan
from report.model.record import Record
from report.terms.rulebook import Benchmark
from report.trust.ending_rules import NOT_HANDED_OVER
from report.trust.rule import AUDIT
from scripts.machine.child_process import ProcessResult
from scripts.machine.repetition_monitor import RepetitionMonitor
from scripts.measure.driver_call import DriverCall, RunContext
from scripts.measure.result_check import CheckedAnswer, run_driver
from scripts.planning.executable import Step


@dataclass(frozen=True)
class Audit:
    """What the fresh process said."""

    outcome: ProcessResult
    verdict: CheckedAnswer
    stores: bool  # whether the engine keeps what it is given

    @property
    def accepted(self) -> bool:
        """Whether the database may be believed."""
        unsupported = self.verdict.status == "unsupported"
        return self.verdict.ok or (unsupported and not self.stores)

    def judged(self, what: str, before: CheckedAnswer) -> CheckedAnswer:
        """The verdict on the audited process, which was `before` until now."""
        if self.accepted:
            return before
        return CheckedAnswer("wrong", f"{what}: {self.verdict.reason}", before.record)

    def document(self) -> dict[str, Any]:
        """As the line of a repetition has it."""
        ok, record = self.verdict.ok, self.verdict.record
        return {
            "status": self.verdict.status,
            "reason": self.verdict.reason,
            "entries": record["ops"] if ok else None,
            "audit_ns": self.outcome.wall_ns if ok else None,
            "open_ns": record["open_ns"] if ok else None,
        }


def audit(bench: RunContext, audited: DriverCall, after: tuple[Step, ...]) -> Audit:
    """Checks the database of a process; `after` is all that the database has seen."""
    call = DriverCall(audited.cell, audited.repetition, audited.database, AUDIT, after)
    outcome, verdict = run_driver(bench, call)
    return Audit(outcome, verdict, _stores(bench.plan, audited.cell))


def _stores(plan: Plan, cell: CellName) -> bool:
    description = plan.engine(cell.engine).description
    return description is not None and description.stores


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
