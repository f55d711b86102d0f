"""Rules about passes: the same work again and again, for a least time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from report.model.record import KILLED, PassFigures, Record, passes_of
from report.terms.rulebook import paced
from report.trust.rule import Context, Rule

MOST_PASSES = 1000  # common/run/passes.h
MOST_PASSES_OF_NOTHING = 10  # the same, of an engine that stores nothing
# A process that is killed decides before its flush which pass is the last, by a clock
# that starts a little before the loop.
_LEAST_OF_KILLED = 0.99


def passes(record: Record, context: Context) -> str:
    """Check that a record has passes if and only if a least time was requested."""
    is_asked, has_passes = bool(_least_ns(context)), bool(record.get("passes"))
    if is_asked == has_passes:
        return ""
    return f"passes are {'missing' if is_asked else 'present, but were not requested'}"


def passes_add_up(record: Record, context: Context) -> str:
    """Check that the times of the passes add up to those of the record."""
    listed = cast(Sequence[Mapping[str, int]], record.get("passes") or ())
    for key in PassFigures.__annotations__ if listed else ():
        total, due = record.get(key), sum(one[key] for one in listed)
        if total != due:
            return f"{key} is {total:,}, but the passes add up to {due:,}"
    return ""


def passes_are_alike(record: Record, context: Context) -> str:
    """Check that the operations can be divided by the number of passes."""
    number = passes_of(record)
    counts = [record["ops"], record["planned_ops"], record.get("found") or 0]
    counts += record.get("ops_by_thread") or ()
    if not any(count % number for count in counts):
        return ""
    return f"{record['ops']:,} operations in {number} equal passes"


def passes_are_enough(record: Record, context: Context) -> str:
    """Check that passes end at the least time; a killed process may make one more."""
    least_ns, listed = _least_ns(context), record.get("passes") or ()
    if not least_ns or not listed:
        return ""
    if due := context.passes or record.get("ab", {}).get("passes", 0):
        return "" if len(listed) == due else f"{len(listed)} passes, expected {due}"
    most = MOST_PASSES if context.stores else MOST_PASSES_OF_NOTHING
    if len(listed) == most:
        return ""
    worked_ns = [one["loop_ns"] + one["flush_ns"] for one in listed]
    if record["ending"] == KILLED:
        least_ns = int(least_ns * _LEAST_OF_KILLED)
    elif sum(worked_ns[:-1]) >= least_ns:
        return f"a pass after the least time of {least_ns:,} ns"
    if sum(worked_ns) >= least_ns:
        return ""
    return f"{sum(worked_ns):,} ns of work, but at least {least_ns:,} were requested"


def _least_ns(context: Context) -> int:
    """Return the requested time; an open loop has none, nor has an audit."""
    flags = paced(context.flags, context.pace)
    return int(float(flags.get("min_time") or 0) * 1e9)


RULES = tuple(
    Rule(fault, since=3, planned=True)
    for fault in (passes, passes_add_up, passes_are_alike, passes_are_enough)
)
