"""The lines of an A/B run, arranged in rounds of A B B A or B A A B.

A file that was cut, edited or assembled from two is refused.  The `order` of each line
must be its index; rounds must follow one another; in each pair of rounds each side
must lead one; and only the last round of the file, or one in which a side failed, may
be incomplete.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from report.model.ab_plan import AbPlan
from report.model.ab_rule import CONFIRM, SCREEN, AbRule
from report.model.plan import THROUGHPUT, CellName
from report.model.run import Measurement
from report.terms.documents import ResultsError

SLOTS = 4
_OTHER = {"a": "b", "b": "a"}


def side_at(lead: str, slot: int) -> str:
    """Return the side of a slot: the leading side has the first and the last."""
    return lead if slot in (0, SLOTS - 1) else _OTHER[lead]


def stage_of(rule: AbRule, number: int) -> str:
    """Return the stage of a round; numbering continues from one to the other."""
    return SCREEN if number <= rule.screen_rounds else CONFIRM


@dataclass
class RoundLines:
    """The lines of one round of one cell, in slot order; at least one."""

    cell: CellName
    number: int
    lines: list[Measurement] = field(default_factory=list)

    @property
    def lead(self) -> str:
        """The side of the first and the last slot."""
        return side_of(self.lines[0])

    @property
    def failed(self) -> frozenset[str]:
        """The sides with a failed line in this round."""
        return frozenset(side_of(m) for m in self.lines if m.record["status"] != "ok")

    def due(self) -> list[int]:
        """Return the slots still to be measured, without those of a failed side."""
        remaining = range(slot_of(self.lines[-1]) + 1, SLOTS)
        return [
            slot for slot in remaining if side_at(self.lead, slot) not in self.failed
        ]


def side_of(m: Measurement) -> str:
    """Return the side that a line measured: "a" or "b"."""
    return str(m.record["ab"]["side"])


def slot_of(m: Measurement) -> int:
    """Return the position of a line in its round, 0 to 3."""
    return int(m.record["ab"]["slot"])


def rounds_of(
    measurements: Sequence[Measurement], plan: AbPlan, file: str
) -> dict[CellName, list[RoundLines]]:
    """Return the rounds of each cell, in order.  Raises ResultsError."""
    rounds: dict[CellName, list[RoundLines]] = {name: [] for name in plan.cells}
    last: RoundLines | None = None
    for index, m in enumerate(measurements):
        place = f"{file}:{m.line}"
        _check_line(m, index, plan.rule, rounds, place)
        if last is None or (last.cell, last.number) != (m.cell, m.repetition):
            _check_next_round(m, last, rounds[m.cell], plan, place)
            _check_lead(m, rounds[m.cell], place)
            last = RoundLines(m.cell, m.repetition)
            rounds[m.cell].append(last)
        _check_slot(m, last, place)
        if plan.rule.same_passes and last.lines:
            _check_passes(m, last.lines[0], place)
        last.lines.append(m)
    return rounds


def _check_line(
    m: Measurement,
    index: int,
    rule: AbRule,
    rounds: Mapping[CellName, object],
    place: str,
) -> None:
    """Raise ResultsError if no A/B run with this rule can contain the line."""
    if m.cell not in rounds:
        raise ResultsError(f"{place}: cell {m.cell} is not in the plan")
    if m.pass_ != THROUGHPUT or m.attempt != 1:
        what = f"attempt {m.attempt} of a {m.pass_} repetition"
        raise ResultsError(f"{place}: {what}, which an A/B run does not have")
    number, stage = m.record["ab"]["round"], m.record["ab"]["stage"]
    if number != m.repetition:
        raise ResultsError(
            f"{place}: ab.round is {number}, but repetition is {m.repetition}"
        )
    if number > rule.screen_rounds + rule.confirm_rounds:
        raise ResultsError(f"{place}: round {number} was not planned")
    if stage != stage_of(rule, number):
        raise ResultsError(f"{place}: round {number} is not in the stage {stage}")
    if m.order != index:
        raise ResultsError(f"{place}: order {m.order}, expected {index}")


def _check_next_round(
    m: Measurement,
    last: RoundLines | None,
    before: Sequence[RoundLines],
    plan: AbPlan,
    place: str,
) -> None:
    """Raise ResultsError unless a line may begin a round here.

    Machines that know nothing of each other go on with a cell that fails on another,
    and one of them may be missing.
    """
    if last is not None and (due := last.due()):
        gap = f"round {last.number} of {last.cell} lacks slot {due[0]}"
        raise ResultsError(f"{place}: {m.cell} begins a round, but {gap}")
    if last is not None and m.repetition < last.number:
        raise ResultsError(f"{place}: round {m.repetition} after {last.number}")
    if plan.machines:
        return
    planned = plan.due(m.cell)
    if len(before) >= len(planned) or m.repetition != planned[len(before)]:
        jump = f"round {m.repetition} of {m.cell} after {len(before)} rounds"
        raise ResultsError(f"{place}: {jump}")
    if any(earlier.failed for earlier in before):
        raise ResultsError(f"{place}: {m.cell} is measured after it has failed")


def _check_lead(m: Measurement, before: Sequence[RoundLines], place: str) -> None:
    """Raise ResultsError unless the sides lead alternate rounds of a pair."""
    is_second = before and before[-1].number == m.repetition - 1
    if m.repetition % 2 == 0 and is_second and before[-1].lead == side_of(m):
        pair = f"rounds {m.repetition - 1} and {m.repetition} of {m.cell}"
        raise ResultsError(f"{place}: {pair} both begin with side {side_of(m)}")


def _check_passes(m: Measurement, first: Measurement, place: str) -> None:
    """Raise ResultsError if two lines of a round were measured in unlike passes."""
    made, due = (len(of.record.get("passes") or ()) for of in (m, first))
    if made and due and made != due:
        raise ResultsError(f"{place}: {made} passes, but {due} in line {first.line}")


def _check_slot(m: Measurement, before: RoundLines, place: str) -> None:
    slot = slot_of(m)
    if not before.lines:
        if slot != 0:
            raise ResultsError(f"{place}: a round begins with slot {slot}, expected 0")
        return
    taken = {slot_of(line): line.line for line in before.lines}
    if slot in taken:
        raise ResultsError(f"{place}: repeats slot {slot} of line {taken[slot]}")
    due = before.due()
    if not due or slot != due[0]:
        expected = f"expected {due[0]}" if due else "after a side has failed"
        raise ResultsError(f"{place}: slot {slot}, {expected}")
    side = side_at(before.lead, slot)
    if side_of(m) != side:
        raise ResultsError(
            f"{place}: side {side_of(m)} in slot {slot}, expected {side}:"
            " a round is A B B A or B A A B"
        )
