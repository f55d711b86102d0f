"""A guess at the time of a repetition whose cell has never been measured.

The constants do not belong to one engine: a cell may need a fifth or five times as
long.  They are the middle of LevelDB, LMDB, SQLite and TreeDB on a busy virtual
machine with two processors.  A guess gives the order of magnitude of a run and
weighs its cells.  A sync depends on the disk and the engine: 2 to 15 ms there.
"""

import math

from report.model.plan import CellName, InitialState, Plan
from report.terms.machine_facts import usable_cpus
from report.terms.rulebook import REORGANISED, Benchmark, Flags
from scripts.planning.disk_room import value_bytes
from scripts.planning.order import ScheduledRepetition

# Syncing the file system, then starting, opening, closing and sampling.
_PROCESS_S = 0.13
_SCAN_S = 3e-7  # an entry of a scan that is one call
_OPERATION_S = {
    "write": 3.5e-6,
    "delete": 3.5e-6,
    "read": 1.8e-6,
    "mix": 6e-6,
    "compact": 0.1,
    "verify": _SCAN_S,
}
# In a mix: writes between reads, which most engines do one at a time.
_TYPE_S = {
    **dict.fromkeys(("read", "get"), 1.8e-6),
    **dict.fromkeys(("update", "insert", "put"), 1.2e-5),
    **dict.fromkeys(("scan", "scanreverse", "seek"), 2e-5),
    "readmodifywrite": 1.4e-5,
}
_PASS_S = 0.02  # opening and closing the database for another pass
_AUDIT_S = 8e-7  # an entry
_SETTLE_S = 5e-7  # an entry that was written
_SYNC_S = 5e-3
_COUNT_S = 1.4  # strace and valgrind, each with a fill and an audit
_BYTE_S = 5e-9  # of a value that is written
_MIXED_BYTE_S = 2.5e-8  # the same between reads, where pages are rewritten


def guess_seconds(
    plan: Plan, scheduled: ScheduledRepetition, sharers: int = 1
) -> float:
    """Return a guess at one attempt: its share of the fill, measurement and audit.

    `sharers` cells start from copies of the same filled database.
    """
    cell = plan.cells[scheduled.index]
    benchmark = plan.benchmark(cell)
    if benchmark is None or plan.obstacle(cell) is not None:
        return 0.0
    flags = plan.flags(cell)
    pace = plan.pace(cell) if plan.is_latency(scheduled.repetition) else {}
    ops = benchmark.most_ops(flags)
    loop_s = ops * _operation_s(plan, benchmark, flags)
    if "rate" in pace:
        loop_s = max(loop_s, ops / pace["rate"])
    loop_s /= min(1.0, pace.get("rate_share", 1.0))
    passes = max(1, math.ceil(float(flags.get("min_time", 0)) / loop_s))
    limit_s = float(flags.get("duration", 0)) or float("inf")
    measured_s = _PROCESS_S + benchmark.warmup_s(flags) + min(passes * loop_s, limit_s)
    measured_s += (passes - 1) * _PASS_S
    written = passes * _entries_written(benchmark, flags, min(1.0, limit_s / loop_s))
    measured_s += written * _SETTLE_S
    start = plan.start(cell)
    if benchmark.audited:
        measured_s += (written + int(flags["num"]) * bool(start)) * _AUDIT_S
    return measured_s + _prepare_s(start, flags) / sharers


def sharers_of(plan: Plan) -> dict[int, int]:
    """Return how many cells share the database of each cell, by index."""
    return {index: len(unit.cells) for unit in plan.order for index in unit.cells}


def guess_count_s(plan: Plan, cell: CellName) -> float:
    """Return a guess at counting a cell once: a process under each tool.

    The work is reduced to a constant, so nearly all of it is starting the tools.
    """
    return _COUNT_S + (_PROCESS_S if plan.start(cell) else 0.0)


def _operation_s(plan: Plan, benchmark: Benchmark, flags: Flags) -> float:
    """Return the wall time of an operation of all threads together."""
    size = value_bytes(flags, benchmark.value_size)
    sync_s = _SYNC_S if benchmark.is_durable(flags) else 0.0
    threads = benchmark.threads(flags)
    parallel = min(threads, usable_cpus(plan.machine) or 1)
    if benchmark.kind == "read":
        one_s = _SCAN_S if benchmark.one_call else _OPERATION_S["read"]
        return (one_s + size * _BYTE_S / 10) / parallel * (1 + benchmark.writer)
    if benchmark.kind == "mix":
        shares = benchmark.shares(flags)
        one_s = sum(
            _TYPE_S.get(kind, _OPERATION_S["mix"]) * share
            for kind, share in shares.items()
        )
        writes = 1 - shares.get("read", 0.5)
        one_s = one_s or _OPERATION_S["mix"]
        return one_s + writes * (size * _MIXED_BYTE_S + sync_s)
    return _OPERATION_S.get(benchmark.kind, 1e-6) + size * _BYTE_S + sync_s


def _entries_written(benchmark: Benchmark, flags: Flags, share: float) -> float:
    """Return the entries that a repetition writes if it does this share of its work."""
    ops = benchmark.most_ops(flags) * share
    if benchmark.kind == "mix":
        shares = benchmark.shares(flags)
        return ops * (1 - shares.get("read", 0.5))
    return ops if benchmark.kind in ("write", "delete") else 0.0


def _prepare_s(start: InitialState | None, flags: Flags) -> float:
    """Return the time of filling, copying and auditing a database."""
    if start is None:
        return 0.0
    fills = len(start.fill) + (start.state == REORGANISED)
    size = value_bytes(flags, 0)
    entry_s = fills * (_OPERATION_S["write"] + _SETTLE_S + size * _BYTE_S) + _AUDIT_S
    return (fills + 1) * _PROCESS_S + int(flags["num"]) * entry_s
