"""What a run left behind: run.json, environment.json and measurements.jsonl.

load_run() reads a run folder; read_measurements() reads the lines alone, and
is what `kvmatrix resume` builds on.  Both raise ResultsError.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from report import soundness
from report.documents import (
    Line,
    ResultsError,
    parse_object,
    read_bytes,
    split_lines,
    validate,
)

__all__ = [
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

SCHEMA = 2
METHOD = 1

# From the one that tells most against a cell to the one that tells least.
_GRAVEST_FIRST = (
    "wrong",
    "error",
    "timeout",
    soundness.DISPUTED,
    "missing",
    "excluded",
    "unsupported",
    "ok",
)
# Of a cell of which no repetition has finished.
NOT_MEASURED = "not measured"


@dataclass(frozen=True, order=True)
class CellName:
    """engine/scenario/benchmark."""

    engine: str
    scenario: str
    benchmark: str

    def __str__(self) -> str:
        return f"{self.engine}/{self.scenario}/{self.benchmark}"


@dataclass(frozen=True)
class Measurement:
    """One finished repetition; every *_ns and *_bytes may be None unless ok.

    `record` is the line as it stands in the file.  `status` and `reason` are the
    line's own too, unless load_run() finds that it cannot be believed.
    """

    line: int
    cell: CellName
    repetition: int
    order: int
    status: str
    reason: str
    ops: int | None
    loop_ns: int | None
    flush_ns: int | None
    settle_ns: int | None
    truncated: bool
    assertions_live: bool
    settings: Mapping[str, str]
    record: Mapping[str, Any]

    @property
    def elapsed_ns(self) -> int | None:
        """The headline time: the loop and the flush after it."""
        if self.loop_ns is None:
            return None
        return self.loop_ns + (self.flush_ns or 0)

    @property
    def ops_per_sec(self) -> float | None:
        """The rate of an ok repetition, else None."""
        if self.status != "ok" or not self.ops or not self.elapsed_ns:
            return None
        return self.ops * 1e9 / self.elapsed_ns

    def figure(self, name: str) -> int | None:
        """A count of the raw line by its key, or None."""
        number = self.record.get(name)
        return number if isinstance(number, int) else None


@dataclass(frozen=True)
class MeasurementFile:
    """The finished lines of measurements.jsonl.

    The first sound_bytes bytes of the file hold them; `torn` says that an
    unfinished line follows, which a writer must cut off before it appends.
    """

    measurements: tuple[Measurement, ...]
    sound_bytes: int
    torn: bool


@dataclass(frozen=True)
class Engine:
    """One engine of the plan; `describe` is None where it is missing."""

    name: str
    title: str
    role: str
    summary: str
    describe: Mapping[str, Any] | None
    missing: str
    binary_sha256: str

    @property
    def ranked(self) -> bool:
        """Whether it competes; the reference and the floor do not."""
        return self.role == ""


@dataclass(frozen=True)
class Scenario:
    """One scenario of the plan; `flags` are the resolved flags by engine."""

    name: str
    title: str
    analysis: str
    benchmarks: tuple[str, ...]
    flags: Mapping[str, Mapping[str, Any]]
    exclude: Mapping[str, str]


Named = TypeVar("Named", Engine, Scenario)


@dataclass(frozen=True)
class Cell:
    """One cell of the plan with the repetitions that finished."""

    name: CellName
    repetitions: tuple[Measurement, ...]

    @property
    def status(self) -> str:
        """The gravest status of its repetitions; ok only if all of them are."""
        statuses = {m.status for m in self.repetitions}
        for status in _GRAVEST_FIRST:
            if status in statuses:
                return status
        return NOT_MEASURED

    @property
    def reason(self) -> str:
        """Why the cell has no rate; "" if it has one."""
        if self.status == "ok":
            return ""
        if not self.repetitions:
            return "the run stopped before this cell's turn"
        return next(m.reason for m in self.repetitions if m.status == self.status)

    @property
    def rates(self) -> tuple[float, ...]:
        """ops/s of each repetition in order; empty unless the cell is ok."""
        if self.status != "ok":
            return ()
        return tuple(rate for m in self.repetitions if (rate := m.ops_per_sec))


@dataclass(frozen=True)
class Run:
    """A whole run folder."""

    run_id: str
    suite: Mapping[str, Any]
    seed: int
    repetitions: int
    command: str
    engines: tuple[Engine, ...]
    scenarios: tuple[Scenario, ...]
    cells: Mapping[CellName, Cell]
    torn: bool
    plan: Mapping[str, Any]
    environment: Mapping[str, Any]
    measurements: tuple[Measurement, ...]

    @property
    def charts(self) -> tuple[tuple[Scenario, str], ...]:
        """Every (scenario, benchmark) of the plan, in report order."""
        return tuple((s, b) for s in self.scenarios for b in s.benchmarks)

    def cell(self, engine: str, scenario: str, benchmark: str) -> Cell | None:
        """The cell, or None if it was not part of the plan."""
        return self.cells.get(CellName(engine, scenario, benchmark))


def read_measurements(path: Path) -> MeasurementFile:
    """Reads measurements.jsonl; a torn last line is left out and reported."""
    content = read_bytes(path)
    lines, sound_bytes = split_lines(content)
    return MeasurementFile(
        tuple(_measurement(line, f"{path}:{line.number}") for line in lines),
        sound_bytes,
        torn=sound_bytes < len(content),
    )


def load_run(path: Path) -> Run:
    """Reads and checks the run folder `path`."""
    plan_path = path / "run.json"
    plan = _document(plan_path, "run")
    environment = _document(path / "environment.json", "environment")
    lines_path = path / "measurements.jsonl"
    if lines_path.exists():
        found = read_measurements(lines_path)
    else:  # stopped before the first repetition finished
        found = MeasurementFile((), 0, torn=False)
    engines = _unique((_engine(e) for e in plan["engines"]), plan_path)
    scenarios = _unique((_scenario(s) for s in plan["scenarios"]), plan_path)
    names = _cell_names(plan, engines, scenarios, plan_path)
    measurements = _judged(found.measurements, engines)
    return Run(
        run_id=plan["run"],
        suite=plan["suite"],
        seed=int(plan["seed"]),
        repetitions=int(plan["repetitions"]),
        command=plan["command"],
        engines=tuple(engines.values()),
        scenarios=tuple(scenarios.values()),
        cells=_group(measurements, names, plan, lines_path),
        torn=found.torn,
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
    build = record.get("build") or {}
    return Measurement(
        line=line.number,
        cell=CellName(record["engine"], record["scenario"], record["benchmark"]),
        repetition=int(record["repetition"]),
        order=int(record["order"]),
        status=record["status"],
        reason=record["reason"],
        ops=record.get("ops"),
        loop_ns=record.get("loop_ns"),
        flush_ns=record.get("flush_ns"),
        settle_ns=record.get("settle_ns"),
        truncated=bool(record.get("truncated")),
        assertions_live=build.get("assertions") == "live",
        settings=record.get("settings") or {},
        record=record,
    )


def _engine(entry: Mapping[str, Any]) -> Engine:
    return Engine(
        entry["name"],
        entry["title"],
        entry["role"],
        entry["summary"],
        entry["describe"],
        entry["missing"],
        entry.get("binary_sha256") or "",
    )


def _scenario(entry: Mapping[str, Any]) -> Scenario:
    return Scenario(
        entry["name"],
        entry["title"],
        entry["analysis"].strip(),
        tuple(entry["benchmarks"]),
        entry["flags"],
        entry["exclude"],
    )


def _unique(entries: Iterable[Named], path: Path) -> dict[str, Named]:
    by_name: dict[str, Named] = {}
    for entry in entries:
        if entry.name in by_name:
            raise ResultsError(f"{path}: {entry.name} is listed twice")
        by_name[entry.name] = entry
    return by_name


def _cell_names(
    plan: Mapping[str, Any],
    engines: Mapping[str, Engine],
    scenarios: Mapping[str, Scenario],
    path: Path,
) -> tuple[CellName, ...]:
    names = []
    for entry in plan["cells"]:
        name = CellName(entry["engine"], entry["scenario"], entry["benchmark"])
        scenario = scenarios.get(name.scenario)
        if name.engine not in engines or scenario is None:
            raise ResultsError(f"{path}: cell {name} names what the plan does not have")
        if name.benchmark not in scenario.benchmarks:
            raise ResultsError(f"{path}: cell {name} is not in its scenario's list")
        names.append(name)
    return tuple(dict.fromkeys(names))


def _judged(
    measurements: tuple[Measurement, ...], engines: Mapping[str, Engine]
) -> tuple[Measurement, ...]:
    """The same, with the status of what cannot be believed changed."""
    verdicts = soundness.verdicts(
        [m.record for m in measurements],
        {engine.name: engine.describe for engine in engines.values()},
    )
    return tuple(
        replace(m, status=status, reason=reason)
        for m, (status, reason) in zip(measurements, verdicts, strict=True)
    )


def _group(
    measurements: tuple[Measurement, ...],
    names: tuple[CellName, ...],
    plan: Mapping[str, Any],
    path: Path,
) -> dict[CellName, Cell]:
    by_cell: dict[CellName, dict[int, Measurement]] = {name: {} for name in names}
    stores = {e["name"]: (e["describe"] or {}).get("stores") for e in plan["engines"]}
    for m in measurements:
        place = f"{path}:{m.line}"
        if m.record["run"] != plan["run"]:
            raise ResultsError(f"{place}: belongs to run {m.record['run']}")
        if m.cell not in by_cell:
            raise ResultsError(f"{place}: cell {m.cell} is not in the plan")
        if m.repetition > plan["repetitions"]:
            raise ResultsError(f"{place}: repetition {m.repetition} was not planned")
        # Only an engine that keeps nothing has nothing to verify.
        unverified = m.record["status"] == "ok" and not m.record["verified"]
        if unverified and stores[m.cell.engine] is not False:
            raise ResultsError(f"{place}: {m.cell} is ok but was not verified")
        earlier = by_cell[m.cell].setdefault(m.repetition, m)
        if earlier is not m:
            raise ResultsError(f"{place}: repeats line {earlier.line}")
    return {
        name: Cell(name, tuple(m for _, m in sorted(found.items())))
        for name, found in by_cell.items()
    }
