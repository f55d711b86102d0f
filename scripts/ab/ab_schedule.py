"""The order of an A/B run: which side measures which cell when, with which padding.

The run's seed decides all of it, through SHA-256, so a resumed run continues exactly
as it would have without the interruption.
"""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from report.model.ab_lines import SLOTS, side_at
from report.model.ab_plan import SIDES
from report.model.plan import CellName
from report.model.record import Record
from scripts.planning.order import cell_of

# The size of the environment shifts the stack, which affects speed (Mytkowicz et al.,
# "Producing wrong data without doing anything obviously wrong!", ASPLOS 2009).
PADDING = "KVMATRIX_PADDING"
MOST_PADDING_BYTES = 4095


@dataclass(frozen=True)
class Slot:
    """One repetition to be measured."""

    cell: CellName
    round: int
    slot: int
    side: str


def chance(seed: int, *words: object) -> int:
    """Return 64 pseudorandom bits, determined by the seed and these words alone."""
    text = " ".join(map(str, ("kvmatrix ab", seed, *words)))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")


def lead_of(seed: int, cell: CellName, number: int) -> str:
    """Return the side that has the first and the last slot of a round.

    A coin decides which side leads the first of each two rounds.  The other side leads
    the second, so that both sides have the outer slots equally often.
    """
    coin = chance(seed, "coin", cell, (number - 1) // 2)
    return SIDES[(coin + number) % 2]


def padding_bytes(seed: int, slot: Slot) -> int:
    """Return the bytes to add to the environment of the slot's processes."""
    bits = chance(seed, "padding", slot.cell, slot.round, slot.slot)
    return bits % (MOST_PADDING_BYTES + 1)


def shuffled(seed: int, number: int, cells: Iterable[CellName]) -> list[CellName]:
    """Return the cells in the random order of one round."""
    return sorted(cells, key=lambda cell: chance(seed, "order", cell, number))


@dataclass
class Ledger:
    """The lines on disk, and the slots that are still missing."""

    seed: int
    _lines: dict[tuple[CellName, int], list[Record]] = field(default_factory=dict)
    _failed: dict[CellName, int] = field(default_factory=dict)  # cell -> round

    def add(self, line: Record) -> None:
        """Record a line that is on disk."""
        cell = cell_of(line)
        self._lines.setdefault((cell, line["repetition"]), []).append(line)
        if line["status"] != "ok":
            self._failed.setdefault(cell, line["repetition"])

    def lines(self, cell: CellName, number: int) -> list[Record]:
        """Return the lines of a round, in slot order."""
        return self._lines.get((cell, number), [])

    def passes(self, cell: CellName) -> int:
        """Return how many passes the next process of a cell makes: as its first one.

        0 if there is none yet, which makes them until their least time is over.
        """
        for (name, _), lines in self._lines.items():
            for line in lines if name == cell else ():
                if made := len(line.get("passes") or ()):
                    return made
        return 0

    def is_over(self, cell: CellName, number: int) -> bool:
        """Return True if nothing is left to measure in a round."""
        return self.next(cell, number) is None

    def later(self, slot: Slot) -> list[Slot]:
        """Return the slots of the round after a missing one, unless a line failed."""
        if slot.cell in self._failed:
            return []
        done = self.lines(slot.cell, slot.round)
        lead = str(done[0]["ab"]["side"]) if done else slot.side
        return [
            replace(slot, slot=later, side=side_at(lead, later))
            for later in range(slot.slot + 1, SLOTS)
        ]

    def next(self, cell: CellName, number: int) -> Slot | None:
        """Return the next slot of a round; None if the round is over.

        A side that fails gets no more slots, and its cell no more rounds.  The other
        side still finishes this round, which shows whether it fails too.
        """
        if self._failed.get(cell, number) < number:
            return None
        done = self.lines(cell, number)
        lead = str(done[0]["ab"]["side"]) if done else lead_of(self.seed, cell, number)
        begin = done[-1]["ab"]["slot"] + 1 if done else 0
        failed = {line["ab"]["side"] for line in done if line["status"] != "ok"}
        for slot in range(begin, SLOTS):
            side = side_at(lead, slot)
            if side not in failed:
                return Slot(cell, number, slot, side)
        return None
