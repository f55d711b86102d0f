"""A run folder: run.json, environment.json and measurements.jsonl.

load() reads all of it, read_measurements() only the lines.  Both raise ResultsError.
"""

from __future__ import annotations

import gc
import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from report.model import attempts
from report.model.plan import Plan, repetition_seed
from report.model.plan_document import (
    PLAN,
    VERSIONS,
    check_current,
    plan_of,
    read_plan_document,
)
from report.model.record import LINES, Record
from report.model.run import Measurement
from report.terms.documents import (
    DAMAGED,
    Line,
    ResultsError,
    document_of,
    read_bytes,
    remedied,
    split_lines,
)
from report.terms.limits import LARGE_LINES_BYTES, MOST_LINES_BYTES
from report.terms.membership import check_belongs, check_plan

Each = Callable[[Measurement], Measurement]


@dataclass(frozen=True)
class MeasurementFile:
    """The complete lines of measurements.jsonl.

    They are the first `valid_bytes` bytes of the file.  If `torn`, an incomplete line
    follows, which a writer must cut off before it appends.  `sha256` is the checksum
    of the valid bytes, in hexadecimal.
    """

    measurements: tuple[Measurement, ...]
    valid_bytes: int
    torn: bool
    sha256: str


@dataclass(frozen=True)
class RecordedRun:
    """A run as recorded in its files; its lines have not been judged.

    The lines belong to the plan and are in an order that the runner can have written.
    `document` is run.json unchanged.
    """

    path: Path
    plan: Plan
    lines: MeasurementFile
    environment: Mapping[str, Any]
    document: Mapping[str, Any]


# For a run that was stopped before its first repetition finished.
NO_MEASUREMENTS = MeasurementFile((), 0, False, hashlib.sha256().hexdigest())


def read_measurements(path: Path, each: Each | None = None) -> MeasurementFile:
    """Read measurements.jsonl; a torn last line is omitted and reported in `torn`.

    `each` replaces every measurement of a file of LARGE_LINES_BYTES or more.
    """
    content = read_bytes(path, MOST_LINES_BYTES)
    lines, valid_bytes = split_lines(content)
    read: Iterable[Measurement]
    read = (_measurement(line, f"{path}:{line.number}") for line in lines)
    if each and len(content) >= LARGE_LINES_BYTES:
        read = map(each, read)
    with _without_collection():
        measurements = tuple(read)
    return MeasurementFile(
        measurements,
        valid_bytes,
        torn=valid_bytes < len(content),
        sha256=hashlib.sha256(content[:valid_bytes]).hexdigest(),
    )


@contextmanager
def _without_collection() -> Iterator[None]:
    """Do not look for cycles, which lines do not have: it costs a third of the time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def read_lines(path: Path, each: Each | None = None) -> MeasurementFile:
    """Read the complete lines of a run folder, which may not have any yet."""
    lines = path / LINES
    return read_measurements(lines, each) if lines.exists() else NO_MEASUREMENTS


def read_current_plan(path: Path) -> Plan:
    """Read the plan of a run that can be resumed.

    Raises ResultsError if its schema is older or the plan was altered.
    """
    document = read_plan_document(path)
    plan = plan_of(document, path / PLAN)
    check_current(plan, document, path / PLAN)
    return plan


def load(path: Path, each_of: Callable[[Plan], Each] | None = None) -> RecordedRun:
    """Read and check the run folder `path`, without judging its lines.

    `each_of` returns what replaces the measurements of a large run.
    """
    document = read_plan_document(path)
    plan = plan_of(document, path / PLAN)
    return load_planned(path, document, plan, each_of(plan) if each_of else None)


def load_planned(
    path: Path, document: Mapping[str, Any], plan: Plan, each: Each | None = None
) -> RecordedRun:
    """Read and check a run folder of which the plan was read."""
    lines, file = read_lines(path, each), str(path / LINES)
    with remedied():
        for m in lines.measurements:
            check_belongs(m.record, document, f"{file}:{m.line}")
            _check_versions(m, plan, f"{file}:{m.line}")
            check_machine(m, plan.machines, f"{file}:{m.line}")
        attempts.check(lines.measurements, plan, file)
        check_seeds(lines.measurements, plan.seed, file)
    environment = read_environment(path, document)
    return RecordedRun(path, plan, lines, environment, document)


def read_environment(path: Path, plan: Mapping[str, Any]) -> dict[str, Any]:
    """Read and validate the environment.json of a run folder.

    Raises ResultsError, also if it belongs to another plan.
    """
    location = path / "environment.json"
    if not location.exists():
        raise ResultsError(f"{location}: no such file; {DAMAGED}")
    content = read_bytes(location)
    document = document_of(content, "environment", str(location), VERSIONS)
    with remedied():
        check_plan(document, plan, str(location))
    return document


def _measurement(line: Line, location: str) -> Measurement:
    record = document_of(line.text, "measurement", location, VERSIONS)
    return Measurement.of(cast(Record, record), line.number)


def check_seeds(measurements: Iterable[Measurement], master: int, file: str) -> None:
    """Raise ResultsError unless each line has the seed of its repetition."""
    for m in measurements:
        if m.record["seed"] != (seed := repetition_seed(master, m.repetition)):
            problem = f"seed {m.record['seed']}; the plan has {seed} for this"
            raise ResultsError(f"{file}:{m.line}: {problem} repetition")


def check_machine(
    m: Measurement, machines: Mapping[str, object], location: str
) -> None:
    """Raise ResultsError unless a line has a machine of a run of many, or none."""
    if m.machine not in (machines or ("",)):
        problem = f"machine {m.machine or '(none)'} is not one of the run"
        raise ResultsError(f"{location}: {problem}")


def _check_versions(m: Measurement, plan: Plan, location: str) -> None:
    for name, due in (("schema", plan.schema), ("method", plan.method)):
        own = m.record[name]  # type: ignore[literal-required]
        if own != due:
            raise ResultsError(f"{location}: {name} {own} in a run of {name} {due}")
