"""Rules about the work: operations, what they found, and their options."""

from __future__ import annotations

from report.model.plan import FLOOR
from report.model.record import Record, count_of, passes_of
from report.terms.documents import shown
from report.trust.rule import AUDIT, Context, Rule

_TIMES = ("open_ns", "loop_ns", "flush_ns", "settle_ns", "close_ns")


def known_benchmark(record: Record, context: Context) -> str:
    """Check that the engine's description includes the benchmark."""
    if context.kind:
        return ""
    return "the engine's description does not have this benchmark"


def verified(record: Record, context: Context) -> str:
    """Check that a record is verified unless the engine is a floor without data."""
    if not context.stores and not context.is_floor:
        return f'the engine stores nothing, but its role is not "{FLOOR}"'
    verified = record["verified"]
    return "" if verified is context.stores else f"verified is {verified}"


def options(record: Record, context: Context) -> str:
    """Check that the options of a record equal the flags of the plan."""
    actual = record["options"]
    for key, due in context.benchmark.options(context.flags).items():
        is_same = actual.get(key) == due and isinstance(actual.get(key), bool) == (
            isinstance(due, bool)
        )
        if not is_same and (key in actual or key in context.flags):
            return f"option {key} is {shown(actual.get(key))}, expected {shown(due)}"
    return ""


def planned_operations(record: Record, context: Context) -> str:
    """Check that the planned operations follow from the flags."""
    due = context.benchmark.planned_ops(context.flags) * passes_of(record)
    planned = record["planned_ops"]
    if context.benchmark.ends_by_time(context.flags) and planned == record["ops"]:
        return ""  # other lines are of earlier executables, which had an amount
    is_most = context.benchmark.plan_is_most(context.filled_by)
    if planned == due or (is_most and planned < due):
        return ""
    return f"{planned:,} operations planned, expected {due:,}"


def no_more_operations(record: Record, context: Context) -> str:
    """Check that there are no more operations than planned."""
    ops, planned = record["ops"], record["planned_ops"]
    if ops <= planned or _audits_nothing(context):
        return ""
    return f"{ops:,} operations, but only {planned:,} were planned"


def no_fewer_operations(record: Record, context: Context) -> str:
    """Check that no operations are missing unless a time limit ended the loop."""
    ops, planned = record["ops"], record["planned_ops"]
    if ops >= planned or record["truncated"] or _audits_nothing(context):
        return ""
    return f"{ops:,} of {planned:,} planned operations, without a time limit"


def _audits_nothing(context: Context) -> bool:
    """Return True for the audit of an engine that keeps no data."""
    return context.kind == AUDIT and not context.stores


def time_limit(record: Record, context: Context) -> str:
    """Check that a record is truncated only if it had a time limit."""
    is_asked = bool(context.flags.get("duration"))
    return "truncated without a time limit" if record["truncated"] > is_asked else ""


def time_of_operations(record: Record, context: Context) -> str:
    """Check that each operation takes at least a nanosecond."""
    ops = record["ops"]
    if record["loop_ns"] * context.threads >= ops:
        return ""
    return f"less than 1 ns for each of {ops:,} operations"


def time_of_process(record: Record, context: Context) -> str:
    """Check that the times of a record fit into the time of its process."""
    wall_ns = context.process_ns
    wall_ns = record.get("wall_ns") if wall_ns is None else wall_ns
    total_ns = sum(count_of(record, key) or 0 for key in _TIMES)
    if wall_ns is None or total_ns <= wall_ns:
        return ""
    return f"{total_ns:,} ns of work in a process of {wall_ns:,} ns"


def found_no_more(record: Record, context: Context) -> str:
    """Check that only a mix with scans finds more entries than it has operations."""
    found, ops = record.get("found") or 0, record["ops"]
    if found <= ops or context.kind == "mix":
        return ""
    return f"found {found:,} entries in {ops:,} operations"


def found_what_it_asked(record: Record, context: Context) -> str:
    """Check that all reads of present keys succeed and all of absent keys fail."""
    finds = context.benchmark.finds_after(context.filled_by)
    if not context.stores or context.kind != "read" or finds == "any":
        return ""
    due = _entries_due(record["ops"], record["digest"], finds)
    found = record.get("found") or 0
    return "" if found == due else f"found {found:,} entries, expected {due:,}"


def found_has_digest(record: Record, context: Context) -> str:
    """Check that a read that found entries does not have the digest of no entries."""
    found, digest = record.get("found"), record["digest"]
    is_kept = context.stores and context.kind == "read"
    if not is_kept or not found or not digest or digest.strip("0"):
        return ""
    return f"found {found:,} entries, but the digest is that of none"


def digest(record: Record, context: Context) -> str:
    """Check that a record has a digest if its reads do not depend on timing."""
    is_due = record["schema"] >= 3 or record["verified"]
    if record["digest"] is None and is_due and not _is_chance(record, context):
        return "no digest, although the work is deterministic"
    return ""


def digest_of_chance(record: Record, context: Context) -> str:
    """Check that a record has no digest if its reads depend on timing."""
    if record["digest"] is None or not _is_chance(record, context):
        return ""
    return "a digest, although the work depends on timing"


def _is_chance(record: Record, context: Context) -> bool:
    """Return True if the order in which threads run decides what is read."""
    is_shared = context.kind == "mix" or record["truncated"]
    return context.benchmark.writer or (context.threads > 1 and is_shared)


def _entries_due(ops: int, digest: str | None, finds: str = "") -> int:
    """Return how many entries `ops` reads of a filled database must find.

    `finds` decides if it is "all" or "none".  Otherwise the digest does: reads of
    absent keys leave it at zero, and all other keys are present.
    """
    if finds in ("all", "none"):
        return ops if finds == "all" else 0
    return ops if digest and digest.strip("0") else 0


RULES = (
    Rule(known_benchmark),
    Rule(verified, audits=True),
    Rule(options, since=3, audits=True),
    Rule(planned_operations, planned=True),
    Rule(no_more_operations, audits=True),
    Rule(no_fewer_operations, audits=True),
    Rule(time_limit, planned=True, audits=True),
    Rule(time_of_operations, audits=True),
    Rule(time_of_process, audits=True),
    Rule(found_no_more),
    Rule(found_what_it_asked),
    Rule(found_has_digest),
    Rule(digest),
    Rule(digest_of_chance),
)
