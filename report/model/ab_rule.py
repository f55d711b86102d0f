"""The decision rule of an A/B run: fixed stages, fixed limits, written into the run.

Source: the simulations of ERROR_RATES.md.  Shifts are shares of the time per
operation: 0.025 is 2.5 % slower.
"""

from __future__ import annotations

from dataclasses import dataclass

PAIRS_PER_ROUND = 2  # a round is A B B A or B A A B
_LABELLINGS = 6  # of a round: which two of its four are b's
# They confirm ten suspects of one direction; fewer rounds, one at most.
LEAST_CONFIRM_ROUNDS = 4
# What must not go unseen in a cell that is said to be judged.
SEEN_EFFECT = 0.10


@dataclass(frozen=True)
class AbRule:
    """Rounds of both stages, and what makes a suspect and a verdict.

    An improvement gates nothing, so its screen is stricter: it costs few pairs.
    `alpha` and `engine_alpha` together are the one alarm in a hundred that a change
    may raise where nothing is wrong; `alpha` is for all suspects of one direction
    together, `engine_alpha` for all engines, whose tests have pairs to spare.
    """

    screen_rounds: int = 4
    confirm_rounds: int = 15
    suspect_p: float = 0.2
    suspect_shift: float = 0.02
    bettered_p: float = 0.02
    bettered_shift: float = 0.025
    alpha: float = 0.008
    least_shift: float = 0.025
    unchanged_within: float = 0.03
    confidence: float = 0.95
    engine_alpha: float = 0.002

    def rounds_to_confirm(self, suspects: int) -> int:
        """The rounds without which none of so many suspects can be confirmed.

        The least p that there is is one labelling of all: 6^-rounds.
        """
        limit, rounds = self.alpha / max(suspects, 1), 1
        while _LABELLINGS**-rounds > limit:
            rounds += 1
        return rounds
