"""How long an A/B run will take: both stages, the second one a guess until known."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from report.model.ab_lines import SLOTS
from report.model.ab_plan import AbPlan
from report.model.plan import CellName
from report.verdict.count_verdicts import SCREENED_COUNTS
from scripts.forecast.guess import guess_count_s
from scripts.forecast.prediction import Forecast
from scripts.planning.order import ScheduledRepetition

# Of the cells with nothing wrong, so many are measured again: REGRESSIONS.md.
SUSPECT_SHARE = 0.08


@dataclass
class AbForecast:
    """Predicted seconds of a plan's rounds, corrected as repetitions finish."""

    plan: AbPlan
    sides: Mapping[str, Forecast]
    spent_s: float = field(init=False, default=0.0)  # predicted time of what is done

    def learn(self, cell: CellName, side: str, seconds: float) -> None:
        """A repetition took so long."""
        self.spent_s += self._seconds(cell, side)
        self.sides[side].learn(self._turn(cell, side), seconds)

    def round_s(self, cell: CellName) -> float:
        """The prediction for one round of a cell."""
        each = SLOTS // len(self.sides)
        return each * sum(self._seconds(cell, side) for side in self.sides)

    def left_s(
        self, rounds: Mapping[CellName, int], suspects: Sequence[CellName] | None
    ) -> float:
        """Seconds for the rounds left of each cell, and for a stage not yet begun.

        `rounds` counts those left of the stages that are known; `suspects` is None
        while the screen goes on.
        """
        known = sum(self.round_s(cell) * count for cell, count in rounds.items())
        return known + (self.confirm_s() if suspects is None else 0.0)

    def screen_s(self) -> float:
        """The whole first stage."""
        return self.plan.rule.screen_rounds * self._all_s()

    def confirm_s(self) -> float:
        """The second stage, of as many suspects as there are without a change."""
        return SUSPECT_SHARE * self.plan.rule.confirm_rounds * self._all_s()

    def count_s(self) -> float:
        """Return a guess at counting each cell, as often as without a change."""
        if not self.plan.counted:
            return 0.0
        cells = (cell for cell in self.plan.able for _ in self.sides)
        a = self.plan.sides["a"]
        return SCREENED_COUNTS * sum(guess_count_s(a, cell) for cell in cells)

    def is_known(self) -> bool:
        """Whether the prediction rests on measurements of every cell."""
        return all(
            forecast.known(self._turn(cell, side))
            for side, forecast in self.sides.items()
            for cell in self.plan.able
        )

    def is_guess(self) -> bool:
        """Whether nothing at all has been measured that could correct it."""
        return not self.spent_s and not self.is_known()

    def _all_s(self) -> float:
        return sum(self.round_s(cell) for cell in self.plan.able)

    def _seconds(self, cell: CellName, side: str) -> float:
        return self.sides[side].seconds(self._turn(cell, side))

    def _turn(self, cell: CellName, side: str) -> ScheduledRepetition:
        return ScheduledRepetition(self.plan.sides[side].cells.index(cell), 0, 1)
