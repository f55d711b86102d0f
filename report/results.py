"""What a run left behind: run.json, environment.json and measurements.jsonl.

load_run() reads a run folder; read_measurements() reads the lines alone, and
is what `kvmatrix resume` builds on.  Both raise ResultsError.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from report import attempts, planned
from report.cells import (
    NOT_MEASURED,
    Cell,
    CellName,
    Engine,
    Measurement,
    Run,
    Scenario,
)
from report.documents import (
    Line,
    ResultsError,
    parse_object,
    read_bytes,
    split_lines,
    validate,
)
from report.trust.lines import judged

__all__ = [
    "METHOD",
    "NOT_MEASURED",
    "SCHEMA",
    "Cell",
    "CellName",
    "Engine",
    "Measurement",
    "MeasurementFile",
    "ResultsError",
    "Run",
    "Scenario",
    "load_run",
    "read_measurements",
]

# What is written now; every schema before it can be read too.
SCHEMA = 3
METHOD = 1


@dataclass(frozen=True)
class MeasurementFile:
    """The finished lines of measurements.jsonl.

    The first sound_bytes bytes of the file hold them; `torn` says that an
    unfinished line follows, which a writer must cut off before it appends.
    `sha256` is the checksum of the sound bytes, in hexadecimal.
    """

    measurements: tuple[Measurement, ...]
    sound_bytes: int
    torn: bool
    sha256: str


# Of a run that was stopped before its first repetition finished.
NO_MEASUREMENTS = MeasurementFile((), 0, False, hashlib.sha256().hexdigest())


def read_measurements(path: Path) -> MeasurementFile:
    """Reads measurements.jsonl; a torn last line is left out and reported."""
    content = read_bytes(path)
    lines, sound_bytes = split_lines(content)
    return MeasurementFile(
        tuple(_measurement(line, f"{path}:{line.number}") for line in lines),
        sound_bytes,
        torn=sound_bytes < len(content),
        sha256=hashlib.sha256(content[:sound_bytes]).hexdigest(),
    )


def load_run(path: Path) -> Run:
    """Reads and checks the run folder `path`."""
    plan_path = path / "run.json"
    plan = _document(plan_path, "run")
    environment = _document(path / "environment.json", "environment")
    lines_path = path / "measurements.jsonl"
    found = read_measurements(lines_path) if lines_path.exists() else NO_MEASUREMENTS
    engines = planned.engines(plan["engines"], plan_path)
    scenarios = planned.scenarios(plan["scenarios"], plan_path)
    names = planned.cell_names(plan["cells"], engines, scenarios, plan_path)
    for m in found.measurements:
        _check_membership(m, plan, f"{lines_path}:{m.line}")
    twins = {
        engine.name: engine.twin_of for engine in engines.values() if engine.twin_of
    }
    measurements = judged(
        found.measurements, lambda m: engines.get(m.cell.engine), scenarios, twins
    )
    repetitions = int(plan["repetitions"])
    has_latency = bool(plan["suite"].get("latency"))
    due = attempts.Planned(names, repetitions, has_latency)
    return Run(
        run_id=plan["run"],
        suite=plan["suite"],
        seed=int(plan["seed"]),
        repetitions=repetitions,
        has_latency=has_latency,
        command=plan["command"],
        engines=tuple(engines.values()),
        scenarios=tuple(scenarios.values()),
        cells=attempts.group(measurements, due, str(lines_path)),
        torn=found.torn,
        lines_sha256=found.sha256,
        plan=plan,
        environment=environment,
        measurements=measurements,
    )


def _document(path: Path, schema_name: str) -> dict[str, Any]:
    document = parse_object(read_bytes(path), str(path))
    validate(document, schema_name, str(path))
    _check_versions(document, str(path))
    return document


def _check_versions(record: Mapping[str, Any], place: str) -> None:
    readable = (("schema", range(1, SCHEMA + 1)), ("method", (METHOD,)))
    for key, known in readable:
        if record.get(key, known[-1]) not in known:
            raise ResultsError(
                f"{place}: {key} {record[key]} cannot be read together with {known[-1]}"
            )


def _measurement(line: Line, place: str) -> Measurement:
    record = parse_object(line.text, place)
    validate(record, "measurement", place)
    _check_versions(record, place)
    return Measurement.of(record, line.number)


def _check_membership(m: Measurement, plan: Mapping[str, Any], place: str) -> None:
    """Whether a line belongs to this run at all."""
    if m.record["run"] != plan["run"]:
        raise ResultsError(f"{place}: belongs to run {m.record['run']}")
    if m.record["schema"] != plan["schema"]:
        told = f"schema {m.record['schema']} in a run of schema {plan['schema']}"
        raise ResultsError(f"{place}: {told}")
