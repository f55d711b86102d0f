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

# Opening or closing that takes longer than all of the timed work.  Under 10 ms a
# few barriers of a slow disk, or one moment of a busy machine, are enough for
# that, where the timed work is short.
MOST_OF_TIMED_WORK = 1.0
LEAST_NS = 10_000_000
# Of the 10 ms that the process slept once it had settled.  The harness sleeps, so
# all of it is an engine's threads: a fifth of a processor is no housekeeping.
MOST_IDLE_CPU_NS = 2_000_000
_IDLE_NS = 10_000_000


def findings(
    records: Sequence[Record], benchmark: Mapping[str, Any] | None
) -> tuple[str, ...]:
    """Sentences about a cell, from its ok lines of the throughput pass.

    `benchmark` is what the engine's description says of it.  Each figure is the
    median over the lines, since one slow closing is the machine's.
    """
    elapsed_ns = _median([r["loop_ns"] + r["flush_ns"] for r in records])
    if elapsed_ns is None:
        return ()
    described = benchmark or {}
    starts_fresh = described.get("kind") == "write" and not described.get("prepare")
    spans = [
        ("closing", _median([r["close_ns"] for r in records])),
        (
            "opening a new database",
            _median([r["open_ns"] for r in records]) if starts_fresh else None,
        ),
        ("reopening", _median(_reopening(records))),
    ]
    found = []
    for what, span_ns in spans:
        if span_ns is None or span_ns <= LEAST_NS:
            continue
        if span_ns > MOST_OF_TIMED_WORK * elapsed_ns:
            times = figures.slower(span_ns / elapsed_ns)
            found.append(f"{what} took {times} the timed work")
    told_idle = (r.get("idle_cpu_ns") for r in records)
    idle_ns = _median([n for n in told_idle if n is not None])
    if idle_ns is not None and idle_ns > MOST_IDLE_CPU_NS:
        used = f"{figures.seconds(idle_ns)} of processor time"
        told = f"still works after settling: {used} in {figures.seconds(_IDLE_NS)}"
        found.append(told)
    return tuple(found)


def reopen_ns(records: Sequence[Record]) -> float | None:
    """How long a fresh process took to open what had been closed: the median."""
    return _median(_reopening(records))


def _reopening(records: Sequence[Record]) -> list[int]:
    closed = (r for r in records if r.get("ending") == "closed")
    audits = (r.get("audit") or {} for r in closed)
    return [a["open_ns"] for a in audits if a.get("open_ns") is not None]


def _median(spans_ns: Sequence[int]) -> float | None:
    return statistics.median(spans_ns) if spans_ns else None
