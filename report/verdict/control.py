"""The engine that a run measures twice under two names: how far it is from itself.

Whatever lies between the two is the machine's, the harness's and chance's, and no
difference between engines.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from report.model.plan import Plan
from report.model.run import Cell
from report.stats import repetition_stats
from report.verdict import chart_row


class Measured(Protocol):
    """A run as far as it has come: one that is read, or one that goes on."""

    @property
    def plan(self) -> Plan:
        """Return what it is to measure."""

    def cell(self, engine: str, scenario: str, benchmark: str) -> Cell | None:
        """Return a cell, or None if it is not part of the plan."""


@dataclass(frozen=True)
class MeasuredTwice:
    """`apart` is by (scenario, benchmark), of charts in which both have a rate."""

    noise: repetition_stats.Noise | None
    apart: Mapping[tuple[str, str], float]

    def share(self, scenario: str, benchmark: str) -> float | None:
        """Medians of a chart that differ by no more tie; None if not measured.

        The noise of the run, or of the chart itself where that is more.
        """
        if self.noise is None:
            return None
        return max(self.noise.share, self.apart.get((scenario, benchmark), 0.0))


def measured_twice(run: Measured) -> MeasuredTwice:
    """Of every control of the run; there is one at most as a rule."""
    titles = {engine.name: engine.title for engine in run.plan.engines}
    controls = [engine for engine in run.plan.engines if engine.twin_of]
    apart: dict[tuple[str, str], float] = {}
    for control in controls:
        for scenario, benchmark in run.plan.charts:
            own, again = (
                chart_row.summary_of(run.cell(name, scenario.name, benchmark))
                for name in (control.twin_of, control.name)
            )
            if own and again:
                chart = (scenario.name, benchmark)
                difference = repetition_stats.difference(own, again)
                apart[chart] = max(difference, apart.get(chart, 0.0))
    names = ", ".join(dict.fromkeys(titles[c.twin_of] for c in controls))
    return MeasuredTwice(repetition_stats.noise(list(apart.values()), names), apart)
