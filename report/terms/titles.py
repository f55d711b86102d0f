"""Titles, units and baseline twins of benchmarks, by their names."""

from __future__ import annotations

from collections.abc import Sequence

from report.terms import numbers
from report.terms.rulebook import BENCHMARKS, FLAGS, Benchmark, Flags

DISTURBED, SUSPECT = "⚠", "¶"  # marks of a rate, in every format
MEANINGS = {
    DISTURBED: "disturbed by other work on the machine",
    SUSPECT: "suspect: works outside the clock, or its memory, size or speed is out of"
    " line",
}
_OPERATIONS = {  # of one type in a mix; another type is called by its name
    "read": "reads",
    "missing": "reads of absent keys",
    "scan": "scans",
    "scanreverse": "reverse scans",
    "update": "updates",
    "readmodifywrite": "read-modify-writes",
    "insert": "inserts",
    "delete": "deletes",
}
_MOST_TYPES = 3  # of a mix that are named in its title
_SHARES = {"mix_shares", "readwritepercent"}  # flags


def title(benchmark: str, flags: Flags | None = None) -> str:
    """Return the title of a benchmark, or its name if that is unknown.

    If its flags choose the operations, `flags` are those of its scenario: they make the
    title, such as "Updates", or "95 % reads, 5 % updates".
    """
    entry = BENCHMARKS.get(benchmark)
    if entry is None:
        return benchmark
    return (_of_shares(entry, flags) if flags is not None else "") or entry.title


def of_chart(benchmark: str, flags: Flags, swept: Flags) -> str:
    """Return the title of a benchmark in a scenario, without what is swept in it."""
    return title(benchmark, None if swept.keys() & _SHARES else flags)


def _of_shares(benchmark: Benchmark, flags: Flags) -> str:
    """Return the operations that the flags choose; "" if they choose none."""
    if None not in benchmark.types.values():
        return ""
    shares = sorted(benchmark.shares(flags).items(), key=lambda s: -s[1])
    done = [(_OPERATIONS.get(kind, kind), share) for kind, share in shares if share]
    if len(done) == 1:
        ((only, _),) = done
        return only[:1].upper() + only[1:]
    named = [f"{numbers.limit(share)} {of}" for of, share in done[:_MOST_TYPES]]
    if more := len(done) - len(named):
        named.append(f"and {numbers.count(more, 'more type')}")
    return ", ".join(named)


def inside(title: str) -> str:
    """Return a title for use within a sentence: lower case, except in "YCSB A"."""
    return title if title[1:2].isupper() else title[:1].lower() + title[1:]


def words(flag: str) -> str:
    """Return the name of a flag as words: "value size"."""
    return flag.replace("_", " ")


def member(title: str, flag: str, swept: object) -> str:
    """Return the title of a sweep's member: "Sweep: value size 100"."""
    return f"{title}: {words(flag)} {value(swept, flag)}"


def family(titles: Sequence[str], flag: str) -> str:
    """Return the common title of a sweep's members, or "" if they have none."""
    bases = {title.rpartition(f": {words(flag)} ")[0] for title in titles}
    base = bases.pop() if len(bases) == 1 else ""
    return f"{base}: {words(flag)}" if base else ""


def value(swept: object, flag: str = "") -> str:
    """Return a flag's value as text: with separators, and with the unit of a size."""
    if isinstance(swept, bool):
        return "true" if swept else "false"
    if not isinstance(swept, int | float):
        return str(swept)
    unit = FLAGS[flag].unit if flag in FLAGS else ""
    if unit == "bytes":
        return numbers.size(swept)
    shown = f"{swept:,}"
    shown = shown.removesuffix(".0")
    return f"{shown} s" if unit == "seconds" else shown


def unit(benchmark: str) -> str:
    """Return the unit of a rate; a batch benchmark counts entries, not batches."""
    entry = BENCHMARKS.get(benchmark)
    return "entries/s" if entry and entry.batch_size > 1 else "ops/s"


def baseline_twin(benchmark: str) -> str | None:
    """Return the benchmark of the baseline scenario to compare this one with.

    None for benchmarks with a value size of their own: a ratio between entries of
    different sizes is meaningless, and the page of 2011 has none.
    """
    entry = BENCHMARKS.get(benchmark)
    if entry and (entry.value_size or BENCHMARKS[entry.fill].value_size):
        return None
    if benchmark.startswith("fillseq"):
        return "fillseq"
    if benchmark.startswith("fillrand"):
        return "fillrandom"
    return benchmark
