"""Rules of the pace of a loop: its timeline, and the times in which it stalled."""

from __future__ import annotations

from itertools import pairwise

from report.model.record import Record
from report.trust.rule import ONE_CALL_ALONE, Context, Rule

_MOST_INTERVALS, _LEAST_INTERVALS = 256, 100
_LEAST_STALL_NS = 100_000_000
_LISTED_STALLS = 100


def timeline(record: Record, context: Context) -> str:
    """It has a timeline, unless it is one call on the engine."""
    is_one_call = context.kind == ONE_CALL_ALONE
    if bool(record["timeline"]) != is_one_call:
        return ""
    return "a timeline of one operation" if is_one_call else "no timeline"


def timeline_rises(record: Record, context: Context) -> str:
    """Its timeline neither stands still nor goes back."""
    for earlier, later in pairwise(record["timeline"]):
        if later[0] <= earlier[0] or later[1] <= earlier[1]:
            return f"its timeline stands still or goes back after {earlier[0]:,} ns"
    return ""


def timeline_end(record: Record, context: Context) -> str:
    """Its timeline ends where its loop ended."""
    points, end = record["timeline"], [record["loop_ns"], record["ops"]]
    if not points or list(points[-1]) == end:
        return ""
    told = f"{points[-1][0]:,} ns and {points[-1][1]:,} operations"
    return f"its timeline ends at {told}, its loop at {end[0]:,} and {end[1]:,}"


def timeline_intervals(record: Record, context: Context) -> str:
    """A timeline of many calls has 100 to 256 intervals."""
    number, calls = len(record["timeline"]), context.calls(record)
    least = _LEAST_INTERVALS if number and calls >= _MOST_INTERVALS else 0
    if least <= number <= _MOST_INTERVALS:
        return ""
    return f"a timeline of {number} intervals for {calls:,} calls"


def stalls_listed(record: Record, context: Context) -> str:
    """The first hundred stalls are listed."""
    listed, count = len(record["stalls"]), record["stall_count"]
    if listed == min(count, _LISTED_STALLS):
        return ""
    return f"{listed} stalls listed of {count}"


def stalls_sum(record: Record, context: Context) -> str:
    """The stalls that are listed add up to all the time stalled."""
    listed_ns = sum(stall["lasted_ns"] for stall in record["stalls"])
    total_ns = record["stalled_ns"]
    is_whole = record["stall_count"] <= _LISTED_STALLS
    if total_ns == listed_ns or (total_ns > listed_ns and not is_whole):
        return ""
    return f"{total_ns:,} ns of stalls, {listed_ns:,} ns listed"


def stalls_last(record: Record, context: Context) -> str:
    """A stall lasts a tenth of a second at least."""
    shortest = min((s["lasted_ns"] for s in record["stalls"]), default=_LEAST_STALL_NS)
    return f"a stall of {shortest:,} ns" if shortest < _LEAST_STALL_NS else ""


def stalls_within_loop(record: Record, context: Context) -> str:
    """A stall ends before its loop does."""
    ends_ns = max((s["at_ns"] + s["lasted_ns"] for s in record["stalls"]), default=0)
    return "a stall beyond the end of its loop" if ends_ns > record["loop_ns"] else ""


def stalled_within_loop(record: Record, context: Context) -> str:
    """It stalls no longer than its loop lasts."""
    is_longer = record["stalled_ns"] > record["loop_ns"]
    return "stalled longer than its loop" if is_longer else ""


RULES = (
    Rule(timeline, since=2),
    Rule(timeline_rises, since=2),
    Rule(timeline_end, since=2),
    Rule(timeline_intervals, since=2),
    Rule(stalls_listed, since=2),
    Rule(stalls_sum, since=2),
    Rule(stalls_last, since=2),
    Rule(stalls_within_loop, since=2),
    Rule(stalled_within_loop, since=2),
)
