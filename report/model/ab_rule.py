"""The decision rule of an A/B run: fixed stages and limits, recorded in the run.

Source: the simulations of ERROR_RATES.md.  Shifts are shares of the time per
operation: 0.025 is 2.5 % slower.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass

SCREEN, CONFIRM = "screen", "confirm"  # the stages
# The measures of time that are judged, per operation: that of the clock, and that of
# the processor, which is user and system time of all threads of the process.
WALL, CPU = "wall", "cpu"
PAIRS_PER_ROUND = 2  # a round is A B B A or B A A B
_LABELLINGS = 6  # ways to choose which two of a round's four are b's
# Enough to confirm five suspects of one direction; with fewer rounds, none.
LEAST_CONFIRM_ROUNDS = 4
# A slowdown that must be detectable in a cell that is reported as judged.
SEEN_EFFECT = 0.10


@dataclass(frozen=True)
class AbRule:
    """The rounds of both stages, and the limits of suspects and verdicts.

    The screen for improvements is stricter because they gate nothing and should cost
    few pairs.  `alpha` and `engine_alpha` add up to a false alarm rate of 1 %, of which
    each of the `measures` has an equal part.  `alpha` is shared by all suspects of one
    measure and direction, `engine_alpha` by all engines, whose tests have pairs to
    spare.
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
    measures: tuple[str, ...] = (WALL, CPU)
    # Of processor time, which has less noise: few cells are suspects by chance.
    suspect_cpu_shift: float = 0.01

    def document(self) -> dict[str, object]:
        """Return the rule as a run records it."""
        return {**asdict(self), "measures": list(self.measures)}

    def suspicious_shift(self, measure: str) -> float:
        """Return the slowdown beyond which a cell can be a suspect by a measure."""
        return self.suspect_cpu_shift if measure == CPU else self.suspect_shift

    def tests(self, suspects: int) -> int:
        """Return by what the limit of p of so many suspects or engines is divided."""
        return suspects * len(self.measures)

    def rounds_to_confirm(self, suspects: int) -> int:
        """Return the least number of rounds that can confirm one of the suspects.

        The smallest possible p is that of one labelling among all: 6^-rounds.
        """
        limit, rounds = self.alpha / self.tests(max(suspects, 1)), 1
        while _LABELLINGS**-rounds > limit:
            rounds += 1
        return rounds
