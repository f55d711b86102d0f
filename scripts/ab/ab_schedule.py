"""The order of an A/B run: whose turn it is, when, and with which padding.

All of it follows from the run's seed by SHA-256, so that a run that is resumed goes
on as it would have gone.
"""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field

from report.model.ab_lines import SLOTS, side_at
from report.model.ab_plan import SIDES
from report.model.plan import CellName
from report.model.record import Record
from scripts.planning.order import cell_of

# The environment moves the stack, and with it the speed (Mytkowicz et al., ASPLOS
# 2009, "Producing wrong data without doing anything obviously wrong!").
PADDING = "KVMATRIX_PADDING"
MOST_PADDING_BYTES = 4095


@dataclass(frozen=True)
class Slot:
    """One repetition that is to be made."""

    cell: CellName
    round: int
    slot: int
    side: str


def chance(seed: int, *what: object) -> int:
    """64 bits that nothing but the seed and these words decide."""
    text = " ".join(map(str, ("kvmatrix ab", seed, *what)))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")


def lead_of(seed: int, cell: CellName, number: int) -> str:
    """The side that has the first slot and the last of a round.

    A coin decides who leads the first of two rounds; the other side leads the second,
    so that no side has the outer slots more often.
    """
    coin = chance(seed, "coin", cell, (number - 1) // 2)
    return SIDES[(coin + number) % 2]


def padding_bytes(seed: int, slot: Slot) -> int:
    """How much longer the environment of the slot's processes is."""
    drawn = chance(seed, "padding", slot.cell, slot.round, slot.slot)
    return drawn % (MOST_PADDING_BYTES + 1)


def shuffled(seed: int, number: int, cells: Iterable[CellName]) -> list[CellName]:
    """The cells in the random order of one round."""
    return sorted(cells, key=lambda cell: chance(seed, "order", cell, number))


@dataclass
class Ledger:
    """What has been measured, and what follows in a round."""

    seed: int
    _made: dict[tuple[CellName, int], list[Record]] = field(default_factory=dict)
    _failed: dict[CellName, int] = field(default_factory=dict)  # in which round

    def add(self, line: Record) -> None:
        """Takes in a line that is on disk."""
        cell = cell_of(line)
        self._made.setdefault((cell, line["repetition"]), []).append(line)
        if line["status"] != "ok":
            self._failed.setdefault(cell, line["repetition"])

    def made(self, cell: CellName, number: int) -> list[Record]:
        """The lines of a round, in slot order."""
        return self._made.get((cell, number), [])

    def is_over(self, cell: CellName, number: int) -> bool:
        """Whether nothing is left to be measured of a round."""
        return self.next(cell, number) is None

    def next(self, cell: CellName, number: int) -> Slot | None:
        """The next slot of a round; None when it is over.

        A side that has failed has no more turns, and its cell no more rounds: the
        other side ends this one, so that it is known whether that fails too.
        """
        if self._failed.get(cell, number) < number:
            return None
        made = self.made(cell, number)
        lead = str(made[0]["ab"]["side"]) if made else lead_of(self.seed, cell, number)
        begin = made[-1]["ab"]["slot"] + 1 if made else 0
        failed = {line["ab"]["side"] for line in made if line["status"] != "ok"}
        for slot in range(begin, SLOTS):
            side = side_at(lead, slot)
            if side not in failed:
                return Slot(cell, number, slot, side)
        return None
