"""A made-up run of one sweep over value sizes: nothing of it was measured.

The engines have the names of those that the published sweep knows, so that its
figures stand beside them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tests import synthetic

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
DESCRIBED: Document = {"prepare": "", "ops_divisor": 1, "one_call": False}
KEY_BYTES = 8
TRANSACTIONS = 100
# The cell without a rate: engine, size, benchmark.
UNSUPPORTED = ("treedb", 8192, "fillseq")


def plan(sizes: Sequence[int] = SIZES, repetitions: int = 3) -> Document:
    """run.json of the sweep; cells of one scenario for each size."""
    rates = dict.fromkeys(RATES, 1.0)
    scenarios = [
        (f"{FAMILY}-{size}", f"Small and large values: value size {size:,}", rates)
        for size in sizes
    ]
    made = synthetic.plan(ENGINES, scenarios, repetitions)
    for engine in made["engines"]:
        engine["describe"]["benchmarks"] = [
            {**DESCRIBED, "name": "fillseq", "kind": "write", "finds": "some"},
            {**DESCRIBED, "name": "getseq", "kind": "read", "finds": "all"},
        ]
    made["suite"] |= {"name": FAMILY, "published": [FAMILY], "title": "Value sizes"}
    for scenario, size in zip(made["scenarios"], sizes, strict=True):
        flags = {**synthetic.FLAGS, "value_size": size, "key_size": KEY_BYTES}
        flags["transactions"] = TRANSACTIONS
        scenario["flags"] = {name: flags for name, *_ in ENGINES}
        scenario |= {"family": FAMILY, "swept": {"value_size": size}}
        scenario["analysis"] = "How the size of a value tells on each engine."
    return made


def lines(document: Document) -> list[Document]:
    """All ok but UNSUPPORTED: rates fall and the disk fills as values grow."""
    found: list[Document] = []
    factors = {name: factor for name, _, _, factor in ENGINES}
    for repetition in range(1, document["repetitions"] + 1):
        for cell in document["cells"]:
            size = int(cell["scenario"].rpartition("-")[2])
            if (cell["engine"], size, cell["benchmark"]) == UNSUPPORTED:
                if repetition == 1:
                    reason = "values of 8,192 bytes do not fit a page"
                    found.append(synthetic.without_rate(cell, "unsupported", reason))
                continue
            rate = RATES[cell["benchmark"]] * factors[cell["engine"]]
            rate *= (1 + 0.05 * (repetition - 2)) / (1 + size / 600)
            line = synthetic.measurement(cell, repetition, rate, len(found))
            found.append(_sized(line, size))
    return [*found, *_latencies(document, found)]


def _sized(line: Document, size: int) -> Document:
    data = synthetic.OPS * (KEY_BYTES + size)
    on_disk = data + synthetic.OPS * (20 + size // 10)
    options = {**line["options"], "value_size": size, "key_size": KEY_BYTES}
    options["transactions"] = TRANSACTIONS
    made = {**line, "options": options, "bytes": data, "live_bytes": data}
    made |= {"disk_bytes": on_disk, "peak_disk_bytes": on_disk + 4096}
    return made


def _latencies(document: Document, found: Sequence[Document]) -> list[Document]:
    last = document["repetitions"]
    ended = [m for m in found if m["status"] == "ok" and m["repetition"] == last]
    return [
        {**synthetic.latency_of(m, last + 1), "order": len(found) + i}
        for i, m in enumerate(ended)
    ]
