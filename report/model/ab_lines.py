"""The lines of an A/B run in their places: rounds of A B B A or B A A B.

A file that was cut, mended or put together of two is refused: each line has its
number as its order, each round follows the one before it, of two rounds each side
leads one, and only the last round of the file, or one in which a side failed, may be
short.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from report.model.ab_rule import AbRule
from report.model.ab_run import CONFIRM, SCREEN
from report.model.plan import CellName
from report.model.run import THROUGHPUT, Measurement
from report.terms.documents import ResultsError

SLOTS = 4
_OTHER = {"a": "b", "b": "a"}


def side_at(lead: str, slot: int) -> str:
    """Whose turn it is: the leading side has the first slot and the last."""
    return lead if slot in (0, SLOTS - 1) else _OTHER[lead]


def stage_of(rule: AbRule, number: int) -> str:
    """The stage of a round, which are counted on through both."""
    return SCREEN if number <= rule.screen_rounds else CONFIRM


@dataclass
class RoundLines:
    """What is there of one round of one cell, in slot order; at least one line."""

    cell: CellName
    number: int
    lines: list[Measurement] = field(default_factory=list)

    @property
    def lead(self) -> str:
        """The side of the first slot and the last."""
        return side_of(self.lines[0])

    @property
    def failed(self) -> frozenset[str]:
        """The sides that failed in it."""
        return frozenset(side_of(m) for m in self.lines if m.record["status"] != "ok")

    def due(self) -> list[int]:
        """The slots still to be measured; a side that has failed has no more turns."""
        left = range(slot_of(self.lines[-1]) + 1, SLOTS)
        return [slot for slot in left if side_at(self.lead, slot) not in self.failed]


def side_of(m: Measurement) -> str:
    """The build that a line is of."""
    return str(m.record["ab"]["side"])


def slot_of(m: Measurement) -> int:
    """The place of a line in its round."""
    return int(m.record["ab"]["slot"])


def rounds_of(
    measurements: Sequence[Measurement],
    names: Sequence[CellName],
    rule: AbRule,
    file: str,
) -> dict[CellName, list[RoundLines]]:
    """Every cell with its rounds, as measured.  Raises ResultsError."""
    rounds: dict[CellName, list[RoundLines]] = {name: [] for name in names}
    seeds: dict[int, int] = {}
    of_seed: dict[int, int] = {}
    last: RoundLines | None = None
    for index, m in enumerate(measurements):
        place = f"{file}:{m.line}"
        _check_line(m, index, rule, rounds, place)
        seed = int(m.record["seed"])
        if seeds.setdefault(m.repetition, seed) != seed:
            told = f"round {m.repetition} has seed {seeds[m.repetition]}"
            raise ResultsError(f"{place}: seed {seed}, where {told}")
        if (other := of_seed.setdefault(seed, m.repetition)) != m.repetition:
            told = f"seed {seed} in round {m.repetition}"
            raise ResultsError(f"{place}: {told}, which is that of round {other}")
        if last is None or (last.cell, last.number) != (m.cell, m.repetition):
            _check_next_round(m, last, rounds[m.cell], place)
            _check_lead(m, rounds[m.cell], place)
            last = RoundLines(m.cell, m.repetition)
            rounds[m.cell].append(last)
        _check_slot(m, last, place)
        last.lines.append(m)
    return rounds


def _check_line(
    m: Measurement,
    index: int,
    rule: AbRule,
    rounds: Mapping[CellName, object],
    place: str,
) -> None:
    """Whether the line can be of an A/B run with this rule at all."""
    if m.cell not in rounds:
        raise ResultsError(f"{place}: cell {m.cell} is not in the plan")
    if m.pass_ != THROUGHPUT or m.attempt != 1:
        what = f"attempt {m.attempt} of a {m.pass_} repetition"
        raise ResultsError(f"{place}: {what}, which an A/B run does not have")
    number, stage = m.record["ab"]["round"], m.record["ab"]["stage"]
    if number != m.repetition:
        raise ResultsError(f"{place}: round {number} in repetition {m.repetition}")
    if number > rule.screen_rounds + rule.confirm_rounds:
        raise ResultsError(f"{place}: round {number} was not planned")
    if stage != stage_of(rule, number):
        raise ResultsError(f"{place}: round {number} is not of the stage {stage}")
    if m.order != index:
        raise ResultsError(f"{place}: order {m.order}, where {index} is due")


def _check_next_round(
    m: Measurement, last: RoundLines | None, before: Sequence[RoundLines], place: str
) -> None:
    """Whether this line may begin a round here."""
    if last is not None and (left := last.due()):
        told = f"round {last.number} of {last.cell} lacks slot {left[0]}"
        raise ResultsError(f"{place}: {m.cell} begins, while {told}")
    if last is not None and m.repetition < last.number:
        raise ResultsError(f"{place}: round {m.repetition} after {last.number}")
    if m.repetition != len(before) + 1:
        told = f"round {m.repetition} of {m.cell} after {len(before)} rounds"
        raise ResultsError(f"{place}: {told}")
    if any(one.failed for one in before):
        raise ResultsError(f"{place}: {m.cell} is measured after it has failed")


def _check_lead(m: Measurement, before: Sequence[RoundLines], place: str) -> None:
    """Of two rounds each side leads one: neither has the outer slots more often."""
    if m.repetition % 2 == 0 and before[-1].lead == side_of(m):
        told = f"rounds {m.repetition - 1} and {m.repetition} of {m.cell}"
        raise ResultsError(f"{place}: {told} both begin with side {side_of(m)}")


def _check_slot(m: Measurement, found: RoundLines, place: str) -> None:
    slot = slot_of(m)
    if not found.lines:
        if slot != 0:
            raise ResultsError(f"{place}: a round that begins with slot {slot}")
        return
    taken = {slot_of(line): line.line for line in found.lines}
    if slot in taken:
        raise ResultsError(f"{place}: repeats slot {slot} of line {taken[slot]}")
    due = found.due()
    if not due or slot != due[0]:
        told = f"where {due[0]} is due" if due else "after a side has failed"
        raise ResultsError(f"{place}: slot {slot}, {told}")
    side = side_at(found.lead, slot)
    if side_of(m) != side:
        raise ResultsError(
            f"{place}: side {side_of(m)} in slot {slot}, where {side} is due:"
            " a round is A B B A or B A A B"
        )
