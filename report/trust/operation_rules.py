"""Rules of what was done: operations, what they found, the options they had."""

from __future__ import annotations

from report.model.record import Record, count_of
from report.trust.rule import AUDIT, Context, Rule

_TIMES = ("open_ns", "loop_ns", "flush_ns", "settle_ns", "close_ns")


def known_benchmark(record: Record, context: Context) -> str:
    """Its engine's description has its benchmark."""
    if context.kind:
        return ""
    return "the description of the engine does not have this benchmark"


def verified(record: Record, context: Context) -> str:
    """It is verified, unless its engine keeps nothing."""
    told = record["verified"]
    return "" if told is context.stores else f"verified is {told}"


def options(record: Record, context: Context) -> str:
    """Its options are the flags that were asked for."""
    told = record["options"]
    for key, due in context.benchmark.options(context.flags).items():
        is_same = told.get(key) == due and isinstance(told.get(key), bool) == (
            isinstance(due, bool)
        )
        if not is_same and (key in told or key in context.flags):
            return f"option {key} is {told.get(key)!r}, asked for {due!r}"
    return ""


def planned_operations(record: Record, context: Context) -> str:
    """It plans the operations that its flags ask for."""
    due = context.benchmark.planned_ops(context.flags)
    planned = record["planned_ops"]
    is_most = context.benchmark.plan_is_most(context.filled_by)
    if planned == due or (is_most and planned < due):
        return ""
    return f"{planned:,} operations planned, where the plan asks for {due:,}"


def no_more_operations(record: Record, context: Context) -> str:
    """It makes no more operations than planned."""
    ops, planned = record["ops"], record["planned_ops"]
    if ops <= planned or _audits_nothing(context):
        return ""
    return f"{ops:,} operations of {planned:,} planned"


def no_fewer_operations(record: Record, context: Context) -> str:
    """It makes no fewer operations than planned, unless a time limit ended it."""
    ops, planned = record["ops"], record["planned_ops"]
    if ops >= planned or record["truncated"] or _audits_nothing(context):
        return ""
    return f"{ops:,} operations of {planned:,} planned, and no time limit"


def _audits_nothing(context: Context) -> bool:
    """Return whether it counts the entries of an engine that keeps none."""
    return context.kind == AUDIT and not context.stores


def time_limit(record: Record, context: Context) -> str:
    """No time limit ended it, unless it had one."""
    is_asked = bool(context.flags.get("duration"))
    return "truncated without a time limit" if record["truncated"] > is_asked else ""


def time_of_operations(record: Record, context: Context) -> str:
    """Each operation takes a nanosecond at least."""
    ops = record["ops"]
    if record["loop_ns"] * context.threads >= ops:
        return ""
    return f"less than 1 ns for each of {ops:,} operations"


def time_of_process(record: Record, context: Context) -> str:
    """Its times fit into that of its process."""
    wall_ns = context.process_ns
    wall_ns = record.get("wall_ns") if wall_ns is None else wall_ns
    total_ns = sum(count_of(record, key) or 0 for key in _TIMES)
    if wall_ns is None or total_ns <= wall_ns:
        return ""
    return f"{total_ns:,} ns of work in a process of {wall_ns:,} ns"


def found_no_more(record: Record, context: Context) -> str:
    """Nothing but a mix with scans finds more entries than it makes operations."""
    found, ops = record.get("found") or 0, record["ops"]
    if found <= ops or context.kind == "mix":
        return ""
    return f"found {found:,} entries in {ops:,} operations"


def found_what_it_asked(record: Record, context: Context) -> str:
    """A read finds all that it asks for, or nothing where nothing is to be found."""
    told = context.benchmark.finds_after(context.filled_by)
    if not context.stores or context.kind != "read" or told == "any":
        return ""
    due = _entries_due(record["ops"], record["digest"], told)
    found = record.get("found") or 0
    return "" if found == due else f"found {found:,} entries of {due:,}"


def found_has_digest(record: Record, context: Context) -> str:
    """What a read has found has a digest."""
    found, digest = record.get("found"), record["digest"]
    is_kept = context.stores and context.kind == "read"
    if not is_kept or not found or not digest or digest.strip("0"):
        return ""
    return f"found {found:,} entries, with a digest of none"


def digest(record: Record, context: Context) -> str:
    """It has a digest, unless threads leave to chance what is read."""
    is_due = record["schema"] >= 3 or record["verified"]
    if record["digest"] is None and is_due and not _is_chance(record, context):
        return "no digest, and nothing left to chance"
    return ""


def digest_of_chance(record: Record, context: Context) -> str:
    """It has no digest of what threads leave to chance."""
    if record["digest"] is None or not _is_chance(record, context):
        return ""
    return "a digest of what is left to chance"


def _is_chance(record: Record, context: Context) -> bool:
    is_shared = context.kind == "mix" or record["truncated"]
    return context.benchmark.writer or (context.threads > 1 and is_shared)


def _entries_due(ops: int, digest: str | None, finds: str = "") -> int:
    """Entries that `ops` reads of a filled database find.

    By what its description says that the benchmark finds.  Where that is not all
    or none, keys that were cut short so as to be missing leave a digest of
    nothing, and all others are there.
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
