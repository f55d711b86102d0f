"""The rate of a repetition in a scenario that demands a steady state."""

from __future__ import annotations

from dataclasses import replace

from report.model.run import Measurement
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
