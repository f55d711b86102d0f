"""The control: one engine measured twice under two names, to quantify noise.

The difference between the two is caused by the machine, the harness or chance, never
by an engine.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from report.model.run import Cell, Measured
from report.stats import repetition_stats


@dataclass(frozen=True)
class MeasuredTwice:
    """The noise of a run; `apart` has the differences by (scenario, benchmark).

    Differences are shares (0.03 is 3 %), for the charts in which both have a rate.
    """

    noise: repetition_stats.Noise | None
    apart: Mapping[tuple[str, str], float]

    def share(self, scenario: str, benchmark: str) -> float | None:
        """Return the difference that is noise in a chart, None if not measured.

        It is the larger of the noise of the run and the difference in this chart.
        """
        if self.noise is None:
            return None
        return max(self.noise.share, self.apart.get((scenario, benchmark), 0.0))


def measured_twice(run: Measured) -> MeasuredTwice:
    """Return the noise over all controls of a run, which normally has one at most."""
    titles = {engine.name: engine.title for engine in run.plan.engines}
    controls = [engine for engine in run.plan.engines if engine.twin_of]
    apart: dict[tuple[str, str], float] = {}
    for control in controls:
        for scenario, benchmark in run.plan.charts:
            first, second = (
                _summary(run.cell(name, scenario.name, benchmark))
                for name in (control.twin_of, control.name)
            )
            if first and second:
                chart = (scenario.name, benchmark)
                difference = repetition_stats.difference(first, second)
                apart[chart] = max(difference, apart.get(chart, 0.0))
    names = ", ".join(dict.fromkeys(titles[c.twin_of] for c in controls))
    return MeasuredTwice(repetition_stats.noise(list(apart.values()), names), apart)


def _summary(cell: Cell | None) -> repetition_stats.Summary | None:
    return repetition_stats.summarize(cell.rates) if cell else None
