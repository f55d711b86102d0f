"""The rates of a scenario that demands a steady state.

A repetition that ends in a steady state has the rate of its last windows.  In a run,
most repetitions of a cell decide for it: if they are steady, the others are in no
figure of the rate, and if they are not, all rates are those of whole loops, and the
cell is not ranked.  A round of an A/B run is compared as a whole: it has the rates of
the last windows if all of its repetitions are steady, else those of whole loops.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from report.model.run import Cell, Measurement
from report.stats import steady_state
from report.terms.regime import Regime


def rated(m: Measurement, regime: Regime | None) -> Measurement:
    """Return a measurement whose rate is that of its steady windows.

    Only if its scenario demands a steady state and it ended in one; else unchanged.
    """
    if m.status != "ok" or regime is None or not regime.steady:
        return m
    state = steady_state.of_record(m.record)
    return replace(m, steady_rate=state.ops_per_sec if state else None)


def by_majority(cell: Cell) -> Cell:
    """Return a cell of rated measurements with one kind of rate."""
    steady = sum(m.steady_rate is not None for m in cell.repetitions)
    change = _steady if 2 * steady > len(cell.repetitions) else _whole
    return replace(
        cell,
        repetitions=tuple(map(change, cell.repetitions)),
        latencies=tuple(map(change, cell.latencies)),
        superseded=tuple(map(change, cell.superseded)),
        canaries=tuple(map(change, cell.canaries)),
        unpooled=tuple(map(change, cell.unpooled)),
    )


def alike(lines: Sequence[Measurement]) -> list[Measurement]:
    """Return the rated measurements of a round of an A/B run with one kind of rate."""
    are_steady = all(m.steady_rate for m in lines)
    return list(lines) if are_steady else [_whole(m) for m in lines]


def _steady(m: Measurement) -> Measurement:
    return m if m.status != "ok" or m.steady_rate else replace(m, transient=True)


def _whole(m: Measurement) -> Measurement:
    return replace(m, steady_rate=None) if m.steady_rate else m
