"""The plan of an A/B run: the same cells of two builds, in rounds.

Each side is an ordinary Plan, made from its own executables.  What both must have in
common is refused here if they have not.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from report.documents import ResultsError, parse_object, read_bytes, validate
from report.regressions.ab_results import WORK_KEYS, rule_of
from report.regressions.ab_run import SIDES
from report.regressions.rule import Rule
from report.rulebook import Benchmark
from scripts.places import Refused
from scripts.plan import Cell, Flags, Plan
from scripts.plan_document import plan_document, plan_from_document
from scripts.planning import narrowed_plan
from scripts.settings import differences, sha256_of_settings
from scripts.store import AB

AB_SCHEMA = 1
NOT_COMPARABLE = 5
_NOT_MEASURED = ("excluded", "unsupported")
Settings = dict[str, dict[str, Flags]]


@dataclass(frozen=True)
class AbPlan:
    """Everything that decides what an A/B run measures; ab.json."""

    a: Plan
    b: Plan
    labels: Mapping[str, str]  # side -> what people call it
    rule: Rule
    same_build: bool
    counted: bool

    @property
    def run(self) -> str:
        """The name of the run."""
        return self.a.run

    @property
    def seed(self) -> int:
        """Of the order, the coins and every workload."""
        return self.a.seed

    @property
    def cells(self) -> tuple[Cell, ...]:
        """The cells of both sides."""
        return self.a.cells

    @property
    def sides(self) -> Mapping[str, Plan]:
        """Both plans by their side."""
        return {"a": self.a, "b": self.b}

    @property
    def able(self) -> tuple[Cell, ...]:
        """The cells that can run on both sides."""
        return tuple(cell for cell in self.cells if not self.obstacle(cell))

    def obstacle(self, cell: Cell) -> tuple[str, str, str] | None:
        """(side, status, reason) of a cell that cannot run on both sides."""
        for side, plan in self.sides.items():
            found = plan.obstacle(cell)
            if found:
                return (side, *found)
        return None

    @property
    def rounds(self) -> int:
        """Those of both stages."""
        return self.rule.screen_rounds + self.rule.confirm_rounds


def paired(
    a: Plan,
    b: Plan,
    labels: Mapping[str, str],
    rule: Rule,
    *,
    same_build: bool,
    counted: bool,
) -> AbPlan:
    """The plan of two sides.  Raises Refused if they are not comparable.

    Cells that neither side can ever measure are left out.
    """
    assert a.cells == b.cells, "one selection gives one list of cells"
    _check_flags(a, b)
    cells = [c for c in a.cells if not _is_never_measured(a, b, c)]
    for cell in cells:
        _check_work(cell, a.benchmark(cell), b.benchmark(cell))
    narrow_a, narrow_b = (narrowed_plan(plan, cells) for plan in (a, b))
    plan = AbPlan(narrow_a, narrow_b, labels, rule, same_build, counted)
    if not plan.able:
        raise Refused(_why_nothing(plan), NOT_COMPARABLE)
    return plan


def same_executables(plan: AbPlan) -> bool:
    """Whether both sides are the same files throughout."""
    sums = [
        {e.name: e.binary_sha256 for e in side.engines if not e.missing}
        for side in plan.sides.values()
    ]
    return bool(sums[0]) and sums[0] == sums[1]


def _is_never_measured(a: Plan, b: Plan, cell: Cell) -> bool:
    found = [plan.obstacle(cell) for plan in (a, b)]
    return all(obstacle and obstacle[0] in _NOT_MEASURED for obstacle in found)


def _why_nothing(plan: AbPlan) -> str:
    found = [plan.obstacle(cell) for cell in plan.cells]
    reasons = sorted({f"side {o[0]}: {o[2]}" for o in found if o})
    return "; ".join(["nothing can be measured on both sides", *reasons])


def _check_flags(a: Plan, b: Plan) -> None:
    """The flags of every engine that both sides have are the same."""
    one, other = a.settings(), b.settings()
    for scenario, flags in one.items():
        shared = flags.keys() & other[scenario].keys()
        one[scenario] = {e: f for e, f in flags.items() if e in shared}
    found = differences(one, other)
    if found:
        told = found[0].replace(" was ", " is ").replace(", is now ", " on a, on b ")
        raise Refused(f"the sides cannot be compared: {told}", NOT_COMPARABLE)


def _check_work(cell: Cell, one: Benchmark | None, other: Benchmark | None) -> None:
    """A benchmark is the same work on both sides, if both know it."""
    if one is None or other is None:
        return
    for key in WORK_KEYS:
        a, b = getattr(one, key), getattr(other, key)
        if a != b:
            told = f"{key} is {a!r} on a, {b!r} on b"
            raise Refused(f"{cell} is not the same work: {told}", NOT_COMPARABLE)


def ab_document(plan: AbPlan) -> dict[str, Any]:
    """ab.json."""
    document = plan_document(plan.a)
    sides = {
        side: {"label": plan.labels[side], "engines": plan_document(of)["engines"]}
        for side, of in plan.sides.items()
    }
    flags = _merged_flags(plan)
    scenarios = [
        {**scenario, "flags": flags[scenario["name"]]}
        for scenario in document["scenarios"]
    ]
    same = ("method", "run", "seed", "command", "suite", "cells", "machine")
    return {
        "schema": AB_SCHEMA,
        "kind": "ab",
        **{key: document[key] for key in same},
        "same_build": plan.same_build,
        "rule": asdict(plan.rule),
        "sides": sides,
        "scenarios": scenarios,
        "settings_sha256": sha256_of_settings(_settings(plan)),
        "counted": plan.counted,
    }


def _merged_flags(plan: AbPlan) -> Settings:
    """The flags by scenario and engine, of the side that has the engine."""
    chosen = {
        engine.name: plan.b if engine.missing else plan.a for engine in plan.a.engines
    }
    return {
        scenario.name: {
            engine: side.scenario(scenario.name).flags[engine]
            for engine, side in chosen.items()
        }
        for scenario in plan.a.scenarios
    }


def _settings(plan: AbPlan) -> Any:
    """What decides the work: the flags of each engine that is on both sides."""
    missing = {
        e.name for side in plan.sides.values() for e in side.engines if e.missing
    }
    return {
        scenario: {e: dict(f) for e, f in flags.items() if e not in missing}
        for scenario, flags in _merged_flags(plan).items()
    }


def read_ab_plan(path: Path) -> AbPlan:
    """The plan of an A/B run that can still go on.

    Raises ResultsError if it was tampered with.
    """
    place = path / AB
    document = parse_object(read_bytes(place), str(place))
    validate(document, "ab", str(place))
    try:
        rule = rule_of(document, place)
        plan = AbPlan(
            _side_plan(document, "a", rule),
            _side_plan(document, "b", rule),
            labels={side: document["sides"][side]["label"] for side in SIDES},
            rule=rule,
            same_build=document["same_build"],
            counted=document["counted"],
        )
        settings = sha256_of_settings(_settings(plan))
    except (KeyError, TypeError, StopIteration) as error:
        raise ResultsError(f"{place}: not the plan of an A/B run: {error}") from error
    if settings != document["settings_sha256"]:
        raise ResultsError(f"{place}: its flags do not match its settings_sha256")
    return plan


def _side_plan(document: Mapping[str, Any], side: str, rule: Rule) -> Plan:
    return plan_from_document(
        {
            **document,
            "engines": document["sides"][side]["engines"],
            "repetitions": rule.screen_rounds + rule.confirm_rounds,
            "order": [[1, [index]] for index in range(len(document["cells"]))],
        }
    )


def build_dir_of(given: Path, option: str) -> Path:
    """The build directory that is meant.  Raises Refused, naming what it looked for.

    The folder of the executables itself will do, and a source tree that was built.
    """
    candidates = [given, given / "build/release"]
    if given.name == "drivers":
        candidates.insert(0, given.parent)
    for candidate in candidates:
        if any((candidate / "drivers").glob("db_bench_*")):
            return candidate.absolute()
    looked = " or ".join(_told(c, given) for c in candidates)
    raise Refused(f"{option} {given} holds no executables: looked for {looked}")


def _told(candidate: Path, given: Path) -> str:
    if candidate == given.parent:
        return "db_bench_*"
    part = candidate.relative_to(given)
    return str(part / "drivers/db_bench_*")
