"""What makes a rate suspect without making it wrong: work outside the clock.

The rate covers the loop and the flush.  An engine that does its work while it is
opened or closed, or after it has said that nothing is left to do, has a better
rate than it deserves.  Its figures are true, so it keeps them, and the finding
stands beside them.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from typing import Any

from report import figures

Record = Mapping[str, Any]

# Opening or closing that takes longer than all of the timed work.  Under 50 ms a
# few barriers of a slow disk are enough for that, where the timed work is short.
MOST_OF_TIMED_WORK = 1.0
LEAST_NS = 50_000_000
# Of the 10 ms that the process slept once it had settled.  The harness sleeps, so
# all of it is an engine's threads: a fifth of a processor is no housekeeping.
MOST_IDLE_CPU_NS = 2_000_000
_IDLE_NS = 10_000_000


def findings(
    records: Sequence[Record], benchmark: Mapping[str, Any] | None
) -> tuple[str, ...]:
    """Sentences about a cell, from its ok lines of the throughput pass.

    `benchmark` is what the engine's description says of it.  A line is taken by
    its own ratio, and a cell by its least: what an engine does, it does in every
    repetition, and a slow moment of the disk is not in all of them.
    """
    if not records:
        return ()
    described = benchmark or {}
    starts_fresh = described.get("kind") == "write" and not described.get("prepare")
    spans = [
        ("closing", [(r, r["close_ns"]) for r in records]),
        (
            "opening a new database",
            [(r, r["open_ns"]) for r in records] if starts_fresh else [],
        ),
        ("reopening", _reopening(records)),
    ]
    found = []
    for what, each in spans:
        times = min((_times_too_long(r, span_ns) for r, span_ns in each), default=0.0)
        if times:
            found.append(f"{what} took {figures.slower(times)} the timed work")
    idle_ns = min((r.get("idle_cpu_ns") or 0 for r in records), default=0)
    if idle_ns > MOST_IDLE_CPU_NS:
        used = f"{figures.seconds(idle_ns)} of processor time"
        told = f"still works after settling: {used} in {figures.seconds(_IDLE_NS)}"
        found.append(told)
    return tuple(found)


def _times_too_long(record: Record, span_ns: int) -> float:
    """How many times the timed work; 0 if that is no finding."""
    elapsed_ns = record["loop_ns"] + record["flush_ns"]
    if span_ns <= max(LEAST_NS, MOST_OF_TIMED_WORK * elapsed_ns):
        return 0.0
    return float(span_ns / elapsed_ns)


def reopen_ns(records: Sequence[Record]) -> float | None:
    """How long a fresh process took to open what had been closed: the median."""
    spans_ns = [span_ns for _, span_ns in _reopening(records)]
    return statistics.median(spans_ns) if spans_ns else None


def _reopening(records: Sequence[Record]) -> list[tuple[Record, int]]:
    closed = [r for r in records if r.get("ending") == "closed"]
    audits = [(r, (r.get("audit") or {}).get("open_ns")) for r in closed]
    return [(r, open_ns) for r, open_ns in audits if open_ns is not None]
