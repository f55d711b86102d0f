"""The memory in which an executable records the expected contents of a database."""

from report.model.plan import CellName, Plan
from report.terms.rulebook import BENCHMARKS, UNKNOWN

_BYTES_PER_KEY = 4


def table_bytes(plan: Plan, cell: CellName) -> int:
    """Return the bytes of a cell's table: four for each key, or 0 (oracle/oracle.h).

    A database that was filled once, without repeating a key, needs no table as long as
    nothing else writes to it.
    """
    benchmark = plan.benchmark(cell)
    if benchmark is None:
        return 0
    start = plan.start(cell)
    written = list(start.fill) if start else []
    if benchmark.writes:
        written.append(benchmark.name)
    if not written[1:] and all(
        BENCHMARKS.get(name, UNKNOWN).writes_keys_once for name in written
    ):
        return 0
    return _BYTES_PER_KEY * int(plan.flags(cell)["num"]) // benchmark.ops_divisor
