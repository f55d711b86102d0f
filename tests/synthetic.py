"""Run folders made up for tests: every figure is invented and repeatable.

write_run() lays down a small, complete run over made-up engines; a test then
changes what it is about.  Nothing here was measured.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.synthetic_line import (
    BUILD,
    ENTRY_BYTES,
    OPS,
    QUIET,
    RUN_ID,
    disturbed,
    histogram,
    latency_of,
    measurement,
    open_loop,
    retimed,
    with_stall,
    without_rate,
)

__all__ = [
    "BUILD",
    "ENTRY_BYTES",
    "OPS",
    "QUIET",
    "RUN_ID",
    "disturbed",
    "histogram",
    "latency_of",
    "measurement",
    "open_loop",
    "retimed",
    "with_stall",
    "without_rate",
]

Document = dict[str, Any]
Change = Callable[[Document], None]

# name, title, role, a factor on the rate of every benchmark
ENGINES: tuple[tuple[str, str, str, float], ...] = (
    ("alpha", "Alpha", "", 1.0),
    ("beta-tree", "Beta Tree", "", 0.41),
    ("gamma", "Gamma", "", 0.1),
    ("floor", "floor", "floor", 60.0),
)
# The first engine again, in the run of varied_plan().
CONTROL = ("alpha-again", "Alpha, again", "control", 0.97)
# name, title, benchmark to rate of the first engine
SCENARIOS: tuple[tuple[str, str, Mapping[str, float]], ...] = (
    (
        "baseline",
        "Baseline",
        {"readseq": 4.0e6, "readrandom": 1.3e5, "fillseq": 8.0e5, "fillrandom": 1.6e5},
    ),
    ("batch", "Batch writes", {"fillseqbatch": 8.4e5, "fillrandbatch": 2.2e5}),
    ("sync", "Synchronous writes", {"fillseqsync": 100.0, "fillrandsync": 99.0}),
)
# What every made-up engine can do.
KINDS = {
    benchmark: "read" if benchmark.startswith("read") else "write"
    for _, _, benchmarks in SCENARIOS
    for benchmark in benchmarks
}
# What varied_lines() makes of some cells: status and reason.
VARIETY = {
    ("gamma", "readseq"): ("unsupported", "keeps no key order"),
    ("gamma", "fillseqbatch"): ("excluded", "would repeat the baseline"),
    ("gamma", "fillrandbatch"): ("missing", "db_bench_gamma was not built"),
    ("beta-tree", "fillrandbatch"): ("wrong", "audit: 3 of 1000 entries differ"),
    ("beta-tree", "readrandom"): ("error", "signal 11 (SIGSEGV)"),
    ("gamma", "fillrandsync"): ("timeout", "no answer after 30 min"),
}
FLAGS: Document = {
    "num": 1000,
    "key_size": 16,
    "value_size": 100,
    "compression_ratio": 0.5,
    "cache_size": 4194304,
    "compression": True,
    "sync": False,
}


def plan(
    engines: Sequence[tuple[str, str, str, float]] = ENGINES,
    scenarios: Sequence[tuple[str, str, Mapping[str, float]]] = SCENARIOS,
    repetitions: int = 3,
    missing: Mapping[str, str] | None = None,
) -> Document:
    """run.json over all cells; `missing` is engine to reason."""
    cells = [
        {"engine": engine[0], "scenario": scenario[0], "benchmark": benchmark}
        for scenario in scenarios
        for benchmark in scenario[2]
        for engine in engines
    ]
    return {
        "schema": 3,
        "method": 1,
        "run": RUN_ID,
        "suite": {
            **{"name": "synthetic", "title": "Made-up figures", "published": None},
            **{"latency": True, "control": "", "rate": None},
        },
        "seed": 301,
        "repetitions": repetitions,
        "command": "kvmatrix run synthetic",
        "engines": [_engine(*e[:3], (missing or {}).get(e[0], "")) for e in engines],
        "scenarios": [_scenario(engines, *scenario) for scenario in scenarios],
        "cells": cells,
        "order": [
            [n, [i]] for n in range(1, repetitions + 2) for i in range(len(cells))
        ],
        "machine": {"id": "made up"},
        "settings_sha256": "0" * 64,
    }


def varied_plan() -> Document:
    """The plan of varied_lines(): as planned_twice(), with one engine's own num."""
    document = planned_twice()
    document["scenarios"][-1]["flags"]["gamma"] = {**FLAGS, "num": 5000}
    return document


def planned_twice() -> Document:
    """A plan whose first engine is measured twice."""
    document = plan((*ENGINES, CONTROL))
    document["suite"]["control"] = "alpha"
    document["engines"][-1]["twin_of"] = "alpha"
    return document


def environment() -> Document:
    return {
        "schema": 3,
        "cpu": {"model": "Made-up CPU", "cores": 2, "governor": "unknown"},
        "memory": {"total_bytes": 8589934592, "swap_used_bytes": 0},
        "block_device": {"rotational": False, "write_cache": "write back"},
        "kernel": "Linux 0.0",
    }


def lines(document: Document) -> list[Document]:
    """One ok measurement for each repetition of each cell of the plan.

    A latency repetition follows if the plan has it.  A cell of a missing engine
    has one line, which says so.
    """
    reasons = {engine["name"]: engine["missing"] for engine in document["engines"]}
    rates = {s[0]: s[2] for s in SCENARIOS}
    factors = {e[0]: e[3] for e in (*ENGINES, CONTROL)}
    found: list[Document] = []
    for repetition in range(1, document["repetitions"] + 1):
        for index, cell in enumerate(document["cells"]):
            if reason := reasons[cell["engine"]]:
                if repetition == 1:
                    found.append(without_rate(cell, "missing", reason))
                continue
            rate = rates[cell["scenario"]][cell["benchmark"]] * factors[cell["engine"]]
            wobble = 1 + (repetition - 2) * 0.004 + (index % 3) * 0.002
            found.append(measurement(cell, repetition, rate * wobble, len(found)))
    return [*found, *_latency_lines(document, found)]


def _latency_lines(document: Document, found: Sequence[Document]) -> list[Document]:
    """One for each cell whose last throughput repetition is ok."""
    last = document["repetitions"]
    if not document["suite"]["latency"]:
        return []
    ended = [m for m in found if m["status"] == "ok" and m["repetition"] == last]
    return [
        {**latency_of(m, last + 1), "order": len(found) + i}
        for i, m in enumerate(ended)
    ]


def varied_lines(document: Document) -> list[Document]:
    """lines() with every status, and everything a report must remark upon."""
    found: list[Document] = []
    for line in lines(document):
        # What changes the rate of the control's twin changes the control's.
        is_control = line["engine"] == CONTROL[0]
        key = (ENGINES[0][0] if is_control else line["engine"], line["benchmark"])
        if line["status"] == "ok" and key in VARIETY:
            status, reason = VARIETY[key]
            if line["repetition"] == 1:
                found.append(without_rate(_name_of(line), status, reason))
        elif line["status"] == "ok":
            found += _attempts(_varied(line, key), key)
        else:
            found.append(line)
    return found


def _varied(line: Document, key: tuple[str, str]) -> Document:
    """One line with what its cell is there to show."""
    line = dict(line)
    throughput = line["pass"] == "throughput"
    if line["engine"] == "gamma" and line["scenario"] == "sync":
        line |= {"truncated": True, "planned_ops": 5000}
        line["options"] = {**line["options"], "num": 5000}
    if line["engine"] == "beta-tree":
        line["build"] = {**BUILD, "assertions": "live"}
    if key == ("alpha", "fillrandom") and throughput:
        line = retimed(line, line["loop_ns"] * line["repetition"])
    if key == ("alpha", "readseq"):
        line = retimed(line, line["loop_ns"] // 30)
    if key == ("beta-tree", "fillseqsync"):
        line = retimed(line, line["loop_ns"] * 41 // 100)
    if key == ("beta-tree", "fillrandsync"):  # within the noise of the run
        line = retimed(line, line["loop_ns"] * 388 // 1000)
    if line["engine"] == "alpha" and key[1] == "fillseqsync":
        line = with_stall(line, 2_000_000_000, 300_000_000)
    if key == ("gamma", "fillrandom") and throughput:
        line["close_ns"] = 8 * (line["loop_ns"] + line["flush_ns"])
    if key == ("beta-tree", "fillseqbatch") and throughput:
        line |= {"idle_cpu_ns": 2_500_000, "cpu_user_ns": line["cpu_user_ns"] * 2}
    if line["engine"] == "alpha" and key[1] == "fillrandbatch" and not throughput:
        line = open_loop(line, saturated=False)
    if key == ("gamma", "readrandom") and not throughput:
        line = open_loop(line, saturated=True)
    return line


def _attempts(line: Document, key: tuple[str, str]) -> list[Document]:
    """The line after the disturbed attempts at it, if it is of those."""
    again = key == ("beta-tree", "fillrandom") and line["repetition"] == 2
    in_vain = key == ("gamma", "fillseq") and line["repetition"] == 1
    if not again and not in_vain:
        return [line]
    third = {**line, "attempt": 3}
    return [
        disturbed(line, "steal 3.1 %"),
        disturbed({**line, "attempt": 2}, "other processes 7.9 % of the CPUs"),
        disturbed(third, "other processes wrote 64 MiB") if in_vain else third,
    ]


def write_run(
    folder: Path,
    document: Document | None = None,
    measurements: Sequence[Document] | None = None,
) -> Path:
    """Writes the three files; returns `folder`."""
    document = plan() if document is None else document
    measurements = lines(document) if measurements is None else measurements
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in (("run", document), ("environment", environment())):
        text = json.dumps(content, indent=1, ensure_ascii=False) + "\n"
        (folder / f"{name}.json").write_text(text, "utf-8")
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in measurements)
    (folder / "measurements.jsonl").write_text(text, "utf-8")
    return folder


def _name_of(line: Document) -> dict[str, str]:
    return {name: line[name] for name in ("engine", "scenario", "benchmark")}


def _engine(name: str, title: str, role: str, missing: str) -> Document:
    described = {
        "version": "1.0",
        "codec": "",
        "licence": "MIT",
        "stores": True,
        "build": BUILD,
        "benchmarks": [
            {
                "name": n,
                "kind": kind,
                "prepare": "filled" if kind == "read" else "",
                "ops_divisor": 1,
                "one_call": n == "readseq",
                "finds": "all" if kind == "read" else "some",
            }
            for n, kind in KINDS.items()
        ],
    }
    return {
        "name": name,
        "title": title,
        "role": role,
        "summary": f"{title}, made up",
        "describe": None if missing else described,
        "missing": missing,
        "binary_sha256": "" if missing else "1" * 64,
        "twin_of": "",
    }


def _scenario(
    engines: Sequence[tuple[str, str, str, float]],
    name: str,
    title: str,
    benchmarks: Mapping[str, float],
) -> Document:
    return {
        "name": name,
        "title": title,
        "analysis": f"What {title.lower()} show.",
        "benchmarks": list(benchmarks),
        "flags": {engine[0]: FLAGS for engine in engines},
        "exclude": {},
    }
