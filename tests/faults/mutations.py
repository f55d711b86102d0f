"""The mutations of mutations/*.toml, each of which removes one check from the source.

A mutation that lets lies through names their cells.  One that no lie can show names the
test that must fail.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.places import ROOT

TESTS = ROOT / "tests"
HERE = Path(__file__).parent / "mutations"


@dataclass(frozen=True)
class Mutation:
    """A change of one file."""

    name: str
    table: str  # the file of mutations/ that has it, relative to the repository
    file: str  # relative to the repository
    old: str  # occurs exactly once
    new: str
    units: tuple[str, ...]  # that see the change; none: all that include the file
    lets: tuple[str, ...]  # scenario/benchmark of the cases that are no longer caught
    backed_by: str  # part of the reason by which a second check catches them, or ""
    test: str  # "source:filter" of GoogleTest, files of pytest, or ""

    @property
    def of_python(self) -> bool:
        """True if it changes Python rather than C++."""
        return self.file.endswith(".py")

    @property
    def test_sources(self) -> list[str]:
        """The files of its test, relative to the repository; [] if it has none."""
        if self.of_python or not self.test:
            return [word.partition("::")[0] for word in self.test.split()]
        binary = self.test.partition(":")[0]
        found = [str(p.relative_to(ROOT)) for p in TESTS.glob(f"*/{binary}.cc")]
        assert len(found) == 1, f"{self.name}: there is no one {binary}.cc"
        return found

    def apply(self, root: Path = ROOT) -> str:
        """Return the changed text; raise ValueError unless `old` occurs once in it."""
        text = (root / self.file).read_text()
        if text.count(self.old) != 1:
            times = text.count(self.old)
            raise ValueError(f"{self.name}: {self.file} has {times} times: {self.old}")
        return text.replace(self.old, self.new)


def load_mutations() -> tuple[Mutation, ...]:
    """Return all mutations; their names are unique."""
    mutations: dict[str, Mutation] = {}
    for path in sorted(HERE.glob("*.toml")):
        document = tomllib.loads(path.read_text())
        for mutation in (
            _mutation(n, path, e) for n, e in document["mutation"].items()
        ):
            assert mutation.name not in mutations, f"two are called {mutation.name}"
            mutations[mutation.name] = mutation
    return tuple(mutations.values())


def _mutation(name: str, table: Path, entry: Mapping[str, Any]) -> Mutation:
    lets = tuple(entry.get("lets", ()))
    test = entry.get("test", "")
    assert bool(lets) != bool(test), f"{name} needs either lies or a test"
    return Mutation(
        name=name,
        table=str(table.relative_to(ROOT)),
        file=entry["file"],
        old=entry["old"],
        new=entry["new"],
        units=tuple(entry.get("units", ())),
        lets=lets,
        backed_by=entry.get("backed_by", ""),
        test=test,
    )
