"""Mutations: each takes one check out of the source, and something must turn red.

They are in mutations/*.toml.  A mutation that lets lies through names their cells;
one that no lie can show names the test that must fail.  Under `every`, each match of
a pattern in a file is a mutation, so that a rule that is added there is taken out too.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.places import ROOT

HERE = Path(__file__).parent / "mutations"


@dataclass(frozen=True)
class Mutation:
    """One change of one file."""

    name: str
    file: str  # relative to the repository
    old: str  # occurs exactly once, or this is an occurrence of it
    new: str
    units: tuple[str, ...]  # that see the change; none: all that include the file
    lets: tuple[str, ...]  # scenario/benchmark of the cases that are no longer caught
    backed_by: str  # part of the reason by which a second check catches them, or ""
    test: str  # "binary:filter" of GoogleTest, files of pytest, or ""
    at: int | None = None  # where the old text begins, if it may occur again

    @property
    def of_python(self) -> bool:
        """Whether it changes Python, and not C++."""
        return self.file.endswith(".py")

    def apply(self, root: Path = ROOT) -> str:
        """The changed text.  Raises ValueError if the old text is not there once."""
        text = (root / self.file).read_text()
        if self.at is not None:
            return text[: self.at] + self.new + text[self.at + len(self.old) :]
        if text.count(self.old) != 1:
            times = text.count(self.old)
            raise ValueError(f"{self.name}: {self.file} has {times} times: {self.old}")
        return text.replace(self.old, self.new)


def load_mutations() -> tuple[Mutation, ...]:
    """All of them; the names are unique."""
    found: dict[str, Mutation] = {}
    for path in sorted(HERE.glob("*.toml")):
        document = tomllib.loads(path.read_text())
        single = (_mutation(n, e) for n, e in document.get("mutation", {}).items())
        every = (m for n, e in document.get("every", {}).items() for m in _every(n, e))
        for mutation in (*single, *every):
            assert mutation.name not in found, f"two are called {mutation.name}"
            found[mutation.name] = mutation
    return tuple(found.values())


def _every(name: str, entry: Mapping[str, Any]) -> Iterator[Mutation]:
    """One mutation for each match of the entry's pattern."""
    text = (ROOT / entry["file"]).read_text()
    matches = list(re.finditer(entry["pattern"], text, re.MULTILINE))
    assert matches, f"{name}: nothing in {entry['file']} matches"
    for match in matches:
        line = text.count("\n", 0, match.start()) + 1
        yield Mutation(
            name=f"{name}-at-line-{line}",
            file=entry["file"],
            old=match[0],
            new=match.expand(entry["new"]),
            units=(),
            lets=(),
            backed_by="",
            test=entry["test"],
            at=match.start(),
        )


def _mutation(name: str, entry: Mapping[str, Any]) -> Mutation:
    lets = tuple(entry.get("lets", ()))
    test = entry.get("test", "")
    assert bool(lets) != bool(test), f"{name} needs either lies or a test"
    return Mutation(
        name=name,
        file=entry["file"],
        old=entry["old"],
        new=entry["new"],
        units=tuple(entry.get("units", ())),
        lets=lets,
        backed_by=entry.get("backed_by", ""),
        test=test,
    )
