"""The plan of a run: which cells, in which order, with which flags and seeds.

It is written once, to run.json before the first measurement, and never changed.
"""

from __future__ import annotations

import datetime
import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from report.model.description import Description
from report.terms import titles
from report.terms.class_stamp import KnownClass
from report.terms.regime import STEADY_WINDOWS, Regime
from report.terms.rulebook import (
    SETTLED,
    STATES,
    UNSETTLED,
    Benchmark,
    Flag,
    Flags,
)

# Schema of new runs; all earlier schemas can still be read.
SCHEMA = 3
# Version of the method of measurement; results of different methods do not compare.
# Results of all earlier methods can still be read.  1: settling compacted everything,
# and threads waited for each other's keys.  2: some engines in other languages were
# given 64 keys in one call.  3: the keys of mixes depended on --reads, threads of an
# open loop had schedules of their own, and fills waited for the disk.
METHOD = 4
_TIME_OF_NAME = re.compile(r"(\d{8}-\d{6})-")
# Status of a line that failed as the configuration declares of its engine.
KNOWN_FAILURE = "known failure"
FLOOR = "floor"  # the role of an engine that does nothing
CONTROL = "control"  # the role of an engine that is measured again
# The passes of a run: what a repetition is for.
THROUGHPUT, LATENCY, CANARY = "throughput", "latency", "canary"


def repetition_seed(master: int, repetition: int) -> int:
    """Return the seed of all executables in a repetition: 1 to 2^31 - 1.

    It is the first 31 bits of the SHA-256 of "kvmatrix MASTER REPETITION": the same
    for all engines, unrelated between repetitions.  0 becomes 1.
    """
    digest = hashlib.sha256(f"kvmatrix {master} {repetition}".encode()).digest()
    return max(1, int.from_bytes(digest[:4], "big") >> 1)


@dataclass(frozen=True, order=True)
class CellName:
    """The name of a cell: engine/scenario/benchmark."""

    engine: str
    scenario: str
    benchmark: str

    def __str__(self) -> str:
        return f"{self.engine}/{self.scenario}/{self.benchmark}"


@dataclass(frozen=True)
class Engine:
    """An engine as it was when the run was planned.

    The control is another engine of the plan, measured again under a second name, so
    that the two differ only by the noise of the run.  A variant runs the executable of
    another engine with other flags and competes like any engine.
    """

    name: str
    title: str
    role: str  # "", "reference", "floor" or "control"
    summary: str
    description: Description | None  # None if it is missing
    missing: str  # why it cannot run, or ""
    binary_sha256: str
    twin_of: str = ""  # the engine that a control repeats, or ""
    variant_of: str = ""  # the engine whose executable a variant runs, or ""
    plugin: str = ""  # the path of a plug-in outside of the build, or ""
    floor: str = ""  # the engine that shows what its binding costs, or ""
    binding_of: str = ""  # the engine that calls the same library directly, or ""
    group: str = ""  # its structure, under which reports with many engines list it
    url: str = ""  # its home page, or "" if the run does not record it
    language: str = ""  # that it is written in or called through, or ""
    # The address of the documentation that advises a flag, by its name.
    advice: Mapping[str, str] = field(default_factory=dict)
    # Evidence by benchmark, or by a glob of them; see report.trust.known_failures.
    known_failures: Mapping[str, str] = field(default_factory=dict)
    # What was found by cutting the power, by level of durability: see KnownClass.
    passports: Mapping[str, KnownClass] = field(default_factory=dict)

    @property
    def measures(self) -> str:
        """The measured engine, by its name in the configuration."""
        return self.twin_of or self.name

    @property
    def executable(self) -> str:
        """The engine name that the executable reports."""
        return self.variant_of or self.measures

    @property
    def ranked(self) -> bool:
        """True if it competes, unlike the reference, the floor and the control."""
        return self.role == ""

    @property
    def stores(self) -> bool:
        """True if it keeps data, so that its work can be verified."""
        return self.description is None or self.description.stores

    @property
    def version(self) -> str:
        """The version of the engine's library; "" if the engine is missing."""
        return self.description.version if self.description else ""

    def benchmark(self, name: str) -> Benchmark | None:
        """Return a benchmark as the executable describes it; None if it does not."""
        return self.description.benchmarks.get(name) if self.description else None

    def definition(self, benchmark: str) -> Mapping[str, object]:
        """Return the keys that decide a benchmark's work; {} if it is unknown."""
        return self.description.definition(benchmark) if self.description else {}


@dataclass(frozen=True)
class Scenario:
    """A scenario with every engine's flags resolved.

    Scenarios of one `family` differ only in one flag; `swept` is that flag with its
    value here.  Both are empty for a scenario outside sweeps.
    """

    name: str
    title: str
    analysis: str
    benchmarks: tuple[str, ...]
    flags: Mapping[str, Flags]  # engine -> flags
    exclude: Mapping[str, str]  # engine -> reason
    fill: tuple[str, ...] = ()  # what fills its databases; (): the benchmark decides
    state: str = ""  # what they start from; "": the benchmark decides
    data_fits: bool = False  # engines may keep all of it in their cache and buffers
    family: str = ""
    swept: Flags = field(default_factory=dict)
    regime: Regime | None = None  # memory and disk of its processes; None: usual
    # Engine -> whose settings its row has: a code of report/terms/row_settings.py.
    settings_of: Mapping[str, str] = field(default_factory=dict)
    # Engine -> those of these settings that it does not get, with their values.
    replaced: Mapping[str, Flags] = field(default_factory=dict)

    def title_of(self, benchmark: str) -> str:
        """Return what a benchmark measures here, in words."""
        flags: Flags = next(iter(self.flags.values()), {})
        return titles.of_chart(benchmark, flags, self.swept)

    @property
    def explanation(self) -> str:
        """The analysis, and what its processes have if that is unusual."""
        more = f" Every process has {self.regime.text}." if self.regime else ""
        if self.regime and self.regime.steady:
            more += (
                f" A rate is that of the last {STEADY_WINDOWS} windows of the loop, in"
                " each of which the data are rewritten at least once, if they are"
                " steady."
            )
        if self.data_fits:
            more += " Engines may keep all data in their cache and buffers."
        return self.analysis + more


@dataclass(frozen=True)
class Suite:
    """The suite of a run, as it was when the run was planned.

    An attribute is None if the schema of the run does not record it.
    """

    name: str
    title: str
    summary: str = ""
    scenarios: tuple[str, ...] = ()
    repetitions: int = 0  # of the throughput pass, by the suite
    timeout_s: float = 0.0  # of one process of a repetition
    published: tuple[str, ...] = ()  # names of published figures to compare with
    override: Flags = field(default_factory=dict)  # for every scenario
    chosen: Flags = field(default_factory=dict)  # given on the command line
    latency_repetitions: int | None = None  # of each cell, after the others
    control: str = ""  # the engine that is measured twice, or ""
    repeat_disturbed: int | None = None  # retries of a disturbed repetition
    memory_limit_bytes: int = 0  # instead of the scenarios' own limits; 0: their own
    # The property files that are the suite, instead of a file of configs/.
    workload: Mapping[str, Any] = field(default_factory=dict)

    @property
    def rate(self) -> float | None:
        """The rate of open loops in ops/s, if the command line set it."""
        rate = self.chosen.get("rate")
        return float(rate) if rate is not None else None


@dataclass(frozen=True)
class InitialState:
    """The state of a cell's database when the cell begins."""

    fill: tuple[str, ...]  # benchmarks that filled it, each in its own process
    state: str = SETTLED  # one of STATES

    @property
    def settled(self) -> bool:
        """True if the engine has no work left that it does by itself."""
        return self.state != UNSETTLED


@dataclass(frozen=True)
class CellGroup:
    """Cells of one repetition that share a prepared database, or a single cell."""

    repetition: int
    cells: tuple[int, ...]  # indexes into Plan.cells


@dataclass(frozen=True)
class Shard:
    """The share of a plan that one run measures on one machine: `index` of `count`.

    `units` are indexes into Plan.order, in the order of measuring.  If `canary`, the
    run begins with a repetition of the units of Plan.canary.  `machine` is the name of
    the machine.
    """

    index: int  # from 1
    count: int
    units: tuple[int, ...]
    canary: bool
    machine: str

    def __str__(self) -> str:
        return f"{self.index}/{self.count}"


@dataclass(frozen=True)
class Plan:
    """Everything that decides what a run measures.

    A run of many machines has several in `machines`, and `machine` has the facts that
    they have in common.
    """

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
    # Why no write can be called durable on it, as cells that promise more than to
    # survive the process are then excluded; "": it can.
    not_durable: str = ""
    # Why it cannot have the regimes of the scenarios, which are then unsupported.
    no_regime: str = ""
    # The units that every machine of a run of shards measures first, as indexes into
    # `order`; () for other runs.
    canary: tuple[int, ...] = ()
    shard: Shard | None = None  # None: all of the plan
    machines: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    # "commit" of kvmatrix, and whether its files were changed ("dirty"); {}: unknown.
    harness: Mapping[str, object] = field(default_factory=dict)
    schema: int = SCHEMA
    method: int = METHOD

    @property
    def latency_repetitions(self) -> int:
        """The repetitions of each cell that time every call."""
        return self.suite.latency_repetitions or 0

    @property
    def rounds(self) -> int:
        """The repetitions of each cell, including those that time every call."""
        return self.repetitions + self.latency_repetitions

    @property
    def attempts(self) -> int:
        """The most attempts at a repetition."""
        return 1 + (self.suite.repeat_disturbed or 0)

    @property
    def due(self) -> tuple[CellGroup, ...]:
        """The units that this run measures, in order: all, or those of its shard."""
        if self.shard is None:
            return self.order
        number = self.rounds + self.shard.index
        units = self.canary if self.shard.canary else ()
        canary = (CellGroup(number, self.order[unit].cells) for unit in units)
        return (*canary, *(self.order[unit] for unit in self.shard.units))

    @property
    def charts(self) -> tuple[tuple[Scenario, str], ...]:
        """Every (scenario, benchmark), in report order."""
        return tuple((s, b) for s in self.scenarios for b in s.benchmarks)

    def pass_of(self, repetition: int) -> str:
        """Return THROUGHPUT, LATENCY (it times every call) or CANARY."""
        if repetition <= self.repetitions:
            return THROUGHPUT
        return LATENCY if repetition <= self.rounds else CANARY

    def is_latency(self, repetition: int) -> bool:
        """Return True if a repetition times every call."""
        return self.pass_of(repetition) == LATENCY

    def pace(self, cell: CellName) -> dict[str, float]:
        """Return what paces a cell's latency repetitions: see Benchmark.pace().

        {} if they are closed loops, as all throughput repetitions are.
        """
        benchmark = self.benchmark(cell)
        return benchmark.pace(self.flags(cell)) if benchmark else {}

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
        """Return the cell's benchmark as its executable describes it, or None."""
        return self.engine(cell.engine).benchmark(cell.benchmark)

    def start(self, cell: CellName) -> InitialState | None:
        """Return the state in which a cell starts; None for an empty folder.

        The scenario decides it, or by default the benchmark.
        """
        benchmark = self.benchmark(cell)
        if benchmark is None or not benchmark.prepare:
            return None
        scenario = self.scenario(cell.scenario)
        state = scenario.state or benchmark.prepare
        state = state if state in STATES else SETTLED
        return InitialState(scenario.fill or (benchmark.fill,), state)

    def settings(self) -> dict[str, dict[str, dict[str, Flag]]]:
        """Return scenario -> engine -> flags, for the engines that can run."""
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
            return "missing", engine.missing or "it has no description"
        benchmark = engine.benchmark(cell.benchmark)
        if benchmark is None:
            return "unsupported", "the executable does not have this benchmark"
        if benchmark.unsupported:
            return "unsupported", benchmark.unsupported
        waits = benchmark.writes and benchmark.may_synchronise(self.flags(cell))
        if self.not_durable and waits and engine.role != FLOOR:
            return "excluded", f"not durable here: {self.not_durable}"
        if self.no_regime and self.scenario(cell.scenario).regime:
            return "unsupported", self.no_regime
        return None


def started_at(run_id: str) -> datetime.datetime | None:
    """Return the start time in a run's name, in UTC, or None if it has none."""
    match = _TIME_OF_NAME.match(run_id)
    if match is None:
        return None
    try:
        began = datetime.datetime.strptime(match[1], "%Y%m%d-%H%M%S")
    except ValueError:
        return None
    return began.replace(tzinfo=datetime.UTC)
