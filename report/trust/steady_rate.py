"""The rates of a scenario that demands a steady state.

In a run, most repetitions of a cell decide for it: if they are steady, all have the
rate of their last windows; if they are not, all have that of their whole loops, and the
cell is not ranked.  A round of an A/B run is compared as a whole: it has the rates of
the last windows if all of its repetitions are steady, else those of whole loops.

A line of a duet has the rate of its own side: operations per second of processor time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from report.model.run import Cell, Measurement
from report.stats import steady_state
from report.terms.regime import Regime


def rated(m: Measurement, regime: Regime | None) -> Measurement:
    """Return a measurement whose rate is that of its last windows.

    Only if its scenario demands a steady state; else unchanged, unless it is a duet's.
    """
    duet = m.record["ab"].get("duet") if "ab" in m.record else None
    if duet:
        return replace(m, last_rate=1e9 * duet["ops"] / duet["cpu_ns"])
    if m.status != "ok" or regime is None or not regime.steady:
        return m
    state = steady_state.of_record(m.record)
    if state is None:
        return m
    return replace(m, last_rate=state.ops_per_sec, transient=not state.is_steady)


def by_majority(cell: Cell) -> Cell:
    """Return a cell of rated measurements with one kind of rate."""
    steady = sum(map(_is_steady, cell.repetitions))
    if 2 * steady > len(cell.repetitions):
        return cell
    return replace(
        cell,
        repetitions=tuple(map(_whole, cell.repetitions)),
        latencies=tuple(map(_whole, cell.latencies)),
        superseded=tuple(map(_whole, cell.superseded)),
        canaries=tuple(map(_whole, cell.canaries)),
        unpooled=tuple(map(_whole, cell.unpooled)),
    )


def alike(lines: Sequence[Measurement]) -> list[Measurement]:
    """Return the rated measurements of a round of an A/B run with one kind of rate."""
    return list(lines) if all(map(_is_steady, lines)) else [_whole(m) for m in lines]


def _is_steady(m: Measurement) -> bool:
    return m.last_rate is not None and not m.transient


def _whole(m: Measurement) -> Measurement:
    if m.last_rate is None and not m.transient:
        return m
    return replace(m, last_rate=None, transient=False)
