"""The plan of an A/B run: the same cells of two builds, in rounds.

Each side is an ordinary plan, with the engines of its own build.  ab.json holds both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from report.model.ab_rule import AbRule
from report.model.plan import KNOWN_FAILURE, CellName, Plan, Scenario, Suite
from report.terms.rulebook import Flags

AB_PLAN = "ab.json"
SIDES = ("a", "b")
# Keys that decide the work of a benchmark and so must be the same on both sides.
WORK_KEYS = (
    *("kind", "prepare", "ops_divisor", "value_size", "batch_size"),
    *("sync", "one_call", "finds", "key_order", "types"),
)


@dataclass(frozen=True)
class Failure:
    """Why a cell has no verdict: the most severe line of either side."""

    side: str
    status: str
    reason: str

    @property
    def known(self) -> bool:
        """True if both sides failed as the configuration declares."""
        return self.status == KNOWN_FAILURE


@dataclass(frozen=True)
class AbShard:
    """The rounds that one machine measures of an A/B run: shard `index` of `count`.

    `rounds` has the numbers of a cell's rounds, in order.  `counts` says whether it
    ends by counting, which one shard of a run does.
    """

    index: int  # from 1
    count: int
    machine: str  # its name
    rounds: Mapping[CellName, tuple[int, ...]]
    counts: bool

    def __str__(self) -> str:
        return f"{self.index}/{self.count}"


@dataclass(frozen=True)
class AbPlan:
    """Everything that decides what an A/B run measures.

    A run that was merged has several `machines`, by name, and those of a shard measure
    a part of the rounds.
    """

    a: Plan
    b: Plan
    labels: Mapping[str, str]  # side -> its name for people
    rule: AbRule
    same_build: bool  # --aa: both sides are one build
    counted: bool  # whether it ends by counting the work of both sides
    shard: AbShard | None = None
    machines: Mapping[str, Mapping[str, object]] = field(default_factory=dict)

    @property
    def run(self) -> str:
        """The name of the run."""
        return self.a.run

    @property
    def suite(self) -> Suite:
        """The suite, the same on both sides."""
        return self.a.suite

    @property
    def seed(self) -> int:
        """The seed of the order, of the leading sides and of every workload."""
        return self.a.seed

    @property
    def command(self) -> str:
        """The command that planned the run, without its builds."""
        return self.a.command

    @property
    def scenarios(self) -> tuple[Scenario, ...]:
        """The scenarios of both sides, with the flags of side a."""
        return self.a.scenarios

    @property
    def method(self) -> int:
        """The version of the method of measurement."""
        return self.a.method

    @property
    def machine(self) -> Mapping[str, object]:
        """The identity of the machine, the same on both sides."""
        return self.a.machine

    @property
    def harness(self) -> Mapping[str, object]:
        """The commit of kvmatrix that planned it: see Plan."""
        return self.a.harness

    @property
    def cells(self) -> tuple[CellName, ...]:
        """The cells, the same on both sides."""
        return self.a.cells

    @property
    def sides(self) -> Mapping[str, Plan]:
        """Both plans by their side."""
        return {"a": self.a, "b": self.b}

    @property
    def build_options(self) -> str:
        """The options of `resume` that name the builds, with placeholders."""
        return "--a BUILD_A" if self.same_build else "--a BUILD_A --b BUILD_B"

    @property
    def able(self) -> tuple[CellName, ...]:
        """The cells that can run on both sides."""
        return tuple(cell for cell in self.cells if not self.obstacle(cell))

    @property
    def rounds(self) -> int:
        """The number of rounds of both stages."""
        return self.rule.screen_rounds + self.rule.confirm_rounds

    def due(self, cell: CellName) -> Sequence[int]:
        """Return the rounds of a cell that this run can have, in order."""
        if self.shard:
            return self.shard.rounds.get(cell, ())
        return range(1, self.rounds + 1)

    def obstacle(self, cell: CellName) -> Failure | None:
        """Return why a cell cannot run on both sides; None if it can."""
        for side, plan in self.sides.items():
            if obstacle := plan.obstacle(cell):
                return Failure(side, *obstacle)
        return None

    def settings(self) -> dict[str, dict[str, Flags]]:
        """Return scenario -> engine -> flags, for engines that are on both sides."""
        missing = {
            e.name for of in self.sides.values() for e in of.engines if e.missing
        }
        return {
            scenario.name: {e: dict(f) for e, f in flags.items() if e not in missing}
            for scenario, flags in self.merged_flags()
        }

    def merged_flags(self) -> list[tuple[Scenario, dict[str, Flags]]]:
        """Return each scenario with flags by engine, from a side with that engine."""
        chosen = {e.name: self.b if e.missing else self.a for e in self.a.engines}
        return [
            (
                scenario,
                {
                    e: of.scenario(scenario.name).flags.get(e, {})
                    for e, of in chosen.items()
                },
            )
            for scenario in self.a.scenarios
        ]


def differences_of_work(a: Plan, b: Plan, cell: CellName) -> list[str]:
    """Return the differences in a cell's work; [] unless both sides describe it."""
    on_a, on_b = a.benchmark(cell), b.benchmark(cell)
    if on_a is None or on_b is None:
        return []
    values = [(key, getattr(on_a, key), getattr(on_b, key)) for key in WORK_KEYS]
    return [f"{key} is {x!r} on a, {y!r} on b" for key, x, y in values if x != y]
