"""The audit: a fresh process checks what another one has left in a database."""

from dataclasses import dataclass
from typing import Any

from report.model.plan import CellName, Plan
from report.trust.rule import AUDIT
from scripts.machine.child_process import ProcessResult
from scripts.measure.driver_call import DriverCall, RunContext, run_driver
from scripts.measure.result_check import CheckedAnswer
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
