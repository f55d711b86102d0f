"""One side of a comparison of two runs, whatever program wrote the results.

of_run() converts a loaded run, of_kept() a file of another program.  A cell
carries everything that must be equal in both runs for its rates to be comparable.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from report.foreign.kept_results import KeptResults
from report.model import build_facts
from report.model.description import Description
from report.model.plan import CellName, Engine
from report.model.run import Cell, Run
from report.stats import repetition_stats
from report.terms import titles
from report.terms.class_stamp import stamps_of
from report.terms.machine_facts import ALLOTTED, lasting, varying
from report.terms.rulebook import FLAGS, PACES, Flags, option_text
from report.trust import control

# (seed, operations): where both are equal, the digests must be equal too.
Work = tuple[int, int]


@dataclass(frozen=True)
class SampledCell:
    """One cell of one run: its rates in order of measuring, or why it has none.

    `settings` must be equal in both runs, where one that is not set has its value in
    `defaults`, and `defined` for the keys that both runs have.  Settings and
    definitions are empty if the engine's executable was missing, so that it could not
    describe itself.  `digests` are of verified repetitions; `disturbed` and
    `truncated` count repetitions.  `cpu_ns` has the processor time of an operation in
    each repetition, or nothing.  `noise` is the difference between two
    measurements of one engine in this run (0.03 is 3 %), None if not measured.
    """

    name: str
    engine: str
    status: str
    reason: str
    rates: tuple[float, ...]
    unit: str = "ops/s"
    settings: Mapping[str, object] = field(default_factory=dict)
    defaults: Mapping[str, object] = field(default_factory=dict)
    defined: Mapping[str, object] = field(default_factory=dict)
    digests: Mapping[Work, str] = field(default_factory=dict)
    disturbed: int = 0
    truncated: int = 0
    cpu_ns: tuple[float, ...] = ()
    noise: float | None = None
    durability: str = ""  # the class of its writes, with its proof; "" of reads
    # Values that are not judged, by name, in files of other programs.
    amounts: Mapping[str, tuple[float, ...]] = field(default_factory=dict)

    def has_default(self, flag: str, value: object) -> bool:
        """Return True if a flag is not set here, and would have this value if it was.

        The executable writes its own defaults as a command line has them.
        """
        if flag in self.settings or flag not in self.defaults:
            return False
        texts = (str(v).lower() for v in (self.defaults[flag], value))
        return len({*texts}) == 1

    @property
    def rate(self) -> float | None:
        """The median of the rates; None if there are none."""
        return repetition_stats.median(self.rates)


@dataclass(frozen=True)
class ComparableRun:
    """One side of a comparison.

    `identity` has the values that must be equal on both sides, by printed name, and
    `known` those that must be equal if both sides have them.  `context` has values that
    vary from run to run on one machine: their differences are reported.
    `builds` has the facts of each engine's executable, {} if it is missing.
    `suite` and `options` begin the command that repeats the run; they are empty for
    a file that kvmatrix did not write, of which `unrecorded` says what it lacks.
    """

    name: str
    kind: str
    identity: Mapping[str, object]
    cells: Mapping[str, SampledCell]
    repetitions: int
    machine: str = ""
    builds: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    suite: str = ""
    options: tuple[str, ...] = ()
    known: Mapping[str, object] = field(default_factory=dict)
    context: Mapping[str, object] = field(default_factory=dict)
    unrecorded: str = ""


def of_run(run: Run) -> ComparableRun:
    """Return all cells of a run's plan, with or without a rate."""
    engines = {engine.name: engine for engine in run.plan.engines}
    scenarios = {scenario.name: scenario for scenario in run.plan.scenarios}
    twice = control.measured_twice(run)
    cells = {}
    for name, cell in run.cells.items():
        scenario = scenarios[name.scenario]
        settings = {
            **_without(scenario.flags.get(name.engine, {}), PACES),
            **(scenario.regime.document() if scenario.regime else {}),
        }
        noise = twice.share(name.scenario, name.benchmark)
        cells[str(name)] = _cell(name, cell, engines[name.engine], settings, noise)
    facts = run.plan.machine
    machine = {f"machine: {key}": value for key, value in lasting(facts).items()}
    allotted = (f"machine: {fact}" for fact in ALLOTTED)  # earlier runs lack them
    known = {name: machine.pop(name) for name in allotted if name in machine}
    if run.plan.machines:
        machine["machines"] = ", ".join(run.plan.machines)
    return ComparableRun(
        name=run.plan.run,
        kind="kvmatrix run",
        identity={"method": run.plan.method, "seed": run.plan.seed, **machine},
        cells=cells,
        repetitions=run.plan.repetitions,
        machine=build_facts.machine_line(run.plan),
        builds={b.engine.name: dict(b.facts) for b in build_facts.builds(run)},
        known=known,
        suite=run.plan.suite.name,
        options=_options(run),
        context=varying(facts),
    )


def of_kept(name: str, kept: KeptResults) -> ComparableRun:
    """Return the cells of a file of another program."""
    cells = {
        cell: SampledCell(
            *(cell, "", "ok", "", sample.rates, sample.unit),
            cpu_ns=sample.cpu_ns,
            amounts=sample.amounts,
        )
        for cell, sample in kept.samples.items()
    }
    for cell, reason in kept.failed.items():
        cells[cell] = SampledCell(cell, "", "error", " ".join(reason.split()), ())
    facts = (f"{key} {value}" for key, value in kept.identity.items())
    builds = {kept.program: {"version": kept.version}} if kept.version else {}
    return ComparableRun(
        name=name,
        kind=kept.kind,
        identity={},
        cells=cells,
        repetitions=max((len(cell.rates) for cell in cells.values()), default=0),
        machine=" · ".join(text.removeprefix("context: ") for text in facts),
        builds=builds,
        known=kept.identity,
        context=kept.context,
        unrecorded=kept.unrecorded,
    )


def _cell(
    name: CellName,
    cell: Cell,
    engine: Engine,
    settings: Mapping[str, object],
    noise: float | None,
) -> SampledCell:
    measured = cell.repetitions if cell.status == "ok" else ()
    cpu_ns = [m.cpu_ns_per_op for m in measured]
    return SampledCell(
        name=str(name),
        engine=name.engine,
        status=cell.status,
        reason=" ".join(cell.reason.split()),
        rates=cell.rates,
        unit=titles.unit(name.benchmark),
        settings=settings if engine.description else {},
        defaults=_defaults(engine.description),
        defined=engine.definition(name.benchmark),
        digests={
            (int(m.record["seed"]), m.ops or 0): str(m.record["digest"])
            for m in measured
            if m.record["verified"]
        },
        disturbed=sum(1 for m in measured if m.disturbed),
        truncated=sum(1 for m in measured if m.cut_short),
        cpu_ns=tuple(ns for ns in cpu_ns if ns) if all(cpu_ns) else (),
        noise=noise,
        durability=stamps_of((m.record for m in measured), engine.passports),
    )


def _defaults(description: Description | None) -> Mapping[str, object]:
    own = description.defaults if description else {}
    return {**{name: flag.default for name, flag in FLAGS.items()}, **own}


def _without(flags: Flags, names: tuple[str, ...]) -> Flags:
    return {key: value for key, value in flags.items() if key not in names}


def _options(run: Run) -> tuple[str, ...]:
    """Return the options that applied to the whole run and change its work."""
    chosen = run.plan.suite.chosen.items()
    options = (
        option_text(flag, value)
        for flag, value in chosen
        if flag in FLAGS and flag not in PACES
    )
    return (f"--seed {run.plan.seed}", *options)


def moved_amounts(
    base: SampledCell, new: SampledCell, least: float
) -> Iterator[tuple[str, float, float]]:
    """Yield (name, base, new) of each amount that differs by the share `least`.

    The values of base and new are medians; the repetitions do not overlap.
    """
    for name in base.amounts:
        if name not in new.amounts:
            continue
        was, now = base.amounts[name], new.amounts[name]
        medians = statistics.median(was), statistics.median(now)
        is_apart = max(was) < min(now) or max(now) < min(was)
        if is_apart and abs(medians[1] - medians[0]) >= least * abs(medians[0]):
            yield (name, *medians)
