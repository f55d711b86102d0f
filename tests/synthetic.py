"""Run folders made up for tests: every figure is invented and repeatable.

write_run() lays down a small, complete run over made-up engines; a test then
changes what it is about.  Nothing here was measured.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

Document = dict[str, Any]
Change = Callable[[Document], None]

RUN_ID = "20260102-030405-synthetic"
# name, title, role, a factor on the rate of every benchmark
ENGINES: tuple[tuple[str, str, str, float], ...] = (
    ("alpha", "Alpha", "", 1.0),
    ("beta-tree", "Beta Tree", "", 0.41),
    ("gamma", "Gamma", "", 0.1),
    ("floor", "floor", "floor", 60.0),
)
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
BUILD: Document = {
    "origin": "made up",
    "origin_sha256": "0" * 64,
    "compiler": "GNU 12.2.0",
    "flags": "-O2 -DNDEBUG",
    "engine_flags": "-O2 -DNDEBUG",
    "assertions": "none",
    "allocator": "glibc 2.36",
}
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
        "schema": 1,
        "method": 1,
        "run": RUN_ID,
        "suite": {"name": "synthetic", "title": "Made-up figures", "published": None},
        "seed": 301,
        "repetitions": repetitions,
        "command": "kvmatrix run synthetic",
        "engines": [_engine(*e[:3], (missing or {}).get(e[0], "")) for e in engines],
        "scenarios": [_scenario(engines, *scenario) for scenario in scenarios],
        "cells": cells,
        "order": [
            [n, [i]] for n in range(1, repetitions + 1) for i in range(len(cells))
        ],
        "machine": {"id": "made up"},
        "settings_sha256": "0" * 64,
    }


def environment() -> Document:
    return {
        "schema": 1,
        "cpu": {"model": "Made-up CPU", "cores": 2, "governor": "unknown"},
        "memory": {"total_bytes": 8589934592, "swap_used_bytes": 0},
        "block_device": {"rotational": False, "write_cache": "write back"},
        "kernel": "Linux 0.0",
    }


def lines(document: Document) -> list[Document]:
    """One ok measurement for each repetition of each cell of the plan.

    A cell of a missing engine has one line, which says so.
    """
    reasons = {engine["name"]: engine["missing"] for engine in document["engines"]}
    rates = {s[0]: s[2] for s in SCENARIOS}
    factors = {e[0]: e[3] for e in ENGINES}
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
    return found


def measurement(
    cell: Mapping[str, str], repetition: int, ops_per_sec: float, order: int
) -> Document:
    """An ok line of the given rate."""
    writes = cell["benchmark"].startswith(("fill", "over", "delete"))
    elapsed_ns = round(1000 * 1e9 / ops_per_sec)
    flush_ns = elapsed_ns // 20 if writes else 0
    return {
        "schema": 1,
        "method": 1,
        "run": RUN_ID,
        **cell,
        "engine_version": "1.0",
        "repetition": repetition,
        "order": order,
        "seed": 301 + repetition,
        "status": "ok",
        "reason": "",
        "verified": True,
        "planned_ops": 1000,
        "ops": 1000,
        "found": 0 if writes else 1000,
        "bytes": 116000,
        "truncated": False,
        "open_ns": 1000000,
        "loop_ns": elapsed_ns - flush_ns,
        "flush_ns": flush_ns,
        "settle_ns": elapsed_ns // 4 if writes else 0,
        "close_ns": 500000,
        "digest": "0123456789abcdef",
        "options": {"num": 1000, "reads": 1000, "key_size": 16, "value_size": 100},
        "settings": {"cache_size": "4194304", "page_size": "1024"},
        "cpu_user_ns": elapsed_ns,
        "cpu_system_ns": elapsed_ns // 10,
        "peak_rss_bytes": 12582912,
        "minor_faults": 100,
        "major_faults": 0,
        "voluntary_switches": 1,
        "involuntary_switches": 1,
        "read_bytes": 0,
        "written_bytes": 116000 if writes else 0,
        "disk_bytes": 131072,
        "latency_ns": None,
        "build": BUILD,
        "prepare_ns": None if writes else 20000000,
        "audit": {"status": "ok", "reason": "", "entries": 1000, "audit_ns": 2000000}
        if writes
        else None,
        "wall_ns": 2 * elapsed_ns + 40000000,
        "exit": "0",
    }


def without_rate(cell: Mapping[str, str], status: str, reason: str) -> Document:
    """The line of a repetition that has no figures."""
    line = measurement(cell, 1, 1.0, 0)
    kept = ("schema", "method", "run", "repetition", "order", "seed", *cell)
    blank = {name: value if name in kept else None for name, value in line.items()}
    return {**blank, "status": status, "reason": reason}


def varied_lines(document: Document) -> list[Document]:
    """lines() with every status, and everything a report must remark upon."""
    found = []
    for line in lines(document):
        key = (line["engine"], line["benchmark"])
        if line["status"] != "ok":
            found.append(line)
            continue
        if key in VARIETY:
            status, reason = VARIETY[key]
            if line["repetition"] == 1:
                found.append(without_rate(_name_of(line), status, reason))
            continue
        if line["engine"] == "gamma" and line["scenario"] == "sync":
            line |= {"truncated": True, "planned_ops": 5000}
        if line["engine"] == "beta-tree":
            line["build"] = {**BUILD, "assertions": "live"}
        if key == ("alpha", "fillrandom"):
            line["loop_ns"] *= line["repetition"]
        if key == ("alpha", "readseq"):
            line["loop_ns"] //= 30
        if key == ("beta-tree", "fillseqsync"):
            line["loop_ns"] = line["loop_ns"] * 41 // 100
        found.append(line)
    return found


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
        "benchmarks": [{"name": n, "kind": kind} for n, kind in KINDS.items()],
    }
    return {
        "name": name,
        "title": title,
        "role": role,
        "summary": f"{title}, made up",
        "describe": None if missing else described,
        "missing": missing,
        "binary_sha256": "" if missing else "1" * 64,
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
