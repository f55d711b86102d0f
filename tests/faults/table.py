"""The lies, from the TOML files in this folder.

A family is one file and one run of the harness.  A scenario is one lie in it.  A case
is a benchmark of that scenario and the verdict that it must get.
"""

import tomllib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
FAMILIES = ("writes", "gets", "scans", "times", "device", "answers")
ENGINE = "lying"
PARETO = {"mixgraph-c"}  # refuses values of any other distribution
PARETO_FLAGS = {
    "value_size_distribution_type": "pareto",
    **{"value_k": 0.2615, "value_sigma": 25.45},
    **{"value_size_min": 10, "value_size_max": 1024},
}


@dataclass(frozen=True)
class Check:
    """A check of the harness."""

    name: str
    sentence: str
    where: str  # the file that does it
    cost: str  # the benchmark of cost_bench, or ""


@dataclass(frozen=True)
class Case:
    """A benchmark under a lie, and the verdict expected."""

    scenario: str
    engine: str
    benchmark: str
    check: str
    says: str = ""  # pattern of the reason, or of a note next to the rate if it is ok
    status: str = "wrong"

    @property
    def cell(self) -> str:
        """The name of the cell, as in verdicts.py."""
        return f"{self.scenario}/{self.benchmark}"


@dataclass(frozen=True)
class Scenario:
    """A lie, and the flags of its run."""

    name: str
    lie: str  # as --lie takes it
    mutant: str  # its number in the list of mutants
    engine: str
    flags: Mapping[str, Any]
    cases: tuple[Case, ...]


@dataclass(frozen=True)
class Family:
    """The lies of one file."""

    name: str
    title: str
    scenarios: tuple[Scenario, ...]
    latency: bool = False  # whether there is a latency repetition too
    repetitions: int = 1
    device: bool = False  # whether the data must be on a device that counts its reads
    floor: bool = False  # whether an engine that does nothing is measured too

    @property
    def cases(self) -> tuple[Case, ...]:
        """The cases of all its scenarios, in order."""
        return tuple(case for scenario in self.scenarios for case in scenario.cases)

    def only(self, cells: set[str]) -> "Family":
        """Return the family with only the cases of these cells."""
        scenarios = []
        for s in self.scenarios:
            cases = tuple(case for case in s.cases if case.cell in cells)
            if cases:
                scenarios.append(
                    Scenario(s.name, s.lie, s.mutant, s.engine, s.flags, cases)
                )
        return replace(self, scenarios=tuple(scenarios))


def load_checks() -> dict[str, Check]:
    """Return the checks by name."""
    return {
        name: Check(name, entry["is"], entry["where"], entry.get("cost", ""))
        for name, entry in _read("checks").items()
    }


def load_family(name: str) -> Family:
    """Return the lies of one file."""
    document = _read(name)
    common = document.get("flags", {})
    scenarios = tuple(
        _scenario(name, {**entry, "flags": {**common, **entry.get("flags", {})}})
        for name, entry in document["scenario"].items()
    )
    return Family(
        name,
        document["title"],
        scenarios,
        latency=document.get("latency", False),
        device=document.get("device", False),
        floor=document.get("floor", False),
    )


def honest_family(
    engine: str, benchmarks: Iterable[str], unable: Collection[str]
) -> Family:
    """Return the family of the honest engine: every cell is ok or unsupported."""
    cases: dict[str, list[Case]] = {"none": [], "none-pareto": []}
    for b in benchmarks:
        name = "none-pareto" if b in PARETO else "none"
        status = "unsupported" if b in unable else "ok"
        cases[name].append(Case(name, engine, b, check="", status=status))
    honest = tuple(
        Scenario(name, "none", "", engine, flags, tuple(cases[name]))
        for name, flags in (("none", {}), ("none-pareto", PARETO_FLAGS))
    )
    # A finding is a matter of medians: a busy machine may delay one repetition.
    return Family("honest", "The reference, unchanged", honest, True, 3, floor=True)


def _read(name: str) -> dict[str, Any]:
    return tomllib.loads((HERE / f"{name}.toml").read_text())


def _scenario(name: str, entry: Mapping[str, Any]) -> Scenario:
    engine = entry.get("engine", ENGINE)
    return Scenario(
        name=name,
        lie=entry.get("tells", name),
        mutant=entry["mutant"],
        engine=engine,
        flags=entry.get("flags", {}),
        cases=tuple(Case(scenario=name, engine=engine, **c) for c in entry["cases"]),
    )
