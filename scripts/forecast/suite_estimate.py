"""The needs of a run, predicted from smaller sizes, and the cells that do not fit."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

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
from report.terms.regime import LOOP, Regime
from report.terms.rulebook import Flags
from scripts.forecast.size_history import Samples, work_of
from scripts.planning.disk_room import SPARE_BYTES
from scripts.planning.oracle_memory import table_bytes

# The parts of a database that an engine keeps in memory.  Growth beyond them can be
# extrapolated only once they have been filled a few times.
_MEMORIES = ("cache_size", "write_buffer_size")
_FILLED = 4


@dataclass(frozen=True)
class Room:
    """Free space on the machine, in bytes; None: unknown."""

    disk_bytes: int
    memory_bytes: int | None
    total_memory_bytes: int | None


@dataclass(frozen=True)
class CellEstimate:
    """One cell of the plan; `reason` says why nothing is predicted."""

    cell: CellName
    status: str  # planned, or the status of one that cannot run
    reason: str
    repetitions: int
    repetition: RepetitionEstimate | None = None
    time_s: Prediction | None = None  # all repetitions, without filling
    memory_bytes: Prediction | None = None  # the peak, with the table of keys
    disk_bytes: Prediction | None = None  # the peak, with the prepared database


@dataclass(frozen=True)
class CellProblem:
    """A problem of a cell, in words that follow its name."""

    cell: CellName
    words: str

    def __str__(self) -> str:
        return f"{self.cell} {self.words}"


@dataclass(frozen=True)
class SuiteEstimate:
    """All cells; `fills_s` is for the databases that cells start from."""

    cells: tuple[CellEstimate, ...]
    fills_s: Prediction
    unfit: tuple[CellProblem, ...]  # cells that do not fit
    doubts: tuple[CellProblem, ...]  # cells that may fail or exceed the prediction

    @property
    def known(self) -> list[CellEstimate]:
        """The predicted cells."""
        return [cell for cell in self.cells if cell.repetition]

    @property
    def unknown(self) -> list[CellEstimate]:
        """The cells that would run but have too few measurements."""
        return [c for c in self.cells if c.status == "planned" and not c.repetition]

    @property
    def time_s(self) -> Prediction:
        """The time of the whole run, without the cells not predicted."""
        times = (cell.time_s for cell in self.known if cell.time_s)
        return sum(times, self.fills_s)


def estimate_suite(plan: Plan, samples: Samples, room: Room) -> SuiteEstimate:
    """Return the needs of the plan, from measurements of its cells."""
    cells = tuple(_estimate(plan, cell, samples) for cell in plan.cells)
    known = {
        estimated.cell: estimated.repetition
        for estimated in cells
        if estimated.repetition
    }
    unfit: list[CellProblem] = []
    doubts: list[CellProblem] = []
    for estimated in cells:
        for may_fit, words in _shortages(estimated, room):
            (doubts if may_fit else unfit).append(CellProblem(estimated.cell, words))
        if once := estimated.repetition:
            words_of = _doubts(plan, estimated.cell, once, samples, room)
            doubts += [CellProblem(estimated.cell, words) for words in words_of]
    fills = (_fill_of(plan, unit.cells, known) for unit in plan.order)
    return SuiteEstimate(cells, sum(fills, NOTHING), tuple(unfit), tuple(doubts))


def _estimate(plan: Plan, cell: CellName, samples: Samples) -> CellEstimate:
    obstacle = plan.obstacle(cell)
    if obstacle:
        return CellEstimate(cell, *obstacle, repetitions=0)
    flags, work = plan.flags(cell), work_of(plan, cell)
    num, least_s = int(flags["num"]), float(flags.get("min_time", 0))
    shared = {c for u in plan.order for c in u.cells if _holds(plan, u.cells, cell)}
    fills = samples.fills_of(plan, (plan.cells[index] for index in sorted(shared)))
    try:
        repetition = estimate_repetition(
            samples.of(plan, cell), fills, num, work, least_s
        )
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
    disk = repetition.disk_bytes * copies if repetition.disk_bytes else None
    if regime := plan.scenario(cell.scenario).regime:
        repetition = _in_regime(repetition, regime, flags)
        if disk and regime.device == LOOP:
            disk = disk + exactly(regime.device_bytes)
    return CellEstimate(
        cell,
        "planned",
        "",
        plan.rounds,
        repetition,
        time_s=_all_repetitions(plan, cell, repetition, work),
        memory_bytes=_memory(plan, cell, repetition, samples),
        disk_bytes=disk,
    )


def _in_regime(
    repetition: RepetitionEstimate, regime: Regime, flags: Flags
) -> RepetitionEstimate:
    """Return an estimate that has only the needs a regime does not change.

    The smaller sizes are measured without it: their data would fit into its memory.
    Therefore the loop takes all of its `duration`, and its memory is the limit.
    """
    seconds, memory = dict(repetition.seconds), repetition.memory_bytes
    if limit_s := float(flags.get("duration", 0)):
        seconds["loop"] = exactly(limit_s)
    if memory and regime.memory_limit_bytes:
        memory = exactly(regime.memory_limit_bytes)
    return replace(repetition, seconds=seconds, memory_bytes=memory)


def _others(samples: Samples, plan: Plan, cell: CellName) -> str:
    """Return the sizes measured only with other settings, in words, or ""."""
    sizes = ", ".join(f"{num:,}" for num in samples.elsewhere(plan, cell))
    return f"with other settings than at this size: {sizes}" if sizes else ""


def _memory(
    plan: Plan, cell: CellName, repetition: RepetitionEstimate, samples: Samples
) -> Prediction | None:
    """Return the memory of the engine and of the table of keys.

    An engine's memory grows until its buffers are full.  If no measurement filled
    them, the largest value seen is a lower bound, and no more is known.
    """
    engine = repetition.memory_bytes
    if engine is None:
        return None
    limited = plan.scenario(cell.scenario).regime
    if any(_unfilled(plan, cell, samples)) and not limited:
        least = max(s.memory_bytes or 0 for s in samples.of(plan, cell))
        engine = exactly(least)
    return engine + exactly(table_bytes(plan, cell))


def _holds(plan: Plan, indexes: Iterable[int], cell: CellName) -> bool:
    return any(plan.cells[index] == cell for index in indexes)


def _all_repetitions(
    plan: Plan, cell: CellName, repetition: RepetitionEstimate, work: int
) -> Prediction:
    """Return the wall time of all repetitions; an open loop lasts as its rate says."""
    times, pace = repetition.wall_s * plan.repetitions, plan.pace(cell)
    if plan.rounds == plan.repetitions:
        return times
    if not pace:
        return times + repetition.wall_s
    others = (
        p for part, p in repetition.seconds.items() if part not in ("prepare", "loop")
    )
    if "rate" in pace:
        loop_s = exactly(work / pace["rate"])
    else:
        loop_s = repetition.seconds["loop"] * (1 / min(1.0, pace["rate_share"]))
    return sum(others, times + loop_s)


def _fill_of(
    plan: Plan, indexes: Iterable[int], known: Mapping[CellName, RepetitionEstimate]
) -> Prediction:
    """Return the time to fill the database of a unit, counted once."""
    of = [known[c] for index in indexes if (c := plan.cells[index]) in known]
    return next((once.fill_s for once in of if "prepare" in once.seconds), NOTHING)


def _shortages(estimated: CellEstimate, room: Room) -> Iterable[tuple[bool, str]]:
    """Yield the shortages of the cell; False: it does not fit, True: it may fit.

    Disk is short if the median does not fit, memory if the low end does not.
    """
    disk, memory = estimated.disk_bytes, estimated.memory_bytes
    spare = room.disk_bytes - SPARE_BYTES
    if disk and disk.high > spare:
        yield _shortage("disk", disk, spare, disk.middle <= spare)
    free = room.memory_bytes
    if memory and free is not None and memory.high > free:
        yield _shortage("memory", memory, free, memory.low <= free)


def _shortage(
    what: str, needed: Prediction, free: int, may_fit: bool
) -> tuple[bool, str]:
    verb = f"may need more {what} than is free" if may_fit else f"needs {what}"
    where = " in --data-dir" if what == "disk" else ""
    room = f"{numbers.size(max(0, free))} are free{where}"
    return may_fit, f"{verb}: {_sized(needed)}; {room}"


def _doubts(
    plan: Plan, cell: CellName, once: RepetitionEstimate, samples: Samples, room: Room
) -> Iterable[str]:
    """Yield the doubts: time limits, and memory that no measured size exceeded.

    The latter are caches that no measured database has filled and this one does.
    """
    limit_s = float(plan.flags(cell).get("duration", 0))
    if plan.scenario(cell.scenario).regime:
        yield (
            "is predicted from runs without its [regime]: the time to settle and to"
            f" audit{'' if limit_s else ', and that of its loop,'} is a lower bound"
        )
    elif limit_s:
        yield (
            f"ends after {numbers.duration(limit_s)} (duration), which is not taken"
            " into account: its time, memory and disk space are upper bounds"
        )
    timed = sum((once.seconds.get(p, NOTHING) for p in ("loop", "settle")), NOTHING)
    longest = max(timed.middle, once.fill_s.middle)
    if longest > plan.suite.timeout_s:
        yield (
            f"would be killed: one process needs about {numbers.duration(longest)}, but"
            f" --timeout is {numbers.duration(plan.suite.timeout_s)}"
        )
    if plan.scenario(cell.scenario).regime:
        return
    unfilled = list(_unfilled(plan, cell, samples))
    total = room.total_memory_bytes
    if total and _largest(plan, cell, samples) < total:
        unfilled.append(("the memory", total))
    for name, size in unfilled:
        if once.disk_bytes and once.disk_bytes.middle > size:
            yield (
                f"is larger than {name} ({numbers.size(size)}); no measured size was,"
                " so its time and memory are lower bounds"
            )


def _unfilled(
    plan: Plan, cell: CellName, samples: Samples
) -> Iterable[tuple[str, int]]:
    """Yield the caches and buffers no measured database has filled a few times."""
    for flag in _MEMORIES:
        size = plan.flags(cell).get(flag)
        if type(size) is int and _largest(plan, cell, samples) < _FILLED * size:
            yield f"{_FILLED} times {flag}", _FILLED * size


def _largest(plan: Plan, cell: CellName, samples: Samples) -> float:
    """Return the bytes of the largest measured database of the cell."""
    return max((s.disk_bytes or 0 for s in samples.of(plan, cell)), default=0)


def _sized(size: Prediction) -> str:
    low, high = numbers.size(size.low), numbers.size(size.high)
    return f"{numbers.size(size.middle)} ({low} to {high})"
