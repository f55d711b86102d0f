"""Makes the plan of a new run from the configuration and the selection."""

import fnmatch
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from report.config.config_types import (
    CONTROL_SUFFIX,
    Config,
    ScenarioConfig,
    SuiteConfig,
)
from report.config.toml_table import ConfigError
from report.model.description import preparation_flags
from report.model.plan import (
    CONTROL,
    CellGroup,
    CellName,
    Engine,
    Plan,
    Scenario,
    Suite,
)
from report.terms import numbers
from report.terms.documents import canonical
from report.terms.regime import Regime
from report.terms.rulebook import (
    OWN_STREAM,
    PACES,
    Benchmark,
    Flags,
    paced,
    process_flags,
)
from scripts.planning.device_size import on_named_device, with_devices
from scripts.planning.executable import Refusal
from scripts.planning.order import shuffled_order
from scripts.planning.settings import place_of, resolve_flags
from scripts.regime.named_device import NamedDevice

LEAST_REPETITIONS = 3
# The default fill of scenarios that replay the stream of another program.
_REPLAY_FILL = ("fillrandom",)


@dataclass(frozen=True)
class Selection:
    """The part of the configuration that the command line selects."""

    engines: tuple[str, ...]
    rows: Mapping[str, tuple[str, ...]]  # the engines of each scenario, in order
    globs: tuple[str, ...]  # over engine/scenario/benchmark; empty: all
    repetitions: int
    seed: int
    timeout_s: float
    chosen: Flags  # flags given on the command line, for every engine
    latency_repetitions: int  # of each cell, after the others
    control: str  # the engine that is measured twice, or ""
    repeat_disturbed: int  # the most retries of a disturbed repetition
    memory_limit_bytes: int = 0  # of scenarios with a limit; 0: their own
    named: NamedDevice | None = None  # instead of the file that is their disk
    cells: frozenset[str] = frozenset()  # just these, by name; empty: see globs

    def has(self, cell: CellName) -> bool:
        """Return True if a cell of the scenarios is selected."""
        name = str(cell)
        if self.cells:
            return name in self.cells
        if cell.engine not in self.rows[cell.scenario]:
            return False
        return not self.globs or any(fnmatch.fnmatch(name, g) for g in self.globs)


def make_plan(
    run: str,
    command: str,
    config: Config,
    suite: SuiteConfig,
    selection: Selection,
    engines: Sequence[Engine],
    machine: Mapping[str, object],
    not_durable: str,
    no_regime: Callable[[Sequence[Regime]], str],
    refusal: Refusal,
) -> Plan:
    """Return the plan of a new run.

    Raises ConfigError if an engine refuses flags, and DiskError if the device that is
    named is too small, or no scenario has a disk.
    """
    engines = [*engines, *_control(engines, selection.control)]
    scenarios = tuple(
        _planned_scenario(config, name, suite, selection, engines, refusal)
        for name in suite.scenarios
        if name in selection.rows
    )
    scenarios = with_devices(_limited(scenarios, selection.memory_limit_bytes))
    if selection.named:
        scenarios = on_named_device(scenarios, selection.named)
    regimes = [s.regime for s in scenarios if s.regime]
    cells = tuple(_select(selection, engines, scenarios))
    used = {cell.scenario for cell in cells}
    plan = Plan(
        run=run,
        suite=_suite_of(suite, selection, engines),
        seed=selection.seed,
        repetitions=selection.repetitions,
        command=command,
        engines=tuple(e for e in engines if e.name in {c.engine for c in cells}),
        scenarios=tuple(_narrowed(s, cells) for s in scenarios if s.name in used),
        cells=cells,
        order=(),
        machine=machine,
        not_durable=not_durable,
        no_regime=no_regime(regimes) if regimes else "",
    )
    return replace(plan, order=shuffled_order(plan))


def narrowed_plan(plan: Plan, cells: Sequence[CellName]) -> Plan:
    """Return a plan of these cells only, each as a unit of its own, in this order."""
    engines, scenarios = ({c.engine for c in cells}, {c.scenario for c in cells})
    return replace(
        plan,
        engines=tuple(e for e in plan.engines if e.name in engines),
        scenarios=tuple(
            _narrowed(s, cells) for s in plan.scenarios if s.name in scenarios
        ),
        cells=tuple(cells),
        order=tuple(CellGroup(1, (index,)) for index in range(len(cells))),
    )


def control_of(
    suite: SuiteConfig, whole: bool, engines: Collection[str], repetitions: int
) -> str:
    """Return the engine that a run measures twice by default, or "".

    A part of a suite, or fewer than three repetitions, cannot show the noise of a run.
    """
    enough = whole and repetitions >= LEAST_REPETITIONS
    return suite.control if enough and suite.control in engines else ""


def cells_of(config: Config, rows: Mapping[str, Collection[str]]) -> int:
    """Return the number of cells of these rows of scenarios."""
    each = (
        (config.scenarios[name].benchmarks, engines) for name, engines in rows.items()
    )
    return sum(len(benchmarks) * len(engines) for benchmarks, engines in each)


def _control(engines: Sequence[Engine], name: str) -> Iterable[Engine]:
    """Yield the control engine under its second name, if it can run."""
    for engine in engines:
        if engine.name == name and not engine.missing:
            yield replace(
                engine,
                name=f"{name}{CONTROL_SUFFIX}",
                title=f"{engine.title}, again",
                role=CONTROL,
                twin_of=name,
            )


def _planned_scenario(
    config: Config,
    name: str,
    suite: SuiteConfig,
    selection: Selection,
    engines: Sequence[Engine],
    refusal: Refusal,
) -> Scenario:
    scenario, chosen = config.scenarios[name], selection.chosen
    engines = [e for e in engines if e.measures in selection.rows[name]]
    flags = {
        e.name: resolve_flags(
            scenario, config.engines[e.measures], suite.override, chosen, e.description
        )
        for e in engines
    }
    settings_of = {
        e.name: config.settings_of(config.engines[e.measures], scenario, flags[e.name])
        for e in engines
    }
    replaced = {
        e.name: config.replaced(config.engines[e.measures], scenario, flags[e.name])
        for e in engines
    }
    exclude = {e.name: scenario.exclude.get(e.measures) for e in engines}
    fill = scenario.fill or _usual_fill(scenario, flags)
    for engine in engines:
        if not exclude[engine.name]:
            where = partial(
                place_of,
                scenario=scenario,
                engine=config.engines[engine.measures],
                suite=suite,
                chosen=chosen,
            )
            cells = _select(selection, [engine], [scenario])
            if measured := [cell.benchmark for cell in cells]:
                own = flags[engine.name]
                _check_passes(scenario, own, selection.timeout_s, where)
                _check(measured, engine, own, fill, refusal, where)
    return Scenario(
        name=name,
        title=scenario.title,
        analysis=scenario.analysis,
        benchmarks=scenario.benchmarks,
        flags=flags,
        exclude={engine: reason for engine, reason in exclude.items() if reason},
        fill=fill,
        state=scenario.state,
        data_fits=scenario.data_fits,
        family=scenario.family,
        swept=scenario.swept,
        regime=scenario.regime,
        settings_of={row: source for row, source in settings_of.items() if source},
        replaced={row: values for row, values in replaced.items() if values},
    )


def _limited(scenarios: Iterable[Scenario], limit_bytes: int) -> Iterable[Scenario]:
    """Return scenarios with another memory limit, if they have one; 0: their own."""
    for scenario in scenarios:
        regime = scenario.regime
        if limit_bytes and regime and regime.memory_limit_bytes:
            regime = replace(regime, memory_limit_bytes=limit_bytes)
        yield replace(scenario, regime=regime)


def _usual_fill(
    scenario: ScenarioConfig, flags: Mapping[str, Flags]
) -> tuple[str, ...]:
    """Return the default fill of a scenario, which depends on its stream.

    Raises ConfigError if the engines have different streams.
    """
    streams = {values.get("stream", OWN_STREAM) for values in flags.values()}
    if len(streams) > 1:
        problem = "must be the same for all engines, so that they do the same work"
        raise ConfigError(scenario.file_of("stream"), "stream", problem)
    return () if streams <= {OWN_STREAM} else _REPLAY_FILL


def _check(
    measured: Sequence[str],
    engine: Engine,
    flags: Flags,
    fill: tuple[str, ...],
    refusal: Refusal,
    place: Callable[[str], tuple[str, str]],
) -> None:
    """Raise ConfigError if the engine's executable cannot run these benchmarks.

    `place` returns the file and the key that have the value of a flag.  Each benchmark
    is checked with the flags that its process will have.  Executables that do not
    support --check are not checked.
    """
    if engine.description is None or not engine.description.can_check:
        return
    known = engine.description.benchmarks
    benchmarks = [known[name] for name in measured if name in known]
    _check_share(benchmarks, flags, place)
    every_fill = fill or tuple(b.fill for b in benchmarks if b.prepare)
    pairs = [(benchmark, True) for benchmark in benchmarks]
    pairs += [(known[name], False) for name in every_fill if name in known]
    by_flags: dict[str, tuple[Flags, list[str]]] = {}
    for benchmark, is_measured in pairs:
        selected: Flags = preparation_flags(engine.description, benchmark, flags)
        if is_measured:
            selected = process_flags(benchmark, flags, measured=True)
        fills = fill or (benchmark.fill,)
        if is_measured and benchmark.prepare and known.keys() >= {*fills}:
            after = ",".join(fills)
            selected = {**selected, "use_existing_db": True, "after": after}
        if is_measured and benchmark.can_warm_up:
            selected = paced(selected, {p: flags[p] for p in PACES if flags.get(p)})
        _, names = by_flags.setdefault(canonical(selected), (selected, []))
        names.append(benchmark.name)
    for selected, names in by_flags.values():
        if fault := refusal(engine, names, selected):
            key, problem = fault
            key = "fill" if key == "after" else key
            raise ConfigError(*place(key), problem)


def _check_share(
    benchmarks: Iterable[Benchmark],
    flags: Flags,
    place: Callable[[str], tuple[str, str]],
) -> None:
    """Raise ConfigError if no benchmark can offer a share of its warm-up's rate."""
    if flags.get("rate_share") and not any(b.can_warm_up for b in benchmarks):
        problem = "no benchmark of this scenario has a warm-up, of whose rate it is a"
        problem += " share; use rate, or benchmarks of gets, seeks or mixes"
        raise ConfigError(*place("rate_share"), problem)


def _check_passes(
    scenario: ScenarioConfig,
    flags: Flags,
    timeout_s: float,
    place: Callable[[str], tuple[str, str]],
) -> None:
    """Raise ConfigError if a scenario cannot be repeated in passes."""
    least_s, problem = float(flags.get("min_time", 0)), ""
    if least_s and scenario.regime:
        problem = "cannot be used with [regime]; leave it out"
    elif least_s >= timeout_s:
        timeout = numbers.duration(timeout_s)
        problem = f"must be less than the timeout of a process, {timeout}"
    if problem:
        raise ConfigError(*place("min_time"), problem)


def _select(
    selection: Selection,
    engines: Sequence[Engine],
    scenarios: Iterable[Scenario | ScenarioConfig],
) -> Iterable[CellName]:
    """Yield the selected cells, by scenario, then benchmark, then engine."""
    for scenario in scenarios:
        for benchmark in scenario.benchmarks:
            for engine in engines:
                measured = CellName(engine.measures, scenario.name, benchmark)
                if selection.has(measured):
                    yield CellName(engine.name, scenario.name, benchmark)


def _narrowed(scenario: Scenario, cells: Sequence[CellName]) -> Scenario:
    """Return the scenario with only the benchmarks that these cells use."""
    used = {c.benchmark for c in cells if c.scenario == scenario.name}
    benchmarks = tuple(b for b in scenario.benchmarks if b in used)
    return replace(scenario, benchmarks=benchmarks)


def _suite_of(
    suite: SuiteConfig, selection: Selection, engines: Iterable[Engine]
) -> Suite:
    return Suite(
        name=suite.name,
        title=suite.title,
        summary=suite.summary,
        scenarios=suite.scenarios,
        repetitions=selection.repetitions,
        timeout_s=selection.timeout_s,
        published=suite.published,
        override=suite.override,
        chosen=selection.chosen,
        latency_repetitions=selection.latency_repetitions,
        control=next((e.twin_of for e in engines if e.twin_of), ""),
        repeat_disturbed=selection.repeat_disturbed,
        memory_limit_bytes=selection.memory_limit_bytes,
        workload=suite.workload,
    )
