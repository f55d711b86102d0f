"""What the two builds of an A/B run are, and what differs between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from report.model import build_facts
from report.model.ab_run import AbRun
from report.model.plan import Engine
from report.words import ab_words

# Of an engine, a scenario and a setting: what side a and side b read back.
_ReadBack = dict[tuple[str, str, str], dict[str, set[str]]]


@dataclass(frozen=True)
class Fact:
    """One thing to know of how an engine was built, on both sides."""

    name: str
    a: str
    b: str

    @property
    def differs(self) -> bool:
        """Whether the sides are not alike in it."""
        return self.a != self.b


@dataclass(frozen=True)
class Builds:
    """One engine as both sides have built it."""

    engine: Engine
    facts: tuple[Fact, ...]


def builds(run: AbRun) -> list[Builds]:
    """Every engine of either side with what is known of both of its builds.

    Settings that the engine reports are there where they differ: another version
    may have other defaults, and that is a change of what is measured.
    """
    sides = [{e.name: e for e in side.engines} for side in (run.a, run.b)]
    settings = _differing_settings(run)
    found = []
    for name, engine in ab_words.engines_of(run).items():
        a, b = (_facts_of(side.get(name)) for side in sides)
        names = dict.fromkeys((*a, *b))
        made = (Fact(n, a.get(n, "none"), b.get(n, "none")) for n in names)
        found.append(Builds(engine, (*made, *settings.get(name, ()))))
    return found


def told(run: AbRun, compared: Sequence[Builds]) -> str:
    """What differs, in a sentence."""
    if run.plan.same_build:
        return "One build measured against itself: whatever is found here is noise."
    names = [
        f"{found.engine.title}: {', '.join(f.name for f in found.facts if f.differs)}"
        for found in compared
        if any(fact.differs for fact in found.facts)
    ]
    if not names:
        return "Nothing that is recorded of the two builds differs."
    return f"What differs. {'; '.join(names)}."


def _facts_of(engine: Engine | None) -> dict[str, str]:
    if engine is None:
        return {"state": "not of this side"}
    if engine.description is None:
        return {"state": f"missing: {engine.missing}"}
    return dict(build_facts.build(engine).facts)


def _differing_settings(run: AbRun) -> dict[str, list[Fact]]:
    """By engine: settings as read back that are not the same on both sides."""
    titles = {s.name: s.title for s in run.plan.scenarios}
    found: dict[str, list[Fact]] = {}
    for (engine, scenario, name), values in _read_back(run).items():
        a, b = (" or ".join(sorted(values.get(s, {"none"}))) for s in ("a", "b"))
        fact = Fact(f"{name}, as read back in {titles[scenario]}", a, b)
        if fact.differs:
            found.setdefault(engine, []).append(fact)
    return found


def _read_back(run: AbRun) -> _ReadBack:
    """Of cells that were measured on both sides; the other side of one says nothing."""
    found: _ReadBack = {}
    for cell in run.cells:
        for one in (*cell.screen, *cell.confirm):
            for repetition in (*one.a, *one.b):
                settings = repetition.record.get("settings") or {}
                for name, value in settings.items():
                    key = (cell.name.engine, cell.name.scenario, name)
                    own = found.setdefault(key, {})
                    own.setdefault(repetition.side, set()).add(str(value))
    return found
