"""What a chart's operations were, in words, where they were not the usual ones.

Taken from the options that the executables say they had, not from what was asked.
"""

from __future__ import annotations

from collections.abc import Sequence

from report.terms import numbers
from report.terms.rulebook import BENCHMARKS, UNKNOWN, Flags, flag_of
from report.verdict.chart_row import Row

_KEYS = {
    "zipf": "true Zipf, by rejection-inversion",
    "ycsb-zipf": "Zipf by YCSB's formula (YCSB-exact)",
    "hot": "a hot set",
    "latest": "the latest most",
    "uniform": "uniform",
    "permutation": "each once, in random order",
    "sequential": "in key order",
}
_WITH_THETA = ("zipf", "ycsb-zipf", "latest")
_LAW, _FIXED = "value_size_distribution_type", "fixed"


def workload(rows: Sequence[Row]) -> list[str]:
    """What to know of a chart's workload; nothing of a usual one."""
    for m in (m for row in rows for m in row.repetitions):
        if m.status == "ok" and (options := m.record.get("options")):
            return told(options, m.cell.benchmark)
    return []


def told(options: Flags, benchmark: str = "") -> list[str]:
    """The options that change what is measured, in the order of their weight."""
    found = []
    threads = int(options.get("threads") or 1)
    if threads > 1:
        found.append(f"{threads} threads")
    if distribution := str(options.get("key_distribution") or ""):
        found.append(f"keys: {_keys(distribution, options)}")
    elif benchmark in BENCHMARKS and any(BENCHMARKS[benchmark].types.values()):
        found.append("keys: by YCSB's own formula (YCSB-exact)")
    if (shape := options.get("key_format", "decimal")) != "decimal":
        found.append(f"{options.get('key_size', 8)}-byte {shape}-endian keys")
    bounds = value_bounds(options, benchmark)
    if bounds is None or bounds[0] < bounds[1]:
        law = str(options.get(_LAW, _FIXED))
        low, high = bounds or (0, 0)
        between = f" from {low:,} to {high:,} bytes" if bounds else ""
        found.append(f"values of {law} size{between}")
    if transactions := int(options.get("transactions") or 0):
        found.append(f"{numbers.count(transactions, 'transaction')}")
    if (stream := options.get("stream", "kvmatrix")) != "kvmatrix":
        found.append(f"stream {stream}")
    return found


def value_bounds(options: Flags, benchmark: str) -> tuple[int, int] | None:
    """Return the least and the largest value in bytes, as SizesOf() has them.

    None if the law of the sizes is not known here, or its size.  The options of a
    line name the size of a benchmark that has one of its own (fillseq100K), and
    with it a law that it does not follow.
    """
    rule = BENCHMARKS.get(benchmark, UNKNOWN)
    fill = BENCHMARKS.get(rule.fill, UNKNOWN) if rule.kind == "read" else UNKNOWN
    size = rule.value_size or fill.value_size
    law = str(options.get(_LAW, _FIXED))
    if size or law == _FIXED:
        size = size or int(flag_of(options, "value_size"))
        return size, size
    low, high = (int(options.get(f"value_size_{end}") or 0) for end in ("min", "max"))
    size = int(flag_of(options, "value_size"))
    quarter = (size + 3) // 4
    usual = {
        "uniform": (1, 2 * size - 1),
        "normal": (quarter, 2 * size - quarter),
        "pareto": (1, 32 * size),
    }
    if law not in usual:
        return None
    return low or usual[law][0], high or usual[law][1]


def _keys(distribution: str, options: Flags) -> str:
    words = _KEYS.get(distribution, distribution)
    theta = options.get("zipf_theta")
    if distribution in _WITH_THETA and theta:
        words += f", θ {theta:g}"
    return words
