"""Room for databases: how much there is, and how much a run will take."""

import errno
import os
from pathlib import Path

from report.model.plan import CellGroup, Plan
from report.terms.rulebook import Flags, flag_of

# Peak size of a database over the bytes of its entries: logs, unmerged tables and
# free pages together.  Measured engines stay below; nobody is hurt by the rest.
PEAK_FACTOR = 3.0
SPARE_BYTES = 64 << 20
_FULL_BELOW_BYTES = 16 << 20
_FULL_WORDS = ("No space left on device", "disk is full", "ENOSPC", "quota exceeded")


class DiskFull(Exception):
    """A disk has no room left; what was finished before is kept."""

    def __init__(self, place: str) -> None:
        super().__init__(f"no space left in {place}")
        self.place = place


def free_bytes(folder: Path) -> int:
    """Bytes an ordinary user can still write there."""
    stat = os.statvfs(folder)
    return stat.f_bavail * stat.f_frsize


def looks_full(folder: Path, complaint: str = "") -> bool:
    """Whether a failure there is the disk's and not the engine's."""
    said = any(words.lower() in complaint.lower() for words in _FULL_WORDS)
    return said or free_bytes(folder) < _FULL_BELOW_BYTES


def is_full_error(error: OSError) -> bool:
    """Whether the system refused for want of room."""
    return error.errno in (errno.ENOSPC, errno.EDQUOT)


def database_bytes(flags: Flags, ops: int, value_size: int) -> float:
    """The predicted peak size of one database with `ops` entries."""
    size = value_size or int(flag_of(flags, "value_size"))
    return PEAK_FACTOR * ops * (int(flag_of(flags, "key_size")) + size)


def cell_bytes(plan: Plan, index: int) -> float:
    """The predicted peak of one cell: its database, and the prepared one.

    The copy on which the prepared one is audited is gone before the cell has its own.
    """
    cell = plan.cells[index]
    benchmark, engine = plan.benchmark(cell), plan.engine(cell.engine)
    if benchmark is None or not engine.description or not engine.description.stores:
        return 0.0
    flags = plan.flags(cell)
    if plan.start(cell):
        inserted = benchmark.planned_ops(flags) // 10 if benchmark.kind == "mix" else 0
        return 2 * database_bytes(flags, int(flags["num"]) + inserted, 0)
    return database_bytes(flags, benchmark.planned_ops(flags), benchmark.value_size)


def unit_bytes(plan: Plan, unit: CellGroup) -> float:
    """The predicted peak while a unit runs."""
    return max(cell_bytes(plan, index) for index in unit.cells)


def needed_bytes(plan: Plan) -> float:
    """What must be free before the run starts: the largest unit and some spare."""
    peaks = [unit_bytes(plan, unit) for unit in plan.order]
    return max(peaks, default=0.0) + SPARE_BYTES
