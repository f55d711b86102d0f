"""The trace of a writer: what was begun and what was acknowledged, and when.

The records are those of common/crash/trace.h.  The file lies outside the disk whose
power is cut.
"""

import struct
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from pathlib import Path

_RECORD = struct.Struct("<QQIIIIII")
_MAGIC = 0x6B766D6174726163
_FORMAT = 1

NEW_DATABASE = "new database"
ACKNOWLEDGED = "acknowledged"
BATCH = "batch"
COVERING_WRITE = "covering write"
GROWTH = "growth"
CHECKPOINT = "checkpoint"
COMPACTION = "compaction"
CLOSE = "close"
RECOVERY = "recovery"
READER = "reader"
RANDOM = "random"
AIMS = (
    *(NEW_DATABASE, ACKNOWLEDGED, BATCH, COVERING_WRITE, GROWTH),
    *(CHECKPOINT, COMPACTION, CLOSE, RECOVERY, READER, RANDOM),
)
_OF_PHASE = {
    "first": NEW_DATABASE,
    "growth": GROWTH,
    "settle": CHECKPOINT,
    "compact": COMPACTION,
    "close": CLOSE,
    "read": READER,
}


class TraceKind(IntEnum):
    """What a record says has happened."""

    HEADER = 0
    PHASE_BEGINS = 1
    COMMIT_BEGINS = 2
    ACKNOWLEDGED = 3
    PHASE_ENDS = 4
    OPEN_BEGINS = 5
    OPENED = 6
    CLOSE_BEGINS = 7
    CLOSED = 8
    FAILED = 9
    DONE = 10
    FILES_CHANGED = 11
    READY = 12
    SEEN = 13


class TraceError(Exception):
    """A trace that no writer of this version has written."""


@dataclass(frozen=True)
class TraceRecord:
    """One record; `commit` counts from 1, and barriers where a phase ends."""

    at_ns: int  # CLOCK_MONOTONIC
    commit: int
    kind: int
    phase: int
    updates: int
    value_bytes: int
    durable: int
    extra: int


@dataclass(frozen=True)
class CrashTrace:
    """What a writer had done until it ended."""

    seed: int
    phases: tuple[str, ...]  # names, in order
    records: Sequence[TraceRecord]

    @cached_property
    def times_ns(self) -> list[int]:
        """The times of the records, which never decrease."""
        return [record.at_ns for record in self.records]

    @cached_property
    def acknowledgements(self) -> list[TraceRecord]:
        """The records of acknowledged commits."""
        return [r for r in self.records if r.kind == TraceKind.ACKNOWLEDGED]

    @property
    def is_whole(self) -> bool:
        """True if the writer closed its database after the last commit."""
        return any(record.kind == TraceKind.DONE for record in self.records)

    @property
    def span_s(self) -> float:
        """How long the writer ran."""
        return _span_s(self.records)

    def phase_span_s(self, number: int) -> float:
        """Return how long a phase took; of the first, with the first opening."""
        return _span_s([r for r in self.records if r.phase == number])

    @property
    def started_ns(self) -> int:
        """When the writer began to open the database; 0 if it never did."""
        return next(
            (r.at_ns for r in self.records if r.kind == TraceKind.OPEN_BEGINS), 0
        )

    def aim_at(self, cut_ns: int) -> str:
        """Return what a cut at this time hits: one of AIMS."""
        return self.aim_between(cut_ns, cut_ns)

    def aim_between(self, start_ns: int, cut_ns: int) -> str:
        """Return what a cut hits if the disk has been silent since `start_ns`."""
        end = bisect_right(self.times_ns, cut_ns)
        if not end:
            return NEW_DATABASE
        last = self.records[end - 1]
        if last.kind == TraceKind.CLOSE_BEGINS:
            return CLOSE
        start = min(bisect_right(self.times_ns, start_ns), end - 1)
        silent = [
            record
            for record in self.records[start:end]
            if record.kind == TraceKind.ACKNOWLEDGED
        ]
        if any(r.durable and self._phase_of(r) == "cover" for r in silent):
            return COVERING_WRITE
        phase = self._phase_of(last)
        if phase == "batch" and last.kind == TraceKind.COMMIT_BEGINS:
            return BATCH
        if phase in _OF_PHASE:
            return _OF_PHASE[phase]
        return ACKNOWLEDGED if silent else RANDOM

    def without_disk(self, writes_ns: Sequence[int]) -> int:
        """Return how many durable puts were acknowledged though no disk was written.

        `writes_ns` are the times at which the disk was written or flushed, in order.
        """
        begun: dict[int, int] = {}
        count = 0
        for record in self.records:
            if record.kind == TraceKind.COMMIT_BEGINS:
                begun[record.commit] = record.at_ns
            elif (
                record.kind == TraceKind.ACKNOWLEDGED
                and record.durable
                and record.extra
            ):
                since = bisect_right(writes_ns, begun.get(record.commit, 0))
                count += since == bisect_right(writes_ns, record.at_ns)
        return count

    def durable_after(self, end_ns: int) -> int:
        """Return how many durable puts began after a time and were acknowledged."""
        begun = {
            r.commit: r.at_ns for r in self.records if r.kind == TraceKind.COMMIT_BEGINS
        }
        return sum(
            bool(record.durable and record.extra)
            for record in self.acknowledgements
            if begun.get(record.commit, 0) > end_ns
        )

    def barriers_per_write(self, flushes_ns: Sequence[int]) -> float | None:
        """Return how often a commit of phase "single" made the kernel write.

        `flushes_ns` are the times at which the disk was flushed, in order.  None is
        unknown: if no barrier was counted in any phase, and the disk was flushed in
        this one, calls did it that cannot be counted.
        """
        ends = [r for r in self.records if r.kind == TraceKind.PHASE_ENDS]
        begun_ns = 0
        for record in self.records:
            if self._phase_of(record) != "single":
                continue
            if record.kind == TraceKind.PHASE_BEGINS:
                begun_ns = record.at_ns
            elif record.kind == TraceKind.PHASE_ENDS and record.extra:
                before, after = (
                    bisect_right(flushes_ns, begun_ns),
                    bisect_right(flushes_ns, record.at_ns),
                )
                is_counted = before == after or any(end.commit for end in ends)
                return record.commit / record.extra if is_counted else None
        return None

    def _phase_of(self, record: TraceRecord) -> str:
        if record.phase < len(self.phases):
            return self.phases[record.phase]
        return ""


def _span_s(records: Sequence[TraceRecord]) -> float:
    return (records[-1].at_ns - records[0].at_ns) / 1e9 if records else 0.0


def phase_names(phases: str) -> tuple[str, ...]:
    """Return the names in a list such as "first:5,single:40"."""
    return tuple(word.partition(":")[0] for word in phases.split(",") if word)


def read_trace(path: Path, phases: str) -> CrashTrace:
    """Read a trace, without a last record that is incomplete.  Raises TraceError."""
    content = path.read_bytes()
    whole = len(content) // _RECORD.size * _RECORD.size
    records = [TraceRecord(*words) for words in _RECORD.iter_unpack(content[:whole])]
    if not records:
        return CrashTrace(0, phase_names(phases), ())
    head = records[0]
    if (head.kind, head.at_ns, head.extra) != (TraceKind.HEADER, _MAGIC, _FORMAT):
        raise TraceError(f"{path.name}: not a trace of a crash test, format {_FORMAT}")
    return CrashTrace(head.commit, phase_names(phases), tuple(records[1:]))


def records_from(path: Path, number: int) -> list[TraceRecord]:
    """Return the records from one on, of a trace that is being written."""
    try:
        with path.open("rb") as file:
            file.seek(number * _RECORD.size)
            content = file.read()
    except FileNotFoundError:
        return []
    whole = len(content) // _RECORD.size * _RECORD.size
    return [TraceRecord(*words) for words in _RECORD.iter_unpack(content[:whole])]


def bytes_before(path: Path, end_ns: int) -> bytes:
    """Return a trace without what was recorded at or after a time."""
    content = path.read_bytes()
    size = _RECORD.size
    kept = [content[:size]]
    for at in range(size, len(content) - size + 1, size):
        record = content[at : at + size]
        if int.from_bytes(record[:8], "little") < end_ns:
            kept.append(record)
    return b"".join(kept)
