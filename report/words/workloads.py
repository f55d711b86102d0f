"""The unusual properties of a chart's workload, in words.

They come from the options that the executables report, not from those requested.
"""

from __future__ import annotations

from collections.abc import Sequence

from report.terms import numbers
from report.terms.rulebook import BENCHMARKS, UNKNOWN, WRITING_TYPES, Flags, flag_of
from report.verdict.chart_row import Row

_KEYS = {
    "zipf": "true Zipf, by rejection-inversion",
    "ycsb-zipf": "Zipf by YCSB's formula (YCSB-exact)",
    "hot": "a hot set",
    "latest": "latest entries preferred",
    "uniform": "uniform",
    "permutation": "each key once, in random order",
    "sequential": "in key order",
}
_WITH_THETA = ("zipf", "ycsb-zipf", "latest")
_LAW, _FIXED = "value_size_distribution_type", "fixed"


def workload(rows: Sequence[Row]) -> list[str]:
    """Return the unusual properties of a chart's workload, [] if there are none."""
    for m in (m for row in rows for m in row.repetitions):
        if m.status == "ok" and (options := m.record.get("options")):
            return facts_of(options, m.cell.benchmark)
    return []


def facts_of(options: Flags, benchmark: str = "") -> list[str]:
    """Return the options that change what is measured, most important first."""
    facts = run_facts(options, benchmark)
    batch = int(options.get("batch_size") or 1)
    if batch > 1 and BENCHMARKS.get(benchmark, UNKNOWN).kind in ("write", "delete"):
        facts.append(f"batches of {batch:,}")
    if (shape := options.get("key_format", "decimal")) != "decimal":
        facts.append(f"{options.get('key_size', 8)}-byte {shape}-endian keys")
    bounds = value_bounds(options, benchmark)
    if bounds is None or bounds[0] < bounds[1]:
        law = str(options.get(_LAW, _FIXED))
        low, high = bounds or (0, 0)
        between = f" from {low:,} to {high:,} bytes" if bounds else ""
        facts.append(f"values of {law} size{between}")
    if transactions := int(options.get("transactions") or 0):
        facts.append(f"{numbers.count(transactions, 'transaction')}")
    if (stream := options.get("stream", "kvmatrix")) != "kvmatrix":
        facts.append(f"stream {stream}")
    return facts


def run_facts(options: Flags, benchmark: str) -> list[str]:
    """Return threads, durability and keys, as far as they are not the usual ones."""
    rule = BENCHMARKS.get(benchmark, UNKNOWN)
    facts = []
    threads = int(options.get("threads") or 1)
    if threads > 1:
        facts.append(f"{threads} threads")
    level, shares = rule.durability(options), rule.shares(options)
    changes = rule.writes and (not shares or any(map(shares.get, WRITING_TYPES)))
    if changes and level != "buffered":
        facts.append(f"{level} writes")
    if distribution := str(options.get("key_distribution") or ""):
        facts.append(f"keys: {_keys(distribution, options)}")
    elif any(rule.types.values()):
        facts.append("keys: by YCSB's own formula (YCSB-exact)")
    return facts


def value_bounds(options: Flags, benchmark: str) -> tuple[int, int] | None:
    """Return the least and the largest value size in bytes, as SizesOf() does.

    None if the distribution of the sizes is unknown.  A benchmark with a fixed size
    (fillseq100K) does not follow the distribution in the options.
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
    defaults = {
        "uniform": (1, 2 * size - 1),
        "normal": (quarter, 2 * size - quarter),
        "pareto": (1, 32 * size),
    }
    if law not in defaults:
        return None
    return low or defaults[law][0], high or defaults[law][1]


def _keys(distribution: str, options: Flags) -> str:
    words = _KEYS.get(distribution, distribution)
    theta = options.get("zipf_theta")
    if distribution in _WITH_THETA and theta:
        words += f", θ {theta:g}"
    return words
