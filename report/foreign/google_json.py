"""Reading Google Benchmark's JSON, with checks beyond schema/google.schema.json.

Processor time is cpu_time; user counters are kept without a judgement.  Rates are by
wall clock: iterations / real_time.  `items_per_second` is not used,
because Google Benchmark divides by CPU time unless configured otherwise.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from report.foreign.kept_results import (
    CPU_NS,
    KeptResults,
    SampleCollector,
    moment_of,
    rate_of,
)
from report.terms.documents import ResultsError, parse_foreign, validate
from report.terms.machine_facts import lasting
from report.terms.text_table import one_line

KIND = "Google Benchmark"
SCHEMA = 1  # json_schema_version
UNIT = "iterations/s"
_PER_SECOND = {"ns": 1e9, "us": 1e6, "ms": 1e3, "s": 1.0}
# Of the context: what must be equal in two files, and what varies from run to run.  A
# container has another name each time.
_IDENTITY = ("num_cpus", "library_build_type")
# Numbers that are no user counters; the rates per second follow from the time.
_OF_EVERY_ENTRY = (
    *("family_index", "per_family_instance_index", "repetitions", "repetition_index"),
    *("threads", "iterations", "real_time", "items_per_second", "bytes_per_second"),
)
_VARYING = (
    *("host_name", "mhz_per_cpu", "cpu_scaling_enabled", "aslr_enabled", "caches"),
    *("executable", "library_version"),
)


def read(path: Path, content: bytes) -> KeptResults:
    """Read the content of a file; aggregates in it are ignored.

    Raises ResultsError, beginning with the path, if the file is damaged, has another
    schema version or has no repetitions.
    """
    document = parse_foreign(content, f"{path}: not {KIND} JSON")
    place = f"{path}: not valid as a Google Benchmark file"
    validate(document, "google", place)
    try:
        return _results(document)
    except ValueError as error:
        raise ResultsError(f"{place}: {error}") from None


def _results(document: Mapping[str, Any]) -> KeptResults:
    """Return the content of a validated document, checked beyond its schema."""
    samples = SampleCollector()
    indexes: dict[str, list[int | None]] = {}
    aggregates = 0
    for number, entry in enumerate(document["benchmarks"]):
        where = f"benchmarks.{number}"
        if _is_aggregate(entry, where):
            aggregates += 1
            continue
        name = one_line(entry["name"])
        if reason := _failure(entry):
            samples.fail(name, reason)
            continue
        samples.add(name, _rate(entry, where), UNIT, _amounts(entry))
        indexes.setdefault(name, []).append(_index(entry, where))
    if aggregates and aggregates == len(document["benchmarks"]):
        remedy = "measure with --benchmark_report_aggregates_only=false"
        raise ValueError(f"it has only aggregates of repetitions; {remedy}")
    for name, numbers in indexes.items():
        _check_indexes(name, numbers)
    context = document.get("context", {})
    facts = {key: value for key, value in context.items() if value is not None}
    executable = facts.get("executable")
    identity = {f"context: {key}": facts[key] for key in _IDENTITY if key in facts}
    return KeptResults(
        kind=KIND,
        samples=samples.finished(),
        failed=samples.failed,
        identity={**identity, **_machine(facts.get("machine"))},
        context={key: _text(facts[key]) for key in _VARYING if key in facts},
        unrecorded="these files do not record settings, disk or executables",
        program=Path(executable).name if isinstance(executable, str) else "",
        time=moment_of(str(facts.get("date")), ""),
    )


def _machine(text: object) -> dict[str, object]:
    """Return the lasting facts of the machine in a file that kvmatrix exported."""
    try:
        facts = json.loads(text) if isinstance(text, str) else None
    except (ValueError, RecursionError):
        return {}
    known = lasting(facts) if isinstance(facts, dict) else {}
    return {f"machine: {key}": _text(value) for key, value in known.items()}


def _text(value: object) -> str:
    """Return a value of the context in one line."""
    if isinstance(value, list):
        return "; ".join(map(_text, value))
    if isinstance(value, dict):
        return " ".join(map(str, value.values()))
    return str(value).lower() if isinstance(value, bool) else str(value)


def _is_aggregate(entry: Mapping[str, Any], where: str) -> bool:
    """Return True for a statistic of repetitions, such as a mean."""
    has_name = "aggregate_name" in entry
    if has_name and entry.get("run_type") == "iteration":
        raise ValueError(f"{where}: an aggregate with the run_type of a repetition")
    return has_name or entry.get("run_type") == "aggregate"


def _failure(entry: Mapping[str, Any]) -> str:
    if entry.get("error_occurred"):
        return one_line(str(entry.get("error_message", "error_occurred")))
    return "skipped" if entry.get("skipped") else ""


def _rate(entry: Mapping[str, Any], where: str) -> float:
    time, unit = entry["real_time"], entry["time_unit"]
    seconds = float(time) / _PER_SECOND[unit]
    return rate_of(1.0, seconds, time, f"{where}.real_time")


def _amounts(entry: Mapping[str, Any]) -> dict[str, float]:
    """Return processor time and the user counters of a repetition."""
    amounts = {
        one_line(key): float(value)
        for key, value in entry.items()
        if key not in _OF_EVERY_ENTRY
        and isinstance(value, int | float)
        and not isinstance(value, bool)
        and math.isfinite(value)
    }
    cpu = amounts.pop("cpu_time", 0.0)
    if (cpu_ns := cpu * 1e9 / _PER_SECOND[entry["time_unit"]]) > 0:
        amounts[CPU_NS] = cpu_ns
    return amounts


def _index(entry: Mapping[str, Any], where: str) -> int | None:
    """Return the number of the repetition from 0; None if the file lacks it."""
    index: int | None = entry.get("repetition_index")
    count: int | None = entry.get("repetitions")  # 0: not set, which means 1
    if index is not None and count is not None and index >= max(1, count):
        raise ValueError(f"{where}.repetition_index: {index} of {count}")
    return index


def _check_indexes(name: str, indexes: list[int | None]) -> None:
    """Raise ValueError if two benchmarks seem to share a name."""
    if None in indexes and any(index is not None for index in indexes):
        raise ValueError(f"{name}: only some of its repetitions are numbered")
    if None not in indexes and len(set(indexes)) != len(indexes):
        raise ValueError(f"{name}: duplicate repetition_index")
