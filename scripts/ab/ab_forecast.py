"""The predicted time of an A/B run; the second stage is estimated until it begins."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from report.model.ab_lines import SLOTS
from report.model.ab_plan import AbPlan
from report.model.plan import CellName
from report.verdict.count_verdicts import SCREENED_COUNTS
from scripts.forecast.guess import guess_count_s
from scripts.forecast.prediction import Forecast
from scripts.planning.order import ScheduledRepetition

# The share of cells without a change that are still measured again: ERROR_RATES.md.
SUSPECT_SHARE = 0.08


@dataclass
class AbForecast:
    """Predicted seconds of a plan's rounds, corrected as repetitions finish."""

    plan: AbPlan
    sides: Mapping[str, Forecast]
    spent_s: float = field(init=False, default=0.0)  # predicted, of finished work

    def learn(self, cell: CellName, side: str, seconds: float) -> None:
        """Correct the prediction by a repetition that took `seconds`."""
        self.spent_s += self._seconds(cell, side)
        self.sides[side].learn(self._scheduled(cell, side), seconds)

    def round_s(self, cell: CellName) -> float:
        """Return the predicted time of one round of a cell."""
        each = SLOTS // len(self.sides)
        return each * sum(self._seconds(cell, side) for side in self.sides)

    def left_s(
        self, rounds: Mapping[CellName, int], suspects: Sequence[CellName] | None
    ) -> float:
        """Return the predicted time left in seconds.

        `rounds` holds the rounds left of each cell, in all stages known so far.
        `suspects` is None during the screen; the second stage is then estimated.
        """
        known = sum(self.round_s(cell) * count for cell, count in rounds.items())
        return known + (self.confirm_s() if suspects is None else 0.0)

    def screen_s(self) -> float:
        """Return the predicted time of the whole first stage."""
        return self.plan.rule.screen_rounds * self._all_s()

    def confirm_s(self) -> float:
        """Return the predicted time of the second stage if nothing has changed."""
        return SUSPECT_SHARE * self.plan.rule.confirm_rounds * self._all_s()

    def count_s(self) -> float:
        """Return the estimated time of counting each cell if nothing has changed."""
        if not self.plan.counted:
            return 0.0
        cells = (cell for cell in self.plan.able for _ in self.sides)
        a = self.plan.sides["a"]
        return SCREENED_COUNTS * sum(guess_count_s(a, cell) for cell in cells)

    def is_known(self) -> bool:
        """Return True if every cell has been measured before, on both sides."""
        return all(
            forecast.known(self._scheduled(cell, side))
            for side, forecast in self.sides.items()
            for cell in self.plan.able
        )

    def is_guess(self) -> bool:
        """Return True if no measurement supports the prediction yet."""
        return not self.spent_s and not self.is_known()

    def _all_s(self) -> float:
        return sum(self.round_s(cell) for cell in self.plan.able)

    def _seconds(self, cell: CellName, side: str) -> float:
        return self.sides[side].seconds(self._scheduled(cell, side))

    def _scheduled(self, cell: CellName, side: str) -> ScheduledRepetition:
        return ScheduledRepetition(self.plan.sides[side].cells.index(cell), 0, 1)
