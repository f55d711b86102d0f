"""The order of a run: which cell has its turn when, with which seed, what is left."""

import hashlib
import random
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace

from report.model.plan import CellGroup, CellName, Plan
from report.model.record import Record
from report.terms.documents import canonical


@dataclass(frozen=True)
class ScheduledRepetition:
    """One cell's place in the run: which line it will write."""

    index: int  # into Plan.cells
    order: int  # position in the run's order
    repetition: int
    attempt: int = 1  # the first one that is still to be made


def shuffled_order(plan: Plan) -> tuple[CellGroup, ...]:
    """Every repetition's units in a random order decided by the run's seed.

    The cells that cannot run come first, as one unit of repetition 1: each of them
    leaves one line that says why.
    """
    able = [i for i, c in enumerate(plan.cells) if plan.obstacle(c) is None]
    unable = tuple(i for i in range(len(plan.cells)) if i not in set(able))
    generator = random.Random(plan.seed)
    order = [CellGroup(1, unable)] if unable else []
    for repetition in range(1, plan.rounds + 1):
        units = _units(plan, able)
        generator.shuffle(units)
        for unit in units:
            generator.shuffle(unit)
            order.append(CellGroup(repetition, tuple(unit)))
    return tuple(order)


def _units(plan: Plan, cells: Sequence[int]) -> list[list[int]]:
    """Cells grouped by the database they can share."""
    groups: dict[str, list[int]] = {}
    for index in cells:
        cell = plan.cells[index]
        start = plan.start(cell)
        shared = [cell.engine, start and asdict(start), dict(plan.flags(cell))]
        key = canonical(shared if start else [index])
        groups.setdefault(key, []).append(index)
    return list(groups.values())


def repetition_seed(master: int, repetition: int) -> int:
    """The seed of every executable in one repetition: 1 to 2^31 - 1.

    The first 31 bits of SHA-256 of "kvmatrix MASTER REPETITION": the same for all
    engines, unrelated between repetitions.
    """
    digest = hashlib.sha256(f"kvmatrix {master} {repetition}".encode()).digest()
    return max(1, int.from_bytes(digest[:4], "big") >> 1)


def cell_of(line: Record) -> CellName:
    """The cell a line belongs to."""
    return CellName(line["engine"], line["scenario"], line["benchmark"])


def turns_of(plan: Plan) -> list[tuple[CellGroup, list[ScheduledRepetition]]]:
    """Every unit with its turns, numbered through the whole run."""
    numbered, order = [], 0
    for unit in plan.order:
        turns = [
            ScheduledRepetition(index, order + i, unit.repetition)
            for i, index in enumerate(unit.cells)
        ]
        order += len(turns)
        numbered.append((unit, turns))
    return numbered


def marks_of(line: Record) -> list[str]:
    """What disturbed the attempt that the line tells of; [] if nothing did."""
    disturbance = line["disturbance"]
    return list(disturbance["marks"]) if disturbance else []


def is_superseded(plan: Plan, line: Record) -> bool:
    """Whether the repetition is made again, so that a later line counts."""
    again = line["attempt"] < plan.attempts
    return again and line["status"] == "ok" and bool(marks_of(line))


def missing_turns(
    plan: Plan, lines: Iterable[Record]
) -> list[tuple[CellGroup, list[ScheduledRepetition]]]:
    """What is still to be done after these lines, unit by unit."""
    last: dict[tuple[CellName, int], Record] = {}
    settled = set()
    for line in lines:
        last[cell_of(line), line["repetition"]] = line
        if line["status"] == "unsupported":  # one line says it for all repetitions
            settled.add(cell_of(line))
    missing = []
    for unit, turns in turns_of(plan):
        left = []
        for turn in turns:
            cell = plan.cells[turn.index]
            newest = last.get((cell, turn.repetition))
            if cell in settled or (newest and not is_superseded(plan, newest)):
                continue
            attempt = newest["attempt"] + 1 if newest else 1
            left.append(replace(turn, attempt=attempt))
        if left:
            missing.append((unit, left))
    return missing
