"""What a disk of its own did for a cell, from its line: amplification and requests.

Bytes of the disk include the file system's journal and read-ahead.  User bytes are
those of keys and values that the engine accepted or returned.  Formulas: Didona et al.,
"Toward a better understanding and evaluation of tree structures on flash SSDs", PVLDB
14(3), 2020; and Callaghan's amplification factors.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

from report.model.record import Record
from report.stats import repetition_stats
from report.terms.rulebook import WRITING_TYPES


@dataclass(frozen=True)
class DeviceUse:
    """The use of the disk by one repetition, or medians of several; None: unknown.

    Accepted covers the loop and the flush, settled also what followed until settling
    had ended and everything was written back; the debt is their difference.
    """

    reads_per_op: float | None
    read_bytes_per_op: float | None
    read_amplification: float | None  # bytes read / bytes returned
    accepted_write_amplification: float | None  # bytes written / bytes accepted
    write_amplification: float | None  # the same when settled
    debt: float | None  # bytes written after the last acknowledged write / accepted
    written_bytes_per_op: float | None
    flushes: float | None
    first_call_ns: float | None


def device_use(record: Record) -> DeviceUse | None:
    """Return the use of the disk in one line; None if it had no disk of its own."""
    device = record.get("device")
    if not device:
        return None
    loop, settle = device["loop"], device["settle"]
    ops = record.get("ops")
    accepted, returned = user_bytes(record)
    later = settle["written_bytes"] if settle else None
    total = None if later is None else loop["written_bytes"] + later
    return DeviceUse(
        reads_per_op=_ratio(loop["reads"], ops),
        read_bytes_per_op=_ratio(loop["read_bytes"], ops),
        read_amplification=_ratio(loop["read_bytes"], returned),
        accepted_write_amplification=_ratio(loop["written_bytes"], accepted),
        write_amplification=_ratio(total, accepted),
        debt=_ratio(later, accepted),
        written_bytes_per_op=_ratio(loop["written_bytes"], ops),
        flushes=loop["flushes"],
        first_call_ns=record.get("first_call_ns"),
    )


def user_bytes(record: Record) -> tuple[float, float]:
    """Return the bytes of keys and values that a line accepted, and that it returned.

    A mix has the bytes of both together: its writes have the size of all entries.
    """
    moved, writer = record.get("bytes") or 0, record.get("writer")
    if writer:
        return writer["bytes"], moved
    if record.get("promise") is None and not _writes(record):
        return 0.0, moved
    by_type = record.get("ops_by_type")
    if not by_type:
        return moved, 0.0
    options = record.get("options") or {}
    entry = int(options.get("key_size", 0)) + int(options.get("value_size", 0))
    accepted = entry * sum(n for t, n in by_type.items() if t in WRITING_TYPES)
    return accepted, max(0.0, moved - accepted)


def _writes(record: Record) -> bool:
    """Return True if the loop changed the database, which only then is settled."""
    device = record.get("device")
    return bool(device and device["settle"])


def medians(records: Sequence[Record]) -> DeviceUse | None:
    """Return the median of each quantity over the lines that have it."""
    each = [use for record in records if (use := device_use(record))]
    if not each:
        return None
    names = [field.name for field in dataclasses.fields(DeviceUse)]
    return DeviceUse(
        **{n: repetition_stats.median(getattr(u, n) for u in each) for n in names}
    )


def _ratio(part: float | None, whole: float | None) -> float | None:
    return part / whole if part is not None and whole else None
