"""A cell made small enough to be counted under tools that slow it down fifty times.

What is counted hardly depends on how long it takes, so a small part of the work
shows a change as well as the whole of it.  It is the work of the first repetition.
"""

from dataclasses import replace

from report.model.plan import CellName, Plan
from report.terms.rulebook import Benchmark, Flag, Flags, flag_of

MOST_OPS = 5_000
MOST_BATCHED_OPS = 20_000  # twenty batches, or too few calls are made of the engine
MOST_SYNC_OPS = 100  # some engines wait for the disk six times in each
MOST_BYTES = 16 << 20  # of entries in one database
LEAST_TIMEOUT_S = 120.0
_LIMITS = ("duration", "rate")  # work that a clock ends is not the same work twice


def reduced_plan(plan: Plan, cell: CellName) -> Plan:
    """The plan with the flags of one cell reduced; only that cell may be run of it."""
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
    """The same flags with fewer operations, of which there is at least one.

    A database that is filled first holds as many entries as the benchmark may have
    operations; where none is, `num` is what gives so many operations.  The threads
    of a benchmark share them.
    """
    size = benchmark.value_size or int(flag_of(flags, "value_size"))
    room = MOST_BYTES // max(1, int(flag_of(flags, "key_size")) + size)
    most = max(1, min(_most_ops(benchmark, flags), room))
    entries = most if benchmark.prepare else most * benchmark.ops_divisor
    kept = {name: value for name, value in flags.items() if name not in _LIMITS}
    made = {**kept, "num": min(int(flags["num"]), entries)}
    reads, threads = int(flags.get("reads", -1)), int(flags.get("threads", 1))
    if reads < 0 and threads > 1:
        reads = int(flags["num"])
    if reads >= 0:
        made["reads"] = max(1, min(reads, most * benchmark.ops_divisor) // threads)
    if transactions := int(flags.get("transactions", 0)):
        # As many entries in each as before: a batch of another size is other work.
        batch = max(1, int(flags["num"]) // transactions)
        made["transactions"] = max(1, int(made["num"]) // batch)
    return made


def _most_ops(benchmark: Benchmark, flags: Flags) -> int:
    batch = max(benchmark.batch_size, int(flags.get("batch_size", 1)))
    is_batched = batch > 1 or int(flags.get("transactions", 0)) > 0
    if benchmark.kind in ("write", "delete") and is_batched:
        return MOST_BATCHED_OPS
    is_sync = benchmark.sync or bool(flags.get("sync"))
    return MOST_SYNC_OPS if is_sync else MOST_OPS
