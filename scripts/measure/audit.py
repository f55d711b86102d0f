"""The audit: a fresh process checks the database that another process wrote."""

from dataclasses import dataclass
from typing import Any

from report.model.plan import CellName, Plan
from report.model.record import Record, passes_of
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
    """The result of an audit."""

    outcome: ProcessResult
    checked: CheckedAnswer
    stores: bool  # False for an engine that discards its input by design

    @property
    def accepted(self) -> bool:
        """True if the database passed, or if the engine stores nothing to audit."""
        unsupported = self.checked.status == "unsupported"
        return self.checked.ok or (unsupported and not self.stores)

    def judged(self, prefix: str, checked: CheckedAnswer) -> CheckedAnswer:
        """Return `checked`, or "wrong" with the reason prefixed if the audit failed."""
        if self.accepted:
            return checked
        reason = f"{prefix}: {self.checked.reason}"
        return CheckedAnswer("wrong", reason, checked.record)

    def document(self) -> dict[str, Any]:
        """Return the `audit` object of a result line."""
        ok, record = self.checked.ok, self.checked.record
        return {
            "status": self.checked.status,
            "reason": self.checked.reason,
            "entries": record["ops"] if ok else None,
            "digest": record["digest"] if ok else None,
            "audit_ns": self.outcome.wall_ns if ok else None,
            "open_ns": record["open_ns"] if ok else None,
        }


def audit(context: RunContext, audited: DriverCall, after: tuple[Step, ...]) -> Audit:
    """Audit the database of a process in a fresh process.

    `after` lists every benchmark that has written to the database, in order.  With a
    regime, a killed process's database is evicted, and any other one is in memory; the
    audit has no memory limit.  Raises RegimeError.
    """
    if audited.site and audited.killed:
        audited.site.evict(audited.database)  # the time to recover is a cold one
    elif audited.site:
        audited.site.load(audited.database)
    call = DriverCall(audited.cell, audited.repetition, audited.database, AUDIT, after)
    outcome, checked = run_driver(context, call)
    return Audit(outcome, checked, _stores(context.plan, audited.cell))


def _stores(plan: Plan, cell: CellName) -> bool:
    description = plan.engine(cell.engine).description
    return description is not None and description.stores


def audited_call(
    context: RunContext,
    call: DriverCall,
    benchmark: Benchmark,
    observer: RepetitionMonitor | None = None,
) -> tuple[ProcessResult, CheckedAnswer, Audit | None]:
    """Run a process and, if its benchmark is audited, audit its database.

    Return the outcome, the checked answer and the audit.  An audit that fails makes the
    answer "wrong".
    """
    outcome, checked = run_driver(context, call, observer)
    if not checked.ok or not benchmark.audited:
        return outcome, checked, None
    steps = _steps(benchmark, checked.record) if benchmark.writes else ()
    result = audit(context, call, (*call.after, *steps))
    prefix = NOT_HANDED_OVER if call.killed else "audit"
    return outcome, result.judged(prefix, checked), result


def _steps(benchmark: Benchmark, record: Record) -> tuple[Step, ...]:
    """Return what a process wrote: its warm-up, if it had one, and its loop.

    The operations of each thread are included, unless a single thread did exactly the
    planned writes or deletes: its flags then determine the contents.
    """
    passes = passes_of(record)  # each begins with an empty database
    by_thread = tuple(
        ops // passes for ops in record.get("ops_by_thread") or (record["ops"],)
    )
    is_whole = benchmark.kind in ("write", "delete") and len(by_thread) == 1
    if record.get("truncated"):  # by a time limit alone: all of it was planned
        is_whole = False
    if is_whole and record["ops"] == record["planned_ops"]:
        return ((benchmark.name, ()),)
    warmup = tuple(record.get("warmup_ops_by_thread") or ())
    return tuple((benchmark.name, ops) for ops in (warmup, by_thread) if ops)
