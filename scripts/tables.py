"""The memory in which an executable records what a database must hold."""

from scripts.plan import Cell, Plan

_BYTES_PER_KEY = 4
# Of an empty database, in an order in which no key comes twice: that is counted.
_COUNTED = ("fillseq", "filluniquerandom")


def table_bytes(plan: Plan, cell: Cell) -> int:
    """Bytes of the table of a cell: four for each key, or none (common/oracle.h).

    A database that was filled in an order without repetition needs no table as long
    as nothing else writes to it.
    """
    benchmark = plan.benchmark(cell)
    if benchmark is None:
        return 0
    is_counted = not benchmark.prepare and benchmark.name.startswith(_COUNTED)
    if is_counted or not benchmark.writes:
        return 0
    return _BYTES_PER_KEY * int(plan.flags(cell)["num"]) // benchmark.ops_divisor
