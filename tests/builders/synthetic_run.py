"""Synthetic run folders, the same each time.

write_run() writes a small, complete run over synthetic engines; a test then changes
what it is about.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from report.model.plan import METHOD, repetition_seed
from report.terms.rulebook import recorded
from tests.builders import synthetic_descriptions, synthetic_records
from tests.builders.synthetic_descriptions import BUILD
from tests.builders.synthetic_records import RUN_ID

Document = dict[str, Any]
Make = Callable[[Document, int], Document]

# name, title, role, a factor on the rate of every benchmark
ENGINES: tuple[tuple[str, str, str, float], ...] = (
    ("alpha", "Alpha", "", 1.0),
    ("beta-tree", "Beta Tree", "", 0.41),
    ("gamma", "Gamma", "", 0.1),
    ("floor", "floor", "floor", 60.0),
)
# The control of the first engine, in the run of varied_plan().
CONTROL = ("alpha-control", "Alpha, again", "control", 0.97)
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
# Operations per second of open loops in varied_plan().
RATES = {("alpha", "batch"): 2.0e5, ("gamma", "baseline"): 2.4e4}
# Status and reason of some cells of varied_lines().
VARIETY = {
    ("gamma", "readseq"): ("unsupported", "keeps no key order"),
    ("gamma", "fillseqbatch"): ("excluded", "would repeat the baseline"),
    ("gamma", "fillrandbatch"): ("missing", "db_bench_gamma was not built"),
    ("beta-tree", "fillrandbatch"): ("wrong", "audit: 3 of 1000 entries differ"),
    ("beta-tree", "readrandom"): ("error", "signal 11 (SIGSEGV)"),
    ("gamma", "fillrandsync"): ("timeout", "no answer after 30 min"),
}
FLAGS: Document = {
    **{"num": 1000, "key_size": 16, "value_size": 100, "compression_ratio": 0.5},
    **{"cache_size": 4194304, "compression": True, "sync": False},
}


def plan(
    engines: Sequence[tuple[str, str, str, float]] = ENGINES,
    scenarios: Sequence[tuple[str, str, Mapping[str, float]]] = SCENARIOS,
    repetitions: int = 3,
    missing: Mapping[str, str] | None = None,
    flags: Document = FLAGS,
) -> Document:
    """Return run.json over all cells; `missing` maps an engine to a reason."""
    reasons = missing or {}
    names = dict.fromkeys(b for s in (*SCENARIOS, *scenarios) for b in s[2])
    benchmarks = [synthetic_descriptions.benchmark(name) for name in names]
    cells = [
        {"engine": engine[0], "scenario": scenario[0], "benchmark": benchmark}
        for scenario in scenarios
        for benchmark in scenario[2]
        for engine in engines
    ]
    return {
        "schema": 3,
        "method": METHOD,
        "run": RUN_ID,
        "suite": {
            **{"name": "synthetic", "title": "Synthetic rates", "published": None},
            **{"latency_repetitions": 1, "control": "", "rate": None},
        },
        "seed": synthetic_records.SEED,
        "repetitions": repetitions,
        "command": "kvmatrix run synthetic",
        "engines": [
            _engine(*e[:3], reasons.get(e[0], ""), benchmarks) for e in engines
        ],
        "scenarios": [_scenario(engines, flags, *scenario) for scenario in scenarios],
        "cells": cells,
        "order": [
            [n, [i]] for n in range(1, repetitions + 2) for i in range(len(cells))
        ],
        "machine": {"id": "synthetic"},
        "harness": {"commit": "5" * 40, "dirty": True},
        "settings_sha256": "0" * 64,
    }


def varied_plan() -> Document:
    """Return the plan of varied_lines(): plan_with_control() with flags of engines."""
    document = plan_with_control()
    limited = {**FLAGS, "num": 5000, "duration": 10}
    document["scenarios"][-1]["flags"]["gamma"] = limited
    for scenario in document["scenarios"]:
        for engine, flags in scenario["flags"].items():
            if rate := RATES.get((engine, scenario["name"])):
                scenario["flags"][engine] = {**flags, "rate": rate}
    return document


def plan_with_control() -> Document:
    """Return a plan whose first engine is measured twice."""
    document = plan((*ENGINES, CONTROL))
    document["suite"]["control"] = "alpha"
    document["engines"][-1]["twin_of"] = "alpha"
    return document


def environment() -> Document:
    return {
        "schema": 3,
        "cpu": {"model": "Synthetic CPU", "cores": 2, "governor": "unknown"},
        "memory": {"total_bytes": 8589934592, "swap_used_bytes": 0},
        "block_device": {"rotational": False, "write_cache": "write back"},
        "kernel": "Linux 0.0",
    }


def lines(document: Document) -> list[Document]:
    """Return an ok line for each repetition of each cell of the plan.

    A cell of a missing engine has one line, which says so.
    """
    reasons = {engine["name"]: engine["missing"] for engine in document["engines"]}

    def make(cell: Document, repetition: int) -> Document:
        if reason := reasons[cell["engine"]]:
            return synthetic_records.failure(cell, "missing", reason)
        index = document["cells"].index(cell)
        wobble = 1 + (repetition - 2) * 0.004 + (index % 3) * 0.002
        return synthetic_records.line(cell, repetition, rate_of(cell) * wobble)

    return lines_of(document, make)


def rate_of(cell: Mapping[str, str]) -> float:
    """Return the rate of a cell of these engines and scenarios."""
    rates = {s[0]: s[2] for s in SCENARIOS}
    factors = {e[0]: e[3] for e in (*ENGINES, CONTROL)}
    return rates[cell["scenario"]][cell["benchmark"]] * factors[cell["engine"]]


def slowed(lines: Sequence[Document], cell: str, factor: float) -> list[Document]:
    """Return the lines; the loops of one cell last `factor` times as long."""
    return [
        synthetic_records.retimed(line, int(line["loop_ns"] * factor))
        if "/".join(_name_of(line).values()) == cell
        else line
        for line in lines
    ]


def lines_of(document: Document, make: Make) -> list[Document]:
    """Return make() of each cell and repetition.

    A cell that fails has only its first line.  The cells that are ok have the latency
    repetitions of the plan too.
    """
    last = document["repetitions"]
    records: list[Document] = []
    for repetition in range(1, last + 1):
        for cell in document["cells"]:
            record = make(cell, repetition)
            if record["status"] == "ok" or repetition == 1:
                records.append(record)
    ended = [m for m in records if m["status"] == "ok" and m["repetition"] == last]
    for number in range(document["suite"]["latency_repetitions"]):
        later = last + 1 + number
        records += [synthetic_records.latency_of(record, later) for record in ended]
    return [{**m, "run": document["run"], "order": i} for i, m in enumerate(records)]


def disturbed(line: Mapping[str, Any], mark: str) -> Document:
    """Return the line with a mark of a disturbance."""
    return {
        **line,
        "disturbance": {
            **synthetic_records.QUIET,
            "stolen_share": 0.031,
            "marks": [mark],
        },
    }


def varied_lines(document: Document) -> list[Document]:
    """Return lines() with every status, and everything that a report must note."""
    records: list[Document] = []
    for line in lines(document):
        # A change of the engine's rate changes that of its control.
        is_control = line["engine"] == CONTROL[0]
        key = (ENGINES[0][0] if is_control else line["engine"], line["benchmark"])
        if line["status"] == "ok" and key in VARIETY:
            status, reason = VARIETY[key]
            if line["repetition"] == 1:
                records.append(
                    synthetic_records.failure(_name_of(line), status, reason)
                )
        elif line["status"] == "ok":
            records += _attempts(_varied(line, key), key)
        else:
            records.append(line)
    return records


def _varied(line: Document, key: tuple[str, str]) -> Document:
    """Return the line with the peculiarity that its cell demonstrates."""
    line = dict(line)
    throughput = line["pass"] == "throughput"
    if line["engine"] == "gamma" and line["scenario"] == "sync":
        line |= {"truncated": True, "planned_ops": 5000}
        line["options"] = {**line["options"], "num": 5000}
    if line["engine"] == "beta-tree":
        line["build"] = {**BUILD, "assertions": "live"}
    if key == ("alpha", "fillrandom") and throughput:
        line = synthetic_records.retimed(line, line["loop_ns"] * line["repetition"])
    if key == ("alpha", "readseq"):
        line = synthetic_records.retimed(line, line["loop_ns"] // 30)
    if key == ("beta-tree", "fillseqsync"):
        line = synthetic_records.retimed(line, line["loop_ns"] * 41 // 100)
    if key == ("beta-tree", "fillrandsync"):  # within the noise of the run
        line = synthetic_records.retimed(line, line["loop_ns"] * 388 // 1000)
    if line["engine"] == "alpha" and key[1] == "fillseqsync":
        line = synthetic_records.with_stall(line, 2_000_000_000, 300_000_000)
    if key == ("gamma", "fillrandom") and throughput:
        line["close_ns"] = 8 * (line["loop_ns"] + line["flush_ns"])
    if key == ("beta-tree", "fillseqbatch") and throughput:
        line |= {"idle_cpu_ns": 2_500_000, "cpu_user_ns": line["cpu_user_ns"] * 2}
    rate = RATES.get((line["engine"], line["scenario"]))
    if rate is None or throughput:
        return line
    return synthetic_records.offered(line, rate)


def _attempts(line: Document, key: tuple[str, str]) -> list[Document]:
    """Return the line after its disturbed attempts, if its cell has any."""
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


def write_varied(folder: Path) -> Path:
    """Write a run with everything that a report must note; return `folder`."""
    document = varied_plan()
    return write_run(folder, document, varied_lines(document))


def write_run(
    folder: Path,
    document: Document | None = None,
    measurements: Sequence[Mapping[str, Any]] | None = None,
    name: str = "run",
) -> Path:
    """Write the three files; return `folder`."""
    document = plan() if document is None else document
    measurements = lines(document) if measurements is None else measurements
    measurements = [seeded(document, line) for line in measurements]
    folder.mkdir(parents=True, exist_ok=True)
    for part, content in ((name, document), ("environment", environment())):
        text = json.dumps(content, indent=1, ensure_ascii=False) + "\n"
        (folder / f"{part}.json").write_text(text, "utf-8")
    (folder / "measurements.jsonl").write_text(json_lines(measurements), "utf-8")
    return folder


def seeded(plan: Document, line: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the line with the seed that the plan has for its repetition.

    A line with an unusual seed keeps it.
    """
    if line.get("seed") != synthetic_records.SEED:
        return line
    return {**line, "seed": repetition_seed(plan["seed"], line["repetition"])}


def json_lines(lines: Sequence[Mapping[str, Any]]) -> str:
    """Return the text of a file with these lines."""
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)


def _name_of(line: Document) -> dict[str, str]:
    return {name: line[name] for name in ("engine", "scenario", "benchmark")}


def _engine(
    name: str, title: str, role: str, missing: str, benchmarks: Sequence[Document]
) -> Document:
    described = recorded(
        synthetic_descriptions.description(name, map(dict, benchmarks))
    )
    return {
        "name": name,
        "title": title,
        "role": role,
        "summary": f"{title}, synthetic",
        "describe": None if missing else described,
        "missing": missing,
        "binary_sha256": "" if missing else "1" * 64,
        "twin_of": "",
    }


def _scenario(
    engines: Sequence[tuple[str, str, str, float]],
    flags: Document,
    name: str,
    title: str,
    benchmarks: Mapping[str, float],
) -> Document:
    return {
        "name": name,
        "title": title,
        "analysis": f"What {title.lower()} show.",
        "benchmarks": list(benchmarks),
        "flags": {engine[0]: flags for engine in engines},
        "exclude": {},
    }
