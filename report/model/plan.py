"""The plan of a run: which cells, in which order, with which flags and seeds.

It is made once, before the first measurement, and never changed; run.json holds it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from report.model.description import Description
from report.terms.rulebook import UNSETTLED, Benchmark, Flag, Flags

# Of the files of a run, as they are written now; every schema before can be read.
SCHEMA = 3
# Of measuring: figures of different methods cannot be compared.
METHOD = 1
CONTROL = "control"  # the role of an engine that is measured again


@dataclass(frozen=True, order=True)
class CellName:
    """engine/scenario/benchmark."""

    engine: str
    scenario: str
    benchmark: str

    def __str__(self) -> str:
        return f"{self.engine}/{self.scenario}/{self.benchmark}"


@dataclass(frozen=True)
class Engine:
    """An engine as it was found when the run was planned.

    The control is another engine of the plan, measured again under a name of its
    own: the two differ by nothing but the noise of the run.  A variant runs the
    executable of another engine with other flags, and competes as others do.
    """

    name: str
    title: str
    role: str  # "", "reference", "floor" or "control"
    summary: str
    description: Description | None  # None if it is missing
    missing: str  # why it cannot run, or ""
    binary_sha256: str
    twin_of: str = ""  # of the control: the engine that it is
    variant_of: str = ""  # the engine whose executable it runs, with other flags

    @property
    def measures(self) -> str:
        """Return the engine that is measured, as the configuration names it."""
        return self.twin_of or self.name

    @property
    def executable(self) -> str:
        """Return the engine that its executable says it is."""
        return self.variant_of or self.measures

    @property
    def ranked(self) -> bool:
        """Return whether it competes, as reference, floor and control do not."""
        return self.role == ""

    @property
    def stores(self) -> bool:
        """Return whether it keeps anything that could be verified."""
        return self.description is None or self.description.stores

    @property
    def version(self) -> str:
        """Return the version of the engine's library; "" if it is missing."""
        return self.description.version if self.description else ""

    def benchmark(self, name: str) -> Benchmark | None:
        """Return what the executable says of a benchmark; None: it has none such."""
        return self.description.benchmarks.get(name) if self.description else None

    def definition(self, benchmark: str) -> Mapping[str, object]:
        """Return what decides the work of a benchmark; {} if that is not known."""
        return self.description.definition(benchmark) if self.description else {}


@dataclass(frozen=True)
class Scenario:
    """A scenario with every engine's flags resolved.

    Scenarios of one `family` differ in one flag alone; `swept` is that flag with its
    value here.  Both are empty of a scenario that is in no sweep.
    """

    name: str
    title: str
    analysis: str
    benchmarks: tuple[str, ...]
    flags: Mapping[str, Flags]  # by engine
    exclude: Mapping[str, str]  # the reason, by engine
    fill: tuple[str, ...] = ()  # what fills its databases; (): the benchmark decides
    state: str = ""  # what they start from; "": the benchmark decides
    family: str = ""
    swept: Flags = field(default_factory=dict)


@dataclass(frozen=True)
class Suite:
    """The suite of a run, as it was when the run was planned.

    What is None was not recorded by the schema of the run.
    """

    name: str
    title: str
    summary: str = ""
    scenarios: tuple[str, ...] = ()
    repetitions: int = 0  # of the throughput pass, as the suite has it
    timeout_s: float = 0.0  # of one process of a repetition
    published: tuple[str, ...] = ()  # names of published figures to compare with
    override: Flags = field(default_factory=dict)  # of every scenario
    chosen: Flags = field(default_factory=dict)  # given on the command line
    latency: bool | None = None  # whether each cell has a latency repetition
    control: str = ""  # the engine that is measured again, or ""
    repeat_disturbed: int | None = None  # how often a disturbed repetition is repeated

    @property
    def rate(self) -> float | None:
        """Return the operations per second that were chosen for open loops."""
        rate = self.chosen.get("rate")
        return float(rate) if rate is not None else None


@dataclass(frozen=True)
class InitialState:
    """What the database of a cell has been through when the cell begins."""

    fill: tuple[str, ...]  # benchmarks, each in a process of its own
    settled: bool  # whether background work has ended


@dataclass(frozen=True)
class CellGroup:
    """Cells of one repetition that share a prepared database; else a single cell."""

    repetition: int
    cells: tuple[int, ...]  # indexes into Plan.cells


@dataclass(frozen=True)
class Plan:
    """Everything that decides what a run measures."""

    run: str
    suite: Suite
    seed: int
    repetitions: int  # of the throughput pass
    command: str
    engines: tuple[Engine, ...]
    scenarios: tuple[Scenario, ...]
    cells: tuple[CellName, ...]
    order: tuple[CellGroup, ...]
    machine: Mapping[str, object]  # its identity: compared and shown
    schema: int = SCHEMA
    method: int = METHOD

    @property
    def has_latency(self) -> bool:
        """Return whether each cell has a repetition that times every call."""
        return bool(self.suite.latency)

    @property
    def rounds(self) -> int:
        """Return the repetitions of each cell, that for latency included."""
        return self.repetitions + self.has_latency

    @property
    def attempts(self) -> int:
        """Return how often a repetition is made at most."""
        return 1 + (self.suite.repeat_disturbed or 0)

    @property
    def charts(self) -> tuple[tuple[Scenario, str], ...]:
        """Return every (scenario, benchmark), in report order."""
        return tuple((s, b) for s in self.scenarios for b in s.benchmarks)

    def is_latency(self, repetition: int) -> bool:
        """Return whether a repetition is the one that times every call."""
        return repetition > self.repetitions

    def rate(self, cell: CellName) -> float | None:
        """Return the operations per second offered by a cell's latency repetition.

        None: it is a closed loop, as is every repetition for throughput.
        """
        benchmark = self.benchmark(cell)
        return benchmark.rate(self.flags(cell)) if benchmark else None

    def engine(self, name: str) -> Engine:
        """Return the engine of this name, which must be part of the plan."""
        return next(e for e in self.engines if e.name == name)

    def scenario(self, name: str) -> Scenario:
        """Return the scenario of this name, which must be part of the plan."""
        return next(s for s in self.scenarios if s.name == name)

    def flags(self, cell: CellName) -> Flags:
        """Return the resolved flags of a cell."""
        return self.scenario(cell.scenario).flags.get(cell.engine, {})

    def benchmark(self, cell: CellName) -> Benchmark | None:
        """Return what the cell's executable says of its benchmark, if it knows it."""
        return self.engine(cell.engine).benchmark(cell.benchmark)

    def start(self, cell: CellName) -> InitialState | None:
        """Return the state that a cell starts from; None: an empty folder.

        It is what its benchmark asks for, unless the scenario says otherwise.
        """
        benchmark = self.benchmark(cell)
        if benchmark is None or not benchmark.prepare:
            return None
        scenario = self.scenario(cell.scenario)
        state = scenario.state or benchmark.prepare
        return InitialState(scenario.fill or (benchmark.fill,), state != UNSETTLED)

    def settings(self) -> dict[str, dict[str, dict[str, Flag]]]:
        """Return scenario -> engine -> flags, of the engines that can run."""
        able = [e.name for e in self.engines if not e.missing]
        return {
            s.name: {e: dict(f) for e, f in s.flags.items() if e in able}
            for s in self.scenarios
        }

    def obstacle(self, cell: CellName) -> tuple[str, str] | None:
        """Return why a cell cannot run, as (status, reason); None if it can."""
        engine = self.engine(cell.engine)
        excluded = self.scenario(cell.scenario).exclude.get(cell.engine)
        if excluded is not None:
            return "excluded", excluded
        if engine.missing or engine.description is None:
            return "missing", engine.missing or "nothing describes it"
        benchmark = engine.benchmark(cell.benchmark)
        if benchmark is None:
            return "unsupported", "the executable does not know this benchmark"
        if benchmark.unsupported:
            return "unsupported", benchmark.unsupported
        return None
