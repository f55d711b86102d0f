"""Known failures: cells that an engine is declared to fail, with the evidence.

Only what is declared is expected: an answer that the executable itself finds wrong, or
an error.  Whatever the harness finds out by itself, such as an impossible figure or
different digests, is still wrong.  So is lost data: a failed audit is expected only if
the declaration says "audit of BENCHMARK".
"""

from __future__ import annotations

import fnmatch
from collections.abc import Mapping

from report.model.plan import KNOWN_FAILURE, Engine
from report.model.record import Record
from report.terms.rulebook import AUDIT_OF

PREPARING = "preparing the database: "  # starts the reason of a failed preparation


def evidence_of(engine: Engine, benchmark: str, audit: bool = False) -> str:
    """Return the evidence of a known failure of a benchmark or its audit, or ""."""
    name = f"{AUDIT_OF}{benchmark}" if audit else benchmark
    return next(
        (
            evidence
            for pattern, evidence in engine.known_failures.items()
            if pattern.startswith(AUDIT_OF) == audit and fnmatch.fnmatch(name, pattern)
        ),
        "",
    )


def as_declared(
    engine: Engine, record: Record, shown: tuple[str, str]
) -> tuple[str, str]:
    """Return the (status, reason) to be shown: a known failure, or as it was."""
    status, reason = shown
    if status != record["status"] or status not in ("wrong", "error"):
        return shown
    if reason.startswith(PREPARING) or _is_of_harness(record):
        return shown
    evidence = evidence_of(engine, record["benchmark"], _failed_audit(record))
    return (KNOWN_FAILURE, f"{reason}; known: {evidence}") if evidence else shown


def _failed_audit(record: Record) -> bool:
    audit: Mapping[str, object] = record.get("audit") or {}
    return bool(audit) and audit["status"] != "ok"


def _is_of_harness(record: Record) -> bool:
    """Return True for an answer that the runner rejected: it keeps nothing of it."""
    return record["status"] == "wrong" and record.get("options") is None
