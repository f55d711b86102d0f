"""Which disks a cut could have left, of a recorded log."""

import random

from scripts.trials.block_log import LoggedWrite
from scripts.trials.crash_trace import (
    ACKNOWLEDGED,
    RANDOM,
    CrashTrace,
    TraceKind,
    TraceRecord,
)
from scripts.trials.cut_plan import (
    FLUSHED,
    OMITTED,
    SUBSET,
    TORN,
    WRITTEN,
    CutState,
    chosen_states,
    cuts_of,
    distinct,
    states_at,
)
from scripts.trials.disk_image import BLOCK_BYTES, DiskImage, Patch


def _record(at_ns: int, kind: TraceKind, commit: int = 0) -> TraceRecord:
    return TraceRecord(at_ns, commit, kind, 0, 1, 100, 1, 1)


def _write(at_ns: int, block: int, content: bytes) -> LoggedWrite:
    return LoggedWrite(at_ns, Patch(block * BLOCK_BYTES, content * BLOCK_BYTES))


FLUSH_NS = (12, 22)
LOG = [
    _write(5, 0, b"m"),  # made before the writer began
    LoggedWrite(6, None),
    _write(10, 1, b"a"),
    _write(11, 2, b"b"),
    LoggedWrite(12, None),
    _write(20, 1, b"c"),
    LoggedWrite(22, None),
    _write(30, 3, b"d"),
    _write(31, 4, b"e"),
]
TRACE = CrashTrace(
    1,
    ("single",),
    (
        _record(8, TraceKind.OPEN_BEGINS),
        _record(9, TraceKind.COMMIT_BEGINS, 1),
        _record(13, TraceKind.ACKNOWLEDGED, 1),
        _record(19, TraceKind.COMMIT_BEGINS, 2),
        _record(23, TraceKind.ACKNOWLEDGED, 2),
    ),
)


def _states(cut: int) -> list[CutState]:
    return list(states_at(LOG, cut, TRACE, random.Random(1)))


def test_a_cut_is_right_after_an_acknowledgement_or_before_a_flush_is_complete() -> (
    None
):
    """What the writer had not begun is no cut."""
    assert cuts_of(LOG, TRACE) == [4, 5, 6, 7, 9]


def test_nothing_before_the_last_completed_flush_is_ever_lost() -> None:
    """The states of a cut share what was flushed, and differ in what follows."""
    for cut in cuts_of(LOG, TRACE):
        flushed = max(n + 1 for n in range(cut) if LOG[n].patch is None)
        assert {state.flushed for state in _states(cut)} == {flushed}


def test_the_states_of_a_cut_are_all_nothing_one_missing_parts_and_a_torn_one() -> None:
    """The last two writes are pending: each is left out alone."""
    states = _states(9)
    kinds = [state.kind for state in states]
    assert kinds[:4] == [FLUSHED, WRITTEN, OMITTED, OMITTED]
    assert {SUBSET, TORN} == set(kinds[4:])
    d, e = LOG[7].patch, LOG[8].patch
    assert [s.patches for s in states[:4]] == [(), (d, e), (e,), (d,)]
    torn = states[-1].patches
    assert sorted(len(p.data) for p in torn)[0] < BLOCK_BYTES


def test_a_cut_demands_what_was_acknowledged_before_the_disk_went_on() -> None:
    """The time of a cut is that of the next write, which did not happen."""
    assert (_states(5)[0].cut_ns, _states(5)[0].cut_end_ns) == (19, 20)
    assert _states(5)[0].aim == ACKNOWLEDGED
    assert _states(6)[0].aim == RANDOM  # commit 2 is being written
    assert _states(7)[0].aim == ACKNOWLEDGED


def test_equal_disks_are_tried_once_with_what_the_latest_cut_demands() -> None:
    """ "Everything written" of one cut is "nothing after the flush" of the next."""
    states = sorted(_states(4)[:2] + _states(5)[:1], key=lambda s: s.flushed)
    tried = list(distinct(LOG, states))
    assert [(state.cut_ns, repeats) for state, _, repeats in tried] == [
        (11, 1),
        (19, 1),
    ]


def test_the_disk_of_a_state_is_what_was_flushed_with_its_patches() -> None:
    """Compare with a disk that is written from the start."""
    states = chosen_states(LOG, TRACE, 100, 1)
    for state, image, _ in distinct(LOG, states):
        expected = DiskImage()
        for entry in LOG[: state.flushed]:
            if entry.patch:
                expected.apply(entry.patch)
        for patch in state.patches:
            expected.apply(patch)
        assert image.blocks == expected.blocks
        assert image.identity == expected.identity


def test_few_states_are_shared_out_among_the_aims() -> None:
    """With as many states as aims, each aim has one."""
    aims = {s.aim for s in chosen_states(LOG, TRACE, 100, 1)}
    few = chosen_states(LOG, TRACE, len(aims), 1)
    assert {state.aim for state in few} == aims
    assert {state.kind for state in few} == {FLUSHED}
