"""The two builds of an A/B run and the differences between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from report.model import build_facts
from report.model.ab_run import AbRun
from report.model.plan import Engine
from report.words import ab_words

# By engine, scenario and setting: the values that each side read back.
_ReadBack = dict[tuple[str, str, str], dict[str, set[str]]]


@dataclass(frozen=True)
class Fact:
    """One property of an engine's build, on both sides."""

    name: str
    a: str
    b: str

    @property
    def differs(self) -> bool:
        """True if the sides differ in it."""
        return self.a != self.b


@dataclass(frozen=True)
class Builds:
    """One engine's builds on both sides."""

    engine: Engine
    facts: tuple[Fact, ...]


def builds(run: AbRun) -> list[Builds]:
    """Return every engine of either side with the facts of both of its builds.

    Settings that the engine reports are included where they differ.  Another version
    may have other defaults, which changes what is measured.
    """
    sides = [{e.name: e for e in side.engines} for side in (run.a, run.b)]
    settings = _differing_settings(run)
    compared = []
    for name, engine in ab_words.engines_of(run).items():
        a, b = (_facts_of(side.get(name)) for side in sides)
        names = dict.fromkeys((*a, *b))
        facts = (Fact(n, a.get(n, "none"), b.get(n, "none")) for n in names)
        compared.append(Builds(engine, (*facts, *settings.get(name, ()))))
    return compared


def differences(run: AbRun, compared: Sequence[Builds]) -> str:
    """Return the differences between the builds as a sentence."""
    if run.plan.same_build:
        return "One build measured against itself: any difference found here is noise."
    changes = [
        f"{pair.engine.title} ({', '.join(f.name for f in pair.facts if f.differs)})"
        for pair in compared
        if any(fact.differs for fact in pair.facts)
    ]
    if not changes:
        return "The recorded facts about the two builds are the same."
    return f"Differences between the builds: {'; '.join(changes)}."


def _facts_of(engine: Engine | None) -> dict[str, str]:
    if engine is None:
        return {"state": "not on this side"}
    if engine.description is None:
        return {"state": f"missing: {engine.missing}"}
    return dict(build_facts.build(engine).facts)


def _differing_settings(run: AbRun) -> dict[str, list[Fact]]:
    """Return by engine the settings that the two sides read back differently."""
    titles = {s.name: s.title for s in run.plan.scenarios}
    differing: dict[str, list[Fact]] = {}
    for (engine, scenario, name), values in _read_back(run).items():
        a, b = (" or ".join(sorted(values.get(s, {"none"}))) for s in ("a", "b"))
        fact = Fact(f"{name}, as read back in {titles[scenario]}", a, b)
        if fact.differs:
            differing.setdefault(engine, []).append(fact)
    return differing


def _read_back(run: AbRun) -> _ReadBack:
    """Return the settings that were read back in complete rounds.

    Rounds with one side only are not used: every setting of them would differ.
    """
    read_back: _ReadBack = {}
    for cell in run.cells:
        for measured_round in (*cell.screen, *cell.confirm):
            for repetition in (*measured_round.a, *measured_round.b):
                settings = repetition.record.get("settings") or {}
                for name, value in settings.items():
                    key = (cell.name.engine, cell.name.scenario, name)
                    sides = read_back.setdefault(key, {})
                    sides.setdefault(repetition.side, set()).add(str(value))
    return read_back
