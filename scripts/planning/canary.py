"""Whether an engine failed in the canary, which a machine measures before all else."""

from collections.abc import Iterable

from report.model.plan import CANARY, Plan
from report.model.record import Record
from report.model.run import FAILURES
from report.trust.known_failures import as_declared
from scripts.planning.order import cell_of


def canary_failure(plan: Plan, lines: Iterable[Record]) -> str:
    """Return the first failure in the canary, with its cell; "" if all passed.

    A known failure does not count.
    """
    for line in lines:
        if line.get("pass") == CANARY:
            shown = line["status"], line["reason"]
            status, reason = as_declared(plan.engine(line["engine"]), line, shown)
            if status in FAILURES:
                return f"{cell_of(line)}: {status}: {reason}"
    return ""
