"""A made-up run of threads, a writer beside readers, and mixes: nothing is measured."""

from __future__ import annotations

from typing import Any

from tests import synthetic

Document = dict[str, Any]

THREADS = 4
# benchmark: its kind, its rate, whether a writer is beside it, its types
BENCHMARKS: dict[str, tuple[str, float, bool, dict[str, int]]] = {
    "readrandom": ("read", 4e5, False, {}),
    "readwhilewriting": ("read", 3e5, True, {}),
    "ycsba": ("mix", 1e5, False, {"read": 503, "update": 497}),
    "ycsbe": ("mix", 3e4, False, {"scan": 950, "insert": 50}),
}
ENGINES = (*synthetic.ENGINES[:2], synthetic.ENGINES[-1])
SHARES = [
    {"what": "hottest 1 % of keys", "share": 0.6046, "theory": 0.6051},
    {"what": "reads", "share": 0.503, "theory": 0.5},
]
WRITES = 200
FLAGS: Document = {
    **synthetic.FLAGS,
    **{"reads": synthetic.OPS // THREADS, "threads": THREADS, "stream": "kvmatrix"},
    **{"key_distribution": "ycsb-zipf", "zipf_theta": 0.99},
    **{"readwritepercent": 90, "writes_per_second": 0},
}


def plan(repetitions: int = 3) -> Document:
    """run.json of one scenario with four threads."""
    rates = {name: rate for name, (_, rate, _, _) in BENCHMARKS.items()}
    made = synthetic.plan(ENGINES, [("mixed", "Threads and mixes", rates)], repetitions)
    made["scenarios"][0]["flags"] = {name: FLAGS for name, *_ in ENGINES}
    for engine in made["engines"]:
        engine["describe"]["benchmarks"] = [
            {
                **{"name": name, "kind": kind, "prepare": "filled", "ops_divisor": 1},
                **{"one_call": False, "finds": "all" if kind == "read" else "some"},
                **{"fill": "filluniquerandom", "writer": writer},
            }
            for name, (kind, _, writer, _) in BENCHMARKS.items()
        ]
    return made


def lines(document: Document) -> list[Document]:
    """All ok; the latency repetition of what writes ends as a kill does."""
    found: list[Document] = []
    factors = {name: factor for name, _, _, factor in ENGINES}
    last = document["repetitions"]
    for repetition in range(1, last + 2):
        for cell in document["cells"]:
            rate = BENCHMARKS[cell["benchmark"]][1] * factors[cell["engine"]]
            line = _line(cell, min(repetition, last), rate, len(found))
            if repetition > last:
                line = _timed(line, repetition)
            found.append({**line, "order": len(found)})
    return found


def _line(cell: Document, repetition: int, rate: float, order: int) -> Document:
    kind, _, writer, types = BENCHMARKS[cell["benchmark"]]
    writes = kind == "mix" or writer
    # The made-up line of a write is the one that is audited.
    named = {**cell, "benchmark": "fillrandom" if writes else "readrandom"}
    line = synthetic.measurement(named, repetition, rate, order)
    options = {**line["options"], **FLAGS}
    made = {**line, "benchmark": cell["benchmark"], "options": options}
    made |= {"digest": None if writes else line["digest"], "found": synthetic.OPS}
    made |= {"counters": {"busy": 7} if writes else {}}
    made["ops_by_thread"] = [synthetic.OPS // THREADS] * THREADS if types else None
    if writer:
        made["ops_by_thread"] = [WRITES]
        made["writer"] = _writer(line)
    if types:
        made |= {"ops_by_type": types, "shares": SHARES}
    return made


def _writer(line: Document) -> Document:
    return {
        **{"ops": WRITES, "loop_ns": line["loop_ns"], "bytes": WRITES * 116},
        **{"rate_ops_per_sec": None, "latency_ns": None},
    }


def _timed(line: Document, repetition: int) -> Document:
    made = synthetic.latency_of(line, repetition)
    if made["writer"]:
        times = synthetic.histogram(made["loop_ns"], WRITES)
        made["writer"] = {**made["writer"], "latency_ns": times}
    if made["ops_by_type"]:
        made["latency_by_type_ns"] = {
            name: synthetic.histogram(made["loop_ns"] * count // synthetic.OPS, count)
            for name, count in made["ops_by_type"].items()
        }
    return made
