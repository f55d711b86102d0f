"""Rules about the end: how a process ended, its files, and their audit."""

from __future__ import annotations

from report.model.record import KILLED, Record, passes_of
from report.trust.rule import Context, Rule

# Prefix of the reason where data was lost by a process killed right after its flush.
NOT_HANDED_OVER = "not handed to the operating system"


def ending(record: Record, context: Context) -> str:
    """Check that exactly the latency repetitions that write end by kill -9."""
    expected, ending = KILLED if context.killed else "closed", record["ending"]
    return "" if ending == expected else f"ending is {ending!r}, expected {expected!r}"


def nothing_after_kill(record: Record, context: Context) -> str:
    """Check that a killed process reports no work after the kill."""
    if record["ending"] != KILLED:
        return ""
    later: dict[str, object]
    if passes_of(record) > 1:
        last = record["passes"][-1]
        later = {"settle_ns": last["settle_ns"], "close_ns": last["close_ns"]}
    else:
        names = ("settle_ns", "close_ns", "idle_cpu_ns")
        later = {key: record.get(key) for key in names}
        later |= {f"deferred.{key}": value for key, value in record["deferred"].items()}
    done = next((key for key, value in later.items() if value), "")
    return f"{done} is {later[done]}, but the process was killed" if done else ""


def peak_on_disk(record: Record, context: Context) -> str:
    """Check that the peak size on disk is at least the final size."""
    peak, last = record["peak_disk_bytes"], record["disk_bytes"]
    return f"peak_disk_bytes {peak:,} < disk_bytes {last:,}" if peak < last else ""


def audited(record: Record, context: Context) -> str:
    """Check that a database that may have changed was audited afterwards."""
    is_expected = context.stores and context.benchmark.audited
    return "not audited" if is_expected and record["audit"] is None else ""


def audit(record: Record, context: Context) -> str:
    """Check that the audit found exactly the expected entries, even after a kill."""
    result = record["audit"]
    if result is None or result["status"] == "ok" or not context.stores:
        return ""
    what = NOT_HANDED_OVER if context.killed else "audit"
    return f"{what}: {result.get('reason') or result['status']}"


RULES = (
    Rule(ending, since=2, audits=True),
    Rule(nothing_after_kill, since=2),
    Rule(peak_on_disk, since=2, audits=True),
    Rule(audited, audits=True, of_line=True),
    Rule(audit, audits=True, of_line=True),
)
