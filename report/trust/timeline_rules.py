"""Rules about the progress of a loop: its timeline and its stalls."""

from __future__ import annotations

from itertools import pairwise

from report.model.record import Record
from report.trust.rule import ONE_CALL_ALONE, READS, Context, Rule

_MOST_INTERVALS, _LEAST_INTERVALS = 256, 100
_MOST_GETS_OF_CALL = 64  # until method 2, of engines in other languages
_LEAST_STALL_NS = 100_000_000
_LISTED_STALLS = 100


def timeline(record: Record, context: Context) -> str:
    """Check that a record has a timeline unless its loop is a single call."""
    is_one_call = context.kind == ONE_CALL_ALONE
    if bool(record["timeline"]) != is_one_call:
        return ""
    return "a timeline of a single call" if is_one_call else "no timeline"


def timeline_rises(record: Record, context: Context) -> str:
    """Check that both time and operations increase along the timeline."""
    for earlier, later in pairwise(record["timeline"]):
        if later[0] <= earlier[0] or later[1] <= earlier[1]:
            return f"the timeline does not increase after {earlier[0]:,} ns"
    return ""


def timeline_end(record: Record, context: Context) -> str:
    """Check that the timeline ends with the time and operations of the loop."""
    points, end = record["timeline"], [record["loop_ns"], record["ops"]]
    if not points or list(points[-1]) == end:
        return ""
    last = f"{points[-1][0]:,} ns and {points[-1][1]:,} operations"
    return f"the timeline ends at {last}, the loop at {end[0]:,} and {end[1]:,}"


def timeline_intervals(record: Record, context: Context) -> str:
    """Check that a timeline of 256 calls or more has 100 to 256 intervals."""
    number, calls = len(record["timeline"]), context.calls(record)
    if context.kind == READS and not context.latency and record["method"] < 3:
        calls //= _MOST_GETS_OF_CALL
    least = _LEAST_INTERVALS if number and calls >= _MOST_INTERVALS else 0
    if least <= number <= _MOST_INTERVALS:
        return ""
    return f"a timeline of {number} intervals for {calls:,} calls"


def stalls_listed(record: Record, context: Context) -> str:
    """Check that the stalls are listed, up to the first 100."""
    listed, count = len(record["stalls"]), record["stall_count"]
    if listed == min(count, _LISTED_STALLS):
        return ""
    return f"{listed} stalls listed of {count}"


def stalls_sum(record: Record, context: Context) -> str:
    """Check that the listed stalls add up to the total, or less if there are more."""
    listed_ns = sum(stall["lasted_ns"] for stall in record["stalls"])
    total_ns = record["stalled_ns"]
    is_whole = record["stall_count"] <= _LISTED_STALLS
    if total_ns == listed_ns or (total_ns > listed_ns and not is_whole):
        return ""
    return f"{total_ns:,} ns of stalls, but {listed_ns:,} ns listed"


def stalls_last(record: Record, context: Context) -> str:
    """Check that each stall lasts at least 0.1 s."""
    shortest = min((s["lasted_ns"] for s in record["stalls"]), default=_LEAST_STALL_NS)
    return f"a stall of only {shortest:,} ns" if shortest < _LEAST_STALL_NS else ""


def stalls_within_loop(record: Record, context: Context) -> str:
    """Check that each stall ends no later than the loop."""
    ends_ns = max((s["at_ns"] + s["lasted_ns"] for s in record["stalls"]), default=0)
    return "a stall ends after the loop" if ends_ns > record["loop_ns"] else ""


def stalled_within_loop(record: Record, context: Context) -> str:
    """Check that the total time stalled is no longer than the loop."""
    is_longer = record["stalled_ns"] > record["loop_ns"]
    return "stalled for longer than the loop" if is_longer else ""


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
