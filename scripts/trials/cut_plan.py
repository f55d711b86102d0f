"""Every disk that a power cut could have left, found in one recorded log.

A disk may lose, or reorder, what was written after the last completed flush, and
nothing before it.  So of each moment of a recording there are many states: without
all that was written after the flush, with all of it, and with a part of it.  Those
that a cut is likely to get wrong come first: see `TraceKind`.
"""

import random
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from scripts.trials.block_log import LoggedWrite
from scripts.trials.crash_trace import RECOVERY, CrashTrace
from scripts.trials.disk_image import SECTOR_BYTES, DiskImage, Patch

OMISSIONS = 16  # the last writes, each left out alone
SUBSETS = 32  # of the writes after the flush, chosen at random
FLUSHED = "flushed"  # the last completed flush, and nothing after it
WRITTEN = "written"  # everything
OMITTED = "omitted"  # everything but one write
SUBSET = "subset"
TORN = "torn"  # a write that ended within


@dataclass(frozen=True)
class CutState:
    """A disk after a cut, as the writes before its last flush and some after it."""

    flushed: int  # entries of the log up to the flush, all of which are there
    patches: tuple[Patch, ...]  # what is there of those after it, in order
    kind: str
    aim: str
    cut_ns: int  # what was acknowledged up to here must be there
    cut_end_ns: int  # what began from here on cannot be there


def cuts_of(log: Sequence[LoggedWrite], trace: CrashTrace) -> list[int]:
    """Return the moments to cut at, as counts of entries that were recorded.

    They are those right after an acknowledgement, before the disk did anything else,
    and those between two flushes that no acknowledgement separates.
    """
    times = [entry.at_ns for entry in log]
    start = bisect_right(times, trace.started_ns)
    cuts = {bisect_right(times, r.at_ns) for r in trace.acknowledgements}
    for number in range(start, len(log)):
        if log[number].patch is None:
            cuts.add(number)  # right before the flush is complete
    cuts.add(len(log))
    return sorted(cut for cut in cuts if cut >= start)


def states_at(
    log: Sequence[LoggedWrite], cut: int, trace: CrashTrace, rng: random.Random
) -> Iterator[CutState]:
    """Yield the states of one moment, the simplest first."""
    flushed, pending = _since_flush(log, cut)
    end_ns = log[cut].at_ns if cut < len(log) else log[-1].at_ns + 1
    start_ns = log[cut - 1].at_ns if cut else 0
    aim = trace.aim_between(start_ns, end_ns - 1)

    def state(kind: str, patches: Sequence[Patch]) -> CutState:
        return CutState(flushed, tuple(patches), kind, aim, end_ns - 1, end_ns)

    yield state(FLUSHED, ())
    if not pending:
        return
    yield state(WRITTEN, pending)
    for left_out in range(max(0, len(pending) - OMISSIONS), len(pending)):
        yield state(OMITTED, pending[:left_out] + pending[left_out + 1 :])
    for _ in range(SUBSETS if len(pending) > 1 else 0):
        share = rng.random()
        yield state(SUBSET, [p for p in pending if rng.random() < share])
    torn = rng.randrange(len(pending))
    whole = pending[torn]
    sectors = len(whole.data) // SECTOR_BYTES
    if sectors > 1:
        kept = rng.randrange(1, sectors) * SECTOR_BYTES
        part = Patch(whole.offset, whole.data[:kept])
        yield state(TORN, [*pending[:torn], part, *pending[torn + 1 :]])


def chosen_states(
    log: Sequence[LoggedWrite], trace: CrashTrace, most: int, seed: int
) -> list[CutState]:
    """Return at most `most` states in the order of their flushes.

    They are shared out evenly among the aims.  Of each aim, the states without
    anything after the flush come first, spread over its moments; then one after
    another of the other states of each moment.
    """
    rng = random.Random(seed)
    by_aim: dict[str, list[Iterator[CutState]]] = {}
    for cut in cuts_of(log, trace):
        states = list(states_at(log, cut, trace, rng))
        head, rest = states[:2], states[2:]
        rng.shuffle(rest)
        by_aim.setdefault(states[0].aim, []).append(iter([*head, *rest]))
    queues = []
    for iterators in by_aim.values():
        rng.shuffle(iterators)
        queues.append(_in_turn(iterators))
    chosen: list[CutState] = []
    for state in _in_turn(queues):
        if len(chosen) == most:
            break
        chosen.append(state)
    return sorted(chosen, key=lambda state: state.flushed)


def later_states(
    log: Sequence[LoggedWrite], first: CutState, most: int, seed: int
) -> list[CutState]:
    """Return states of a second cut, within the recovery from the first."""
    rng = random.Random(seed)
    chosen: list[CutState] = []
    for _ in range(most if log else 0):
        cut = rng.randint(1, len(log))
        flushed, pending = _since_flush(log, cut)
        share = rng.random()
        patches = [p for p in pending if rng.random() < share]
        chosen.append(
            CutState(
                *(flushed, tuple(patches), SUBSET, RECOVERY),
                *(first.cut_ns, first.cut_end_ns),
            )
        )
    return chosen


def distinct(
    log: Sequence[LoggedWrite], states: Sequence[CutState]
) -> Iterator[tuple[CutState, DiskImage, int]]:
    """Yield each different disk once, with how many states had it before.

    Of states with the same bytes, the latest cut demands the most; it is the one that
    is tried.  REQUIRES: states in the order of their flushes.
    """
    latest: dict[int, CutState] = {}
    for state, _, identity in _with_images(log, states):
        known = latest.get(identity)
        if known is None or known.cut_ns < state.cut_ns:
            latest[identity] = state
    repeats = len(states) - len(latest)
    tried: set[int] = set()
    for state, image, identity in _with_images(log, states):
        if latest[identity] is state and identity not in tried:
            tried.add(identity)
            yield state, image.with_patches(state.patches), repeats


def _since_flush(log: Sequence[LoggedWrite], cut: int) -> tuple[int, list[Patch]]:
    """Return how many entries end with the last flush, and the writes after it."""
    flushed = cut
    while flushed and log[flushed - 1].patch is not None:
        flushed -= 1
    return flushed, [e.patch for e in log[flushed:cut] if e.patch is not None]


def _with_images(
    log: Sequence[LoggedWrite], states: Sequence[CutState]
) -> Iterator[tuple[CutState, DiskImage, int]]:
    image, applied = DiskImage(), 0
    for state in states:
        for entry in log[applied : state.flushed]:
            if entry.patch is not None:
                image.apply(entry.patch)
        applied = state.flushed
        yield state, image, image.identity_with(state.patches)


def _in_turn(iterators: list[Iterator[CutState]]) -> Iterator[CutState]:
    """Yield one of each iterator, again and again, until all have ended."""
    while iterators:
        left = []
        for iterator in iterators:
            state = next(iterator, None)
            if state is not None:
                left.append(iterator)
                yield state
        iterators = left
