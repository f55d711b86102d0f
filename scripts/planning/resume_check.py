"""Checks that a resumed run has the same machine, executables and settings.

A run's folder may come from anybody.  It decides what is measured: which cells, how
often, and with which options of the command line.  All else is planned again from the
configuration and the executables of this machine, and must be the same.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from report.config.config_types import Config, SuiteConfig
from report.config.toml_table import ConfigError
from report.config.ycsb_workload import recorded_workload, with_workload
from report.model.plan import Engine, Plan
from report.model.plan_document import engine_documents, scenario_documents
from report.terms.documents import shown
from report.terms.machine_facts import ALLOTTED, NO_LIMIT, changed_facts
from report.terms.rulebook import SCENARIO_FLAGS
from report.terms.text_table import one_line
from scripts.planning.engine_program import Program, portable, program_of
from scripts.planning.new_plan import Selection
from scripts.planning.settings import difference, differences

CANNOT_RESUME = "this run cannot be resumed"  # begins a message
# Of an engine and of a scenario: what affects no result, or is compared by itself.
_OF_ENGINE = (
    *("title", "summary", "floor", "binding_of", "group", "url", "language"),
    *("advice", "passports", "missing", "binary_sha256"),
)
_OF_SCENARIO = ("title", "analysis", "flags", "regime", "settings_of", "replaced")


class CannotResume(Exception):
    """Something that affects results has changed; `changes` lists it, a line each."""

    def __init__(self, changes: Sequence[str]) -> None:
        self.changes = [one_line(change) for change in changes]
        super().__init__("; ".join(self.changes))


def config_again(plan: Plan, config: Config) -> Config:
    """Return the configuration with the suite of a plan that property files made.

    Raises CannotResume if a recorded property is not valid.
    """
    if not plan.suite.workload:
        return config
    try:
        workload = recorded_workload(plan.suite.name, plan.suite.workload)
        return with_workload(config, workload)[0]
    except ConfigError as error:
        raise CannotResume([f"settings: {error}"]) from None


def selection_again(plan: Plan, config: Config) -> tuple[SuiteConfig, Selection]:
    """Return the suite and the selection with which a recorded plan was made.

    Raises CannotResume if the configuration lacks a part of it, or an option of the
    command line is not one.
    """
    if lacking := [*_lacking(plan, config), *_invalid_options(plan)]:
        raise CannotResume([f"settings: {text}" for text in lacking])
    recorded = plan.suite
    scenarios = tuple(scenario.name for scenario in plan.scenarios)
    suite = replace(config.suites[recorded.name], scenarios=scenarios)
    return suite, Selection(
        engines=tuple(e.name for e in plan.engines if not e.twin_of),
        rows={
            s.name: tuple(e.name for e in plan.engines if e.name in s.flags)
            for s in plan.scenarios
        },
        globs=(),
        repetitions=plan.repetitions,
        seed=plan.seed,
        timeout_s=recorded.timeout_s,
        chosen=recorded.chosen,
        latency_repetitions=plan.latency_repetitions,
        control=recorded.control,
        repeat_disturbed=recorded.repeat_disturbed or 0,
        memory_limit_bytes=recorded.memory_limit_bytes,
        cells=frozenset(map(str, plan.cells)),
    )


def _lacking(plan: Plan, config: Config) -> Iterator[str]:
    name = plan.suite.name
    if name in config.broken_suites:
        yield str(config.broken_suites[name])
    elif name not in config.suites:
        yield f"suite {name} no longer exists"
    for scenario in plan.scenarios:
        file = scenario.family or scenario.name
        if file in config.broken_scenarios:
            yield str(config.broken_scenarios[file])
        elif scenario.name not in config.scenarios:
            yield f"scenario {scenario.name} no longer exists"
    for engine in plan.engines:
        if engine.measures not in config.engines:
            yield f"engine {engine.measures} no longer exists"


def _invalid_options(plan: Plan) -> Iterator[str]:
    """Yield each recorded option that no command line can have given."""
    for name, value in plan.suite.chosen.items():
        flag = SCENARIO_FLAGS.get(name)
        if flag is None:
            yield f"suite.chosen: unknown flag {shown(name)}"
        elif not flag.accepts(value):
            yield f"suite.chosen.{name}: {shown(value)}; expected {flag.accepted}"


def still_missing(plan: Plan, engines: Sequence[Engine]) -> list[Engine]:
    """Return engines as found, but for those that the recorded plan lacks.

    The cells of those have their lines, and need a new run to be measured.
    """
    missing = {e.name: e.missing for e in plan.engines if e.missing}
    return [
        replace(e, missing=missing[e.name], description=None, binary_sha256="")
        if e.name in missing
        else e
        for e in engines
    ]


def changes(
    plan: Plan, again: Plan, config: Config, build_dir: Path, *, in_order: bool
) -> list[str]:
    """Return every difference of a recorded plan, one sentence each.

    `again` is the plan of the same selection on this machine, with this configuration.
    A side of an A/B run is not `in_order`: that run has an order of its own.
    """
    engines = {engine.name: engine for engine in again.engines}
    if unknown := [e for e in plan.engines if e.name not in engines]:
        return [f"settings: engine {e.name} {_why_unplanned(e)}" for e in unknown]
    found = [*_machine_changes(plan, again)]
    for engine in plan.engines:
        new = engines[engine.name]
        program = program_of(build_dir, config.engines[new.measures])
        sums = engine.binary_sha256, new.binary_sha256
        found += binary_changes(program, *sums) or _engine_changes(engine, new)
    settings = differences(plan.settings(), again.settings())
    settings += _scenario_changes(plan, again)
    if in_order and not settings and plan.order != again.order:
        settings.append("order: its units are not those of its seed")
    return [*dict.fromkeys(found), *(f"settings: {text}" for text in settings)]


def _why_unplanned(engine: Engine) -> str:
    if engine.twin_of:
        return f"repeats {engine.twin_of}, which is missing"
    return "has no cell"


def binary_changes(program: Program, was: str, now: str) -> list[str]:
    """Return that a program has another SHA-256, "" if it is missing, or nothing."""
    if was == now:
        return []
    if not now:
        where = program.executable.parent
        return [
            f"binary: {program.name} (SHA-256 {was[:12]}...) is missing from {where}"
        ]
    return [f"binary: {program.name} was {was[:12]}, is now {now[:12]} (SHA-256)"]


def machine_differences(
    old: Mapping[str, object], new: Mapping[str, object]
) -> list[str]:
    """Return one sentence for each changed part of the machine's identity.

    What an earlier run has not recorded has not changed.
    """
    return [
        f"machine: {difference(name, old.get(name), new.get(name))}"
        + _allotting(name, old.get(name))
        for name in changed_facts(old, new)
    ]


def _allotting(name: str, was: object) -> str:
    """Return how a process gets what it might use of a machine before."""
    if name not in ALLOTTED or was == NO_LIMIT:
        return "; lift that limit" if was == NO_LIMIT else ""
    prefix = f"taskset -c {was}"
    if isinstance(was, int | float):
        prefix = {
            "cpu_quota": f"systemd-run --scope -p CPUQuota={100 * was:g}%",
            "memory_limit_bytes": f"systemd-run --scope -p MemoryMax={was}",
            "address_space_bytes": f"ulimit -v {was // 1024};",
        }[name]
    return f"; resume with: {prefix} scripts/kvmatrix resume ..."


def _machine_changes(plan: Plan, again: Plan) -> Iterator[str]:
    yield from machine_differences(plan.machine, again.machine)
    blocked = any(again.obstacle(c) and not plan.obstacle(c) for c in plan.cells)
    if blocked and again.not_durable and not plan.not_durable:
        yield f"machine: not_durable: {again.not_durable}"
    if blocked and again.no_regime and not plan.no_regime:
        problem = "the run has scenarios with a disk or a limit"
        yield f"machine: no_regime: {problem}: {again.no_regime}"


def _engine_changes(old: Engine, new: Engine) -> list[str]:
    was, now = map(portable, engine_documents([old, new]))
    texts = _differing(f"engine {old.name}: ", *_without(_OF_ENGINE, was, now))
    return [f"settings: {text}" for text in texts]


def _scenario_changes(plan: Plan, again: Plan) -> Iterator[str]:
    planned = {scenario.name: scenario for scenario in again.scenarios}
    for old in plan.scenarios:
        if old.name not in planned:
            yield f"scenario {old.name} has no cell"
            continue
        was, now = scenario_documents([old, planned[old.name]])
        place = f"{old.name}: "
        yield from _differing(place, *_without(_OF_SCENARIO, was, now))
        regimes = (was.get("regime") or {}, now.get("regime") or {})
        yield from _differing(f"{place}regime.", *regimes)
    overrides = (plan.suite.override, again.suite.override)
    yield from _differing("suite.override.", *overrides)


def _without(
    keys: Sequence[str], *documents: Mapping[str, Any]
) -> Iterator[dict[str, Any]]:
    for document in documents:
        yield {key: value for key, value in document.items() if key not in keys}


def _differing(
    place: str, old: Mapping[str, object], new: Mapping[str, object]
) -> list[str]:
    """Return one sentence for each key with another value, also of inner tables."""
    texts = []
    for key in sorted({*old, *new}):
        was, now = old.get(key), new.get(key)
        if isinstance(was, Mapping) and isinstance(now, Mapping):
            texts += _differing(f"{place}{key}.", was, now)
        elif was != now:
            texts.append(f"{place}{difference(key, was, now)}")
    return texts
