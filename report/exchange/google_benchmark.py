"""Writes the JSON document of Google Benchmark; read() is in foreign/google_json.py.

There is one entry for each repetition, and all entries of a cell have one name, so
that compare.py can apply its U test to them.  `real_time` is the headline time per
operation, `cpu_time` the CPU time per operation of all threads of the measured
process (0 if unknown), `iterations` the number of operations.  Counts are what Google
Benchmark calls user counters; those that were counted in processes of their own are
medians.  Of an A/B run, names end in the stage and the side, and this compares them:

  compare.py filters FILE /screen/a /screen/b

A run does not record the host's name: `host_name` is a digest of the machine's
identity, equal for two runs that may be compared.  Unknown values are left out.

Source: google/benchmark, src/json_reporter.cc and tools/gbench.  Other readers need
more than compare.py does: Bencher requires `context.caches`.
"""

from __future__ import annotations

import hashlib
import re
import statistics
from collections.abc import Mapping, Sequence
from typing import Any

from report.exchange.exported_cells import CPU, ExportedCell, Source, samples
from report.foreign.google_json import SCHEMA
from report.model.plan import started_at
from report.terms.machine_facts import cpu_numbers, machine_key, usable_cpus
from report.terms.text_table import json_text

_UNKNOWN = "unknown"
# The caches as environment.json has them, in the words of Linux.
_CACHE = re.compile(
    r"L(\d) (Data|Instruction|Unified) (\d{1,9})([KM]) \(cpu (\d+(?:[-,]\d+)*)\)"
)
_SHIFTS = {"K": 10, "M": 20}


def render(source: Source) -> str:
    """Return the document for compare.py and other readers of the format."""
    cells = samples(source)
    entries = [
        _entry(sample, family, index)
        for family, sample in enumerate(cells)
        for index in range(len(sample.repetitions))
    ]
    document = {"context": _context(source, cells), "benchmarks": entries}
    return json_text(document) + "\n"


def _context(run: Source, cells: Sequence[ExportedCell]) -> dict[str, Any]:
    cpu, load = _part(run.environment, "cpu"), _part(run.environment, "load")
    machine = machine_key(run.plan.machine)
    governor, mhz = cpu.get("governor", _UNKNOWN), _number(cpu.get("mhz"))
    averages = [_number(load.get(f"minutes_{n}")) for n in (1, 5, 15)]
    began = started_at(run.plan.run)
    facts = {
        "date": began.isoformat() if began else None,
        "host_name": f"machine-{hashlib.sha256(machine.encode()).hexdigest()[:12]}",
        "executable": "kvmatrix",
        "num_cpus": usable_cpus({**cpu, **run.plan.machine}),
        "mhz_per_cpu": None if mhz is None else round(mhz),
        "cpu_scaling_enabled": None
        if governor == _UNKNOWN
        else governor != "performance",
        "caches": _caches(cpu),
        "load_avg": [average for average in averages if average is not None],
        "library_version": f"method {run.plan.method}",
        "library_build_type": "debug" if _is_debug(cells) else "release",
        "json_schema_version": SCHEMA,
        # Additional context values must be strings.
        "run": run.plan.run,
        "suite": run.plan.suite.name,
        "seed": str(run.plan.seed),
        "lines_sha256": run.lines_sha256,
        "machine": machine,
    }
    return {key: value for key, value in facts.items() if value is not None}


def _caches(cpu: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the caches of the first processor; older runs do not record any."""
    return [
        {
            "type": kind,
            "level": int(level),
            "size": int(size) << _SHIFTS[unit],
            "num_sharing": len(cpu_numbers(shared)),
        }
        for level, kind, size, unit, shared in _CACHE.findall(
            str(cpu.get("caches", ""))
        )
    ]


def _is_debug(cells: Sequence[ExportedCell]) -> bool:
    return any(m.assertions_live for cell in cells for m in cell.repetitions)


def _part(environment: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    part = environment.get(name)
    return part if isinstance(part, Mapping) else {}


def _number(value: object) -> float | None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return value if is_number else None  # type: ignore[return-value]


def _entry(sample: ExportedCell, family: int, index: int) -> dict[str, Any]:
    m, name = sample.repetitions[index], sample.name
    entry = {
        "name": name,
        "family_index": family,
        "per_family_instance_index": 0,
        "run_name": name,
        "run_type": "iteration",
        "repetitions": len(sample.repetitions),
        "repetition_index": index,
        "threads": sample.threads,
        "iterations": sample.operations[index],
        "real_time": sample.times_ns[index],
        "cpu_time": sample.times_ns[index]
        if sample.is_duet
        else m.cpu_ns_per_op or 0.0,
        "time_unit": "ns",
        "items_per_second": sample.rates[index],
    }
    size, elapsed_ns = m.figure("bytes"), m.elapsed_ns
    if size is not None and elapsed_ns and not sample.is_duet:
        entry["bytes_per_second"] = size * 1e9 / elapsed_ns
    if sample.engine_version:
        entry["label"] = f"{sample.cell.engine} {sample.engine_version}"
    for amount in sample.amounts:
        if amount.name == CPU:  # which is cpu_time
            continue
        counter = f"{amount.name}_per_op" if amount.per_op else amount.name
        values = amount.values
        entry[counter] = statistics.median(values) if amount.counted else values[index]
    return entry
