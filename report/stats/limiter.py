"""What limited a cell: its processors, its disk, or waiting for something else.

The evidence is counts of the loop and the flush: processor time, and the time in which
requests of each kind were in flight.  Requests overlap with each other and with
computing, so the shares do not add up to 1.  The largest one names the limiter, if it
is at least LEAST; otherwise the cell waited: for locks, for timers, for its turn.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from report.model.record import Record
from report.stats import repetition_stats

PROCESSOR = "processor"
READS, WRITES, FLUSHES = "device reads", "device writes", "flushes"
WAITING = "waiting"
UNKNOWN = "unknown"  # it may be flushes, which were not counted
LEAST = 0.5  # of the time


@dataclass(frozen=True)
class Limiter:
    """What limited a cell, and the share of the time of each candidate."""

    name: str
    shares: Mapping[str, float]


def limiter(record: Record) -> Limiter | None:
    """Return what limited one line; None if it has no times.

    Without a disk of its own, flushes are the barriers, each as long as the disk's
    least sync, and no reads or writes are known.
    """
    elapsed_ns = (record.get("loop_ns") or 0) + (record.get("flush_ns") or 0)
    cpu_ns = (record.get("cpu_user_ns") or 0) + (record.get("cpu_system_ns") or 0)
    if not elapsed_ns:
        return None
    threads = lost["threads"] if (lost := record.get("lost")) else 1
    shares = {PROCESSOR: min(1.0, cpu_ns / elapsed_ns / threads)}
    device = record.get("device")
    if device:
        counted, elapsed_ms = device["loop"], elapsed_ns / 1e6
        busy = min(1.0, counted["busy_ms"] / elapsed_ms)
        parts = {
            READS: counted["read_ms"],
            WRITES: counted["write_ms"],
            FLUSHES: counted["flush_ms"],
        }
        total = sum(parts.values())
        # Requests wait for each other: the busy time is divided in their proportion.
        shares |= {k: busy * ms / total if total else 0.0 for k, ms in parts.items()}
    else:
        floor_ns, barriers = record.get("sync_floor_ns"), record.get("barriers")
        if barriers is not None and (floor_ns or not barriers):
            flushing_ns = barriers * (floor_ns or 0)
            shares[FLUSHES] = min(1.0, flushing_ns / elapsed_ns / threads)
    return _named(shares)


def median(records: Sequence[Record]) -> Limiter | None:
    """Return what limited a cell, from the medians of the shares of its lines."""
    each = [found.shares for record in records if (found := limiter(record))]
    names = dict.fromkeys(name for shares in each for name in shares)
    medians = {n: repetition_stats.median(s.get(n) for s in each) for n in names}
    known = {name: share for name, share in medians.items() if share is not None}
    return _named(known) if known else None


def _named(shares: Mapping[str, float]) -> Limiter:
    name = max(shares, key=lambda n: shares[n])
    if shares[name] < LEAST:
        name = WAITING if FLUSHES in shares else UNKNOWN
    return Limiter(name, shares)
