"""The memory in which an executable records the expected contents of a database."""

from report.model.plan import CellName, Plan
from report.terms.rulebook import BENCHMARKS, UNKNOWN, Benchmark, Flags

_BYTES_PER_KEY = 4
_LOAD = "ycsbload"
_FEW_RECORDS = 64  # for which a load leaves space, besides as many as it has


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
    return _BYTES_PER_KEY * _keys(benchmark, plan.flags(cell))


def grows(plan: Plan, cell: CellName) -> bool:
    """Return True if what a cell inserts makes its table larger than its load does."""
    benchmark, flags = plan.benchmark(cell), plan.flags(cell)
    return benchmark is not None and _keys(benchmark, flags) > _keys(
        benchmark, flags, 0
    )


def _keys(benchmark: Benchmark, flags: Flags, inserts: int | None = None) -> int:
    """Return the size of the key space at the end, as in mixes/key_space.h.

    What a mix inserts that a time limit ends is unknown, and left out.
    """
    num = int(flags["num"]) // benchmark.ops_divisor
    if _LOAD not in (benchmark.name, benchmark.fill):
        return num
    if inserts is None:
        share = benchmark.shares(flags).get("insert", 0)
        is_timed = bool(flags.get("duration"))
        inserts = 0 if is_timed else int(share * benchmark.planned_ops(flags))
    keys = 2 * num + _FEW_RECORDS
    while keys < num + inserts:
        keys *= 2
    return keys
