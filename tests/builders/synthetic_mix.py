"""A synthetic run of threads, a writer next to readers, and mixes."""

from __future__ import annotations

from typing import Any

from tests.builders import synthetic_descriptions, synthetic_records, synthetic_run

Document = dict[str, Any]

THREADS = 4
# benchmark: its rate, its types
BENCHMARKS: dict[str, tuple[float, dict[str, int]]] = {
    "readrandom": (4e5, {}),
    "readwhilewriting": (3e5, {}),
    "ycsba": (1e5, {"read": 503, "update": 497}),
    "ycsbe": (3e4, {"scan": 950, "insert": 50}),
}
ENGINES = (*synthetic_run.ENGINES[:2], synthetic_run.ENGINES[-1])
SHARES = [
    {"what": "hottest 1 % of keys", "share": 0.6046, "theory": 0.6051},
    {"what": "reads", "share": 0.503, "theory": 0.5},
]
FLAGS: Document = {
    **synthetic_run.FLAGS,
    **{
        "reads": synthetic_records.OPS // THREADS,
        "threads": THREADS,
        "stream": "kvmatrix",
    },
    **{"key_distribution": "ycsb-zipf", "zipf_theta": 0.99},
    **{"readwritepercent": 90, "writes_per_second": 0},
}


def plan(repetitions: int = 3) -> Document:
    """Return run.json of one scenario with four threads."""
    rates = {name: rate for name, (rate, _) in BENCHMARKS.items()}
    scenarios = [("mixed", "Threads and mixes", rates)]
    return synthetic_run.plan(ENGINES, scenarios, repetitions, flags=FLAGS)


def lines(document: Document) -> list[Document]:
    """Return an ok line for each repetition of each cell."""
    factors = {name: factor for name, _, _, factor in ENGINES}

    def make(cell: Document, repetition: int) -> Document:
        rate, types = BENCHMARKS[cell["benchmark"]]
        rate *= factors[cell["engine"]]
        record = synthetic_records.line(cell, repetition, rate, options=FLAGS)
        if synthetic_descriptions.writes(cell["benchmark"]):
            record["counters"] = {"busy": 7}
        return record | ({"ops_by_type": types, "shares": SHARES} if types else {})

    return synthetic_run.lines_of(document, make)
