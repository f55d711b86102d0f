"""A synthetic run of one sweep over value sizes.

The engines have the names of the published sweep, so that its figures appear next to
theirs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tests.builders import synthetic_records, synthetic_run

Document = dict[str, Any]

FAMILY = "kyoto-ceda"
SIZES = (4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192)
RATES = {"fillseq": 9.0e5, "getseq": 2.4e6}
ENGINES: tuple[tuple[str, str, str, float], ...] = (
    ("hashdb", "Kyoto HashDB", "", 1.0),
    ("treedb", "Kyoto TreeDB", "", 0.4),
    ("leveldb", "LevelDB", "", 0.7),
    ("sqlite3", "SQLite3", "", 0.2),
    ("lmdb", "LMDB", "", 1.7),
    ("rocksdb", "RocksDB, LevelDB-like", "", 0.5),
    ("null", "null", "floor", 20.0),
)
KEY_BYTES = 8
TRANSACTIONS = 100
# The cell without a rate: engine, size, benchmark.
UNSUPPORTED = ("treedb", 8192, "fillseq")


def plan(sizes: Sequence[int] = SIZES, repetitions: int = 3) -> Document:
    """Return run.json of the sweep: a scenario for each size."""
    rates = dict.fromkeys(RATES, 1.0)
    scenarios = [
        (f"{FAMILY}-{size}", f"Small and large values: value size {size:,}", rates)
        for size in sizes
    ]
    document = synthetic_run.plan(ENGINES, scenarios, repetitions)
    document["suite"] |= {"name": FAMILY, "published": [FAMILY], "title": "Value sizes"}
    for scenario, size in zip(document["scenarios"], sizes, strict=True):
        flags = {**synthetic_run.FLAGS, "value_size": size, "key_size": KEY_BYTES}
        flags["transactions"] = TRANSACTIONS
        scenario["flags"] = {name: flags for name, *_ in ENGINES}
        scenario |= {"family": FAMILY, "swept": {"value_size": size}}
        scenario["analysis"] = "How the size of a value tells on each engine."
    return document


def lines(document: Document) -> list[Document]:
    """Return lines: rates fall and disk usage grows with the size of the values."""
    factors = {name: factor for name, _, _, factor in ENGINES}

    def make(cell: Document, repetition: int) -> Document:
        size = int(cell["scenario"].rpartition("-")[2])
        if (cell["engine"], size, cell["benchmark"]) == UNSUPPORTED:
            reason = "values of 8,192 bytes do not fit a page"
            return synthetic_records.failure(cell, "unsupported", reason)
        rate = RATES[cell["benchmark"]] * factors[cell["engine"]]
        rate *= (1 + 0.05 * (repetition - 2)) / (1 + size / 600)
        options = {"value_size": size, "key_size": KEY_BYTES}
        options["transactions"] = TRANSACTIONS
        disk_bytes = synthetic_records.OPS * (KEY_BYTES + size + 20 + size // 10)
        record = synthetic_records.line(cell, repetition, rate, options=options)
        return record | {"disk_bytes": disk_bytes, "peak_disk_bytes": disk_bytes + 4096}

    return [_of_transactions(line) for line in synthetic_run.lines_of(document, make)]


def _of_transactions(line: Document) -> Document:
    """Return the line with one latency of each transaction."""
    if line["latency_ns"] is None or line["benchmark"] != "fillseq":
        return line
    return line | {
        "latency_ns": synthetic_records.latencies(line["loop_ns"], TRANSACTIONS)
    }
