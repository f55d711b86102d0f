"""The moment of an event, drawn by the progress of the command, not by the time."""

import random
import time
from dataclasses import dataclass

from tests.hardship.ledger import count_lines, whole_lines
from tests.hardship.site import Victim

_LONGEST_DELAY_S = 0.06  # about the time of one repetition


@dataclass(frozen=True)
class Moment:
    """After `lines` lines of this command, once it handles signals.

    Then, if `in_driver`, once a driver runs; and `delay_s` later.
    """

    lines: int
    in_driver: bool
    delay_s: float

    def reached(self, victim: Victim, lines_before: int) -> bool:
        """Wait for the moment; return False if the command ended before."""
        due = lines_before + self.lines
        begun = victim.wait_until(victim.handles_signals)
        if begun and self.lines:
            begun = victim.wait_until(lambda: _lines_of(victim) >= due)
        if begun and self.in_driver:
            begun = victim.wait_until(lambda: bool(victim.drivers()))
        time.sleep(self.delay_s)
        return begun and victim.is_running


def _lines_of(victim: Victim) -> int:
    return count_lines(whole_lines(victim.site.results))


def draw_moment(
    chance: random.Random, lines: int, attempt: int, *, measuring: bool
) -> Moment:
    """Return a moment of a command that appends at least `lines` lines.

    With `measuring`, a driver runs and at least one more line is due.  Each attempt
    draws from earlier moments, because the command has ended before the last one.
    """
    if not measuring and chance.random() < 0.15:
        return Moment(0, False, chance.uniform(0, 0.4) / (attempt + 1))
    last = max(1, (lines - 2 if measuring else lines) // (attempt + 1))
    number = chance.randint(1 if measuring else 0, last)
    in_driver = measuring or chance.random() < 0.4
    return Moment(
        number, in_driver, chance.uniform(0, _LONGEST_DELAY_S) * (not measuring)
    )
