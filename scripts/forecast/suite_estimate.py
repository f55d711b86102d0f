"""What a run will take: each cell predicted from smaller sizes, and what cannot fit."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from report.model.plan import CellName, Plan
from report.stats.scaling import (
    NOTHING,
    Prediction,
    RepetitionEstimate,
    TooFew,
    estimate_repetition,
    exactly,
)
from report.terms import numbers
from scripts.forecast.size_history import Samples, work_of
from scripts.planning.disk_room import SPARE_BYTES
from scripts.planning.oracle_memory import table_bytes

# What an engine keeps in memory of a database; it shows how it goes on when it has
# been filled a few times.
_MEMORIES = ("cache_size", "write_buffer_size")
_FILLED = 4


@dataclass(frozen=True)
class Room:
    """What the machine has left, in bytes; None: it does not say."""

    disk_bytes: int
    memory_bytes: int | None
    total_memory_bytes: int | None


@dataclass(frozen=True)
class CellEstimate:
    """One cell of the plan; where nothing is predicted, `reason` says why."""

    cell: CellName
    status: str  # planned, or why it is not
    reason: str
    repetitions: int
    repetition: RepetitionEstimate | None = None
    time_s: Prediction | None = None  # of all repetitions, without filling
    memory_bytes: Prediction | None = None  # at once, with the table of the keys
    disk_bytes: Prediction | None = None  # at once, with the prepared database


@dataclass(frozen=True)
class CellProblem:
    """What is wrong with a cell, in words that follow its name."""

    cell: CellName
    words: str

    def __str__(self) -> str:
        return f"{self.cell} {self.words}"


@dataclass(frozen=True)
class SuiteEstimate:
    """All cells; `fills_s` are the databases that cells start from."""

    cells: tuple[CellEstimate, ...]
    fills_s: Prediction
    unfit: tuple[CellProblem, ...]  # why the run cannot be
    doubts: tuple[CellProblem, ...]  # what may go wrong

    @property
    def known(self) -> list[CellEstimate]:
        """The cells that are predicted."""
        return [cell for cell in self.cells if cell.repetition]

    @property
    def unknown(self) -> list[CellEstimate]:
        """The cells that would run, and of which too little was measured."""
        return [c for c in self.cells if c.status == "planned" and not c.repetition]

    @property
    def time_s(self) -> Prediction:
        """Of the whole run, as far as it is known."""
        times = (cell.time_s for cell in self.known if cell.time_s)
        return sum(times, self.fills_s)


def estimate_suite(plan: Plan, samples: Samples, room: Room) -> SuiteEstimate:
    """What the plan will take, from what was measured of its cells."""
    cells = tuple(_estimate(plan, cell, samples) for cell in plan.cells)
    known = {found.cell: found.repetition for found in cells if found.repetition}
    unfit: list[CellProblem] = []
    doubts: list[CellProblem] = []
    for found in cells:
        for may_fit, words in _shortages(found, room):
            (doubts if may_fit else unfit).append(CellProblem(found.cell, words))
        if once := found.repetition:
            words_of = _doubts(plan, found.cell, once, samples, room)
            doubts += [CellProblem(found.cell, words) for words in words_of]
    fills = (_fill_of(plan, unit.cells, known) for unit in plan.order)
    return SuiteEstimate(cells, sum(fills, NOTHING), tuple(unfit), tuple(doubts))


def _estimate(plan: Plan, cell: CellName, samples: Samples) -> CellEstimate:
    obstacle = plan.obstacle(cell)
    if obstacle:
        return CellEstimate(cell, *obstacle, repetitions=0)
    num, work = int(plan.flags(cell)["num"]), work_of(plan, cell)
    shared = {c for u in plan.order for c in u.cells if _holds(plan, u.cells, cell)}
    fills = samples.fills_of(plan, (plan.cells[index] for index in sorted(shared)))
    try:
        found = estimate_repetition(samples.of(plan, cell), fills, num, work)
    except TooFew as error:
        reasons = (
            str(error),
            samples.failure(plan, cell),
            _others(samples, plan, cell),
        )
        return CellEstimate(
            cell, "planned", "; ".join(filter(None, reasons)), plan.rounds
        )
    copies = 2 if plan.start(cell) else 1
    disk = found.disk_bytes
    return CellEstimate(
        cell,
        "planned",
        "",
        plan.rounds,
        found,
        time_s=_all_repetitions(plan, cell, found, work),
        memory_bytes=_memory(plan, cell, found, samples),
        disk_bytes=disk * copies if disk else None,
    )


def _others(samples: Samples, plan: Plan, cell: CellName) -> str:
    """What was measured of the cell and says nothing of it, or ""."""
    sizes = ", ".join(f"{num:,}" for num in samples.elsewhere(plan, cell))
    return f"with other settings than of this size: {sizes}" if sizes else ""


def _memory(
    plan: Plan, cell: CellName, found: RepetitionEstimate, samples: Samples
) -> Prediction | None:
    """The engine's share and the table of the keys.

    An engine's memory grows with all it holds until its buffers are full, and then
    no more: as long as none were, what was seen is the least, and the rest unknown.
    """
    engine = found.memory_bytes
    if engine is None:
        return None
    if any(_unfilled(plan, cell, samples)):
        least = max(s.memory_bytes or 0 for s in samples.of(plan, cell))
        engine = exactly(least)
    return engine + exactly(table_bytes(plan, cell))


def _holds(plan: Plan, indexes: Iterable[int], cell: CellName) -> bool:
    return any(plan.cells[index] == cell for index in indexes)


def _all_repetitions(
    plan: Plan, cell: CellName, found: RepetitionEstimate, work: int
) -> Prediction:
    """The wall time of every repetition; one that offers a rate takes its time."""
    times, rate = found.wall_s * plan.repetitions, plan.rate(cell)
    if plan.rounds == plan.repetitions:
        return times
    if rate is None:
        return times + found.wall_s
    others = (p for part, p in found.seconds.items() if part not in ("prepare", "loop"))
    return sum(others, times + exactly(work / rate))


def _fill_of(
    plan: Plan, indexes: Iterable[int], known: Mapping[CellName, RepetitionEstimate]
) -> Prediction:
    """The database that a unit fills, counted once."""
    of = [known[c] for index in indexes if (c := plan.cells[index]) in known]
    return next((once.fill_s for once in of if "prepare" in once.seconds), NOTHING)


def _shortages(found: CellEstimate, room: Room) -> Iterable[tuple[bool, str]]:
    """What the cell lacks; False: it cannot be, True: it may.

    Disk is lacking if its median does not fit, memory if nothing less is expected.
    """
    disk, memory = found.disk_bytes, found.memory_bytes
    spare = room.disk_bytes - SPARE_BYTES
    if disk and disk.high > spare:
        yield _shortage("disk", disk, spare, disk.middle <= spare)
    free = room.memory_bytes
    if memory and free is not None and memory.high > free:
        yield _shortage("memory", memory, free, memory.low <= free)


def _shortage(
    what: str, needed: Prediction, free: int, may_fit: bool
) -> tuple[bool, str]:
    verb = f"may need more {what} than there is" if may_fit else f"needs {what}"
    where = " in --data-dir" if what == "disk" else ""
    room = f"{numbers.size(max(0, free))} are free{where}"
    return may_fit, f"{verb}: {_sized(needed)}; {room}"


def _doubts(
    plan: Plan, cell: CellName, once: RepetitionEstimate, samples: Samples, room: Room
) -> Iterable[str]:
    """What the fit cannot see, or the runner would not wait for.

    The memories are those that no measured database has filled, and this one does.
    """
    own = sum((once.seconds.get(p, NOTHING) for p in ("loop", "settle")), NOTHING)
    longest = max(own.middle, once.fill_s.middle)
    if longest > plan.suite.timeout_s:
        yield (
            f"would be killed: a process of about {numbers.duration(longest)}, limit"
            f" {numbers.duration(plan.suite.timeout_s)} (--timeout)"
        )
    unfilled = list(_unfilled(plan, cell, samples))
    total = room.total_memory_bytes
    if total and _largest(plan, cell, samples) < total:
        unfilled.append(("the memory", total))
    for name, size in unfilled:
        if once.disk_bytes and once.disk_bytes.middle > size:
            yield (
                f"exceeds {name}, {numbers.size(size)}, as no size that was measured"
                " does: its time and memory are the least"
            )


def _unfilled(
    plan: Plan, cell: CellName, samples: Samples
) -> Iterable[tuple[str, int]]:
    """The caches and buffers that no measured database has filled a few times."""
    for flag in _MEMORIES:
        size = plan.flags(cell).get(flag)
        if type(size) is int and _largest(plan, cell, samples) < _FILLED * size:
            yield f"{_FILLED} times {flag}", _FILLED * size


def _largest(plan: Plan, cell: CellName, samples: Samples) -> float:
    """Bytes of the largest database of the cell that was measured."""
    return max((s.disk_bytes or 0 for s in samples.of(plan, cell)), default=0)


def _sized(found: Prediction) -> str:
    low, high = numbers.size(found.low), numbers.size(found.high)
    return f"{numbers.size(found.middle)} ({low} to {high})"
