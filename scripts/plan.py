"""The plan of a run: which cells, in which order, with which flags and seeds.

A Plan is what run.json holds.  It is made once, before the first measurement, and
is never changed; resuming a run reads it back.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from report.config_parts import UNSETTLED
from report.rulebook import Benchmark, Flag
from scripts.executable import Description

Flags = Mapping[str, Flag]


@dataclass(frozen=True)
class Cell:
    """engine x scenario x benchmark."""

    engine: str
    scenario: str
    benchmark: str

    def __str__(self) -> str:
        return f"{self.engine}/{self.scenario}/{self.benchmark}"


@dataclass(frozen=True)
class PlannedEngine:
    """An engine as it was found when the run was planned.

    The control is another engine of the plan, measured again under a name of its
    own: the two differ by nothing but the noise of the run.
    """

    name: str
    title: str
    role: str
    summary: str
    description: Description | None
    missing: str  # why it cannot run, or ""
    binary_sha256: str
    twin_of: str = ""  # of the control: the engine that it is
    variant_of: str = ""  # the engine whose executable it runs, with other flags

    @property
    def measures(self) -> str:
        """The engine that is measured under this name, as the configuration has it."""
        return self.twin_of or self.name

    @property
    def executable(self) -> str:
        """The engine that its executable says it is."""
        return self.variant_of or self.measures

    def benchmark(self, name: str) -> Benchmark | None:
        """What the executable says about a benchmark; None if it does not know it."""
        return self.description.benchmarks.get(name) if self.description else None


@dataclass(frozen=True)
class PlannedScenario:
    """A scenario with every engine's flags resolved.

    `fill` and `state` are what its databases start from, if it says so; `family` and
    `swept` tell of which sweep it is a part.
    """

    name: str
    title: str
    analysis: str
    benchmarks: tuple[str, ...]
    flags: Mapping[str, Flags]  # engine -> flags
    exclude: Mapping[str, str]  # engine -> reason
    fill: tuple[str, ...] = ()
    state: str = ""
    family: str = ""
    swept: Flags = field(default_factory=dict)


@dataclass(frozen=True)
class Start:
    """What the database of a cell has been through when the cell begins."""

    fill: tuple[str, ...]  # benchmarks, each in a process of its own
    settled: bool  # whether background work has ended


@dataclass(frozen=True)
class Unit:
    """Cells of one repetition that share a prepared database; else a single cell."""

    repetition: int
    cells: tuple[int, ...]  # indexes into Plan.cells


@dataclass(frozen=True)
class Turn:
    """One cell's place in the run: which line it will write."""

    index: int  # into Plan.cells
    order: int  # position in the run's order
    repetition: int
    attempt: int = 1  # the first one that is still to be made


@dataclass(frozen=True)
class Selection:
    """What the command line asks for."""

    engines: tuple[str, ...]
    scenarios: tuple[str, ...]
    globs: tuple[str, ...]  # over engine/scenario/benchmark; empty: all
    repetitions: int
    seed: int
    timeout_s: float
    chosen: Flags  # flags given on the command line, for every engine
    latency: bool  # whether each cell has a latency repetition
    control: str  # the engine that is measured again, or ""
    repeat_disturbed: int  # how often a disturbed repetition is made again


@dataclass(frozen=True)
class Plan:
    """Everything that decides what a run measures."""

    run: str
    suite: Mapping[str, Any]
    seed: int
    repetitions: int  # of the throughput pass
    command: str
    engines: tuple[PlannedEngine, ...]
    scenarios: tuple[PlannedScenario, ...]
    cells: tuple[Cell, ...]
    order: tuple[Unit, ...]
    machine: Mapping[str, Any]

    @property
    def timeout_s(self) -> float:
        """How long one process of a repetition may take."""
        return float(self.suite["timeout_s"])

    @property
    def rounds(self) -> int:
        """Repetitions of each cell, that for latency included."""
        return self.repetitions + bool(self.suite["latency"])

    @property
    def attempts(self) -> int:
        """How often a repetition is made at most."""
        return 1 + int(self.suite["repeat_disturbed"])

    def is_latency(self, repetition: int) -> bool:
        """Whether a repetition is the one that reads the clock for each call."""
        return repetition > self.repetitions

    def rate(self, cell: Cell) -> float | None:
        """Operations per second offered by a cell's latency repetition.

        None: it is a closed loop, as is every repetition for throughput.
        """
        benchmark = self.benchmark(cell)
        return benchmark.rate(self.flags(cell)) if benchmark else None

    def engine(self, name: str) -> PlannedEngine:
        """The engine of this name, which must be part of the plan."""
        return next(e for e in self.engines if e.name == name)

    def scenario(self, name: str) -> PlannedScenario:
        """The scenario of this name, which must be part of the plan."""
        return next(s for s in self.scenarios if s.name == name)

    def flags(self, cell: Cell) -> Flags:
        """The resolved flags of a cell."""
        return self.scenario(cell.scenario).flags[cell.engine]

    def benchmark(self, cell: Cell) -> Benchmark | None:
        """What the cell's executable says about its benchmark, if it knows it."""
        return self.engine(cell.engine).benchmark(cell.benchmark)

    def start(self, cell: Cell) -> Start | None:
        """The state that a cell starts from; None: an empty folder.

        It is what its benchmark asks for, unless the scenario says otherwise.
        """
        benchmark = self.benchmark(cell)
        if benchmark is None or not benchmark.prepare:
            return None
        scenario = self.scenario(cell.scenario)
        state = scenario.state or benchmark.prepare
        return Start(scenario.fill or (benchmark.fill,), state != UNSETTLED)

    def settings(self) -> dict[str, dict[str, dict[str, Flag]]]:
        """Scenario -> engine -> flags, of the engines that can run."""
        able = [e.name for e in self.engines if not e.missing]
        return {
            s.name: {e: dict(f) for e, f in s.flags.items() if e in able}
            for s in self.scenarios
        }

    def obstacle(self, cell: Cell) -> tuple[str, str] | None:
        """Why a cell cannot run, as (status, reason); None if it can."""
        engine = self.engine(cell.engine)
        excluded = self.scenario(cell.scenario).exclude.get(cell.engine)
        if excluded is not None:
            return "excluded", excluded
        if engine.missing:
            return "missing", engine.missing
        benchmark = engine.benchmark(cell.benchmark)
        if benchmark is None:
            return "unsupported", "the executable does not know this benchmark"
        if benchmark.unsupported:
            return "unsupported", benchmark.unsupported
        return None
