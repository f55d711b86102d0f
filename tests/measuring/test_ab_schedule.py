"""The order of an A/B run: random leads, slots, paddings, incomplete rounds."""

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from report.model.ab_plan import AbPlan, Failure
from report.model.ab_rule import AbRule
from report.model.plan import CellName
from scripts.ab.ab_pairing import AbTerms, paired
from scripts.ab.ab_schedule import Ledger, Slot, lead_of, padding_bytes, shuffled
from scripts.store.run_places import CannotStart
from tests.builders import simple_plans
from tests.builders.simple_plans import engine

CELL = CellName("one", "base", "fillseq")
CELLS = [CellName("one", "base", f"b{i}") for i in range(40)]


def line(number: int, slot: int, side: str, status: str = "ok") -> Any:
    place = {"round": number, "slot": slot, "side": side}
    names = {"engine": "one", "scenario": "base", "benchmark": "fillseq"}
    return {**names, "repetition": number, "status": status, "ab": place}


def played(ledger: Ledger, number: int, failing: str = "") -> str:
    """Return the sides of a round, in order, run to its end."""
    sides = ""
    while slot := ledger.next(CELL, number):
        status = "error" if slot.side == failing else "ok"
        ledger.add(line(number, slot.slot, slot.side, status))
        sides += slot.side
    return sides


def test_every_round_is_abba_or_baab() -> None:
    orders = {played(Ledger(seed), 1) for seed in range(20)}
    assert orders == {"abba", "baab"}


def test_each_side_leads_one_of_two_rounds() -> None:
    for cell in CELLS:
        leads = [lead_of(7, cell, n) for n in range(1, 21)]
        assert all(set(leads[i : i + 2]) == {"a", "b"} for i in range(0, 20, 2))


def test_the_coins_are_fair_and_differ_by_seed_cell_and_round() -> None:
    tossed = [lead_of(7, cell, n) for cell in CELLS for n in range(1, 50, 2)]
    assert 430 < Counter(tossed)["a"] < 570  # of 1000: 4.4 standard deviations
    again = [lead_of(8, cell, n) for cell in CELLS for n in range(1, 50, 2)]
    assert 400 < sum(a == b for a, b in zip(tossed, again, strict=True)) < 600


def test_each_round_shuffles_all_cells() -> None:
    orders = [shuffled(7, number, CELLS) for number in range(1, 5)]
    assert all(sorted(map(str, o)) == sorted(map(str, CELLS)) for o in orders)
    assert len({tuple(order) for order in orders}) == 4
    assert shuffled(7, 1, CELLS) == orders[0]
    assert shuffled(7, 1, reversed(CELLS)) == orders[0]


def test_all_processes_make_as_many_passes_as_the_first_one() -> None:
    """Passes differ: the first of a read may wait for what the fill has left to do."""
    ledger = Ledger(7)
    assert ledger.passes(CELL) == 0
    ledger.add(line(1, 0, "a", "error"))
    assert ledger.passes(CELL) == 0
    first = line(1, 1, "b")
    first["passes"] = [{}, {}, {}]
    ledger.add(first)
    assert ledger.passes(CELL) == 3
    assert ledger.passes(CELLS[0]) == 0


def test_paddings_fill_their_range_evenly() -> None:
    slots = [
        Slot(cell, n, s, "a") for cell in CELLS for n in range(5) for s in range(4)
    ]
    paddings = [padding_bytes(7, slot) for slot in slots]
    assert 0 <= min(paddings) < 50 and 4045 < max(paddings) <= 4095
    assert 1900 < sum(paddings) / len(paddings) < 2200


@pytest.mark.parametrize("done", range(4))
def test_a_broken_round_continues_at_its_next_slot(done: int) -> None:
    whole = Ledger(3)
    sides = played(whole, 1)
    resumed = Ledger(3)
    for record in whole.lines(CELL, 1)[:done]:
        resumed.add(record)
    following = resumed.next(CELL, 1)
    assert following == Slot(CELL, 1, done, sides[done])
    assert played(resumed, 1) == sides[done:]
    assert resumed.is_over(CELL, 1)


def test_a_resumed_round_keeps_its_recorded_lead() -> None:
    ledger = Ledger(3)
    leader = "b" if lead_of(3, CELL, 1) == "a" else "a"
    ledger.add(line(1, 0, leader))
    assert played(ledger, 1)[-1] == leader


@pytest.mark.parametrize("seed", range(6))
def test_a_failed_side_ends_its_round_and_cell(seed: int) -> None:
    ledger = Ledger(seed)
    sides = played(ledger, 1, failing="b")
    assert sides in ("aba", "baa")
    assert played(ledger, 2) == ""


def pair(of_a: Any = None, of_b: Any = None, **more: Any) -> AbPlan:
    new = replace(of_b or engine("one"), binary_sha256="1" * 64)
    a, b = (simple_plans.plan([e], **more) for e in (of_a or engine("one"), new))
    labels = {"a": "base", "b": "new"}
    terms = AbTerms(labels, AbRule(), same_build=False, counted=False)
    return paired(a, b, terms)


def test_an_engine_that_neither_side_has_cannot_be_planned() -> None:
    missing = engine("one", missing="not built")
    with pytest.raises(CannotStart, match="side a: not built"):
        pair(missing, missing)


def test_cells_without_a_supporting_side_are_omitted() -> None:
    cell_of_b = engine("one", unsupported={"fillseq": "no"})
    plan = pair(cell_of_b, cell_of_b)
    assert "fillseq" not in {cell.benchmark for cell in plan.cells}
    assert plan.able == plan.cells


def test_a_cell_that_one_side_supports_stays_and_cannot_run() -> None:
    plan = pair(None, engine("one", unsupported={"fillseq": "no"}))
    (cell_of_b,) = [cell for cell in plan.cells if cell not in plan.able]
    assert cell_of_b.benchmark == "fillseq"
    assert plan.obstacle(cell_of_b) == Failure("b", "unsupported", "no")
