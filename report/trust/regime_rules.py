"""Rules about regimes: whether a cell ran on the disk and at the limit of its scenario.

A cell whose data fit into its memory says nothing about its disk, whatever its rate.
What proves the regime are counts of the disk that only its process used.
"""

from __future__ import annotations

from report.model.record import Record
from report.stats.device_use import device_use, user_bytes
from report.terms import numbers
from report.trust.rule import READS, Context, Rule

# A get of a random entry must reach the disk more often than this, on average.
LEAST_READS_PER_GET = 0.5
# A scan must read from the disk, and writes must write to it, more than this share of
# the bytes of their entries: an engine may compress them.
LEAST_SHARE_OF_BYTES = 0.25


def unreached(record: Record, context: Context) -> str:
    """Return why a cell that is ok did not reach its regime, or "".

    A missing key may be known to be missing without the disk, and a killed process has
    not written back what it wrote: their data need only exceed the memory.
    """
    regime = context.regime
    if not (regime and regime.device and context.stores):
        return ""
    if not regime.memory_limit_bytes:
        return _warm_reads(record, context)
    live, limit = record["live_bytes"], regime.memory_limit_bytes
    if live <= limit:
        return (
            f"not larger than memory: {numbers.size(live)} of entries for"
            f" {numbers.size(limit)}{_after(record)}"
        )
    use = device_use(record)
    if use is None:
        return ""  # another rule rejects it
    if context.kind == READS and context.benchmark.finds == "all":
        return _too_few_reads(record, context)
    written = use.write_amplification
    if written is not None and written <= LEAST_SHARE_OF_BYTES:
        return (
            f"not device-bound: the disk received {numbers.rounded(written)} bytes per"
            f" byte written; expected more than {LEAST_SHARE_OF_BYTES}"
        )
    return ""


def _warm_reads(record: Record, context: Context) -> str:
    """Return why reads that must begin cold did not, or ""."""
    use = device_use(record)
    if use is None or context.kind != READS or context.benchmark.finds != "all":
        return ""
    return "" if use.reads_per_op else "not cold: nothing was read from the disk"


def _after(record: Record) -> str:
    """Return where the time limit ended a cell early, or ""."""
    done, planned = record["ops"], record["planned_ops"]
    if not record["truncated"] or done == planned:
        return ""
    return f"; the time limit ended it after {done:,} of {planned:,} operations"


def _too_few_reads(record: Record, context: Context) -> str:
    use, device = device_use(record), record["device"]
    assert use is not None
    assert device is not None
    if context.benchmark.one_call:
        _, returned = user_bytes(record)
        read = device["loop"]["read_bytes"] / max(1.0, returned)
        what, least = "bytes read from the disk per byte returned", LEAST_SHARE_OF_BYTES
    else:
        read, least = use.reads_per_op or 0.0, LEAST_READS_PER_GET
        what = "reads of the disk per get"
    if read > least:
        return ""
    return (
        f"not device-bound: {numbers.rounded(read)} {what}; expected more than {least}"
    )


def disk_of_the_regime(record: Record, context: Context) -> str:
    """Check that a cell has counters of a disk exactly if its scenario gives it one."""
    has, must = record.get("device") is not None, bool(_device(context))
    if has == must:
        return ""
    return f"{'no' if must else 'unexpected'} counters of the scenario's disk"


def reached_regime(record: Record, context: Context) -> str:
    """Check that a cell of a scenario larger than memory is bound to its disk."""
    return unreached(record, context)


def memory_within_limit(record: Record, context: Context) -> str:
    """Check that no process had more memory than its limit."""
    memory = record.get("memory")
    limit = context.regime.memory_limit_bytes if context.regime else 0
    if not memory or not limit or memory["peak_bytes"] is None:
        return ""
    if memory["peak_bytes"] <= limit:
        return ""
    peak = numbers.size(memory["peak_bytes"])
    return f"{peak} of memory exceed the limit of {numbers.size(limit)}"


def course_of_whole_samples(record: Record, context: Context) -> str:
    """Check that the columns of a course, where they are known, are equally long."""
    columns = (record.get("course") or {}).values()
    lengths = {len(column) for column in columns if column}
    return "" if len(lengths) < 2 else f"a course of {sorted(lengths)} samples"


def _device(context: Context) -> str:
    return context.regime.device if context.regime else ""


RULES = (
    Rule(disk_of_the_regime, since=3),
    *(
        Rule(fault, since=3, of_line=True)
        for fault in (reached_regime, memory_within_limit, course_of_whole_samples)
    ),
)
