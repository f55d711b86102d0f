"""The size of the page of a whole run with every detail."""

import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from report.page import report_page
from report.trust.judge import load_run
from tests.builders import synthetic_records, synthetic_run
from tests.builders.synthetic_records import lower_edge

OPS = 1_000_000
INTERVALS = 200
RATES = {"fillseq": 8.1e5, "fillrandom": 1.6e5, "readseq": 4.2e6, "readrandom": 1.3e5}


def plan() -> dict[str, Any]:
    """Return the 18 charts of 2011 over four engines, reference, floor and control."""
    engines = [(f"engine-{i}", f"Engine {i}", "", 1.0 + i) for i in range(4)]
    engines += [("memory", "memory", "reference", 9.0), ("null", "null", "floor", 60.0)]
    engines += [("engine-0-control", "Engine 0, again", "control", 1.1)]
    writes, reads = ("fillseq", "fillrandom"), ("readseq", "readrandom")
    charts = (*reads, *writes), writes, writes, writes, (*writes, *reads), writes, reads
    scenarios = [
        (f"scenario-{i}", f"Scenario {i}", dict.fromkeys(names, 1.0))
        for i, names in enumerate(charts)
    ]
    document = synthetic_run.plan(
        engines, scenarios, flags={**synthetic_run.FLAGS, "num": OPS}
    )
    document["suite"]["control"] = "engine-0"
    document["engines"][-1]["twin_of"] = "engine-0"
    return document


def noisy(line: dict[str, Any], source: random.Random) -> dict[str, Any]:
    """Return a line whose operations all have different times."""
    weights = [source.lognormvariate(0, 0.15) for _ in range(INTERVALS)]
    points, reached = [], 0.0
    for n, weight in enumerate(weights, 1):
        reached += weight
        elapsed_ns = int(line["loop_ns"] * reached / sum(weights))
        points.append([elapsed_ns, OPS * n // INTERVALS])
    points[-1][0] = line["loop_ns"]
    shares = {
        key: round(source.random() / 50, 6)
        for key in line["disturbance"]
        if key.endswith("_share")
    }
    disturbance = {**line["disturbance"], **shares, "wall_ns": source.getrandbits(33)}
    return {**line, "timeline": points, "disturbance": disturbance}


def with_latency(line: dict[str, Any], source: random.Random) -> dict[str, Any]:
    """Return the latency repetition of noisy(), with about 700 buckets."""
    mean_ns = line["loop_ns"] / OPS / 2
    counts: Counter[int] = Counter()
    for _ in range(30_000):
        tail = source.uniform(2, 30) if source.random() < 0.01 else 1.0
        latency_ns = int(mean_ns * source.lognormvariate(-0.3, 0.35) * tail)
        counts[lower_edge(latency_ns)] += source.randint(1, 30)
    counts[lower_edge(int(mean_ns))] += OPS - counts.total()
    buckets = sorted(counts.items())
    return {
        **synthetic_records.latency_of(line, line["repetition"]),
        "loop_ns": line["loop_ns"],
        "timeline": line["timeline"],
        "latency_ns": {
            "count": OPS,
            "min": buckets[0][0],
            "max": buckets[-1][0],
            "sum": sum(lower * n for lower, n in buckets),
            "buckets": [list(bucket) for bucket in buckets],
        },
    }


@pytest.mark.night("report/page", "report/words")
def test_a_whole_run_stays_under_two_megabytes(tmp_path: Path) -> None:
    document = plan()
    factors = {"memory": 9.0, "null": 60.0}
    source = random.Random(11)
    lines = []
    for repetition in (1, 2, 3, 4):
        for order, cell in enumerate(document["cells"]):
            rate = RATES[cell["benchmark"]] * factors.get(cell["engine"], 1.0)
            rate *= source.uniform(0.9, 1.1)
            line = noisy(
                synthetic_records.line(cell, repetition, rate, order + 1, OPS), source
            )
            lines.append(with_latency(line, source) if repetition == 4 else line)
    run = load_run(synthetic_run.write_run(tmp_path, document, lines))
    assert {cell.status for cell in run.cells.values()} == {"ok"}
    assert len(run.cells) == 126
    page_bytes = len(report_page.render(run).encode())
    assert page_bytes < 2_000_000, page_bytes
