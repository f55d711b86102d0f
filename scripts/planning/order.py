"""The order of a run: which cell is measured when, with which seed; what is left."""

import random
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import accumulate

from report.model.description import preparation_flags
from report.model.plan import CellGroup, CellName, Plan
from report.model.record import Record
from report.terms.documents import canonical
from report.terms.rulebook import UNKNOWN

MOST_IN_VAIN = 8
ONE_OF = 16


@dataclass(frozen=True)
class ScheduledRepetition:
    """One repetition in the order of the run; it will write one line."""

    index: int  # into Plan.cells
    order: int  # position in the run's order
    repetition: int
    attempt: int = 1  # the next attempt, from 1


def shuffled_order(plan: Plan) -> tuple[CellGroup, ...]:
    """Return all units of every repetition, in a random order set by the run's seed.

    In each repetition the engines of a chart follow each other: blocks of charts are in
    random order, and so are the units of a block.  Engines are compared within such a
    block, in which the machine changes little.

    The cells that cannot run come first, as one unit of repetition 1.  Each of them
    gets one line that says why.
    """
    able = [i for i, c in enumerate(plan.cells) if plan.obstacle(c) is None]
    unable = tuple(i for i in range(len(plan.cells)) if i not in set(able))
    generator = random.Random(plan.seed)
    order = [CellGroup(1, unable)] if unable else []
    blocks = _blocks(plan, _units(plan, able))
    for repetition in range(1, plan.rounds + 1):
        generator.shuffle(blocks)
        for block in blocks:
            generator.shuffle(block)
            for unit in block:
                generator.shuffle(unit)
                order.append(CellGroup(repetition, tuple(unit)))
    return tuple(order)


def _blocks(plan: Plan, units: Iterable[list[int]]) -> list[list[list[int]]]:
    """Return the units in blocks, the smallest that divide no unit and no chart."""
    blocks: list[tuple[set[tuple[str, str]], list[list[int]]]] = []
    for unit in units:
        charts = {(plan.cells[i].scenario, plan.cells[i].benchmark) for i in unit}
        block = [unit]
        for other in [b for b in blocks if b[0] & charts]:
            blocks.remove(other)
            charts |= other[0]
            block = other[1] + block
        blocks.append((charts, block))
    return [block for _, block in blocks]


def _units(plan: Plan, cells: Sequence[int]) -> list[list[int]]:
    """Return the cells, grouped by the database that they can share."""
    groups: dict[str, list[int]] = {}
    for index in cells:
        cell = plan.cells[index]
        start = plan.start(cell)
        shared: list[object] = [index]
        if start:
            engine, own = plan.engine(cell.engine), plan.flags(cell)
            fills = (engine.benchmark(name) or UNKNOWN for name in start.fill)
            flags = [preparation_flags(engine.description, fill, own) for fill in fills]
            shared = [cell.engine, asdict(start), flags]
        groups.setdefault(canonical(shared), []).append(index)
    return list(groups.values())


def cell_of(line: Record) -> CellName:
    """Return the cell that a line belongs to."""
    return CellName(line["engine"], line["scenario"], line["benchmark"])


def scheduled_repetitions(
    plan: Plan,
) -> list[tuple[CellGroup, list[ScheduledRepetition]]]:
    """Return every unit that is due with its repetitions, in the order of measuring.

    They are numbered through the whole plan, so that those of all its shards have
    different numbers; the canaries follow the last unit.
    """
    starts = list(accumulate((len(unit.cells) for unit in plan.order), initial=0))
    numbers = range(len(plan.order)) if plan.shard is None else plan.shard.units
    places = [*_canary_starts(plan, starts[-1]), *(starts[unit] for unit in numbers)]
    return [
        (
            unit,
            [
                ScheduledRepetition(index, place + i, unit.repetition)
                for i, index in enumerate(unit.cells)
            ],
        )
        for place, unit in zip(places, plan.due, strict=True)
    ]


def _canary_starts(plan: Plan, end: int) -> list[int]:
    """Return the numbers of the first repetitions of the canary's units."""
    if plan.shard is None or not plan.shard.canary or not plan.canary:
        return []
    sizes = [len(plan.order[unit].cells) for unit in plan.canary]
    begin = end + (plan.shard.index - 1) * sum(sizes)
    return list(accumulate(sizes[:-1], initial=begin))


def marks_of(line: Record) -> list[str]:
    """Return what disturbed the attempt in this line; [] if undisturbed."""
    disturbance = line["disturbance"]
    return list(disturbance["marks"]) if disturbance else []


def can_be_retried(plan: Plan, line: Record) -> bool:
    """Return True if the attempt in this line is disturbed and is not the last one."""
    can_retry = line["attempt"] < plan.attempts
    return can_retry and line["status"] == "ok" and bool(marks_of(line))


def is_retried(plan: Plan, lines: Sequence[Record]) -> bool:
    """Return True if the attempt in the last of these lines is retried, which is next.

    A machine that is always busy disturbs each retry, too.  After MOST_IN_VAIN such
    retries in a row, only one of ONE_OF disturbed repetitions is retried, to notice
    when the machine is quiet again.  (If it disturbs 60 % of all attempts, independent
    of each other, that happens by chance to 2 % of the retries.)
    """
    if not lines or not can_be_retried(plan, lines[-1]):
        return False
    in_vain = kept = 0  # retries; disturbed repetitions since the last retry
    for line in reversed(lines):
        if line["status"] != "ok":
            continue
        if line["attempt"] == 1:
            kept += bool(marks_of(line)) and not in_vain
        elif not marks_of(line):
            return True
        else:
            in_vain += 1
        if in_vain == MOST_IN_VAIN:
            return kept >= ONE_OF
    return True


def superseded_lines(plan: Plan, lines: Sequence[Record]) -> set[int]:
    """Return the positions of the lines whose attempts were or will be retried."""
    retried = {len(lines) - 1} if is_retried(plan, lines) else set()
    newest: dict[tuple[CellName, int], int] = {}
    for position, line in enumerate(lines):
        repetition = cell_of(line), line["repetition"]
        if (earlier := newest.get(repetition)) is not None:
            retried.add(earlier)
        newest[repetition] = position
    return retried


def missing_repetitions(
    plan: Plan, lines: Sequence[Record]
) -> list[tuple[CellGroup, list[ScheduledRepetition]]]:
    """Return the repetitions that these lines leave to do, unit by unit."""
    last: dict[tuple[CellName, int], Record] = {}
    settled = set()
    pending = lines[-1] if is_retried(plan, lines) else None
    for line in lines:
        last[cell_of(line), line["repetition"]] = line
        if line["status"] == "unsupported":  # one line is enough for all repetitions
            settled.add(cell_of(line))
    missing = []
    for unit, repetitions in scheduled_repetitions(plan):
        remaining = []
        for scheduled in repetitions:
            cell = plan.cells[scheduled.index]
            newest = last.get((cell, scheduled.repetition))
            if cell in settled or (newest and newest is not pending):
                continue
            attempt = newest["attempt"] + 1 if newest else 1
            remaining.append(replace(scheduled, attempt=attempt))
        if remaining:
            missing.append((unit, remaining))
    return missing
