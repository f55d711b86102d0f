"""The decision rule of an A/B run: fixed stages and limits, recorded in the run.

Source: the simulations of ERROR_RATES.md.  Shifts are shares of the time per
operation: 0.025 is 2.5 % slower.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from itertools import count

SCREEN, CONFIRM = "screen", "confirm"  # the stages
# The measures of time that are judged, per operation: that of the clock, and that of
# the processor, which is user and system time of all threads of the process.
WALL, CPU = "wall", "cpu"
PAIRS_PER_ROUND = 2  # a round is A B B A or B A A B
_MOST_TESTS = 10  # of one direction, of which enough rounds can confirm each
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
    suspect_cpu_p: float = 0.3
    suspect_cpu_shift: float = 0.01
    duet: bool = False  # each process measures both sides, one line for each
    # Whether all processes of a cell make as many passes as its first one.
    same_passes: bool = False

    @property
    def least_screen_rounds(self) -> int:
        """The least number of rounds that can make a cell a suspect by any measure."""
        most_p = min(self.suspicious(measure)[0] for measure in self.measures)
        return next(n for n in count(1) if self._labellings**-n < most_p)

    @property
    def _labellings(self) -> int:
        """The labellings of a round that are equally likely if the builds are equal.

        Any two of its four lines can be b's; in a duet, one value of the round is
        compared with one.
        """
        return 2 if self.duet else 6

    @property
    def least_confirm_rounds(self) -> int:
        """The least number of rounds in which each of ten tests can succeed."""
        return self._rounds_for(_MOST_TESTS)

    def document(self) -> dict[str, object]:
        """Return the rule as a run records it."""
        return {**asdict(self), "measures": list(self.measures)}

    def suspicious(self, measure: str) -> tuple[float, float]:
        """Return the largest p and the least slowdown of a suspect by a measure."""
        if measure == CPU:
            return self.suspect_cpu_p, self.suspect_cpu_shift
        return self.suspect_p, self.suspect_shift

    def tests(self, suspects: int) -> int:
        """Return by what the limit of p of so many suspects or engines is divided."""
        return suspects * len(self.measures)

    def rounds_to_confirm(self, suspects: int) -> int:
        """Return the least number of rounds that can confirm one of the suspects."""
        return self._rounds_for(self.tests(max(suspects, 1)))

    def _rounds_for(self, tests: int) -> int:
        """Return the least number of rounds in which one of the tests can succeed.

        The smallest possible p is that of one labelling among all.
        """
        limit = self.alpha / tests
        return next(n for n in count(1) if self._labellings**-n <= limit)


# The rule of --duet, whose only time is that of the processor.
DUET = AbRule(
    screen_rounds=6,
    confirm_rounds=14,
    suspect_cpu_p=0.2,
    suspect_cpu_shift=0.008,
    bettered_shift=0.01,
    least_shift=0.01,
    unchanged_within=0.02,
    measures=(CPU,),
    duet=True,
)
