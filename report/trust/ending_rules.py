"""Rules of what is left: how a process ended, its files, the audit of them."""

from __future__ import annotations

from report.model.record import KILLED, Record
from report.trust.rule import Context, Rule

# Of a process that died right after its flush: what it wrote is not all there.
NOT_HANDED_OVER = "not handed to the operating system"


def ending(record: Record, context: Context) -> str:
    """A latency repetition that writes ends as by kill -9, and no other does."""
    wanted = KILLED if context.killed else "closed"
    told = record["ending"]
    return "" if told == wanted else f"ending is {told!r}, asked for {wanted!r}"


def nothing_after_kill(record: Record, context: Context) -> str:
    """A process that was killed does nothing afterwards."""
    if record["ending"] != KILLED:
        return ""
    later: dict[str, object]
    later = {key: record.get(key) for key in ("settle_ns", "close_ns", "idle_cpu_ns")}
    later |= {f"deferred.{key}": value for key, value in record["deferred"].items()}
    done = next((key for key, value in later.items() if value), "")
    return f"{done} is {later[done]} in a process that was killed" if done else ""


def peak_on_disk(record: Record, context: Context) -> str:
    """It takes no less on disk at its peak than at its end."""
    peak, last = record["peak_disk_bytes"], record["disk_bytes"]
    return f"peak_disk_bytes {peak:,} below disk_bytes {last:,}" if peak < last else ""


def audited(record: Record, context: Context) -> str:
    """What may have changed a database was audited afterwards."""
    is_due = context.stores and context.benchmark.audited
    return "not audited" if is_due and record["audit"] is None else ""


def audit(record: Record, context: Context) -> str:
    """The audit found what was to be there, also after a kill."""
    found = record["audit"]
    if found is None or found["status"] == "ok" or not context.stores:
        return ""
    what = NOT_HANDED_OVER if context.killed else "audit"
    return f"{what}: {found.get('reason') or found['status']}"


RULES = (
    Rule(ending, since=2, audits=True),
    Rule(nothing_after_kill, since=2),
    Rule(peak_on_disk, since=2, audits=True),
    Rule(audited, audits=True, of_line=True),
    Rule(audit, audits=True, of_line=True),
)
