"""What a chart's operations were, in words, where they were not the usual ones.

Taken from the options that the executables say they had, not from what was asked.
"""

from __future__ import annotations

from collections.abc import Sequence

from report.terms import numbers
from report.terms.rulebook import BENCHMARKS, Flags
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
    if (sizes := options.get("value_size_distribution_type", "fixed")) != "fixed":
        low, high = options.get("value_size_min"), options.get("value_size_max")
        bounds = f" from {low:,} to {high:,} bytes" if low and high else ""
        found.append(f"values of {sizes} size{bounds}")
    if transactions := int(options.get("transactions") or 0):
        found.append(f"{numbers.count(transactions, 'transaction')}")
    if (stream := options.get("stream", "kvmatrix")) != "kvmatrix":
        found.append(f"stream {stream}")
    return found


def _keys(distribution: str, options: Flags) -> str:
    words = _KEYS.get(distribution, distribution)
    theta = options.get("zipf_theta")
    if distribution in _WITH_THETA and theta:
        words += f", θ {theta:g}"
    return words
