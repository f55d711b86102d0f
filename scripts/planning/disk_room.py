"""Disk space for databases: how much is free, and how much a run needs."""

import errno
import os
from pathlib import Path

from report.model.plan import Plan
from report.terms.regime import LOOP
from report.terms.rulebook import Benchmark, Flags, flag_of

# Peak size of a database relative to the bytes of its entries, including logs, unmerged
# tables and free pages.  An engine adds some bytes to each entry: at its peak, SQLite
# needs 101 bytes for 12 of key and value.  All measured engines stay below; a surplus
# does no harm.
PEAK_FACTOR = 3.0
ENTRY_OVERHEAD_BYTES = 32
SPARE_BYTES = 64 << 20
# Faster than any measured engine inserts; bounds the entries of a cell with a duration.
_MOST_PER_S = 3e6
_FULL_BELOW_BYTES = 16 << 20
_FULL_WORDS = ("No space left on device", "disk is full", "ENOSPC", "quota exceeded")


class DiskFull(Exception):
    """A disk is full; results stored before that are kept.

    `lost` says what was not done for that reason.
    """

    def __init__(self, place: str, lost: str = "measured") -> None:
        super().__init__(f"no space left in {place}")
        self.place, self.lost = place, lost


def existing_part(folder: Path) -> Path:
    """Return a folder, or the nearest one above it that exists."""
    folder = folder.absolute()
    return next(p for p in (folder, *folder.parents) if os.path.lexists(p))


def free_bytes(folder: Path) -> int:
    """Return the bytes that an ordinary user can still write in a folder.

    The folder may be one that a run will create.
    """
    stat = os.statvfs(existing_part(folder))
    return stat.f_bavail * stat.f_frsize


def looks_full(folder: Path, complaint: str = "") -> bool:
    """Return True if a failure was caused by a full disk, not by the engine."""
    is_reported = any(words.lower() in complaint.lower() for words in _FULL_WORDS)
    return is_reported or free_bytes(folder) < _FULL_BELOW_BYTES


def is_full_error(error: OSError) -> bool:
    """Return True if the disk or the quota is full."""
    return error.errno in (errno.ENOSPC, errno.EDQUOT)


def value_bytes(flags: Flags, fixed: int) -> float:
    """Return the mean size of a value; `fixed` is a benchmark's own size, or 0."""
    size = fixed or int(flag_of(flags, "value_size"))
    if fixed or flag_of(flags, "value_size_distribution_type") == "fixed":
        return size
    least, most = (int(flag_of(flags, f"value_size_{end}")) for end in ("min", "max"))
    if not (least and most):
        return max(size, least)
    is_pareto = flag_of(flags, "value_size_distribution_type") == "pareto"
    return min(most, max(least, size)) if is_pareto else (least + most) / 2


def database_bytes(flags: Flags, entries: float, value_size: int) -> float:
    """Return the predicted peak size of a database with this many entries."""
    size = int(flag_of(flags, "key_size")) + value_bytes(flags, value_size)
    return PEAK_FACTOR * entries * (size + ENTRY_OVERHEAD_BYTES)


def cell_bytes(plan: Plan, index: int) -> float:
    """Return the predicted peak of one cell: its database and the prepared one.

    The copy used for auditing the prepared one is removed before the cell's is made.
    """
    cell = plan.cells[index]
    benchmark, engine = plan.benchmark(cell), plan.engine(cell.engine)
    if benchmark is None or not engine.description or not engine.description.stores:
        return 0.0
    flags = plan.flags(cell)
    ops: float = benchmark.most_ops(flags)
    if limit_s := float(flags.get("duration", 0)):
        ops = min(ops, limit_s * _MOST_PER_S)
    ops += benchmark.warmup_s(flags) * _MOST_PER_S
    if plan.start(cell):
        num = int(flags["num"])
        added = _added(benchmark, flags, ops, num) if benchmark.kind == "mix" else 0.0
        return 2 * database_bytes(flags, num + added, 0)
    return database_bytes(flags, ops, benchmark.value_size)


def _added(benchmark: Benchmark, flags: Flags, ops: float, num: int) -> float:
    """Return the entries that a mix adds; updates add at most `num`."""
    shares = benchmark.shares(flags)
    if not shares:
        return ops // 10
    changed = shares.get("update", 0.0) + shares.get("readmodifywrite", 0.0)
    return ops * shares.get("insert", 0.0) + min(num, ops * changed)


def needed_bytes(plan: Plan) -> float:
    """Return the space a run needs: its largest cell, its disk, and a reserve.

    The disk is the file of scenarios with a regime, to which databases are copied.
    """
    cells = {index for unit in plan.order for index in unit.cells}
    peaks = [cell_bytes(plan, index) for index in cells]
    regimes = [s.regime for s in plan.scenarios if s.regime and not plan.no_regime]
    files = (regime.device_bytes for regime in regimes if regime.device == LOOP)
    device_bytes = max(files, default=0)
    return max(peaks, default=0.0) + device_bytes + SPARE_BYTES
