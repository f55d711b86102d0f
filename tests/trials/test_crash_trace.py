"""Traces: what a cut at some time hits, and what was acknowledged without a disk."""

import random
import struct
from pathlib import Path

import pytest

from scripts.trials.crash_trace import (
    ACKNOWLEDGED,
    BATCH,
    CHECKPOINT,
    CLOSE,
    COMPACTION,
    COVERING_WRITE,
    GROWTH,
    NEW_DATABASE,
    RANDOM,
    RECOVERY,
    CrashTrace,
    TraceError,
    TraceKind,
    TraceRecord,
    bytes_before,
    phase_names,
    read_trace,
    records_from,
)
from scripts.trials.shutdown_trial import moments

PHASES = "first:1,single:2,batch:1,cover:1,growth:1,settle:1,compact:1,close:1"
FIRST, SINGLE, BATCHES, COVER, GROWS, SETTLES, COMPACTS, CLOSES = range(8)
BEGINS, ENDS = TraceKind.COMMIT_BEGINS, TraceKind.ACKNOWLEDGED
MAGIC = 0x6B766D6174726163


def record(
    at_ns: int,
    kind: TraceKind,
    phase: int = SINGLE,
    commit: int = 0,
    durable: bool = True,
    puts: int = 1,
) -> TraceRecord:
    return TraceRecord(at_ns, commit, kind, phase, 1, 100, int(durable), puts)


def trace(*records: TraceRecord) -> CrashTrace:
    return CrashTrace(1, phase_names(PHASES), records)


WRITER = trace(
    record(10, TraceKind.OPEN_BEGINS, FIRST),
    record(11, TraceKind.OPENED, FIRST),
    record(12, BEGINS, FIRST, 1),
    record(13, ENDS, FIRST, 1),
    record(14, TraceKind.CLOSE_BEGINS, FIRST),
    record(15, TraceKind.CLOSED, FIRST),
    record(20, TraceKind.PHASE_BEGINS, SINGLE),
    record(21, BEGINS, SINGLE, 2),
    record(22, ENDS, SINGLE, 2),
    record(30, BEGINS, BATCHES, 3),
    record(32, ENDS, BATCHES, 3),
    record(40, BEGINS, COVER, 4, durable=False),
    record(41, ENDS, COVER, 4, durable=False),
    record(42, BEGINS, COVER, 5),
    record(43, ENDS, COVER, 5),
    record(50, BEGINS, GROWS, 6),
    record(60, TraceKind.PHASE_BEGINS, SETTLES),
    record(70, TraceKind.PHASE_BEGINS, COMPACTS),
    record(80, TraceKind.CLOSE_BEGINS, CLOSES),
    record(81, TraceKind.CLOSED, CLOSES),
)


@pytest.mark.parametrize(
    ("silent_since", "cut", "aim"),
    [
        (5, 9, NEW_DATABASE),  # before the writer did anything
        (9, 13, NEW_DATABASE),
        (14, 14, CLOSE),  # also of the phase of the new database
        (15, 15, NEW_DATABASE),
        (20, 21, RANDOM),  # within a commit
        (21, 22, ACKNOWLEDGED),
        (10, 29, ACKNOWLEDGED),  # the disk did nothing since
        (22, 29, ACKNOWLEDGED),  # and nothing else happened
        (29, 31, BATCH),
        (31, 33, ACKNOWLEDGED),
        (40, 41, ACKNOWLEDGED),  # buffered: it covers nothing
        (41, 42, RANDOM),
        (42, 43, COVERING_WRITE),
        (42, 51, COVERING_WRITE),  # the next commit has begun, and not written
        (49, 51, GROWTH),
        (59, 61, CHECKPOINT),
        (69, 71, COMPACTION),
        (79, 80, CLOSE),
        (79, 99, CLOSE),
    ],
)
def test_the_aim_of_a_cut_is_what_the_writer_was_doing(
    silent_since: int, cut: int, aim: str
) -> None:
    assert WRITER.aim_between(silent_since, cut) == aim


def test_the_writer_starts_when_it_opens() -> None:
    assert WRITER.started_ns == 10
    assert trace().started_ns == 0
    assert trace().aim_at(5) == NEW_DATABASE


def test_a_cut_is_as_late_as_the_phase_that_it_aims_at() -> None:
    """From its first record on; a run that was not cut shows how long each takes."""
    silent, covering, *within, at_random, recovery = moments(random.Random(1), WRITER)
    assert [round(each.delay_s * 1e9) for each in within] == [5, 2, 2, 3, 0, 0, 0, 1]
    for number, moment in enumerate(within):
        begun = [r.at_ns for r in WRITER.records if moment.holds(r)]
        assert begun == [r.at_ns for r in WRITER.records if r.phase == number]
    assert [r.at_ns for r in WRITER.records if covering.holds(r)] == [43]
    assert silent.after in range(6, 46)
    assert [at_random.delay_s, recovery.delay_s] == [WRITER.span_s] * 2
    assert round(WRITER.span_s * 1e9) == 71


def test_where_no_write_covers_others_none_is_waited_for() -> None:
    records = (r for r in WRITER.records if r.phase != COVER)
    aims = [each.aim for each in moments(random.Random(1), trace(*records))]
    assert aims == [ACKNOWLEDGED, *[""] * 8, RANDOM, RECOVERY]


def test_durable_puts_without_a_write_to_the_disk_are_counted() -> None:
    commits = trace(
        *(record(10, BEGINS, commit=1), record(20, ENDS, commit=1)),
        *(record(30, BEGINS, commit=2), record(40, ENDS, commit=2)),
        # Deletes of what may be absent, and buffered puts, need no disk.
        *(record(50, BEGINS, commit=3), record(60, ENDS, commit=3, puts=0)),
        *(record(70, BEGINS, commit=4), record(80, ENDS, commit=4, durable=False)),
    )
    assert commits.without_disk([]) == 2
    assert commits.without_disk([5, 25, 45]) == 2
    assert commits.without_disk([15]) == 1
    assert commits.without_disk([10, 40]) == 1  # at 10 it had not begun
    assert commits.without_disk([15, 35]) == 0


def test_durable_puts_after_the_disk_is_gone_are_counted() -> None:
    commits = trace(
        *(record(10, BEGINS, commit=1), record(20, ENDS, commit=1)),
        *(record(30, BEGINS, commit=2), record(40, ENDS, commit=2)),
        *(record(50, BEGINS, commit=3), record(60, ENDS, commit=3, puts=0)),
        record(70, BEGINS, commit=4),  # never acknowledged
    )
    assert [commits.durable_after(at) for at in (5, 15, 30, 45)] == [2, 1, 0, 0]


def test_barriers_are_those_of_single_commits() -> None:
    ends = TraceKind.PHASE_ENDS
    first = record(10, ends, FIRST, commit=90, puts=3)
    single = record(20, ends, SINGLE, commit=80, puts=40)
    assert trace(first, single).barriers_per_write([]) == 2
    assert trace(first).barriers_per_write([]) is None
    assert trace(record(20, ends, SINGLE, 0, puts=0)).barriers_per_write([]) is None


def test_barriers_that_are_not_counted_where_the_disk_was_flushed_are_unknown() -> None:
    """None is 0 if the disk was not flushed meanwhile, or others were counted.

    The flush may be that of a call which a thread had begun before.
    """
    begins, ends = record(10, TraceKind.PHASE_BEGINS, SINGLE), TraceKind.PHASE_ENDS
    none = trace(begins, record(20, ends, SINGLE, commit=0, puts=40))
    assert none.barriers_per_write([5, 15, 25]) is None
    assert none.barriers_per_write([5, 25]) == 0
    first = record(8, ends, FIRST, commit=3, puts=5)
    assert trace(first, *none.records).barriers_per_write([5, 15, 25]) == 0


def packed(*records: TraceRecord) -> bytes:
    head = (MAGIC, 301, 0, 0, 0, 0, 0, 1)
    rows = [head, *(tuple(vars(each).values()) for each in records)]
    return b"".join(struct.pack("<QQIIIIII", *row) for row in rows)


def test_a_trace_is_read_without_an_incomplete_record(tmp_path: Path) -> None:
    path = tmp_path / "trace"
    records = WRITER.records[:3]
    content = packed(*records)
    for size in range(len(content) + 1):
        path.write_bytes(content[:size])
        read = read_trace(path, PHASES)
        assert list(read.records) == list(records[: max(0, size // 40 - 1)])
        assert read.seed == (301 if size >= 40 else 0)
        assert records_from(path, 2) == list(records[1 : max(1, size // 40 - 1)])
    assert read.phases[COVER] == "cover"
    assert records_from(tmp_path / "absent", 0) == []


def test_what_is_no_trace_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "trace"
    for content in (bytes(40), b"x" * 80, packed()[:-4] + b"\2\0\0\0"):
        path.write_bytes(content)
        with pytest.raises(TraceError, match="not a trace of a crash test"):
            read_trace(path, PHASES)


def test_a_trace_is_shortened_to_what_was_before_a_cut(tmp_path: Path) -> None:
    path = tmp_path / "trace"
    path.write_bytes(packed(*WRITER.records) + b"incomplete")
    path.write_bytes(bytes_before(path, 13))
    read = read_trace(path, PHASES)
    assert [each.at_ns for each in read.records] == [10, 11, 12]
    assert read.seed == 301
