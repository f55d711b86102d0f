"""Reduces a cell so that it can be counted by tools that slow it down fifty times.

The counts hardly depend on how long the work takes, so a small part of it shows a
change as well as all of it.  It is the work of the first repetition.
"""

from dataclasses import replace

from report.model.plan import CellName, Plan
from report.terms.rulebook import PACES, Benchmark, Flag, Flags, flag_of

MOST_OPS = 5_000
MOST_BATCHED_OPS = 20_000  # 20 batches; fewer would make too few calls
MOST_SYNC_OPS = 100  # some engines wait for the disk six times per operation
MOST_BYTES = 16 << 20  # of entries in one database
LEAST_TIMEOUT_S = 120.0
# Work ended by a clock is never the same twice.
_LIMITS = ("duration", "min_time", "warmup", *PACES)


def reduced_plan(plan: Plan, cell: CellName) -> Plan:
    """Return a plan in which one cell is reduced; only that cell may be run."""
    benchmark, scenario = plan.benchmark(cell), plan.scenario(cell.scenario)
    assert benchmark is not None, "cells that cannot run are not counted"
    flags = {
        **scenario.flags,
        cell.engine: reduced_flags(benchmark, plan.flags(cell)),
    }
    small = replace(scenario, flags=flags)
    scenarios = tuple(small if s.name == cell.scenario else s for s in plan.scenarios)
    timeout_s = max(plan.suite.timeout_s, LEAST_TIMEOUT_S)
    suite = replace(plan.suite, timeout_s=timeout_s)
    return replace(plan, scenarios=scenarios, suite=suite)


def reduced_flags(benchmark: Benchmark, flags: Flags) -> dict[str, Flag]:
    """Return the flags with fewer operations, but at least one.

    A database that is filled beforehand holds as many entries as the benchmark may
    have operations.  Otherwise `num` is chosen to give that many operations.  The
    threads of a benchmark share them.
    """
    size = benchmark.value_size or int(flag_of(flags, "value_size"))
    fitting = MOST_BYTES // max(1, int(flag_of(flags, "key_size")) + size)
    most = max(1, min(_most_ops(benchmark, flags), fitting))
    entries = most if benchmark.prepare else most * benchmark.ops_divisor
    unlimited = {name: value for name, value in flags.items() if name not in _LIMITS}
    reduced = {**unlimited, "num": min(int(flags["num"]), entries)}
    reads, threads = int(flags.get("reads", -1)), int(flags.get("threads", 1))
    if reads < 0 and threads > 1:
        reads = int(flags["num"])
    if reads >= 0:
        reduced["reads"] = max(1, min(reads, most * benchmark.ops_divisor) // threads)
    if transactions := int(flags.get("transactions", 0)):
        # The size of a batch does not change: that would be different work.
        batch = max(1, int(flags["num"]) // transactions)
        reduced["transactions"] = max(1, int(reduced["num"]) // batch)
    return reduced


def _most_ops(benchmark: Benchmark, flags: Flags) -> int:
    batch = max(benchmark.batch_size, int(flags.get("batch_size", 1)))
    is_batched = batch > 1 or int(flags.get("transactions", 0)) > 0
    if benchmark.kind in ("write", "delete") and is_batched:
        return MOST_BATCHED_OPS
    return MOST_SYNC_OPS if benchmark.may_synchronise(flags) else MOST_OPS
