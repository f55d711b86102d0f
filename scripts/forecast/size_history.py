"""Measurements of the cells of a plan in earlier runs, at any size.

A run is used if it was made on this machine.  A cell of it is used for a cell of the
plan if engine, version, benchmark and every flag are the same, except the amounts:
--num, --reads and --rate.  Cells that had a regime are not used.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from report.model.plan import THROUGHPUT, CellName, Plan
from report.model.record import passes_of
from report.model.run import Measurement
from report.model.run_folder import read_current_plan, read_lines
from report.stats import repetition_stats
from report.stats.scaling import SizePoint, SizeSample
from report.terms.documents import ResultsError, canonical
from report.terms.machine_facts import changed_facts
from report.terms.rulebook import PACES
from scripts.planning.oracle_memory import table_bytes
from scripts.planning.order import superseded_lines

_AMOUNTS = ("num", "reads", *PACES)
_FAILED = ("wrong", "error", "timeout")
_PARTS_NS = {"settle": ("settle_ns",), "loop": ("loop_ns", "flush_ns")}


@dataclass
class Samples:
    """Measurements by growth_key()."""

    repetitions: dict[str, list[SizeSample]] = field(default_factory=dict)
    fills: dict[str, list[SizePoint]] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)  # the newest reason
    # By cell name, for all settings: sizes, with their growth_key().
    sizes: dict[str, set[tuple[str, int]]] = field(default_factory=dict)

    def add(self, plan: Plan, measurements: Sequence[Measurement]) -> None:
        """Add the measurements of a run of this plan."""
        # Smaller sizes are measured without a regime.
        usual = {s.name for s in plan.scenarios if not s.regime}
        cells = {str(cell): cell for cell in plan.cells if cell.scenario in usual}
        superseded = superseded_lines(plan, [m.record for m in measurements])
        for position, measurement in enumerate(measurements):
            cell = cells.get(str(measurement.cell))
            if cell is None or position in superseded:
                continue
            key = growth_key(plan, cell)
            if measurement.status in _FAILED:
                self.failures[key] = f"{measurement.status}: {measurement.reason}"
            elif _counts(measurement):
                sample, fill = _sample(plan, cell, measurement)
                self.repetitions.setdefault(key, []).append(sample)
                self.sizes.setdefault(str(cell), set()).add((key, sample.num))
                if fill is not None:
                    self.fills.setdefault(key, []).append(fill)

    def up_to(self, num: int) -> "Samples":
        """Return the samples of sizes up to `num`."""
        return Samples(
            {k: [s for s in v if s.num <= num] for k, v in self.repetitions.items()},
            {k: [p for p in v if p.num <= num] for k, v in self.fills.items()},
            self.failures,
            {k: {(own, n) for own, n in v if n <= num} for k, v in self.sizes.items()},
        )

    def wall_s(self, plan: Plan, cell: CellName) -> float | None:
        """Return the median seconds of a cell at the plan's size, without its fill."""
        num = plan.flags(cell)["num"]
        walls_s = [sum(s.seconds.values()) for s in self.of(plan, cell) if s.num == num]
        return repetition_stats.median(walls_s)

    def failure(self, plan: Plan, cell: CellName) -> str:
        """Return why a repetition of the cell failed, or ""."""
        return self.failures.get(growth_key(plan, cell), "")

    def elsewhere(self, plan: Plan, cell: CellName) -> list[int]:
        """Return the sizes at which the cell was measured only with other settings."""
        key, sampled = growth_key(plan, cell), self.sizes.get(str(cell), set())
        return sorted({num for other, num in sampled if other != key})

    def of(self, plan: Plan, cell: CellName) -> Sequence[SizeSample]:
        """Return the repetitions of a cell."""
        return self.repetitions.get(growth_key(plan, cell), ())

    def fills_of(self, plan: Plan, cells: Iterable[CellName]) -> list[SizePoint]:
        """Return the fills, in seconds, of a database that these cells share."""
        keys = [growth_key(plan, cell) for cell in cells]
        return [point for key in keys for point in self.fills.get(key, ())]


def growth_key(plan: Plan, cell: CellName) -> str:
    """Return a key, equal for cells that differ only in size and operations."""
    engine = plan.engine(cell.engine)
    version = engine.description.version if engine.description else ""
    flags = {k: v for k, v in plan.flags(cell).items() if k not in _AMOUNTS}
    start = plan.start(cell)
    state = [list(start.fill), start.state] if start else []
    return canonical([engine.measures, version, cell.benchmark, flags, state])


def work_of(plan: Plan, cell: CellName) -> int:
    """Return the amount of work to which the loop's time is proportional."""
    benchmark, flags = plan.benchmark(cell), plan.flags(cell)
    assert benchmark is not None, "cells that cannot run are never predicted"
    if benchmark.kind == "compact":
        return int(flags["num"])
    return benchmark.most_ops(flags)


def collect(paths: Iterable[Path], plan: Plan) -> tuple[Samples, list[str]]:
    """Return the samples of these runs, and why some runs were skipped."""
    samples, skipped = Samples(), []
    for path in paths:
        try:
            earlier = read_current_plan(path)
            if changed_facts(earlier.machine, plan.machine):
                raise ResultsError(f"{path}: made on another machine")
            samples.add(earlier, read_lines(path).measurements)
        except ResultsError as error:
            skipped.append(str(error))
    return samples, skipped


def _counts(measurement: Measurement) -> bool:
    return (
        measurement.status == "ok"
        and measurement.pass_ == THROUGHPUT
        and not measurement.truncated
        and measurement.figure("wall_ns") is not None
    )


def _sample(
    plan: Plan, cell: CellName, measurement: Measurement
) -> tuple[SizeSample, SizePoint | None]:
    """Return one repetition, and its fill if it filled a database."""
    num = int(plan.flags(cell)["num"])
    seconds = {
        part: sum(measurement.figure(key) or 0 for key in keys) / 1e9
        for part, keys in _PARTS_NS.items()
    }
    audit = measurement.record.get("audit")
    if audit and (audit_ns := audit.get("audit_ns")):
        seconds["audit"] = audit_ns / 1e9
    prepare_s = (measurement.figure("prepare_ns") or 0) / 1e9
    wall_s = (measurement.figure("wall_ns") or 0) / 1e9
    seconds["rest"] = max(0.0, wall_s - prepare_s - sum(seconds.values()))
    memory = _largest(measurement, "anonymous_rss_bytes", "peak_anonymous_rss_bytes")
    table = table_bytes(plan, cell)
    sample = SizeSample(
        num=num,
        work=work_of(plan, cell),
        seconds=seconds,
        memory_bytes=None if memory is None else max(0, memory - table),
        disk_bytes=_largest(measurement, "peak_disk_bytes", "peak_disk_bytes"),
        passes=passes_of(measurement.record),
    )
    return sample, SizePoint(num, prepare_s) if prepare_s else None


def _largest(measurement: Measurement, field: str, watched: str) -> int | None:
    """Return the larger of the process's own value and the sampled one."""
    watch: Mapping[str, object] = measurement.record.get("watch") or {}
    figures = (measurement.figure(field), watch.get(watched))
    return max((figure for figure in figures if isinstance(figure, int)), default=None)
